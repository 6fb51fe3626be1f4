//! Tuning, first half: the scores of candidates on sample tiles.
//!
//! A sample tile is predicted as any other, but its codes are only counted: see
//! [`ferrosz_codec::predict::interp::tune`].

use crate::PACKAGE;
use crate::predict::interp::anchors::Anchor;
use crate::predict::interp::method::{Method, Splines};
use crate::predict::interp::predict::begin_fill;
use crate::predict::interp::residuals::{Position, Residuals, TileSetup, encode_each};
use crate::predict::interp::sampled::Sampled;
use crate::predict::interp::stages::Staged;
use crate::predict::interp::values::Values;
use crate::predict::interp::{InterpParams, THREADS};
use crate::primitives::element::by_width;
use crate::primitives::scan::warp_sum_u64;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::shifts::{LEVELS, MAX_ODDNESS};
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::WORDS;
use ferrosz_codec::predict::interp::tune::anchor::has_rounded_anchors;
use ferrosz_codec::predict::interp::tune::cost::{CLASSES, class, of_all, of_class};
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::predict::interp::tune::score::{CELLS, cell, cells_of_cost, size_of_class};
use ferrosz_codec::predict::interp::tune::search::{MAX_CANDIDATES, TOGETHER};
use ferrosz_codec::predict::slices::ROOT;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::code::RADIUS;
use ferrosz_codec::tile::{self, TileOrder};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Scores candidates of method `M` on a field of `E` in tiles of shape `S`. Launched with a block for each sample of
/// each candidate.
pub struct Scores<E, S, M = Splines>(PhantomData<(E, S, M)>);

/// Parameters of [`Scores`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ScoresParams {
    /// The field, with nothing but its values, strides and extents.
    pub part: InterpParams,
    /// The tiles among which samples are.
    pub sampled: Sampled,
    /// The parameters of all candidates, [`WORDS`] words each.
    pub parameters: View<u32>,
    /// The cells that costs and sizes are added to: see [`cost_cell`] and [`size_cell`].
    pub cells: View<u64>,
    /// [`CLASSES`] cells that the numbers of codes of each class are added to; may be nothing.
    pub classes: View<u64>,
}

/// The cell that sums up a number of the [`Costs`](ferrosz_codec::predict::interp::tune::search::Costs) of a candidate.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn cost_cell(candidate: u32, number: u32) -> u64 {
    candidate as u64 * (1 + TOGETHER as u64) + number as u64
}

/// The first of the two cells that sum up the sizes of a candidate's codes of an oddness at a level below
/// [`LEVELS`]: see [`Size`](ferrosz_codec::predict::interp::tune::score::Size).
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn size_cell(candidate: u32, level: u32, oddness: u32) -> u64 {
    let number = (candidate * LEVELS + level) * MAX_ODDNESS + oddness - 1;
    cost_cell(MAX_CANDIDATES, 0) + 2 * number as u64
}

/// Cells of scores, from the first cell of tuning on.
pub const SCORE_CELLS: u64 = size_cell(MAX_CANDIDATES, 0, 1);

impl<E: Element, S: StaticShape, M: Staged> Kernel for Scores<E, S, M> {
    type Params = ScoresParams;
    const NAME: &'static str =
        const { &Name::of(&[M::NAME, "scores", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Count::<E, S, M>::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(3, 1);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ScoresParams) {
        let grid = params.part.grid(S::SHAPE);
        let samples = params.sampled.samples::<M>();
        let scope = samples.scope();
        let count = params.sampled.count(&samples).max(1);
        let candidate = t.block_index() / count;
        let Some(number) = params.sampled.tile(t, &samples, t.block_index() % count) else {
            return;
        };
        let tile = M::tile(grid.tile(number));
        begin_fill::<T, E, S>(t, &params.part, &tile);
        let parameters = params.parameters.from(u64::from(candidate) * WORDS as u64);
        let setup = TileSetup::read::<T, S>(t, parameters, tile, false);
        let setup = setup.with_coefficients::<M>(params.part.coefficients());
        let counts = Count::<E, S, M>::SHARED.0;
        let mut at = t.thread_index();
        while at < counts.len() {
            counts.store(t, at, 0);
            at += THREADS;
        }
        t.await_copies();
        t.barrier();
        if has_rounded_anchors(S::SHAPE) {
            let anchor = Anchor::<E>::rounded::<T, S>(t, &setup);
            t.barrier();
            Anchor::set::<T, S>(t, anchor);
            t.barrier();
        }
        let count = Count::<E, S, M> {
            error: setup.error(t),
            scope,
            shape: PhantomData,
        };
        M::run::<T, E, S, _>(t, &setup, &count);
        let mut number = t.warp();
        while number <= TOGETHER {
            let [first, end] = counted_cells::<M>(number);
            let mut count = 0;
            for cell in first..t.opaque(end) {
                let of_cell = scope.weight(number) * count_of::<T, E, S, M>(t, cell);
                count += of_cell;
                if M::IS_FITTED && number < LEVELS {
                    let cell = size_cell(candidate, number, 1 + cell - first);
                    add_size(t, params.cells, cell, of_cell);
                }
            }
            let cost = cost_of::<T, E>(t, count);
            if t.lane() == 0 {
                t.atomic_add(params.cells, cost_cell(candidate, number), cost);
            }
            if number < TOGETHER && count > 0 && !params.classes.is_empty() {
                let class = u64::from(t.lane());
                t.atomic_add(params.classes, class, u64::from(count));
            }
            number += THREADS / WARP;
        }
    }
}

/// How many codes of a cell are of the class of this thread's lane.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn count_of<T: Thread, E: Element, S: StaticShape, M: Method>(t: T, cell: u32) -> u32 {
    if t.lane() < CLASSES as u32 {
        Count::<E, S, M>::SHARED.0.load(t, count_at(cell, t.lane()))
    } else {
        0
    }
}

/// The first of the cells that have the codes of a number of costs, and the one behind the last. Only fitted levels have codes in
/// cells of other oddnesses than 1.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn counted_cells<M: Method>(number: u32) -> [u32; 2] {
    let [first, end] = cells_of_cost(number);
    if M::IS_FITTED || number == TOGETHER {
        [first, end]
    } else {
        [first, first + 1]
    }
}

/// Adds the size of codes to two cells. Lane l gives the number of codes of class l. For a whole warp.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn add_size<T: Thread>(t: T, cells: View<u64>, cell: u64, count: u32) {
    let is_code = t.lane() < CLASSES as u32 - 1;
    let count = if is_code { count } else { 0 };
    let size = if is_code {
        u64::from(count) * size_of_class(t.lane())
    } else {
        0
    };
    let (codes, sum) = (t.reduce_add(count), warp_sum_u64(t, size));
    if t.lane() == 0 && codes > 0 {
        t.atomic_add(cells, cell, u64::from(codes));
        t.atomic_add(cells, cell + 1, sum);
    }
}

/// The cost of codes, of which each lane knows how many are of its class; in every lane. For a whole warp.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn cost_of<T: Thread, E: Element>(t: T, count: u32) -> u64 {
    let of_class = of_class(t.lane(), count, E::BYTES as u32);
    warp_sum_u64(t, of_class).wrapping_add(of_all(t.reduce_add(count)))
}

/// The number of the count of a class in a cell.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn count_at(cell: u32, class: u32) -> u32 {
    cell * CLASSES as u32 + class
}

/// Counts the classes of a tile's codes.
struct Count<E, S, M> {
    error: E,
    scope: Scope,
    shape: PhantomData<(S, M)>,
}

impl<E: Element, S: StaticShape, M: Method> Count<E, S, M> {
    /// Behind the store, the counts of all classes in all cells.
    const SHARED: (Shared<u32>, Layout) = {
        let (_, mut layout) = Values::<E, S>::SHARED;
        (layout.array("counts", count_at(CELLS, 0)), layout)
    };
}

impl<E: Element, S: StaticShape, M: Method> Residuals<E> for Count<E, S, M> {
    const KIND: FittedKind = M::KIND;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn scope(&self) -> Scope {
        self.scope
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn residuals<T: Thread, const N: usize>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        positions: [Position; N],
        slots: [E; N],
        predictions: [E; N],
    ) -> [E; N] {
        let all = encode_each::<T, E, M, N>(t, quantizer, slots, predictions, self.error, RADIUS);
        for i in 0..N {
            if positions[i].is_own
                && let Some(class) = class(slots[i], &all[i])
            {
                let position = positions[i].position;
                let (level, oddness) = if M::IN_SLICES {
                    let order = TileOrder::slices(1 << ROOT);
                    (order.level_at(position), order.oddness_at(position))
                } else if M::IS_FITTED {
                    let level = tile::level(S::SHAPE, position);
                    (level, tile::oddness(S::SHAPE, position))
                } else {
                    (tile::level(S::SHAPE, position), 1)
                };
                let cell = cell(level, oddness);
                Self::SHARED.0.add(t, count_at(cell, class), 1);
            }
        }
        all.map(|quantized| quantized.known)
    }
}
