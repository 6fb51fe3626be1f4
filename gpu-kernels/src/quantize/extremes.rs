//! Smallest and largest finite value of a field, and the quantiser that follows from them; with them the census of the
//! field, by which a preset keeps zeros and signs: the field is read once.
//!
//! Every block raises two cells of the workspace to its own extremes. The block that ends last resolves
//! the error bound, so that compression can follow without asking the host.

use crate::PACKAGE;
use crate::pipeline::blocks::staged_chunk::UNIT_WORDS;
use crate::pipeline::cells;
use crate::primitives::element::by_width;
use crate::primitives::scan::{warp_max_u64, warp_sum_u64};
use core::marker::PhantomData;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header_words::error_term;
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::mapping::census::Census;
use ferrosz_codec::{Bound, BoundMode, Element};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Finds the extremes of a field of `E`. Launched with any number of blocks.
pub struct FindExtremes<E>(PhantomData<E>);

/// Parameters of [`FindExtremes`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExtremesParams {
    /// The field, 16-byte aligned.
    pub input: View<u32>,
    /// Elements of the field.
    pub elements: u64,
    /// The workspace: see [`cells`]. Those of [`cells::OF_EXTREMES`] and [`cells::OF_CENSUS`] are 0.
    pub cells: View<u64>,
    /// The bound's number.
    pub bound: f64,
    /// The sum of the words that make the header's identity, with 0 for the error.
    pub header_sum: u64,
    /// The bound's mode, or [`NO_BOUND`].
    pub mode: u32,
    /// Not 0 if the census is taken.
    pub census: u32,
}

/// Instead of a bound's mode: none is resolved.
pub const NO_BOUND: u32 = u32::MAX;

/// Threads in a block.
pub const THREADS: u32 = 256;

/// Warps in a block.
const WARPS: u32 = THREADS / WARP;

/// Units that a thread reads before it looks at the first.
const IN_FLIGHT: usize = 4;

/// The shared memory of a block: the warps' extremes for each of the two cells.
const SHARED: (Shared<u64>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("cells of warps", 2 * WARPS), layout)
};

impl<E: Element> Kernel for FindExtremes<E> {
    type Params = ExtremesParams;
    const NAME: &'static str = const { &Name::of(&["ferrosz_extremes", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ExtremesParams) {
        Self::clear(t, params.cells);
        let (seen, census) = Self::see_all(t, params);
        if params.census != 0 {
            Self::add_census(t, params.cells, census);
        }
        let seen = seen.to_cells();
        let largest = [warp_max_u64(t, seen[0]), warp_max_u64(t, seen[1])];
        if t.lane() == 0 {
            for (i, cell) in (0..).zip(&largest) {
                SHARED.0.store(t, WARPS * i + t.warp(), *cell);
            }
        }
        t.barrier();
        if t.warp() == 0 {
            for i in 0..2 {
                let mut cell = 0;
                if t.lane() < WARPS {
                    cell = SHARED.0.load(t, WARPS * i + t.lane());
                }
                let largest = warp_max_u64(t, cell);
                if t.lane() == 0 && largest != 0 {
                    t.atomic_max(params.cells, cells::EXTREMES + u64::from(i), largest);
                }
            }
        }
        if t.thread_index() == 0 {
            t.fence();
            let done = t.atomic_add(params.cells, cells::EXTREMES_DONE, 1);
            if done + 1 == u64::from(t.block_count()) {
                t.fence();
                Self::finish(t, params);
            }
        }
    }
}

impl<E: Element> FindExtremes<E> {
    /// Clears the cells for the launch that follows, but for those of this kernel, which leaves them clear
    /// when it ends: so a call needs no launch for that alone.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn clear<T: Thread>(t: T, cells: View<u64>) {
        let threads = u64::from(t.block_count()) * u64::from(THREADS);
        let mut cell =
            u64::from(t.block_index()) * u64::from(THREADS) + u64::from(t.thread_index());
        while cell < cells.len() {
            let is_own = (cells::OF_EXTREMES.start..cells::IDENTITY + 1).contains(&cell)
                || cells::OF_CENSUS.contains(&cell);
            if !is_own {
                t.atomic_store(cells, cell, 0);
            }
            cell += threads;
        }
    }

    /// This thread's share of the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn see_all<T: Thread>(t: T, params: &ExtremesParams) -> (Extremes<E>, Census) {
        let threads = u64::from(t.block_count()) * u64::from(THREADS);
        let thread = u64::from(t.block_index()) * u64::from(THREADS) + u64::from(t.thread_index());
        let (mut seen, mut census) = (Extremes::default(), Census::default());
        see_share(t, params.input, params.elements, thread, threads, |value| {
            seen.see(value);
            if params.census != 0 {
                census.see(value);
            }
        });
        (seen, census)
    }

    /// Adds the census of a warp. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn add_census<T: Thread>(t: T, cells: View<u64>, census: Census) {
        let counts = [census.present, census.zeros, census.negatives];
        for (cell, count) in (cells::OF_CENSUS.start..).zip(&counts) {
            let of_warp = warp_sum_u64(t, *count);
            if t.lane() == 0 && of_warp > 0 {
                t.atomic_add(cells, cell, of_warp);
            }
        }
    }

    /// Leaves what all have seen, and clears the cells of the search. For one thread, after all have seen their share.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn finish<T: Thread>(t: T, params: &ExtremesParams) {
        let found =
            core::array::from_fn(|i| t.atomic_load(params.cells, cells::EXTREMES + i as u64));
        if params.mode != NO_BOUND {
            Self::resolve(t, params, &Extremes::from_cells(found));
        }
        for (cell, seen) in (cells::SEEN_EXTREMES..).zip(&found) {
            t.atomic_store(params.cells, cell, *seen);
        }
        for (to, cell) in (cells::SEEN_CENSUS..).zip(cells::OF_CENSUS) {
            let count = t.atomic_load(params.cells, cell);
            t.atomic_store(params.cells, to, count);
            t.atomic_store(params.cells, cell, 0);
        }
        for cell in cells::OF_EXTREMES {
            t.atomic_store(params.cells, cell, 0);
        }
    }

    /// Resolves the bound. For one thread.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn resolve<T: Thread>(t: T, params: &ExtremesParams, extremes: &Extremes<E>) {
        let quantizer = resolve(params.mode, params.bound, extremes);
        for (i, bits) in (0..).zip(&quantizer) {
            t.atomic_store(params.cells, cells::QUANTIZER + i, *bits);
        }
        t.atomic_store(params.cells, cells::RANGE, extremes.range_down().to_bits());
        // The first of the quantiser's numbers is the error.
        let identity = Identity::of_sum(params.header_sum.wrapping_add(error_term(quantizer[0])));
        t.atomic_store(params.cells, cells::IDENTITY, identity.0);
    }
}

/// The bits of the quantiser of a bound, given by its mode's number and its own, on a field with these extremes.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn resolve<E: Element>(mode: u32, bound: f64, extremes: &Extremes<E>) -> [u64; 3] {
    let mode = BoundMode::from_id(mode as u8).unwrap_or(BoundMode::Abs);
    // The host has checked the bound; a wrong one would come out as lossless.
    Bound::new(mode, bound)
        .or(Bound::abs(0.0))
        .map(|bound| bound.resolve(extremes).to_bits())
        .unwrap_or_default()
}

/// Calls `see` with each element of the share of a field that thread number `thread` of `threads` has. The field is 16-byte
/// aligned.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn see_share<T: Thread, E: Element>(
    t: T,
    input: View<u32>,
    elements: u64,
    thread: u64,
    threads: u64,
    mut see: impl FnMut(E),
) {
    let words = elements * E::WORDS as u64;
    let units = words / u64::from(UNIT_WORDS);
    let mut unit = thread;
    while unit + (IN_FLIGHT as u64 - 1) * threads < units {
        let batch: [[u32; 4]; IN_FLIGHT] =
            core::array::from_fn(|i| t.load4(input, unit + i as u64 * threads));
        for words in &batch {
            see_unit(&mut see, *words);
        }
        unit += IN_FLIGHT as u64 * threads;
    }
    while unit < units {
        see_unit(&mut see, t.load4(input, unit));
        unit += threads;
    }
    let mut word = units * u64::from(UNIT_WORDS) + thread * E::WORDS as u64;
    if word < words {
        let low = t.load(input, word);
        word += E::WORDS as u64 - 1;
        see(E::from_words([low, t.load(input, word)]));
    }
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn see_unit<E: Element>(see: &mut impl FnMut(E), words: [u32; 4]) {
    if E::WORDS == 1 {
        for word in &words {
            see(E::from_words([*word, 0]));
        }
    } else {
        see(E::from_words([words[0], words[1]]));
        see(E::from_words([words[2], words[3]]));
    }
}
