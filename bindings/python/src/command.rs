//! `command`: the command `ferrosz`, whose executable is the interpreter.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `ferrosz` with these words, of which the first is its name, and returns its exit status. It takes the
/// signals that end the process, so it is for a process that does nothing else.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| ferrosz_cli::status_of(words, ferrosz_cli::run))
}
