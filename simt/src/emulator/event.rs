//! Why a thread hands over to the scheduler.

use std::boxed::Box;

use super::collective::Call;
use super::fault::{Fault, Place};

/// Why a thread hands over to the scheduler.
pub(super) enum Event {
    /// It came to a collective with these operands.
    Waits {
        call: Call,
        value: u32,
        operand: u32,
    },
    /// It waits for another block.
    Spins(Place),
    /// It must not go on.
    Faults(Box<Fault>),
}
