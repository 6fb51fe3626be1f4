//! What a kernel did wrong, and where.

use core::{error::Error, fmt, panic::Location};
use std::{boxed::Box, string::String};

/// A place in the kernel's source.
pub(super) type Place = &'static Location<'static>;

/// The rule that a kernel broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// A part of a warp reached a collective, the rest finished or waits elsewhere.
    DivergentCollective,
    /// A part of a block reached a barrier, the rest finished or waits elsewhere.
    DivergentBarrier,
    /// A shuffle's distance is 32 or more, of which the hardware would take the low five bits.
    ShuffleOutOfRange,
    /// A shared access past the words that the block asked for.
    SharedOutOfBounds,
    /// A global access outside its view.
    ViewOutOfBounds,
    /// An access at an address that its width does not divide.
    Misaligned,
    /// A read of shared memory that nobody wrote.
    UninitialisedShared,
    /// Two threads touched a shared word, one wrote it, and nothing orders the two.
    SharedRace,
    /// A load of memory that no thread of the launch may write, and a write of it.
    StaleRead,
    /// Two threads touched the same bytes of global memory, one wrote them, and nothing orders the two.
    GlobalRace,
    /// A thread waits although nothing can change any more.
    EndlessSpin,
    /// The kernel panicked.
    Panicked,
    /// The host has no memory mappings left for the stacks of so many resident threads.
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
            Self::Panicked => "panic",
            Self::OutOfStacks => "out of stacks",
        })
    }
}

/// A broken rule and what exactly broke it; whoever knows the thread makes it a [`Fault`].
pub(super) struct Problem {
    pub(super) kind: FaultKind,
    pub(super) detail: String,
    pub(super) other: Option<OtherSide>,
}

impl Problem {
    /// Boxed, for the sake of the accesses that go well.
    #[cold]
    pub(super) fn new(kind: FaultKind, detail: String) -> Box<Self> {
        Box::new(Self {
            kind,
            detail,
            other: None,
        })
    }

    /// The same, of something that two threads did wrong.
    #[cold]
    pub(super) fn between(kind: FaultKind, detail: String, other: OtherSide) -> Box<Self> {
        Box::new(Self {
            kind,
            detail,
            other: Some(other),
        })
    }
}

/// The thread that came first to what two threads may not do unordered, and where it did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherSide {
    /// Its block.
    pub block: u32,
    /// Its number in the block.
    pub thread: u32,
    /// The place in the kernel's source.
    pub location: &'static Location<'static>,
}

/// Why a launch was stopped.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The rule that was broken.
    pub kind: FaultKind,
    /// The kernel's name.
    pub kernel: &'static str,
    /// The block in which it happened.
    pub block: u32,
    /// The thread, by its number in the block, that was stopped.
    pub thread: u32,
    /// Where in the kernel's source the thread stood; not known of a panic.
    pub location: Option<&'static Location<'static>>,
    /// What exactly was wrong.
    pub detail: String,
    /// The other thread of a race, which is the same one if a thread loads what it writes itself.
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
