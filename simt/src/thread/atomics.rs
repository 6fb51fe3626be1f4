//! Atomic operations on global memory.

use crate::View;
use crate::thread::Ids;

/// `u32` or `u64`.
pub trait AtomicWord: Copy + Eq + Ord + sealed::Sealed {
    /// The low bits of a number.
    fn from_low(number: u64) -> Self;
    /// The same number.
    fn widened(self) -> u64;
    /// The sum modulo 2^32 or 2^64.
    fn wrapping_sum(self, other: Self) -> Self;
    /// The bits of both.
    fn union(self, other: Self) -> Self;
}

impl AtomicWord for u32 {
    #[inline(always)]
    fn from_low(number: u64) -> Self {
        number as Self
    }
    #[inline(always)]
    fn widened(self) -> u64 {
        self.into()
    }
    #[inline(always)]
    fn wrapping_sum(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn union(self, other: Self) -> Self {
        self | other
    }
}

impl AtomicWord for u64 {
    #[inline(always)]
    fn from_low(number: u64) -> Self {
        number
    }
    #[inline(always)]
    fn widened(self) -> u64 {
        self
    }
    #[inline(always)]
    fn wrapping_sum(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn union(self, other: Self) -> Self {
        self | other
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// Atomic operations on items of global memory: relaxed order, scope of the GPU. [`fence`](Atomics::fence) orders other
/// accesses relative to them.
pub trait Atomics: Ids {
    /// Atomically reads an item.
    fn atomic_load<W: AtomicWord>(self, view: View<W>, index: u64) -> W;
    /// Atomically writes an item.
    fn atomic_store<W: AtomicWord>(self, view: View<W>, index: u64, value: W);
    /// Atomically adds to an item, modulo 2^32 or 2^64; returns the value before.
    fn atomic_add<W: AtomicWord>(self, view: View<W>, index: u64, value: W) -> W;
    /// Atomically raises an item to at least `value`.
    fn atomic_max<W: AtomicWord>(self, view: View<W>, index: u64, value: W);
    /// Atomically lowers an item to at most `value`.
    fn atomic_min<W: AtomicWord>(self, view: View<W>, index: u64, value: W);
    /// Atomically sets bits of an item.
    fn atomic_or<W: AtomicWord>(self, view: View<W>, index: u64, bits: W);
    /// Atomically writes an item; returns the value before.
    fn atomic_exchange<W: AtomicWord>(self, view: View<W>, index: u64, value: W) -> W;
    /// Atomically writes an item if its value is `expected`; returns the value before.
    fn atomic_compare_exchange<W: AtomicWord>(
        self,
        view: View<W>,
        index: u64,
        expected: W,
        value: W,
    ) -> W;
    /// Orders this thread's accesses to global memory before the fence and after it, for the whole GPU.
    fn fence(self);
    /// Hints that this thread waits for another block.
    fn spin_hint(self);
}
