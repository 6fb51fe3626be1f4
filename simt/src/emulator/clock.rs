//! The time of a block, and what orders two accesses.
//!
//! The clock of a block ticks at each barrier, at each `sync_warp` of one of its warps and at each fence of one of its
//! threads. Two accesses of different threads of a block are ordered by a barrier between them or, within a warp, by a
//! [`sync_warp`](crate::Thread::sync_warp): an earlier access is ordered before one that happens now if it was made
//! before the last of these.
//!
//! Accesses to global memory can also be ordered by fences and atomic operations (see `releases.rs`): a block knows up
//! to what time of other blocks all that they did is ordered before all that it does now.
//!
//! One clock serves all blocks that run one after the other in the same place of the machine; it never restarts.

use super::accesses::Access;
use super::fault::Place;
use super::releases::Knowledge;
use crate::WARP;

pub(super) struct Clock {
    block: u32,
    now: u32,
    /// When the present block started.
    started: u32,
    /// When the block last passed a barrier, or started.
    barrier: u32,
    /// When each warp last synchronised.
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

    /// A thread of the block passes a fence, after it read what was released to it as `seen`. The fence's time.
    pub(super) fn fence(&mut self, seen: &Knowledge) -> u32 {
        self.known.join(seen);
        self.tick()
    }

    /// What a thread of this block releases that has passed a fence at time `fence`.
    pub(super) fn released(&self, fence: u32) -> Knowledge {
        let mut released = self.known.clone();
        released.learn(self.block, fence);
        released
    }

    /// An access of a thread of this block that happens now.
    #[inline]
    pub(super) fn access(&self, thread: u32, place: Place) -> Access {
        Access {
            place,
            block: self.block,
            thread,
            time: self.now,
        }
    }

    /// Whether something within the block orders `earlier` before `now`, both of this block.
    #[inline]
    pub(super) fn orders_in_block(&self, earlier: &Access, now: &Access) -> bool {
        earlier.thread == now.thread
            || earlier.time < self.barrier
            || (earlier.warp() == now.warp() && earlier.time < self.syncs[now.warp() as usize])
    }

    /// Whether anything orders `earlier`, of any block, before `now`, which is of this one.
    #[inline]
    pub(super) fn orders(&self, earlier: &Access, now: &Access) -> bool {
        (earlier.block == now.block && self.orders_in_block(earlier, now))
            || self.known.covers(earlier)
    }
}

/// What is missing between two accesses that the clock does not order.
pub(super) fn not_ordered_by(earlier: &Access, now: &Access) -> &'static str {
    if earlier.block != now.block {
        "no fence and atomic stand between them, which are of different blocks"
    } else if earlier.warp() != now.warp() {
        "no barrier stands between them"
    } else {
        "neither a barrier nor a `sync_warp` stands between them"
    }
}
