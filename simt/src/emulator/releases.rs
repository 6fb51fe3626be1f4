//! The order of accesses in different blocks, by fences and atomic operations.
//!
//! A thread that has passed a fence and then writes an item by an atomic operation *releases* to that item all accesses
//! of its block before the fence, and all knowledge that the block had acquired. A thread that reads the item by an
//! atomic operation and then passes a fence *acquires* this knowledge for its block.
//!
//! This is coarser than the hardware's rule. There, a fence orders accesses of its own thread and accesses that a
//! barrier ordered before it; here it orders all accesses of the block. The emulator may therefore miss a race, but it
//! never reports a false one.

use std::collections::HashMap;

use super::accesses::Access;

/// For each block, a time up to which all of its accesses are ordered before the present ones.
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

/// The effect of an atomic operation on its item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Reads the item and does not change it.
    Read,
    /// Writes the item independently of its old value.
    Write,
    /// Computes a new value from the old one, which the thread does not see.
    Update,
    /// Computes a new value from the old one, which the thread sees.
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

/// The knowledge released to each item of global memory, by address.
#[derive(Default)]
pub(super) struct Releases(HashMap<usize, Knowledge>);

impl Releases {
    /// The knowledge that a thread can acquire by reading the item.
    pub(super) fn of(&self, item: usize) -> Option<&Knowledge> {
        self.0.get(&item)
    }

    /// Records a write to an item. An update preserves the knowledge released to the item before; a plain write
    /// discards it.
    pub(super) fn write(&mut self, item: usize, operation: Operation, released: Option<Knowledge>) {
        if operation == Operation::Write {
            self.0.remove(&item);
        }
        if let Some(released) = released {
            self.0.entry(item).or_default().join(&released);
        }
    }
}
