//! The clock of a block, and the order of two accesses.
//!
//! The clock of a block ticks at each barrier, at each `sync_warp` of one of its warps and at each fence of one of its
//! threads. Accesses of different threads of a block are ordered by a barrier between them or, within a warp, by a
//! [`sync_warp`](crate::Thread::sync_warp): an earlier access is ordered before the present one if its time is before
//! the last of these.
//!
//! Fences and atomic operations can also order accesses to global memory (see `releases.rs`). For each other block, a
//! block stores a time up to which all accesses of the other block are ordered before its own present accesses.
//!
//! One clock serves all blocks that run one after the other in the same slot of resident blocks; it never restarts.

use super::accesses::Access;
use super::fault::Place;
use super::releases::Knowledge;
use crate::WARP;

pub(super) struct Clock {
    block: u32,
    now: u32,
    /// The time at which the present block started.
    started: u32,
    /// The time of the block's last barrier, or of its start.
    barrier: u32,
    /// The time at which each warp last synchronised.
    syncs: [u32; WARP as usize],
    known: Knowledge,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            block: 0,
            now: 0,
            started: 0,
            barrier: 0,
            syncs: [0; WARP as usize],
            known: Knowledge::default(),
        }
    }

    fn tick(&mut self) -> u32 {
        self.now += 1;
        self.now
    }

    pub(super) fn start_block(&mut self, block: u32) {
        self.block = block;
        self.started = self.tick();
        self.barrier = self.started;
        self.known = Knowledge::default();
    }

    pub(super) fn started(&self) -> u32 {
        self.started
    }

    pub(super) fn barrier(&mut self) {
        self.barrier = self.tick();
    }

    pub(super) fn sync_warp(&mut self, warp: u32) {
        self.syncs[warp as usize] = self.tick();
    }

    /// Counts a fence of a thread that has read `seen` by atomic operations before; returns the fence's time.
    pub(super) fn fence(&mut self, seen: &Knowledge) -> u32 {
        self.known.join(seen);
        self.tick()
    }

    /// The knowledge that a thread of this block releases after a fence at time `fence`.
    pub(super) fn released(&self, fence: u32) -> Knowledge {
        let mut released = self.known.clone();
        released.learn(self.block, fence);
        released
    }

    /// A present access of a thread of this block.
    #[inline]
    pub(super) fn access(&self, thread: u32, place: Place) -> Access {
        Access {
            place,
            block: self.block,
            thread,
            time: self.now,
        }
    }

    /// Whether a barrier, a `sync_warp` or program order orders `earlier` before `now`; both are of this block.
    #[inline]
    pub(super) fn orders_in_block(&self, earlier: &Access, now: &Access) -> bool {
        earlier.thread == now.thread
            || earlier.time < self.barrier
            || (earlier.warp() == now.warp() && earlier.time < self.syncs[now.warp() as usize])
    }

    /// Whether anything orders `earlier`, of any block, before `now`, of this block.
    #[inline]
    pub(super) fn orders(&self, earlier: &Access, now: &Access) -> bool {
        (earlier.block == now.block && self.orders_in_block(earlier, now))
            || self.known.covers(earlier)
    }
}

/// Names the operation that is missing between two accesses that the clock does not order.
pub(super) fn not_ordered_by(earlier: &Access, now: &Access) -> &'static str {
    if earlier.block != now.block {
        "no fence and atomic stand between them, which are of different blocks"
    } else if earlier.warp() != now.warp() {
        "no barrier stands between them"
    } else {
        "neither a barrier nor a `sync_warp` stands between them"
    }
}
