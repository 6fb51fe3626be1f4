//! The errors that end a command.

use std::fmt;
use std::io;
use thiserror::Error;

/// An error that ends a command. Its text names the cause and, if there is one, the remedy.
#[derive(Debug, Error)]
pub enum Failure {
    /// A wrong command line.
    #[error("{0}")]
    Usage(String),
    /// An error while the command ran.
    #[error("{0}")]
    Failed(String),
    /// The reader of a pipe has gone, as `head` does when it has enough.
    #[error("the reader of the output has gone")]
    Closed,
}

impl Failure {
    /// An error of the command line.
    pub fn usage(what: impl fmt::Display) -> Self {
        Self::Usage(what.to_string())
    }

    /// An error while the command ran.
    pub fn failed(what: impl fmt::Display) -> Self {
        Self::Failed(what.to_string())
    }

    /// A failed call of the operating system: `cannot ACTION TARGET: CAUSE`.
    pub fn io(action: &str, target: impl fmt::Display, cause: &io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::failed(format_args!("cannot {action} {target}: {cause}")),
        }
    }

    /// The process's exit status.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) | Self::Closed => 1,
        }
    }
}

impl From<ferrosz::Error> for Failure {
    fn from(error: ferrosz::Error) -> Self {
        match error {
            ferrosz::Error::Io {
                kind: io::ErrorKind::BrokenPipe,
                ..
            } => Self::Closed,
            error => Self::failed(error),
        }
    }
}

impl From<ferrosz_cuszp::Error> for Failure {
    fn from(error: ferrosz_cuszp::Error) -> Self {
        Self::failed(error)
    }
}
