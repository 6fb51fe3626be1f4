//! The `ferrosz-lab` command: what ferrosz is measured and shown with.

mod bench;
mod canvas;
mod demo;
mod picture;

use bench::flags::Flags;
use clap::{Parser, Subcommand};
use ferrosz_cli::args::Common;
use ferrosz_cli::failure::Failure;
use std::process::ExitCode;

/// What ferrosz is measured and shown with.
#[derive(Debug, Parser)]
#[command(name = "ferrosz-lab", version)]
struct CommandLine {
    /// What all commands understand.
    #[command(flatten)]
    common: Common,
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure how fast codecs are where the data lie already, beside a copy and a read
    Bench(Flags),
    /// Compress a real field with every codec, and draw it
    Demo(demo::Flags),
}

fn main() -> ExitCode {
    ferrosz_cli::main(run)
}

/// Whether every bound was kept.
fn run(line: &CommandLine) -> Result<bool, Failure> {
    match &line.command {
        Command::Bench(flags) => bench::run(flags, &line.common).map(|()| true),
        Command::Demo(flags) => demo::run(flags, &line.common),
    }
}
