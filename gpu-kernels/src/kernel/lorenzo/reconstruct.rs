//! Reconstruction: codes to a field.
//!
//! First each half warp sums up a *run* of 16 rows, a slice in a cube: along x from lane to lane, then row by
//! row, and leaves them in shared memory. Then what the runs before say is added, and values are written.

use super::LorenzoParams;
use super::rows::{Pair, Row, SLICE_ROWS, TileRows, add, is_whole, place};
use crate::kernel::interp::predict::load_element;
use crate::simt::{Thread, WARP};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::entropy::token::RAW;
use ferrosz_codec::predict::tile_lorenzo::{origin, residual};
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::{ROW, TILE};

/// Reconstructs a field of `E` in tiles of shape `S`. Launched with a block for each tile.
///
/// The values of places without a code lie in the field already, and stay there.
pub struct Reconstruct<E, S>(PhantomData<(E, S)>);

/// Rows of a run.
const RUN: u32 = 16;
/// Lanes that have a row.
const HALF: u32 = WARP / 2;
/// Places of a row that a lane has, side by side.
const QUAD: usize = (ROW / HALF) as usize;
/// Rows that a lane asks for at once.
const BATCH: usize = 4;
/// Words of a row's codes.
const ROW_WORDS: u64 = ROW as u64 / 2;

/// A lane's words of the codes of rows: of the even places, and of the odd ones.
type Words = [[u32; 2]; BATCH];

/// What a lane has of a row, place by place.
type Quad = [i32; QUAD];

impl<E: Element, S: StaticShape> Reconstruct<E, S> {
    /// Words of shared memory.
    pub const SHARED_WORDS: u32 = TILE as u32;

    /// What one thread does.
    #[inline(always)]
    pub fn run<T: Thread>(t: T, params: &LorenzoParams) {
        let (number, tile) = params.tile(t, S::SHAPE);
        let quantizer = params.quantizer::<T, E>(t);
        if is_whole(S::SHAPE, &tile) {
            let rows = TileRows::<S, true>::new(params, number, &tile);
            reconstruct(t, &rows, &quantizer);
        } else {
            let rows = TileRows::<S, false>::new(params, number, &tile);
            reconstruct(t, &rows, &quantizer);
        }
    }
}

#[inline(always)]
fn reconstruct<T: Thread, E: Element, S: StaticShape, const WHOLE: bool>(
    t: T,
    rows: &TileRows<'_, S, WHOLE>,
    quantizer: &Quantizer<E>,
) {
    let mut run = Run {
        rows,
        quantizer,
        sums: [0; QUAD],
        has_raw: false,
        has_raw_origin: false,
    };
    run.sum_up(t);
    let leave = Leave {
        rows,
        quantizer,
        has_raw: t.barrier_or(run.has_raw),
        has_raw_origin: run.has_raw_origin,
    };
    leave.run(t);
}

/// A half warp's run of rows.
struct Run<'a, E, S, const WHOLE: bool> {
    rows: &'a TileRows<'a, S, WHOLE>,
    quantizer: &'a Quantizer<E>,
    /// The last row's sums; in a line, that of its last place at all places.
    sums: Quad,
    /// Whether a place has no code, other than the tile's first.
    has_raw: bool,
    /// Whether this thread has the tile's first place, and it has no code.
    has_raw_origin: bool,
}

impl<E: Element, S: StaticShape, const WHOLE: bool> Run<'_, E, S, WHOLE> {
    #[inline(always)]
    fn sum_up<T: Thread>(&mut self, t: T) {
        let mut row = t.thread_index() / HALF * RUN;
        let end = row + t.opaque(RUN);
        let mut next = self.load(t, row);
        while row < end {
            let words = next;
            if row + (BATCH as u32) < end {
                next = self.load(t, row + BATCH as u32);
            }
            for i in 0..BATCH {
                let row = row + i as u32;
                let residuals = self.residuals(t, row, words[i]);
                let sums = self.add_row(t, residuals);
                let word = row * ROW + t.lane() % HALF * QUAD as u32;
                t.shared_store4(word, sums.map(i32::cast_unsigned));
            }
            row += BATCH as u32;
        }
    }

    /// The codes of the rows from one on.
    #[inline(always)]
    fn load<T: Thread>(&self, t: T, row: u32) -> Words {
        let first = self.rows.first_code / 2 + u64::from(row) * ROW_WORDS;
        let first = first + u64::from(t.lane() % HALF);
        core::array::from_fn(|i| {
            let at = first + i as u64 * ROW_WORDS;
            [0, u64::from(HALF)].map(|odd| t.load(self.rows.params.codes, at + odd))
        })
    }

    /// The residuals of codes, 0 where there is none.
    #[inline(always)]
    fn residuals<T: Thread>(&mut self, t: T, row: u32, [even, odd]: [u32; 2]) -> Quad {
        let codes = [
            even as u16,
            odd as u16,
            (even >> 16) as u16,
            (odd >> 16) as u16,
        ];
        let is_raw = codes.map(|code| u32::from(code) == RAW);
        let mut residuals = codes.map(residual);
        let has_origin = row == 0 && t.thread_index() == 0;
        if has_origin && is_raw[0] {
            let value = load_element(t, self.rows.params.field, self.rows.first_element);
            residuals[0] = origin(self.quantizer, value);
            self.has_raw_origin = true;
        }
        self.has_raw |= is_raw[0] && !has_origin || is_raw[1] || is_raw[2] || is_raw[3];
        residuals
    }

    /// The sums of a row and, in the run, of those before.
    #[inline(always)]
    fn add_row<T: Thread>(&mut self, t: T, residuals: Quad) -> Quad {
        let mut along = residuals;
        for i in 1..QUAD {
            along[i] = along[i].wrapping_add(along[i - 1]);
        }
        let before = half_warp_sum_before(t, along[QUAD - 1]);
        for i in 0..QUAD {
            along[i] = along[i].wrapping_add(before).wrapping_add(self.sums[i]);
            self.sums[i] = along[i];
        }
        if matches!(S::SHAPE, Shape::Line) {
            let last = t.shuffle(along[QUAD - 1].cast_unsigned(), t.lane() | (HALF - 1));
            self.sums = [last.cast_signed(); QUAD];
        }
        along
    }
}

/// The sum of the values of the lanes before this one in its half of the warp.
#[inline(always)]
fn half_warp_sum_before<T: Thread>(t: T, value: i32) -> i32 {
    let lane = t.lane() % HALF;
    let mut sum = value.cast_unsigned();
    for step in 0..HALF.ilog2() {
        let delta = 1 << step;
        let below = t.shuffle_up(sum, delta);
        sum = sum.wrapping_add(if lane >= delta { below } else { 0 });
    }
    sum.cast_signed().wrapping_sub(value)
}

/// What becomes of the sums of all runs.
struct Leave<'a, E, S, const WHOLE: bool> {
    rows: &'a TileRows<'a, S, WHOLE>,
    quantizer: &'a Quantizer<E>,
    has_raw: bool,
    has_raw_origin: bool,
}

impl<E: Element, S: StaticShape, const WHOLE: bool> Leave<'_, E, S, WHOLE> {
    const HAS_SLICES: bool = matches!(S::SHAPE, Shape::Cube);

    /// Completes and writes this warp's rows: two runs, or in a cube those of two y, slice after slice.
    #[inline(always)]
    fn run<T: Thread>(&self, t: T) {
        let mut earlier = [0; 2];
        let mut counted = 0;
        let mut share = 2 * t.warp();
        let end = share + t.opaque(2);
        while share < end {
            if Self::HAS_SLICES {
                self.store_rows(t, share, [0; 2]);
            } else {
                while counted < share {
                    earlier = add(earlier, last_sums::<T, S>(t, counted));
                    counted += 1;
                }
                self.store_rows(t, share * RUN, earlier);
            }
            share += 1;
        }
    }

    /// Completes and writes the rows of a run from number `first` on, or those with its y in a cube.
    #[inline(always)]
    fn store_rows<T: Thread>(&self, t: T, first: u32, mut earlier: Pair<i32>) {
        let step = if Self::HAS_SLICES { SLICE_ROWS } else { 1 };
        let mut number = first;
        let mut row = self.rows.row(t, first);
        let mut count = 0;
        while count < t.opaque(RUN) {
            for i in 0..BATCH as u32 {
                let own = [0, 1].map(|half| sum(t, number + i * step, place(t, half)));
                let sums = add(earlier, own);
                let has_origin = self.has_raw_origin && i == 0 && number == 0;
                if Self::HAS_SLICES {
                    earlier = sums;
                    self.store(t, self.rows.moved(row, i, 0), sums, has_origin);
                } else {
                    self.store(t, self.rows.moved(row, 0, i), sums, has_origin);
                }
            }
            number += BATCH as u32 * step;
            row = if Self::HAS_SLICES {
                self.rows.moved(row, BATCH as u32, 0)
            } else {
                self.rows.moved(row, 0, BATCH as u32)
            };
            count += BATCH as u32;
        }
    }

    /// Writes the values of a row's codes, but where a place has none: with `has_raw_origin` the first has none.
    #[inline(always)]
    fn store<T: Thread>(&self, t: T, row: Row, codes: Pair<i32>, has_raw_origin: bool) {
        for half in 0..2 {
            let is_kept = (half == 0 && has_raw_origin)
                || self.has_raw && self.rows.load_code(t, row, half) == RAW;
            if self.rows.has(t, row, half) && !is_kept {
                let value = self.quantizer.dequantize(codes[half as usize]);
                self.rows.store(t, row, half, value);
            }
        }
    }
}

/// What the runs after one need of it.
#[inline(always)]
fn last_sums<T: Thread, S: StaticShape>(t: T, run: u32) -> Pair<i32> {
    let row = run * RUN + RUN - 1;
    if matches!(S::SHAPE, Shape::Line) {
        [sum(t, row, ROW - 1); 2]
    } else {
        [0, 1].map(|half| sum(t, row, place(t, half)))
    }
}

/// The sum at a place of a row.
#[inline(always)]
fn sum<T: Thread>(t: T, row: u32, x: u32) -> i32 {
    t.shared_load(row * ROW + x).cast_signed()
}
