//! Calls of other programs.

use super::Error;
use std::borrow::ToOwned;
use std::process::Command;
use std::string::String;

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Result<(), Error> {
    let status = (command.status()).map_err(|error| Error::program(command, error))?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::program(command, status)),
    }
}

/// The standard output of a program; none if it fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}
