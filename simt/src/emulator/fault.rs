//! Faults of kernels.

use core::{error::Error, fmt, panic::Location};
use std::{boxed::Box, string::String};

/// A place in the kernel's source.
pub(super) type Place = &'static Location<'static>;

/// The rule that a kernel broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// A part of a warp reached a collective; the rest finished or waits elsewhere.
    DivergentCollective,
    /// A part of a block reached a barrier; the rest finished or waits elsewhere.
    DivergentBarrier,
    /// A shuffle has a distance of 32 or more; the hardware would use the low five bits.
    ShuffleOutOfRange,
    /// An access to shared memory beyond the words of the block.
    SharedOutOfBounds,
    /// An access to global memory outside of its view.
    ViewOutOfBounds,
    /// An access at an address that is no multiple of the access's width.
    Misaligned,
    /// A read of shared memory that no thread wrote.
    UninitialisedShared,
    /// Two threads accessed a word of shared memory, at least one wrote it, and nothing orders the accesses.
    SharedRace,
    /// A load of memory that no thread of the launch may write, and a write to it.
    StaleRead,
    /// Two threads accessed the same bytes of global memory, at least one wrote them, and nothing orders the accesses.
    GlobalRace,
    /// A thread waits, although nothing changes any more.
    EndlessSpin,
    /// A launch without blocks, which a GPU refuses.
    EmptyGrid,
    /// The kernel panicked.
    Panicked,
    /// The host has no memory mappings left for the stacks of all resident threads.
    OutOfStacks,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DivergentCollective => "divergent collective",
            Self::DivergentBarrier => "divergent barrier",
            Self::ShuffleOutOfRange => "shuffle out of range",
            Self::SharedOutOfBounds => "shared memory access out of bounds",
            Self::ViewOutOfBounds => "view access out of bounds",
            Self::Misaligned => "misaligned access",
            Self::UninitialisedShared => "read of uninitialised shared memory",
            Self::SharedRace => "race on shared memory",
            Self::StaleRead => "load of global memory that the launch writes",
            Self::GlobalRace => "race on global memory",
            Self::EndlessSpin => "endless spin",
            Self::EmptyGrid => "empty grid",
            Self::Panicked => "panic",
            Self::OutOfStacks => "out of stacks",
        })
    }
}

/// A broken rule with details; the caller that knows the thread makes it a [`Fault`].
pub(super) struct Problem {
    pub(super) kind: FaultKind,
    pub(super) detail: String,
    pub(super) other: Option<OtherSide>,
}

impl Problem {
    /// Boxed, so that the result of a correct access is small.
    #[cold]
    pub(super) fn new(kind: FaultKind, detail: String) -> Box<Self> {
        Box::new(Self {
            kind,
            detail,
            other: None,
        })
    }

    /// A problem of two threads, with the access of the other one.
    #[cold]
    pub(super) fn between(kind: FaultKind, detail: String, other: OtherSide) -> Box<Self> {
        Box::new(Self {
            kind,
            detail,
            other: Some(other),
        })
    }
}

/// The earlier access of two unordered ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherSide {
    /// The thread's block.
    pub block: u32,
    /// The thread's number in the block.
    pub thread: u32,
    /// The place in the kernel's source.
    pub location: &'static Location<'static>,
}

/// The reason why a launch was stopped.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The broken rule.
    pub kind: FaultKind,
    /// The kernel's name.
    pub kernel: &'static str,
    /// The block of the stopped thread.
    pub block: u32,
    /// The stopped thread, by its number in the block.
    pub thread: u32,
    /// The thread's place in the kernel's source; unknown for a panic.
    pub location: Option<&'static Location<'static>>,
    /// The details of the fault.
    pub detail: String,
    /// The other access of a race; it is of the same thread if a thread loads memory that it writes itself.
    pub other: Option<OtherSide>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in kernel {}, block {}, thread {}",
            self.kind, self.kernel, self.block, self.thread
        )?;
        if let Some(location) = self.location {
            write!(f, ", at {location}")?;
        }
        write!(f, ": {}", self.detail)
    }
}

impl Error for Fault {}
