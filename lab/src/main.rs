//! The `ferrosz-lab` command, which measures ferrosz.

mod bench;

use bench::flags::Flags;
use clap::{Parser, Subcommand};
use ferrosz_cli::common::Common;
use ferrosz_cli::failure::Failure;
use std::process::ExitCode;

/// Measures ferrosz.
#[derive(Debug, Parser)]
#[command(name = "ferrosz-lab", version)]
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
    /// Measure the speed of codecs on data in the device's memory, compared with a copy and a read
    Bench(Box<Flags>),
    /// Measure whole calls with a preset, compared with those with the codec that it chose
    Calls(bench::calls::Flags),
    /// Measure many arrays in one call on a GPU, compared with one call after the other
    Batch(bench::batch::Flags),
    /// Measure masks, compared with the same field without one
    Mask(bench::mask::Flags),
    /// Measure values of 16 bits on a GPU, compared with the same numbers as f32
    Short(bench::short::Flags),
    /// Measure a field in the parts of several members, each with one thread
    Parts(bench::parts::Flags),
    /// Measure fields that travel over the bus of a GPU, compressed, compared with a pinned copy
    Transfer(bench::transfer::Flags),
    /// Measure one field in the memory of several GPUs, compared with one GPU
    Gpus(bench::gpus::Flags),
}

fn main() -> ExitCode {
    ferrosz_cli::main(run)
}

/// Runs a command; true if no error exceeds its bound.
fn run(line: &CommandLine) -> Result<bool, Failure> {
    match &line.command {
        Command::Bench(flags) => bench::run(flags, &line.common).map(|()| true),
        Command::Calls(flags) => bench::calls::run(flags, &line.common).map(|()| true),
        Command::Batch(flags) => bench::batch::run(flags, &line.common).map(|()| true),
        Command::Short(flags) => bench::short::run(flags, &line.common).map(|()| true),
        Command::Mask(flags) => bench::mask::run(flags, &line.common).map(|()| true),
        Command::Parts(flags) => bench::parts::run(flags).map(|()| true),
        Command::Transfer(flags) => bench::transfer::run(flags, &line.common).map(|()| true),
        Command::Gpus(flags) => bench::gpus::run(flags).map(|()| true),
    }
}
