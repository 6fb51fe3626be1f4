//! Collective operations and their calls in the source.

use core::fmt;

use super::fault::Place;

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collective {
    Shuffle,
    ShuffleUp,
    ShuffleDown,
    ShuffleXor,
    Ballot,
    ReduceMax,
    ReduceAdd,
    ReduceOr,
    Any,
    SyncWarp,
    Barrier,
    BarrierOr,
}

impl Collective {
    pub(super) fn is_of_block(self) -> bool {
        matches!(self, Self::Barrier | Self::BarrierOr)
    }
}

/// A call of a collective; threads at equal calls run it together.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) collective: Collective,
    pub(super) place: Place,
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        // A place can have several `Location`s, one in each instantiation of its function; most often there is one.
        self.collective == other.collective
            && (core::ptr::eq(self.place, other.place) || self.place == other.place)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.collective {
            Collective::Shuffle => "shuffle",
            Collective::ShuffleUp => "shuffle_up",
            Collective::ShuffleDown => "shuffle_down",
            Collective::ShuffleXor => "shuffle_xor",
            Collective::Ballot => "ballot",
            Collective::ReduceMax => "reduce_max",
            Collective::ReduceAdd => "reduce_add",
            Collective::ReduceOr => "reduce_or",
            Collective::Any => "any",
            Collective::SyncWarp => "sync_warp",
            Collective::Barrier => "barrier",
            Collective::BarrierOr => "barrier_or",
        };
        write!(f, "`{name}` at {}", self.place)
    }
}
