//! The tests of the command for measurements, in one executable.

mod ablations;
mod bench;
#[path = "../../cli/tests/common/mod.rs"]
mod common;
mod papers;
