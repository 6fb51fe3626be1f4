//! The data that all threads of a launch share.

use core::cell::{Cell, RefCell};

use super::fault::{Fault, Place, Problem};
use super::global::GlobalShadow;

/// The data that all threads of a launch share.
pub(super) struct Launch {
    kernel: &'static str,
    /// All blocks of the grid, and all threads of a block.
    pub(super) blocks: u32,
    pub(super) threads: u32,
    pub(super) blocks_along: [u32; 3],
    pub(super) threads_along: [u32; 3],
    pub(super) shared_words: u32,
    /// The number of events that a spinning thread may wait for: changes of global memory, and starts and ends of
    /// blocks.
    pub(super) changes: Cell<u64>,
    /// None if the shadow of global memory is turned off.
    pub(super) global: Option<RefCell<GlobalShadow>>,
}

impl Launch {
    pub(super) fn new(
        kernel: &'static str,
        blocks_along: [u32; 3],
        threads_along: [u32; 3],
        shared_words: u32,
    ) -> Self {
        let all = |along: [u32; 3]| {
            let all = along.into_iter().try_fold(1u32, u32::checked_mul);
            all.expect("a grid of fewer than 2^32 blocks and threads")
        };
        Self {
            kernel,
            blocks: all(blocks_along),
            threads: all(threads_along),
            blocks_along,
            threads_along,
            shared_words,
            changes: Cell::new(0),
            global: None,
        }
    }

    /// Adds a shadow of global memory to the launch.
    pub(super) fn shadowed(mut self) -> Self {
        self.global = Some(RefCell::new(GlobalShadow::new()));
        self
    }

    #[inline]
    pub(super) fn note_change(&self) {
        self.changes.set(self.changes.get() + 1);
    }

    pub(super) fn fault(
        &self,
        block: u32,
        thread: u32,
        location: Option<Place>,
        problem: Problem,
    ) -> Fault {
        Fault {
            kind: problem.kind,
            kernel: self.kernel,
            block,
            thread,
            location,
            detail: problem.detail,
            other: problem.other,
        }
    }
}
