//! Errors of a build.

use std::borrow::ToOwned;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::string::{String, ToString};
use std::vec::Vec;

/// An error of a build.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No compiler for the GPU is installed.
    #[error(
        "no Rust compiler here can make PTX: add the target nvptx64-nvidia-cuda or the component rust-src to a \
         rustup toolchain, or on Debian install rustc-web, cargo-web and rust-web-src"
    )]
    NoCompiler,
    /// The requested compiler is not among those that can make PTX.
    #[error("{wanted} is not here, or cannot make PTX; others: {}", found.join(", "))]
    NoSuchCompiler {
        /// The requested version.
        wanted: String,
        /// The versions of all compilers that can make PTX.
        found: Vec<String>,
    },
    /// No assembler is installed.
    #[error(
        "ptxas is missing: `pip install 'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*'`, or set PTXAS to its path"
    )]
    NoAssembler,
    /// A program failed or could not be started. Its own messages are on standard error.
    #[error("{command}: {reason}")]
    Program {
        /// The command line.
        command: String,
        /// The exit status, or the reason why the program could not be started.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A kernel of a list is not in the PTX.
    #[error("the PTX has no entry point {name}")]
    NoEntryPoint {
        /// The kernel.
        name: String,
    },
    /// PTX that cannot be split into kernels.
    #[error("PTX, line {line}: {reason}")]
    Ptx {
        /// The line, counted from 1.
        line: usize,
        /// The fault of the line.
        reason: String,
    },
    /// The assembler refused a kernel, or did not report on it.
    #[error("ptxas for {chip}: {kernel}: {report}")]
    Assembler {
        /// The kernel.
        kernel: String,
        /// The chip.
        chip: String,
        /// The assembler's report.
        report: String,
    },
}

impl Error {
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::File {
            path: path.to_owned(),
            error,
        }
    }

    pub(super) fn program(command: &Command, reason: impl ToString) -> Self {
        Self::Program {
            command: std::format!("{command:?}"),
            reason: reason.to_string(),
        }
    }
}
