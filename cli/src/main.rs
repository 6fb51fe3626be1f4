//! The `ferrosz` command.

mod args;
mod bare;
mod bench;
mod canvas;
mod codec_choice;
mod codecs;
mod colour;
mod compact;
mod compress;
mod decompress;
mod demo;
mod failure;
mod field_file;
mod info;
mod judge;
mod location;
mod npy;
mod output;
mod part;
mod picture;
mod progress;
mod report;
mod stream_file;
mod update;
mod verify;

use args::{Command, CommandLine};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&CommandLine::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            output::note(&format!("error: {failure}"));
            ExitCode::from(failure.exit_status())
        }
    }
}

/// Whether all went well: false if a bound was not kept.
fn run(line: &CommandLine) -> Result<bool, Failure> {
    let common = &line.common;
    match &line.command {
        Command::Compress(args) => compress::run(args, common).map(|()| true),
        Command::Decompress(args) => decompress::run(args, common).map(|()| true),
        Command::Update(args) => update::run(args, common).map(|()| true),
        Command::Compact(args) => compact::run(args, common).map(|()| true),
        Command::Verify(args) => verify::run(args, common),
        Command::Info(args) => info::run(args, common).map(|()| true),
        Command::Codecs => codecs::run(common).map(|()| true),
        Command::Demo(args) => demo::run(args, common),
        Command::Bench(flags) => bench::run(flags, common).map(|()| true),
        Command::Cuszp(args) => bare::cuszp(&args.action, common).map(|()| true),
        Command::Aatrox(args) => bare::aatrox(&args.action, common).map(|()| true),
    }
}
