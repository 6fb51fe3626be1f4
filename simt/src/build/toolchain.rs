//! The Rust toolchains installed on this machine.

use super::program::output;
use std::path::PathBuf;
use std::process::Command;
use std::string::String;
use std::vec::Vec;

/// A `rustc` and its `cargo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    pub(super) rustc: PathBuf,
    cargo: PathBuf,
    version: String,
}

impl Toolchain {
    /// All toolchains: first those of rustup, then the system's.
    pub fn all() -> Vec<Self> {
        let names = output(Command::new("rustup").args(["toolchain", "list"])).unwrap_or_default();
        let from_rustup = names
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .filter_map(|name| Some((which(name, "rustc")?, which(name, "cargo")?)));
        let of_system = (
            PathBuf::from("/usr/bin/rustc"),
            PathBuf::from("/usr/bin/cargo"),
        );
        from_rustup
            .chain([of_system])
            .filter_map(|(rustc, cargo)| Self::at(rustc, cargo))
            .collect()
    }

    fn at(rustc: PathBuf, cargo: PathBuf) -> Option<Self> {
        let version = output(Command::new(&rustc).arg("--version"))?;
        Some(Self {
            rustc,
            cargo,
            version,
        })
    }

    /// The version, as `rustc --version` prints it: `rustc 1.96.0 (ac68faa20 2026-05-25)`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A command of the toolchain's cargo with its `rustc`, without the variables that a calling cargo has set.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        command.env("RUSTC", &self.rustc);
        for name in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTUP_TOOLCHAIN",
        ] {
            command.env_remove(name);
        }
        command
    }
}

/// The path of a tool of a rustup toolchain.
fn which(toolchain: &str, tool: &str) -> Option<PathBuf> {
    output(Command::new("rustup").args(["which", "--toolchain", toolchain, tool]))
        .map(PathBuf::from)
}
