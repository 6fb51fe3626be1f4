//! Inputs and outputs: a file, or `-` for a pipe.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file or a pipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Standard input or output, whichever applies.
    Pipe,
    /// A file.
    File(PathBuf),
}

impl Location {
    /// Whether the name ends in `.npy`.
    pub fn is_npy(&self) -> bool {
        match self {
            Self::Pipe => false,
            Self::File(path) => path
                .extension()
                .is_some_and(|suffix| suffix.eq_ignore_ascii_case("npy")),
        }
    }

    /// The name of an output in messages.
    pub fn output_name(&self) -> String {
        match self {
            Self::Pipe => "standard output".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Whether both are the same existing file, even by different paths.
    pub fn is_same_file(&self, other: &Self) -> bool {
        match (self.file(), other.file()) {
            (Some(one), Some(other)) => match (one.canonicalize(), other.canonicalize()) {
                (Ok(one), Ok(other)) => one == other,
                _ => false,
            },
            _ => false,
        }
    }

    fn file(&self) -> Option<&Path> {
        match self {
            Self::Pipe => None,
            Self::File(path) => Some(path),
        }
    }
}

impl From<OsString> for Location {
    fn from(argument: OsString) -> Self {
        if argument == "-" {
            Self::Pipe
        } else {
            Self::File(argument.into())
        }
    }
}

/// The name of an input in messages.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipe => f.write_str("standard input"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}
