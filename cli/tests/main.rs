//! The tests of the command, in one executable.

mod axes;
mod bare;
mod bench;
#[path = "../../tests/common/cases.rs"]
#[allow(dead_code, reason = "for tests of other kinds, too")]
mod cases;
mod command;
mod common;
mod complex;
mod frames;
mod hdf5;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(unix)]
mod killed;
#[cfg(target_os = "linux")]
mod large;
mod layouts;
mod levels;
#[cfg(unix)]
mod pages;
mod parts;
mod plan;
mod report;
mod safeguards;
mod stats;
mod transfer;
mod types;
mod user;
mod variables;
mod wavelets;
