//! Values in place of holes, level by level: the cells of `ferrosz_codec::mapping::mask::fill`, a thread a cell.
//!
//! A launch does one step of one level. It reads no cell that another of its threads writes: a sweep reads cells of the
//! other colour only. Holes are found once, and remembered as a bit for each cell. If a level has none, neither have the
//! coarser ones, and their launches end at once. The coarsest levels have few cells, so that one block does all their steps:
//! see [`coarse`].

pub mod coarse;

use crate::PACKAGE;
use crate::primitives::element::{load_element, store_element};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::mask::fill::Level;
use ferrosz_codec::mapping::mask::part::WORD;
use ferrosz_simt::{Kernel, Name, Package, Thread, View, WARP};

/// Threads in a block.
pub const THREADS: u32 = 256;

/// A level in the workspace.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cells {
    /// Its cells.
    pub level: Level,
    /// The words of their values.
    pub values: View<u32>,
    /// Bit i mod 32 of word i div 32 says whether cell i is a hole.
    pub holes: View<u32>,
    /// One number: how many holes there are. 0 at the start.
    pub count: View<u64>,
}

/// The warps that do a step together, and how they read what earlier steps have written.
pub(super) trait Team {
    /// The number of this thread's warp among them.
    fn warp<T: Thread>(t: T) -> u64;
    /// How many they are.
    fn warps<T: Thread>(t: T) -> u64;
    /// The value of a cell.
    fn value<T: Thread, E: Element>(t: T, cells: &Cells, cell: u64) -> E;
    /// Calls `with` with each word of holes of this warp's share, and its number. For a whole warp.
    fn for_words<T: Thread>(t: T, cells: &Cells, with: impl Fn(u64, u32));
}

/// All warps of a launch, which does one step.
pub(super) struct Launch;

impl Team for Launch {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn warp<T: Thread>(t: T) -> u64 {
        u64::from(t.block_index()) * u64::from(THREADS / WARP) + u64::from(t.warp())
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn warps<T: Thread>(t: T) -> u64 {
        u64::from(t.block_count()) * u64::from(THREADS / WARP)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn value<T: Thread, E: Element>(t: T, cells: &Cells, cell: u64) -> E {
        load_element(t, cells.values, cell)
    }

    /// Words without holes are many, so that a warp looks at as many as it has lanes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn for_words<T: Thread>(t: T, cells: &Cells, with: impl Fn(u64, u32)) {
        let mut first = Self::warp(t) * u64::from(WARP);
        while first < cells.words() {
            let word = first + u64::from(t.lane());
            let own = match word < cells.words() {
                true => t.load(cells.holes, word),
                false => 0,
            };
            let mut rest = t.ballot(own != 0);
            while rest != 0 {
                let lane = rest.trailing_zeros();
                rest &= rest - 1;
                with(first + u64::from(lane), t.shuffle(own, lane));
            }
            first += Self::warps(t) * u64::from(WARP);
        }
    }
}

impl Cells {
    /// Whether there are holes, by an earlier launch.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn has_holes<T: Thread>(&self, t: T) -> bool {
        t.load_u64(self.count, 0) > 0
    }

    /// Words of the bits.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn words(&self) -> u64 {
        self.level.cells().div_ceil(WORD as u64)
    }

    /// Calls `with` with each hole of this thread's share, and its position.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn for_holes<T: Thread, M: Team>(&self, t: T, with: impl Fn(u64, [u64; 3])) {
        M::for_words(t, self, |word, holes| {
            if holes >> t.lane() & 1 == 1 {
                let cell = word * u64::from(WORD) + u64::from(t.lane());
                with(cell, self.level.position(cell));
            }
        });
    }

    /// Computes these cells from those of the finer level, and finds the holes. Returns how many this warp has found.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn pull<T: Thread, E: Element, M: Team>(&self, t: T, finer: &Self) -> u32 {
        let mut count = 0;
        let mut word = M::warp(t);
        while word < self.words() {
            let cell = word * u64::from(WORD) + u64::from(t.lane());
            let mut is_hole = false;
            if cell < self.level.cells() {
                let at = self.level.position(cell);
                let value: E = (finer.level).pull(at, |from| M::value(t, finer, from));
                store_element(t, self.values, cell, value);
                is_hole = value.is_hole();
            }
            count += self.set_holes(t, word, is_hole);
            word += M::warps(t);
        }
        count
    }

    /// Sets a word of the holes, and returns their number. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set_holes<T: Thread>(&self, t: T, word: u64, is_hole: bool) -> u32 {
        let holes = t.ballot(is_hole);
        if t.lane() == 0 {
            t.store(self.holes, word, holes);
        }
        holes.count_ones()
    }

    /// Adds the holes that this warp has found.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn add_count<T: Thread>(&self, t: T, count: u32) {
        if t.lane() == 0 && count > 0 {
            t.atomic_add(self.count, 0, u64::from(count));
        }
    }

    /// Gives the holes values from those of the coarser level, which has no cells if there is none.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn push<T: Thread, E: Element, M: Team>(&self, t: T, coarser: &Self) {
        self.for_holes::<T, M>(t, |cell, at| {
            let value = match coarser.level.cells() {
                0 => E::ZERO,
                _ => (self.level).push(&coarser.level, at, |from| M::value(t, coarser, from)),
            };
            store_element(t, self.values, cell, value);
        });
    }

    /// Sets the holes of a colour to the means of their neighbours.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn sweep<T: Thread, E: Element, M: Team>(&self, t: T, colour: u32) {
        self.for_holes::<T, M>(t, |cell, at| {
            if Level::has_colour(at, colour) {
                let mean: Option<E> = self.level.mean(at, 1, |from| M::value(t, self, from));
                if let Some(mean) = mean {
                    store_element(t, self.values, cell, mean);
                }
            }
        });
    }
}

/// Words of holes that a warp finds at once.
const IN_FLIGHT: usize = 8;

/// Finds the holes of a field of `E`. Launched with any number of blocks.
pub struct FindHoles<E>(PhantomData<E>);

/// Parameters of [`FindHoles`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FindHolesParams {
    /// The field. Its bits and its count are the output.
    pub cells: Cells,
    /// A number above 0 if there are holes.
    pub any_holes: View<u64>,
}

impl<E: Element> Kernel for FindHoles<E> {
    type Params = FindHolesParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_mask_holes", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FindHolesParams) {
        if t.load_u64(params.any_holes, 0) == 0 {
            return;
        }
        let cells = &params.cells;
        let mut count = 0;
        let mut first = Launch::warp(t) * IN_FLIGHT as u64;
        while first < cells.words() {
            let holes: [bool; IN_FLIGHT] = core::array::from_fn(|i| {
                let cell = (first + i as u64) * u64::from(WORD) + u64::from(t.lane());
                cell < cells.level.cells() && Launch::value::<T, E>(t, cells, cell).is_hole()
            });
            let mut own = 0;
            for (i, is_hole) in holes.iter().enumerate() {
                let word = t.ballot(*is_hole);
                count += word.count_ones();
                if t.lane() == i as u32 {
                    own = word;
                }
            }
            let word = first + u64::from(t.lane());
            if t.lane() < IN_FLIGHT as u32 && word < cells.words() {
                t.store(cells.holes, word, own);
            }
            first += Launch::warps(t) * IN_FLIGHT as u64;
        }
        cells.add_count(t, count);
    }
}

/// Two levels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LevelsParams {
    /// A level.
    pub finer: Cells,
    /// The next one. Without cells if there is none.
    pub coarser: Cells,
}

/// Computes the cells of the coarser level of `E`, and finds its holes. Launched with any number of blocks.
pub struct Pull<E>(PhantomData<E>);

impl<E: Element> Kernel for Pull<E> {
    type Params = LevelsParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_mask_pull", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &LevelsParams) {
        let LevelsParams { finer, coarser } = params;
        if finer.has_holes(t) {
            let count = coarser.pull::<T, E, Launch>(t, finer);
            coarser.add_count(t, count);
        }
    }
}

/// Sets the holes of the finer level of `E` from the coarser one. Launched with any number of blocks.
pub struct Push<E>(PhantomData<E>);

impl<E: Element> Kernel for Push<E> {
    type Params = LevelsParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_mask_push", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &LevelsParams) {
        let LevelsParams { finer, coarser } = params;
        if finer.has_holes(t) {
            finer.push::<T, E, Launch>(t, coarser);
        }
    }
}

/// Sets the holes of one colour of a level of `E` to the means of their neighbours. Launched with any number of blocks.
pub struct Sweep<E>(PhantomData<E>);

/// Parameters of [`Sweep`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SweepParams {
    /// The level.
    pub cells: Cells,
    /// The colour, 0 or 1.
    pub colour: u32,
}

impl<E: Element> Kernel for Sweep<E> {
    type Params = SweepParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_mask_sweep", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &SweepParams) {
        let cells = &params.cells;
        if cells.has_holes(t) {
            cells.sweep::<T, E, Launch>(t, params.colour);
        }
    }
}
