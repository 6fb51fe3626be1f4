//! The fit of stencils, first half: sums over sample tiles.
//!
//! A sample tile is predicted by splines and quantised. Then each thread computes the integers of a position, and each lane
//! sums up the products of one pair of them over the positions of its warp: see
//! [`ferrosz_codec::predict::stencil::fit`].

use crate::PACKAGE;
use crate::predict::interp::method::{Method, Splines, Stencils};
use crate::predict::interp::positions::{InStore, Positions};
use crate::predict::interp::predict::begin_fill;
use crate::predict::interp::residuals::{Position, Residuals, TileSetup};
use crate::predict::interp::rows::InField;
use crate::predict::interp::sampled::Sampled;
use crate::predict::interp::stages::Staged;
use crate::predict::interp::values::Values;
use crate::predict::interp::{InterpParams, THREADS};
use crate::primitives::element::by_width;
use core::array::from_fn;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::spline::Spline;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::predict::interp::walk::OddAxes;
use ferrosz_codec::predict::stencil::fit::{MAX_NUMBERS, first_sum, integers, numbers, sums};
use ferrosz_codec::predict::stencil::terms::{MAX_TERMS, count};
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::code::RADIUS;
use ferrosz_codec::tile::{self, TileBox};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// The blocks that share the sums of a sample: a power of two. Each predicts the whole tile, which takes less time than its sums.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Shares(u32);

impl Shares {
    /// More would take more time for predictions than they spare for sums.
    const MOST_LOG: u32 = 4;

    /// As many as a machine that runs so many blocks at the same time runs for all samples, within limits.
    pub fn of(samples: u32, blocks_at_once: u32) -> Self {
        let of_sample = (blocks_at_once / samples.max(1)).max(1);
        Self(of_sample.ilog2().min(Self::MOST_LOG))
    }

    /// The blocks for so many samples.
    pub const fn blocks(self, samples: u32) -> u32 {
        samples << self.0
    }

    /// The number of the sample of a block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn sample<T: Thread>(self, t: T) -> u32 {
        t.block_index() >> self.0
    }

    /// The first position of a set of positions that a block sums up: batches of [`THREADS`] positions are dealt out to the blocks
    /// of a sample. Those of another set begin with another block, as most sets have fewer batches than there are blocks. If none
    /// is the block's own, the set has no such position.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn first<T: Thread>(self, t: T, set: u32) -> u32 {
        let first = t.block_index().wrapping_sub(5 * set);
        (first & ((1 << self.0) - 1)) * THREADS
    }

    /// The distance of the batches of a block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) const fn step(self) -> u32 {
        THREADS << self.0
    }
}

/// Sums up the sample tiles of shape `S` of a field of `E`. Launched with as many blocks as [`Shares::blocks`] says.
pub struct Sums<E, S>(PhantomData<(E, S)>);

/// Parameters of [`Sums`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SumsParams {
    /// The field, with nothing but its values, strides and extents.
    pub part: InterpParams,
    /// The tiles among which samples are.
    pub sampled: Sampled,
    /// The parameters with which samples are predicted.
    pub parameters: View<u32>,
    /// The sums of all levels.
    pub sums: View<u64>,
    /// The blocks of a sample.
    pub shares: Shares,
}

const _: () = assert!(
    sums(MAX_TERMS) <= WARP as usize,
    "a lane has at most one sum"
);

impl<E: Element, S: StaticShape> Kernel for Sums<E, S> {
    type Params = SumsParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_stencil_sums", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Self::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(2, 1);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &SumsParams) {
        let grid = params.part.grid(S::SHAPE);
        let samples = params.sampled.samples::<Stencils>();
        let scope = samples.scope();
        let Some(number) = params.sampled.tile(t, &samples, params.shares.sample(t)) else {
            return;
        };
        let tile = grid.tile(number);
        let setup = predict_sample::<T, E, S, Splines>(t, params, tile, scope);
        let field = InField::new(params.part.field, params.part.strides, &tile);
        let levels = setup.spacing.trailing_zeros();
        let classes = 8 * t.opaque(levels);
        let mut number = 0;
        while number < classes {
            let (level, odd) = (number / 8, number % 8);
            let beyond = (1 << (3 - S::SHAPE.rank())) - 1;
            if odd != 0 && odd & beyond == 0 {
                let class = Class {
                    setup: &setup,
                    field: &field,
                    scope,
                    level,
                    odd,
                };
                Self::add_class(t, params, &class, number);
            }
            number += 1;
        }
    }
}

/// Predicts a sample tile by method `M`, and quantises it; its known values are in the store then. For the whole block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn predict_sample<T: Thread, E: Element, S: StaticShape, M: Staged>(
    t: T,
    params: &SumsParams,
    tile: TileBox,
    scope: Scope,
) -> TileSetup {
    begin_fill::<T, E, S>(t, &params.part, &tile);
    let setup = TileSetup::read::<T, S>(t, params.parameters, tile, false);
    let setup = setup.with_coefficients::<M>(params.part.coefficients());
    t.await_copies();
    t.barrier();
    let known = Known {
        error: setup.error(t),
        scope,
        method: PhantomData::<M>,
    };
    M::run::<T, E, S, _>(t, &setup, &known);
    setup
}

/// The positions of a tile that are odd along the same axes, at a level.
struct Class<'a> {
    setup: &'a TileSetup,
    field: &'a InField,
    scope: Scope,
    level: u32,
    odd: u32,
}

impl<E: Element, S: StaticShape> Sums<E, S> {
    /// Behind the store, the integers of a position for each thread.
    const SHARED: (Shared<u32>, Layout) = {
        let (_, mut layout) = Values::<E, S>::SHARED;
        let numbers = MAX_NUMBERS as u32 * THREADS;
        (layout.array("numbers", numbers), layout)
    };

    /// Adds the sums of a block's share of a class. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn add_class<T: Thread>(t: T, params: &SumsParams, class: &Class<'_>, set: u32) {
        let Class { level, odd, .. } = *class;
        let count = count(S::SHAPE, odd);
        // The numbers of positions along the axes are powers of two.
        let logs: [u32; 3] = from_fn(|axis| OddAxes::count(S::SHAPE, axis, level).trailing_zeros());
        let total = 1 << (logs[0] + logs[1] + logs[2]);
        let [i, j] = pair(count, MAX_NUMBERS, t.lane() as usize);
        let first = t.warp() * WARP;
        let mut sum = 0u64;
        let mut from = params.shares.first(t, set);
        if from >= total {
            return;
        }
        while from < total {
            let numbers = Self::numbers(t, class, count, logs, from + t.thread_index());
            for (i, number) in (0..).zip(&numbers) {
                let at = i * THREADS + t.thread_index();
                Self::SHARED.0.store(t, at, number.cast_unsigned());
            }
            t.barrier();
            for lane in 0..t.opaque(WARP) {
                let [a, b] = [i, j].map(|number| {
                    let at = number as u32 * THREADS + first + lane;
                    i64::from(Self::SHARED.0.load(t, at).cast_signed())
                });
                sum = sum.wrapping_add((a * b).cast_unsigned());
            }
            t.barrier();
            from += params.shares.step();
        }
        if (t.lane() as usize) < sums(count) {
            let number = first_sum(S::SHAPE, level, odd) as u64 + u64::from(t.lane());
            t.atomic_add(params.sums, number, sum);
        }
    }

    /// The integers of position number `number` of a class, which has 2^`logs` positions along each axis; zeros if it does not
    /// count.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn numbers<T: Thread>(
        t: T,
        class: &Class<'_>,
        count: usize,
        logs: [u32; 3],
        number: u32,
    ) -> [i32; MAX_NUMBERS] {
        let Class {
            setup,
            field,
            scope,
            level,
            odd,
        } = *class;
        let [_, height, width] = logs;
        let steps = [
            number >> (height + width),
            (number >> width) & ((1 << height) - 1),
            number & ((1 << width) - 1),
        ];
        let axes = OddAxes { odd, axes: odd };
        let position: [u32; 3] =
            from_fn(|axis| axes.first(axis, 1 << level) + (steps[axis] << (level + 1)));
        let ends = scope.ends(S::SHAPE, level, tile::extents(S::SHAPE));
        let is_evaluated = position[0] < ends[0] && position[1] < ends[1] && position[2] < ends[2];
        if !(is_evaluated && setup.tile.has(position)) {
            return [0; MAX_NUMBERS];
        }
        let quantizer: LevelQuantizer<E> = setup.quantizer(t, level);
        let store = Values::<E, S>::SHARED.0.address(t);
        let (spline, kind) = (Spline::NotAKnot, FittedKind::None);
        let positions = Positions::new::<S>(setup, quantizer, store, level, spline, kind, false);
        let around = InStore::<T, E, S> {
            t,
            positions: &positions,
            position,
            address: positions.address(S::SHAPE, position),
            shape: PhantomData,
        };
        if !around.has_next(odd) {
            return [0; MAX_NUMBERS];
        }
        let stencil = around.stencil(odd);
        let value = field.load(t, field.element(position));
        integers(&numbers(count, &stencil, value), quantizer.inverse).unwrap_or([0; MAX_NUMBERS])
    }
}

/// The integers of so many terms whose products have this number; others, below `most`, if there is no such number.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn pair(count: usize, most: usize, number: usize) -> [usize; 2] {
    let (mut row, mut left) = (0, number);
    while row + 1 < count && left > count - row {
        left -= count + 1 - row;
        row += 1;
    }
    let column = row + left;
    [row, if column < most { column } else { row }]
}

/// Values to known values, by method `M`.
struct Known<E, M> {
    error: E,
    scope: Scope,
    method: PhantomData<M>,
}

impl<E: Element, M: Method> Residuals<E> for Known<E, M> {
    const KIND: FittedKind = M::KIND;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn scope(&self) -> Scope {
        self.scope
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn residuals<T: Thread, const N: usize>(
        &self,
        _: T,
        quantizer: &LevelQuantizer<E>,
        _: [Position; N],
        slots: [E; N],
        predictions: [E; N],
    ) -> [E; N] {
        let all = quantizer.encode_all(slots, predictions, self.error, RADIUS);
        all.map(|quantized| quantized.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::predict::stencil::fit::sum_of;

    #[test]
    fn pairs_have_the_numbers_of_their_sums() {
        for count in 1..=MAX_TERMS {
            for number in 0..sums(count) {
                let [i, j] = pair(count, MAX_NUMBERS, number);
                assert!(i <= j && j <= count && i < count);
                assert_eq!(sum_of(count, i, j), number);
            }
            for number in sums(count)..WARP as usize {
                assert!(
                    pair(count, MAX_NUMBERS, number)
                        .into_iter()
                        .all(|i| i < MAX_NUMBERS)
                );
            }
        }
    }
}
