//! The system of a fit in shared memory: a warp solves it.

use ferrosz_codec::predict::stencil::fit::System;
use ferrosz_simt::{Layout, Shared, Thread, WARP};

/// The memory of a system of at most so many terms.
pub(super) const fn system(terms: usize) -> (Shared<u64>, Layout) {
    let mut layout = Layout::new();
    (layout.array("system", (terms * (terms + 1)) as u32), layout)
}

/// The system of the warp of a block, with so many terms at most.
pub(super) struct InShared<T, const TERMS: usize> {
    pub(super) t: T,
    pub(super) system: Shared<u64>,
}

impl<T: Thread, const TERMS: usize> InShared<T, TERMS> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn at(row: usize, column: usize) -> u32 {
        (row * (TERMS + 1) + column) as u32
    }
}

impl<T: Thread, const TERMS: usize> System for InShared<T, TERMS> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn get(&self, row: usize, column: usize) -> f64 {
        f64::from_bits(self.system.load(self.t, Self::at(row, column)))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set(&self, row: usize, column: usize, value: f64) {
        let at = Self::at(row, column);
        self.system.store(self.t, at, value.to_bits());
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn each(&self, count: usize, work: impl Fn(usize)) {
        self.t.sync_warp();
        let mut number = self.t.lane() as usize;
        while number < count {
            work(number);
            number += WARP as usize;
        }
        self.t.sync_warp();
    }
}
