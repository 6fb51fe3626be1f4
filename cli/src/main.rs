//! The `ferrosz` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ferrosz_cli::main(ferrosz_cli::run)
}
