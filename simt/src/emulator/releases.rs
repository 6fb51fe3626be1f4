//! What fences and atomic operations order across blocks.
//!
//! A thread that has passed a fence and then writes an item by an atomic operation *releases* to that item all that its
//! block did before the fence, and all that the block had acquired. A thread that reads the item by an atomic operation
//! and then passes a fence *acquires* that for its block.
//!
//! This is coarser than the hardware's rule, under which a fence orders accesses of its own thread and those that a
//! barrier ordered before it: here it does so for the whole block, barrier or not. So a race may be missed, and none is
//! made up.

use std::collections::HashMap;

use super::accesses::Access;

/// Up to what time of each block all that the block did is ordered before what happens now.
#[derive(Clone, Default)]
pub(super) struct Knowledge(HashMap<u32, u32>);

impl Knowledge {
    #[inline]
    pub(super) fn covers(&self, access: &Access) -> bool {
        !self.0.is_empty()
            && self
                .0
                .get(&access.block)
                .is_some_and(|&time| access.time < time)
    }

    pub(super) fn learn(&mut self, block: u32, time: u32) {
        let known = self.0.entry(block).or_default();
        *known = time.max(*known);
    }

    pub(super) fn join(&mut self, other: &Self) {
        for (&block, &time) in &other.0 {
            self.learn(block, time);
        }
    }
}

/// What an atomic operation does to its item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// It reads, and changes nothing.
    Read,
    /// It writes, whatever was there.
    Write,
    /// It makes a new value of the old, and the thread does not get to know the old one.
    Update,
    /// The same, and the thread gets to know the old one.
    ReadAndUpdate,
}

impl Operation {
    pub(super) fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadAndUpdate)
    }

    pub(super) fn writes(self) -> bool {
        self != Self::Read
    }
}

/// What was released to each item of global memory, by address.
#[derive(Default)]
pub(super) struct Releases(HashMap<usize, Knowledge>);

impl Releases {
    /// What a thread that reads the item can acquire.
    pub(super) fn of(&self, item: usize) -> Option<&Knowledge> {
        self.0.get(&item)
    }

    /// An item is written. What is updated carries on what was released to it; what is overwritten does not.
    pub(super) fn write(&mut self, item: usize, operation: Operation, released: Option<Knowledge>) {
        if operation == Operation::Write {
            self.0.remove(&item);
        }
        if let Some(released) = released {
            self.0.entry(item).or_default().join(&released);
        }
    }
}
