//! The `ferrosz-lab` command, which measures ferrosz.

mod bench;

use bench::flags::{Cube, Flags};
use clap::{Parser, Subcommand};
use ferrosz_cli::{common::Common, failure::Failure};
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
    Calls(bench::calls::Calls),
    /// Measure the parts of the designs of cuSZp2 and AATROX on a GPU, one replaced at a time
    Ablations(bench::ablations::Ablations),
    /// Measure many arrays in one call on a GPU, compared with one call after the other
    Batch(bench::batch::Batches),
    /// Measure masks, compared with the same field without one
    Mask(Cube),
    /// Measure values of 16 bits on a GPU, compared with the same numbers as f32
    Short(Cube),
    /// Measure a field in the parts of several members, each with one thread
    Parts(bench::parts::Parts),
    /// Measure fields that travel over the bus of a GPU, compressed, compared with a pinned copy
    Transfer(bench::transfer::Transfers),
    /// Measure one field in the memory of several GPUs, compared with one GPU
    Gpus(bench::gpus::Gpus),
    /// Repeat the experiments of the papers on fields, with the numbers that the papers print
    Papers(bench::papers::Papers),
}

fn main() -> ExitCode {
    ferrosz_cli::main(run)
}

/// Runs a command; a wrong result is a failure.
fn run(line: &CommandLine) -> Result<bool, Failure> {
    match &line.command {
        Command::Bench(flags) => bench::run(flags, &line.common),
        Command::Calls(flags) => bench::calls::run(flags, &line.common),
        Command::Ablations(flags) => bench::ablations::run(flags, &line.common),
        Command::Batch(flags) => bench::batch::run(flags, &line.common),
        Command::Short(cube) => bench::short::run(cube, &line.common),
        Command::Mask(cube) => bench::mask::run(cube, &line.common),
        Command::Parts(flags) => bench::parts::run(flags),
        Command::Transfer(flags) => bench::transfer::run(flags, &line.common),
        Command::Gpus(flags) => bench::gpus::run(flags),
        Command::Papers(papers) => bench::papers::run(papers, &line.common),
    }?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../docs/book/codecs.md");

    /// The words of a command line, in which quotes keep spaces.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for character in line.chars() {
            match character {
                '"' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                _ => words.last_mut().expect("one").push(character),
            }
        }
        words
    }

    #[test]
    fn the_commands_of_the_page_of_codecs_are_commands() {
        let quoted = PAGE.split('`').skip(1).step_by(2);
        let mut commands = 0;
        for line in quoted.filter(|line| line.starts_with("ferrosz-lab ")) {
            let mut words = words(&line.replace('\n', " "));
            // What the reader puts in.
            for word in &mut words {
                if word == "..." {
                    "NYX=nyx.f32:8,8,8".clone_into(word);
                }
            }
            let needs_field =
                words[1] == "papers" && words.last().is_none_or(|word| !word.contains('='));
            if needs_field && words.len() > 2 {
                words.push("NYX=nyx.f32:8,8,8".to_owned());
            }
            if words.len() > 2 {
                let parsed = CommandLine::try_parse_from(&words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
                commands += 1;
            }
        }
        assert!(commands >= 15, "{commands}");
    }
}
