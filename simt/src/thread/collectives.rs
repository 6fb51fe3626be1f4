//! Collective operations.

use crate::thread::Ids;

/// Collective operations of a warp or of a block.
///
/// All 32 threads of a warp must reach a warp's collective together, at the same point of the source. All threads of
/// the block must reach [`barrier`] and [`barrier_or`].
///
/// [`barrier`]: Collectives::barrier
/// [`barrier_or`]: Collectives::barrier_or
pub trait Collectives: Ids {
    /// The `value` of lane `source % 32`.
    fn shuffle(self, value: u32, source: u32) -> u32;
    /// The `value` of the lane `delta` below; lanes less than `delta` return their own.
    fn shuffle_up(self, value: u32, delta: u32) -> u32;
    /// The `value` of the lane `delta` above; the last `delta` lanes return their own.
    fn shuffle_down(self, value: u32, delta: u32) -> u32;
    /// The `value` of lane `lane ^ mask`.
    fn shuffle_xor(self, value: u32, mask: u32) -> u32;
    /// Bit *i* is lane *i*'s `predicate`.
    fn ballot(self, predicate: bool) -> u32;
    /// The largest `value` of the warp.
    fn reduce_max(self, value: u32) -> u32;
    /// The sum of the warp's `value`s, modulo 2^32.
    fn reduce_add(self, value: u32) -> u32;
    /// The bitwise or of the warp's `value`s.
    fn reduce_or(self, value: u32) -> u32;
    /// Whether any lane's `predicate` holds.
    fn any(self, predicate: bool) -> bool;
    /// Orders the warp's accesses to memory before the call and after it.
    fn sync_warp(self);

    /// Orders the block's accesses to memory before the call and after it.
    fn barrier(self);
    /// A [`barrier`](Collectives::barrier) that returns whether any thread's `predicate` holds.
    fn barrier_or(self, predicate: bool) -> bool;
}
