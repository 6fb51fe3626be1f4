//! The systems of a fit in shared memory, one for each thread of a block: they are too long for registers.

use ferrosz_codec::predict::stencil::fit::System;
use ferrosz_simt::{Layout, Shared, Thread};

/// The memory of the systems of `threads` threads, each of so many terms at most.
pub(super) const fn systems(terms: usize, threads: u32) -> (Shared<u64>, Layout) {
    let mut layout = Layout::new();
    let numbers = (terms * (terms + 1)) as u32;
    (layout.array("systems", numbers * threads), layout)
}

/// That of a thread of a block of `THREADS`, with so many terms at most.
pub(super) struct InShared<T, const TERMS: usize, const THREADS: u32> {
    pub(super) t: T,
    pub(super) systems: Shared<u64>,
}

impl<T: Thread, const TERMS: usize, const THREADS: u32> InShared<T, TERMS, THREADS> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn at(&self, row: usize, column: usize) -> u32 {
        (row * (TERMS + 1) + column) as u32 * THREADS + self.t.thread_index()
    }
}

impl<T: Thread, const TERMS: usize, const THREADS: u32> System for InShared<T, TERMS, THREADS> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn get(&self, row: usize, column: usize) -> f64 {
        f64::from_bits(self.systems.load(self.t, self.at(row, column)))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set(&mut self, row: usize, column: usize, value: f64) {
        let at = self.at(row, column);
        self.systems.store(self.t, at, value.to_bits());
    }
}
