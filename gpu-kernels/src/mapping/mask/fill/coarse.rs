//! All steps of the coarsest levels, by one block: they have so few cells that a launch for each step would take far
//! longer than the step.

use crate::PACKAGE;
use crate::mapping::mask::fill::{Cells, Team};
use crate::primitives::element::load_own_element;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::mask::fill::{Level, SWEEPS};
use ferrosz_codec::mapping::mask::part::WORD;
use ferrosz_simt::{Kernel, Name, Package, Thread, View, WARP};

/// Threads of the block.
const THREADS: u32 = 512;

/// Cells of a level that is coarse, at most.
pub const MOST_CELLS: u64 = 8 * THREADS as u64;

/// The coarse levels in the workspace, one behind the other.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CoarseLevels {
    /// The finest of them.
    pub first: Level,
    /// How many they are.
    pub count: u32,
    /// The words of their values.
    pub values: View<u32>,
    /// The words of their holes.
    pub holes: View<u32>,
}

impl CoarseLevels {
    /// This level and all coarser ones, without memory.
    pub fn new(first: Level) -> Self {
        let (mut level, mut count) = (first, 1);
        while let Some(coarser) = level.coarser() {
            level = coarser;
            count += 1;
        }
        Self {
            first,
            count,
            values: View::empty(),
            holes: View::empty(),
        }
    }

    /// The cells of all levels.
    pub fn cells(&self) -> u64 {
        self.level(self.count).1
    }

    /// Words of the bits of all levels.
    pub fn words(&self) -> u64 {
        self.level(self.count).2
    }

    /// A level, and how many cells and words of bits there are before its own. Behind the last level, one without cells.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn level(&self, number: u32) -> (Level, u64, u64) {
        let (mut level, mut cells, mut words) = (self.first, 0, 0);
        let mut at = 0;
        while at < number {
            cells += level.cells();
            words += level.cells().div_ceil(u64::from(WORD));
            level = level.coarser().unwrap_or(Level::NONE);
            at += 1;
        }
        (level, cells, words)
    }

    /// A level in the workspace.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn at<E: Element>(&self, number: u32) -> Cells {
        let (level, cells, words) = self.level(number);
        Cells {
            level,
            values: self.values.from(cells * E::WORDS as u64),
            holes: self.holes.from(words),
            count: View::empty(),
        }
    }
}

/// Fills the holes of the coarse levels of a field of `E`. Launched with one block.
pub struct FillCoarse<E>(PhantomData<E>);

/// Parameters of [`FillCoarse`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FillCoarseParams {
    /// The level before them.
    pub finer: Cells,
    /// The levels.
    pub levels: CoarseLevels,
}

/// The warps of a block, with a barrier behind each step.
struct Block;

impl Team for Block {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn warp<T: Thread>(t: T) -> u64 {
        u64::from(t.warp())
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn warps<T: Thread>(_: T) -> u64 {
        u64::from(THREADS / WARP)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn value<T: Thread, E: Element>(t: T, cells: &Cells, cell: u64) -> E {
        load_own_element(t, cells.values, cell)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn for_words<T: Thread>(t: T, cells: &Cells, with: impl Fn(u64, u32)) {
        let mut word = Self::warp(t);
        while word < cells.words() {
            with(word, t.load_own(cells.holes, word));
            word += Self::warps(t);
        }
    }
}

impl<E: Element> Kernel for FillCoarse<E> {
    type Params = FillCoarseParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_mask_coarse", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FillCoarseParams) {
        let FillCoarseParams { finer, levels } = params;
        if !finer.has_holes(t) {
            return;
        }
        // 1. From fine to coarse, up to the first level without holes.
        let (mut finer, mut open) = (*finer, 0);
        let mut has_holes = true;
        while has_holes && open < levels.count {
            let cells = levels.at::<E>(open);
            let found = cells.pull::<T, E, Block>(t, &finer);
            has_holes = t.barrier_or(found > 0);
            finer = cells;
            open += u32::from(has_holes);
        }
        // 2. Back.
        while open > 0 {
            open -= 1;
            let cells = levels.at::<E>(open);
            cells.push::<T, E, Block>(t, &levels.at::<E>(open + 1));
            t.barrier();
            for sweep in 0..t.opaque(2 * SWEEPS) {
                cells.sweep::<T, E, Block>(t, sweep % 2);
                t.barrier();
            }
        }
    }
}
