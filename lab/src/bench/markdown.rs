//! Tables for the documents.

use ferrosz_cli::{failure::Failure, output};
use std::fmt::Arguments;

/// Prints the heading of a table: its columns, with bars between.
///
/// # Errors
///
/// If standard output cannot be written, here and below.
pub fn heading(columns: &str) -> Result<(), Failure> {
    let rule = vec!["---"; columns.split('|').count()].join(" | ");
    output::print(&format!("| {columns} |\n| {rule} |\n"))
}

/// Prints a row: its cells, with bars between.
pub fn row(cells: Arguments<'_>) -> Result<(), Failure> {
    output::print(&format!("| {cells} |\n"))
}
