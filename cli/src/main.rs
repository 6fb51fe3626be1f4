//! The `ferrosz` command.

mod args;
mod bare;
mod bench;
mod canvas;
mod check;
mod codec_choice;
mod codecs;
mod colour;
mod compact;
mod compress;
mod damage;
mod decompress;
mod demo;
mod failure;
mod field_file;
mod files;
mod foreign;
mod info;
mod json;
mod judge;
mod location;
mod manual;
mod npy;
mod npy_type;
mod outlying;
mod output;
mod part;
mod picture;
mod progress;
mod report;
#[cfg(unix)]
mod signals;
mod stream_file;
mod temporary;
mod transpose;
mod update;
mod verify;

use args::{Command, CommandLine};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    signals::watch();
    match run(&CommandLine::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            output::note(&format!("error: {failure}"));
            ExitCode::from(failure.exit_status())
        }
    }
}

/// Whether all went well: false if a bound was not kept, a stream is damaged, or one of several inputs failed.
fn run(line: &CommandLine) -> Result<bool, Failure> {
    let common = &line.common;
    match &line.command {
        Command::Compress(args) => compress::run(args, common),
        Command::Decompress(args) => decompress::run(args, common),
        Command::Update(args) => update::run(args, common).map(|()| true),
        Command::Compact(args) => compact::run(args, common),
        Command::Check(args) => check::run(args, common),
        Command::Verify(args) => verify::run(args, common),
        Command::Info(args) => info::run(args, common),
        Command::Codecs => codecs::run(common).map(|()| true),
        Command::Demo(args) => demo::run(args, common),
        Command::Bench(flags) => bench::run(flags, common).map(|()| true),
        Command::Cuszp(args) => bare::cuszp(&args.action, common).map(|()| true),
        Command::Aatrox(args) => bare::aatrox(&args.action, common).map(|()| true),
        Command::Completions(args) => manual::completions(args).map(|()| true),
        Command::Man(args) => manual::man(args).map(|()| true),
    }
}
