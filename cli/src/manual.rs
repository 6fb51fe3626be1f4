//! `ferrosz completions` and `ferrosz man`, both generated from the definition of the command line.

use crate::args::{CommandLine, Completions, Man};
use crate::{failure::Failure, output};
use clap::CommandFactory;
use clap_mangen::Man as Page;
use std::io;

const NAME: &str = "ferrosz";

/// Prints a shell's completions.
///
/// # Errors
///
/// If standard output cannot be written.
pub fn completions(args: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut CommandLine::command(), NAME, &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

/// Prints a manual page.
///
/// # Errors
///
/// If there is no such command, or standard output cannot be written.
pub fn man(args: &Man) -> Result<(), Failure> {
    let mut whole = CommandLine::command();
    whole.build();
    let page = match &args.command {
        None => whole,
        Some(name) => {
            let found = whole.find_subcommand(name).ok_or_else(|| {
                Failure::usage(format_args!("'{name}' is no command: see `ferrosz --help`"))
            })?;
            found.clone()
        }
    };
    let mut text = Vec::new();
    let rendered = Page::new(page).render(&mut text);
    rendered.map_err(|error: io::Error| Failure::io("write", "the manual page", &error))?;
    output::print(&String::from_utf8_lossy(&text))
}
