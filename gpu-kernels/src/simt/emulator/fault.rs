//! What a kernel did wrong.

use core::fmt;
use std::panic::Location;
use std::string::String;

/// Which rule a kernel broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A warp's collective was reached by part of the warp, or by its lanes at different places.
    DivergentCollective,
    /// A barrier was reached by part of the block, or by its threads at different places.
    DivergentBarrier,
    /// An access beyond the block's shared memory.
    SharedOutOfBounds,
    /// An access beyond a view of global memory.
    ViewOutOfBounds,
    /// An access to four words at an address that is not a multiple of 16.
    Misaligned,
    /// Shared memory was read before anybody wrote it.
    UninitialisedShared,
    /// Two threads touched a word of shared memory, at least one of them writing, with nothing to
    /// order the two.
    SharedRace,
    /// A thread waits for what never comes.
    EndlessSpin,
    /// The kernel panicked.
    Panicked,
}

impl FaultKind {
    fn text(self) -> &'static str {
        match self {
            Self::DivergentCollective => "divergent collective",
            Self::DivergentBarrier => "divergent barrier",
            Self::SharedOutOfBounds => "shared memory out of bounds",
            Self::ViewOutOfBounds => "global memory out of bounds",
            Self::Misaligned => "misaligned access",
            Self::UninitialisedShared => "uninitialised shared memory read",
            Self::SharedRace => "race in shared memory",
            Self::EndlessSpin => "endless spin",
            Self::Panicked => "panic",
        }
    }
}

/// A broken rule: which, where and by whom.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Which rule.
    pub kind: FaultKind,
    /// The kernel's name.
    pub kernel: &'static str,
    /// The block.
    pub block: u32,
    /// The thread, by its number in the block.
    pub thread: u32,
    /// The place in the source, where one is to blame.
    pub location: Option<&'static Location<'static>>,
    /// What exactly.
    pub detail: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            kernel,
            block,
            thread,
            location,
            detail,
        } = self;
        write!(
            f,
            "{} in {kernel}, block {block}, thread {thread}",
            kind.text()
        )?;
        if let Some(location) = location {
            write!(f, ", at {location}")?;
        }
        write!(f, ": {detail}")
    }
}

impl std::error::Error for Fault {}
