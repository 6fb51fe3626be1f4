//! Tuning, first half: the costs of candidates on sample tiles.
//!
//! A sample tile is predicted as any other, but its codes are only counted: see
//! [`ferrosz_codec::predict::interp::tune`].

use crate::PACKAGE;
use crate::predict::interp::method::{Method, Splines};
use crate::predict::interp::predict::begin_fill;
use crate::predict::interp::residuals::{Position, Residuals, TileSetup};
use crate::predict::interp::stages::run;
use crate::predict::interp::values::Values;
use crate::predict::interp::{InterpParams, THREADS};
use crate::primitives::element::by_width;
use crate::primitives::scan::warp_sum_u64;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::geometry::MAX_LEVELS;
use ferrosz_codec::predict::interp::resolved::WORDS;
use ferrosz_codec::predict::interp::tune::cost::{CLASSES, class, of_all, of_class};
use ferrosz_codec::predict::interp::tune::sample::{Samples, Scope};
use ferrosz_codec::predict::interp::tune::search::MAX_CANDIDATES;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile;
use ferrosz_codec::tile::code::RADIUS;
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
    /// The parameters of all candidates, [`WORDS`] words each.
    pub parameters: View<u32>,
    /// The cells that costs are added to: see [`cost_cell`].
    pub cells: View<u64>,
    /// [`CLASSES`] cells that the numbers of codes of each class are added to; may be nothing.
    pub classes: View<u64>,
}

/// The cell that sums up the costs of a candidate at a level.
#[inline(always)]
pub const fn cost_cell(candidate: u32, level: u32) -> u64 {
    candidate as u64 * MAX_LEVELS as u64 + level as u64
}

/// Cells of costs, from the first cell of tuning on.
pub const COST_CELLS: u64 = cost_cell(MAX_CANDIDATES, 0);

impl<E: Element, S: StaticShape, M: Method> Kernel for Scores<E, S, M> {
    type Params = ScoresParams;
    const NAME: &'static str =
        const { &Name::of(&[M::NAME, "scores", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Count::<E, S, M>::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(3, 1);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &ScoresParams) {
        let grid = params.part.grid(S::SHAPE);
        let samples = samples::<M>(grid.tiles());
        let scope = samples.scope();
        let count = samples.count().max(1);
        let candidate = t.block_index() / count;
        let sample = t.block_index() % count;
        let tile = grid.tile(samples.tile(sample));
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
        let count = Count::<E, S, M> {
            error: setup.error(t),
            scope,
            shape: PhantomData,
        };
        run::<T, E, S, _>(t, &setup, &count);
        let mut level = t.warp();
        while level < MAX_LEVELS as u32 {
            let count = scope.weight(level) * count_of::<T, E, S, M>(t, level);
            let cost = cost_of_level::<T, E>(t, count);
            if t.lane() == 0 {
                t.atomic_add(params.cells, cost_cell(candidate, level), cost);
            }
            if count > 0 && !params.classes.is_empty() {
                let class = u64::from(t.lane());
                t.atomic_add(params.classes, class, u64::from(count));
            }
            level += THREADS / WARP;
        }
    }
}

/// The sample tiles of a field of so many.
#[inline(always)]
pub(crate) const fn samples<M: Method>(tiles: u64) -> Samples {
    if M::HAS_STENCILS {
        Samples::most(tiles)
    } else {
        Samples::new(tiles)
    }
}

/// How many codes of a level are of the class of this thread's lane.
#[inline(always)]
fn count_of<T: Thread, E: Element, S: StaticShape, M: Method>(t: T, level: u32) -> u32 {
    if t.lane() < CLASSES as u32 {
        Count::<E, S, M>::SHARED
            .0
            .load(t, count_at(level, t.lane()))
    } else {
        0
    }
}

/// The cost of the codes of a level, of which each lane knows how many are of its class; in every lane. For a
/// whole warp.
#[inline(always)]
fn cost_of_level<T: Thread, E: Element>(t: T, count: u32) -> u64 {
    let of_class = of_class(t.lane(), count, E::BYTES as u32);
    warp_sum_u64(t, of_class).wrapping_add(of_all(t.reduce_add(count)))
}

/// The number of the count of a class at a level.
#[inline(always)]
const fn count_at(level: u32, class: u32) -> u32 {
    level * CLASSES as u32 + class
}

/// Counts the classes of a tile's codes. Anchors are taken as known.
struct Count<E, S, M> {
    error: E,
    scope: Scope,
    shape: PhantomData<(S, M)>,
}

impl<E: Element, S: StaticShape, M: Method> Count<E, S, M> {
    /// Behind the store, the counts of all classes at all levels.
    const SHARED: (Shared<u32>, Layout) = {
        let (_, mut layout) = Values::<E, S>::SHARED;
        (
            layout.array("counts", count_at(MAX_LEVELS as u32, 0)),
            layout,
        )
    };
}

impl<E: Element, S: StaticShape, M: Method> Residuals<E> for Count<E, S, M> {
    const HAS_STENCILS: bool = M::HAS_STENCILS;

    #[inline(always)]
    fn scope(&self) -> Scope {
        self.scope
    }

    #[inline(always)]
    fn residuals<T: Thread, const N: usize>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        positions: [Position; N],
        slots: [E; N],
        predictions: [E; N],
    ) -> [E; N] {
        let all = quantizer.encode_all(slots, predictions, self.error, RADIUS);
        for i in 0..N {
            if positions[i].is_own
                && let Some(class) = class(slots[i], &all[i])
            {
                let level = tile::level(S::SHAPE, positions[i].position);
                Self::SHARED.0.add(t, count_at(level, class), 1);
            }
        }
        all.map(|quantized| quantized.known)
    }
}
