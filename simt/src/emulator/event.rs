//! The reasons why a thread returns to the scheduler.

use std::boxed::Box;

use super::collective::Call;
use super::fault::{Fault, Place};

/// The reason why a thread returns to the scheduler.
pub(super) enum Event {
    /// The thread reached a collective with these operands.
    Waits {
        call: Call,
        value: u32,
        operand: u32,
    },
    /// The thread waits for another block.
    Spins(Place),
    /// The thread broke a rule and must not continue.
    Faults(Box<Fault>),
}
