//! Executables that tasks build.

use crate::{Failure, root};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Builds the user's command; returns its path.
pub fn ferrosz() -> Result<PathBuf, Failure> {
    build(&["build", "--release", "--package", "ferrosz-cli"])
}

/// Builds the command `ferrosz-lab`; returns its path.
pub fn lab() -> Result<PathBuf, Failure> {
    build(&["build", "--release", "--package", "ferrosz-lab"])
}

/// Builds one executable; returns its path.
pub fn build(arguments: &[&str]) -> Result<PathBuf, Failure> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(arguments)
        .arg("--message-format=json")
        .stderr(Stdio::inherit())
        .output()?;
    let messages = String::from_utf8(output.stdout)?;
    let path = messages
        .lines()
        .filter_map(|line| line.split_once("\"executable\":\""))
        .filter_map(|(_, rest)| rest.split('"').next())
        .next_back();
    match path {
        Some(path) if output.status.success() => Ok(PathBuf::from(path)),
        _ => Err(format!("cargo {arguments:?} made no executable").into()),
    }
}
