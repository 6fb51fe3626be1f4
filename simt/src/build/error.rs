//! What stops a build.

use std::borrow::ToOwned;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::string::{String, ToString};
use std::vec::Vec;

/// What stops a build.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no compiler for the GPU.
    #[error(
        "no Rust compiler here can make PTX: add the target nvptx64-nvidia-cuda or the component rust-src to a \
         rustup toolchain, or on Debian install rustc-web, cargo-web and rust-web-src"
    )]
    NoCompiler,
    /// The compiler that is asked for is not among those that can make PTX.
    #[error("{wanted} is not here, or cannot make PTX; others: {}", found.join(", "))]
    NoSuchCompiler {
        /// The version that is asked for.
        wanted: String,
        /// The versions of all that can make PTX.
        found: Vec<String>,
    },
    /// There is no assembler.
    #[error(
        "ptxas is missing: `pip install 'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*'`, or set PTXAS to its path"
    )]
    NoAssembler,
    /// A program fails, or does not run at all. It has said more on the standard error output.
    #[error("{command}: {reason}")]
    Program {
        /// Its command line.
        command: String,
        /// How it ended.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A kernel of a list is not in the PTX.
    #[error("the PTX has no entry point {name}")]
    NoEntryPoint {
        /// The kernel.
        name: String,
    },
    /// PTX that cannot be taken apart.
    #[error("PTX, line {line}: {reason}")]
    Ptx {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The assembler refuses a kernel, or says nothing of it.
    #[error("ptxas for {chip}: {kernel}: {report}")]
    Assembler {
        /// The kernel.
        kernel: String,
        /// The chip.
        chip: String,
        /// What the assembler says.
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
