//! The `ferrosz` command as a library, for its own `main` and for `ferrosz-lab`, which measures with the same arguments
//! and files. Only these use it: other programs use the crate [`ferrosz`].
#![doc(hidden)]

// First, for its macros.
#[macro_use]
pub mod array;

pub mod args;
mod bare;
mod bench;
pub mod bounds;
mod check;
pub mod codec_choice;
mod codecs;
pub mod common;
mod compact;
mod compared;
mod compress;
mod damage;
mod decompress;
pub mod failure;
pub mod field_file;
pub mod files;
mod fills;
mod foreign;
mod frames;
mod info;
mod json;
mod link;
pub mod location;
mod manual;
mod npy;
mod npy_type;
mod outlying;
pub mod output;
mod page;
mod papers;
mod part;
mod plan;
mod progress;
mod remote;
pub mod report;
mod room;
pub mod safeguards;
mod scratch;
#[cfg(unix)]
mod signals;
mod stats;
mod strange;
mod stream_file;
mod suffix;
mod temporary;
mod threads;
mod transfer;
mod transpose;
pub mod trial;
pub mod units;
mod update;
mod values;
#[cfg(feature = "netcdf")]
pub mod variable;
mod verify;
mod wanted;

use args::{Command, CommandLine};
use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use failure::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Parses the command line of the process and runs it; the exit status is 0 only if `run` returns true.
pub fn main<L: Parser>(run: fn(&L) -> Result<bool, Failure>) -> ExitCode {
    ExitCode::from(status_of(std::env::args_os(), run))
}

/// Parses a command line, whose first word is the name of the command, and runs it. Returns the exit status, which is 0 only
/// if `run` returns true. Handles the signals that end the process.
pub fn status_of<L: Parser>(
    words: impl IntoIterator<Item = OsString>,
    run: fn(&L) -> Result<bool, Failure>,
) -> u8 {
    #[cfg(unix)]
    signals::watch();
    let line = match L::try_parse_from(words) {
        Ok(line) => line,
        Err(error) => return explain(error),
    };
    match run(&line) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(Failure::Closed) => {
            #[cfg(unix)]
            signals::end_by_closed_pipe();
            1
        }
        Err(failure) => {
            output::note(&format!("error: {failure}"));
            failure.exit_status()
        }
    }
}

/// Prints the error of a command line, or its help, and returns the exit status. For an unknown command only the nearest known
/// one is suggested.
fn explain(mut error: clap::Error) -> u8 {
    let suggested = error.get(ContextKind::SuggestedSubcommand);
    // The last is the nearest.
    if let Some(ContextValue::Strings(names)) = suggested
        && let Some(nearest) = names.last().cloned()
    {
        error.insert(
            ContextKind::SuggestedSubcommand,
            ContextValue::Strings(vec![nearest]),
        );
    }
    // A closed pipe: nobody reads the message.
    let _ = error.print();
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// Runs the user's command; false if an error exceeds its bound, a stream is damaged, or one of several inputs failed.
///
/// # Errors
///
/// The error that ends the command.
pub fn run(line: &CommandLine) -> Result<bool, Failure> {
    let common = &line.common;
    if line.command.computes() {
        threads::start();
    }
    match &line.command {
        Command::Compress(args) => compress::run(args, common),
        Command::Decompress(args) => decompress::run(args, common),
        Command::Update(args) => update::run(args, common).map(|()| true),
        Command::Compact(args) => compact::run(args, common),
        Command::Part(args) => plan::run(args, common),
        Command::Check(args) => check::run(args, common),
        Command::Verify(args) => verify::run(args, common),
        Command::Info(args) => info::run(args, common),
        Command::Stats(args) => stats::run(args, common),
        Command::Codecs(args) => codecs::run(args, common).map(|()| true),
        Command::Send(args) => transfer::send::run(args, common),
        Command::Receive(args) => transfer::receive::run(args, common),
        Command::Report(args) => page::run(args, common),
        Command::Bench(args) => bench::run(args, common),
        Command::Cuszp(args) => bare::run(&args.action, common),
        Command::Aatrox(args) => bare::run(&args.action, common),
        Command::Completions(args) => manual::completions(args).map(|()| true),
        Command::Man(args) => manual::man(args).map(|()| true),
    }
}
