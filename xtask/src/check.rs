//! What CI checks.

use crate::{Failure, ptx, resources, root, run};
use std::process::Command;

/// Everything, in the order in which it fails soonest.
pub fn all() -> Result<(), Failure> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])?;
    ptx()?;
    cargo(&["test", "--workspace"])
}

/// The committed PTX is that of the committed sources, keeps the rules, and needs what the table says.
pub fn ptx() -> Result<(), Failure> {
    ptx::check()?;
    resources::check()
}

fn cargo(arguments: &[&str]) -> Result<(), Failure> {
    run(Command::new(env!("CARGO"))
        .current_dir(root())
        .args(arguments))
}
