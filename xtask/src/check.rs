//! What CI checks.

use crate::compiler::Compiler;
use crate::source_hash::source_hash;
use crate::{Failure, ptx, resources, root, run};
use std::fs;
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

/// The committed PTX is that of the committed sources, and keeps the rules.
pub fn ptx() -> Result<(), Failure> {
    let committed = fs::read_to_string(ptx::path())?;
    let now = source_hash(&root())?;
    if ptx::hash_of(&committed) != Some(&now) {
        return Err(
            "the committed PTX is not made from these sources: run `cargo xtask ptx`".into(),
        );
    }
    ptx::check_rules(&committed)?;
    resources::check()?;
    let compiler = Compiler::find()?;
    let built = ptx::build(&compiler)?;
    if ptx::compiler_of(&committed) == Some(&compiler.version) {
        if built != committed {
            return Err(
                "this compiler, which made the committed PTX, now makes other bytes".into(),
            );
        }
        println!("PTX bytes: the same again by {}", compiler.version);
    } else {
        ptx::check_rules(&built)?;
        println!(
            "PTX bytes: NOT compared; built and checked by {}",
            compiler.version
        );
    }
    Ok(())
}

fn cargo(arguments: &[&str]) -> Result<(), Failure> {
    run(Command::new(env!("CARGO"))
        .current_dir(root())
        .args(arguments))
}
