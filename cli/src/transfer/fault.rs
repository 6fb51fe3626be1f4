//! Why a transfer failed, and what of it the sender hears.

use crate::{failure::Failure, transfer::broken, transfer::message::MessageError};
use std::fmt;

/// A failure of the receiver. What it says of files and disks stays on this machine.
pub struct Fault {
    /// For the receiver.
    pub failure: Failure,
    /// For the sender.
    pub told: String,
}

impl Fault {
    /// A fault of what the sender asks or sends: both hear of it.
    pub fn of_sender(peer: &str, what: impl fmt::Display) -> Self {
        Self {
            failure: Failure::failed(format_args!("{peer}: {what}")),
            told: what.to_string(),
        }
    }

    /// The fault of a message.
    pub fn of_message(peer: &str, error: MessageError) -> Self {
        match error {
            MessageError::Io(error) => Self {
                failure: broken(peer, &error),
                told: "the connection failed".to_owned(),
            },
            error => Self::of_sender(peer, error),
        }
    }
}

impl From<Failure> for Fault {
    /// A fault of this machine.
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            told: "the receiver could not write its output".to_owned(),
        }
    }
}
