//! The fit of slices, first half: sums over sample tiles, as those of [stencils](crate::predict::interp::sums).
//!
//! A set has up to 77 sums, so a lane has up to three of them.

use crate::PACKAGE;
use crate::predict::interp::THREADS;
use crate::predict::interp::method::{Method, Slices};
use crate::predict::interp::residuals::TileSetup;
use crate::predict::interp::rows::InField;
use crate::predict::interp::slices::{Columns, count_along};
use crate::predict::interp::sums::{SumsParams, pair, predict_sample};
use crate::predict::interp::values::Values;
use crate::primitives::element::by_width;
use core::array::from_fn;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::predict::slices::fit::{MAX_NUMBERS, first_sum};
use ferrosz_codec::predict::slices::terms::{MAX_TERMS, count};
use ferrosz_codec::predict::slices::{ROOT, SETS};
use ferrosz_codec::predict::stencil::fit::{integers, sums};
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::{Cube, Shape};
use ferrosz_codec::tile;
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, WARP};

/// Sums up the sample tiles of a field of `E`. Launched with as many blocks as
/// [`Shares::blocks`](crate::predict::interp::sums::Shares::blocks) says. The coefficients are those of splines.
pub struct SliceSums<E>(PhantomData<E>);

/// The most sums of a lane.
const OF_LANE: usize = sums(MAX_TERMS).div_ceil(WARP as usize);

impl<E: Element> Kernel for SliceSums<E> {
    type Params = SumsParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_slices_sums", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Self::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(2, 1);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &SumsParams) {
        let grid = params.part.grid(Shape::Cube);
        let samples = params.sampled.samples::<Slices>();
        let scope = samples.scope();
        let Some(number) = params.sampled.tile(t, &samples, params.shares.sample(t)) else {
            return;
        };
        let tile = Slices::tile(grid.tile(number));
        let setup = predict_sample::<T, E, Cube, Slices>(t, params, tile, scope);
        let field = InField::new(params.part.field, params.part.strides, &tile);
        // One text for all sets: it is long.
        let mut number = 0;
        while number < t.opaque(ROOT * PER_LEVEL + 1) {
            let (level, in_level) = (number / PER_LEVEL, number % PER_LEVEL);
            let set = Set {
                setup: &setup,
                field,
                scope,
                level,
                odd: if level < ROOT {
                    2 * (1 + in_level % 3)
                } else {
                    0
                },
                is_first: level < ROOT && in_level < 3,
            };
            Self::add(t, params, &set, number);
            number += 1;
        }
    }
}

/// Sets of coefficients of a level, of first slices and of others.
const PER_LEVEL: u32 = 2 * SETS.len() as u32;

const _: () = assert!(SETS[0] == 2 && SETS[1] == 4 && SETS[2] == 6);

/// The positions that have a set of coefficients.
struct Set<'a> {
    setup: &'a TileSetup,
    field: InField,
    scope: Scope,
    level: u32,
    odd: u32,
    is_first: bool,
}

impl Set<'_> {
    /// The binary logarithms of the numbers of positions along y and x.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn logs(&self) -> [u32; 2] {
        let [_, height, width] = tile::extents(Shape::Cube);
        if self.level >= ROOT {
            [
                (height >> ROOT).trailing_zeros(),
                (width >> ROOT).trailing_zeros(),
            ]
        } else {
            [
                count_along(1, self.level).trailing_zeros(),
                count_along(2, self.level).trailing_zeros(),
            ]
        }
    }

    /// The position with this number; the slice varies slowest.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn position(&self, number: u32) -> [u32; 3] {
        let [height, width] = self.logs();
        let (row, x) = (number >> width, number & ((1 << width) - 1));
        let (z, y) = (row >> height, row & ((1 << height) - 1));
        let z = if self.is_first { 0 } else { z + 1 };
        if self.level >= ROOT {
            return [z, y << ROOT, x << ROOT];
        }
        let [odd_y, odd_x] = [self.odd >> 1 & 1, self.odd >> 2 & 1];
        [
            z,
            (2 * y + odd_y) << self.level,
            (2 * x + odd_x) << self.level,
        ]
    }

    /// How many numbers there are; not all of them are positions of the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn count(&self) -> u32 {
        let [depth, ..] = tile::extents(Shape::Cube);
        let [height, width] = self.logs();
        let slices = if self.is_first { 1 } else { depth - 1 };
        slices << (height + width)
    }
}

impl<E: Element> SliceSums<E> {
    /// Behind the store, the integers of a position for each thread.
    const SHARED: (Shared<u32>, Layout) = {
        let (_, mut layout) = Values::<E, Cube>::SHARED;
        let numbers = MAX_NUMBERS as u32 * THREADS;
        (layout.array("numbers", numbers), layout)
    };

    /// Adds the sums of a block's share of a set. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn add<T: Thread>(t: T, params: &SumsParams, set: &Set<'_>, number_of_set: u32) {
        let mut from = params.shares.first(t, number_of_set);
        if from >= set.count() {
            return;
        }
        let count = count(set.level, set.odd, set.is_first);
        let pairs: [_; OF_LANE] =
            from_fn(|i| pair(count, MAX_NUMBERS, t.lane() as usize + i * WARP as usize));
        let first = t.warp() * WARP;
        // Not an array, so that the sums are in registers.
        const { assert!(OF_LANE == 3) };
        let (mut sum, mut second, mut third) = (0u64, 0u64, 0u64);
        while from < set.count() {
            let numbers = Self::numbers(t, set, count, from + t.thread_index());
            for (i, number) in (0..).zip(&numbers) {
                let at = i * THREADS + t.thread_index();
                Self::SHARED.0.store(t, at, number.cast_unsigned());
            }
            t.barrier();
            for lane in 0..t.opaque(WARP) {
                let product = |[i, j]: [usize; 2]| {
                    let load = |number: usize| {
                        let at = number as u32 * THREADS + first + lane;
                        i64::from(Self::SHARED.0.load(t, at).cast_signed())
                    };
                    (load(i) * load(j)).cast_unsigned()
                };
                sum = sum.wrapping_add(product(pairs[0]));
                second = second.wrapping_add(product(pairs[1]));
                third = third.wrapping_add(product(pairs[2]));
            }
            t.barrier();
            from += params.shares.step();
        }
        let first = first_sum(set.level, set.odd, set.is_first) as u64;
        let leave = |i: u32, sum: u64| {
            let number = t.lane() + i * WARP;
            if (number as usize) < sums(count) {
                t.atomic_add(params.sums, first + u64::from(number), sum);
            }
        };
        leave(0, sum);
        leave(1, second);
        leave(2, third);
    }

    /// The integers of position number `number` of a set; zeros if it does not count.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn numbers<T: Thread>(t: T, set: &Set<'_>, count: usize, number: u32) -> [i32; MAX_NUMBERS] {
        let position = set.position(number);
        let ends = (set.scope).ends(Shape::Cube, set.level, tile::extents(Shape::Cube));
        let is_evaluated = position[0] < ends[0] && number < set.count();
        if !(is_evaluated && set.setup.tile.has(position)) {
            return [0; MAX_NUMBERS];
        }
        let columns = Columns::<E, Cube>::new(t, set.setup, set.level);
        let (base, terms) = columns.base_and_terms(t, set.odd, position);
        let value: E = set.field.load(t, set.field.element(position));
        let numbers: [E; MAX_NUMBERS] = from_fn(|i| {
            if i == count {
                value - base
            } else if i < MAX_TERMS {
                terms[i]
            } else {
                E::ZERO
            }
        });
        let quantizer: LevelQuantizer<E> = set.setup.quantizer(t, set.level);
        integers(&numbers, quantizer.inverse).unwrap_or([0; MAX_NUMBERS])
    }
}
