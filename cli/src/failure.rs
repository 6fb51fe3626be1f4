//! Why a command ends without success.

use std::fmt;
use std::io;
use thiserror::Error;

/// Why a command ends without success; its text says what to do.
#[derive(Debug, Error)]
pub enum Failure {
    /// The command line cannot mean anything.
    #[error("{0}")]
    Usage(String),
    /// Something went wrong on the way.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    /// A command line that cannot mean anything.
    pub fn usage(what: impl fmt::Display) -> Self {
        Self::Usage(what.to_string())
    }

    /// Something that went wrong on the way.
    pub fn failed(what: impl fmt::Display) -> Self {
        Self::Failed(what.to_string())
    }

    /// A call of the operating system that failed: `cannot ACTION TARGET: CAUSE`.
    pub fn io(action: &str, target: impl fmt::Display, cause: &io::Error) -> Self {
        Self::failed(format_args!("cannot {action} {target}: {cause}"))
    }

    /// The process's exit status.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
        }
    }
}

impl From<ferrosz::Error> for Failure {
    fn from(error: ferrosz::Error) -> Self {
        Self::failed(error)
    }
}

impl From<ferrosz_cuszp::Error> for Failure {
    fn from(error: ferrosz_cuszp::Error) -> Self {
        Self::failed(error)
    }
}
