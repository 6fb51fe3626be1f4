//! The demo: `cargo run --release -- demo` at the root. It is a program of its own so that it is built soon: without
//! what measurements need.

mod demo;

use clap::{Parser, Subcommand};
use ferrosz_cli::common::Common;
use ferrosz_cli::failure::Failure;
use std::process::ExitCode;

/// Demonstrates ferrosz.
#[derive(Debug, Parser)]
#[command(name = "ferrosz-demo", version)]
struct CommandLine {
    /// Options of all commands.
    #[command(flatten)]
    common: Common,
    /// The command to run.
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compress a real field with every codec, and draw it
    Demo(demo::Flags),
}

fn main() -> ExitCode {
    ferrosz_cli::main(run)
}

/// Runs the command; true if no error exceeds its bound.
fn run(line: &CommandLine) -> Result<bool, Failure> {
    let Command::Demo(flags) = &line.command;
    demo::run(flags, &line.common)
}
