//! `command`: the command `ferrosz`, whose executable is the interpreter.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs a command line, whose first word is `ferrosz`, and returns the exit status. The command handles the signals that end
/// the process, so the process must do nothing else.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| ferrosz_cli::status_of(words, ferrosz_cli::run))
}
