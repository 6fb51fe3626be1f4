//! Prediction: a field to codes.
//!
//! A warp takes 8 steps of 4 rows. In a line or a plane they follow each other; in a cube a step has a row of
//! each of 4 slices, and of the one before. What a warp needs of rows that are not its own it quantises too.

use super::LorenzoParams;
use super::exact;
use super::rows::{Pair, TileRows, before, place, subtract};
use crate::simt::Thread;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::entropy::token::{RAW, zigzag};
use ferrosz_codec::predict::tile_lorenzo::fits;
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::shape::{Shape, StaticShape};

/// Predicts a field of `E` in tiles of shape `S`. Launched with a block for each tile.
pub struct Predict<E, S>(PhantomData<(E, S)>);

/// Rows of a step that are the warp's own.
const ROWS: usize = 4;
/// Steps of a warp.
const STEPS: u32 = 8;
/// Warps whose steps are side by side in a cube, each with 4 of the 16 slices.
const SLABS: u32 = 4;

/// What a lane has of the rows of a step, the last one being the row of the slice before.
type Step<V> = [Pair<V>; ROWS + 1];

impl<E: Element, S: StaticShape> Predict<E, S> {
    /// Words of shared memory.
    pub const SHARED_WORDS: u32 = exact::shared_words(S::SHAPE);

    /// What one thread does.
    #[inline(always)]
    pub fn run<T: Thread>(t: T, params: &LorenzoParams) {
        let rows = TileRows::of_block(t, params, S::SHAPE);
        let quantizer = params.quantizer::<T, E>(t);
        let has_raw = predict::<T, E, S>(t, &rows, &quantizer);
        if t.barrier_or(has_raw) && t.warp() == 0 {
            exact::predict(t, &rows, &quantizer);
        }
    }
}

/// Writes this warp's codes, as if all places but the tile's first had one that fits; whether one in the field
/// has not.
#[inline(always)]
fn predict<T: Thread, E: Element, S: StaticShape>(
    t: T,
    rows: &TileRows<'_>,
    quantizer: &Quantizer<E>,
) -> bool {
    let share = Share {
        rows,
        quantizer,
        shape: PhantomData::<S>,
    };
    let mut next = share.load(t, 0);
    let mut earlier = share.earlier(t);
    let mut has_raw = false;
    let mut step = 0;
    while step < t.opaque(STEPS) {
        let values = next;
        if step + 1 < STEPS {
            next = share.load(t, step + 1);
        }
        let (codes, missing) = share.quantize(&values);
        let rest = earlier.advance::<S>(&codes);
        for (k, rest) in rest.into_iter().enumerate() {
            let (before, last) = before(t, rest, earlier.carry);
            if matches!(S::SHAPE, Shape::Line) {
                earlier.carry = last;
            }
            let residuals = subtract(rest, before);
            let is_origin = k == 0 && step == 0 && t.thread_index() == 0;
            has_raw |= share.store(t, step, k, residuals, missing, is_origin);
        }
        step += 1;
    }
    has_raw
}

/// A warp's steps.
struct Share<'a, E, S> {
    rows: &'a TileRows<'a>,
    quantizer: &'a Quantizer<E>,
    shape: PhantomData<S>,
}

impl<E: Element, S: StaticShape> Share<'_, E, S> {
    const HAS_SLICES: bool = matches!(S::SHAPE, Shape::Cube);

    /// Rows that a step looks at.
    const COUNT: usize = if Self::HAS_SLICES { ROWS + 1 } else { ROWS };

    /// The number of a step's first row.
    #[inline(always)]
    fn first_row<T: Thread>(t: T, step: u32) -> u32 {
        if Self::HAS_SLICES {
            let first_slice = t.warp() % SLABS * ROWS as u32;
            16 * first_slice + t.warp() / SLABS * STEPS + step
        } else {
            (t.warp() * STEPS + step) * ROWS as u32
        }
    }

    /// How far apart the numbers of a step's rows are.
    const ROW_STEP: u32 = if Self::HAS_SLICES { 16 } else { 1 };

    /// The values of a step.
    #[inline(always)]
    fn load<T: Thread>(&self, t: T, step: u32) -> Step<E> {
        let first = Self::first_row(t, step);
        let mut values = [[E::ZERO; 2]; ROWS + 1];
        for (k, values) in values.iter_mut().enumerate().take(ROWS) {
            *values = self.rows.load(t, first + k as u32 * Self::ROW_STEP);
        }
        if Self::HAS_SLICES && !t.warp().is_multiple_of(SLABS) {
            values[ROWS] = self.rows.load(t, first - Self::ROW_STEP);
        }
        values
    }

    /// Values to codes, 0 where there is none; bit 2 k + half says that row k has none there.
    #[inline(always)]
    fn quantize(&self, values: &Step<E>) -> (Step<i32>, u32) {
        let mut codes = [[0; 2]; ROWS + 1];
        let mut doubtful = 0u32;
        for i in 0..2 * Self::COUNT {
            let value = values[i / 2][i % 2];
            codes[i / 2][i % 2] = self.quantizer.nearest_code(value);
            doubtful |= u32::from(!self.quantizer.is_clearly_within(value)) << i;
        }
        let mut missing = 0;
        while doubtful != 0 {
            let number = doubtful.trailing_zeros();
            doubtful &= doubtful - 1;
            // A register has no address: the one that is meant is found by comparison.
            let mut value = values[0][0];
            for i in 1..2 * Self::COUNT {
                value = if i as u32 == number {
                    values[i / 2][i % 2]
                } else {
                    value
                };
            }
            let code = self.quantizer.quantize_with_care(value);
            missing |= u32::from(code.is_none()) << number;
            for i in 0..2 * Self::COUNT {
                let slot = &mut codes[i / 2][i % 2];
                *slot = if i as u32 == number {
                    code.unwrap_or(0)
                } else {
                    *slot
                };
            }
        }
        (codes, missing)
    }

    /// What the first step needs of the rows before.
    #[inline(always)]
    fn earlier<T: Thread>(&self, t: T) -> Earlier {
        let mut earlier = Earlier {
            rows: [[0; 2]; ROWS],
            carry: 0,
        };
        let mut values = [[E::ZERO; 2]; ROWS + 1];
        let is_first = if Self::HAS_SLICES {
            t.warp() / SLABS == 0
        } else {
            t.warp() == 0
        };
        if !is_first {
            if Self::HAS_SLICES {
                let first = Self::first_row(t, 0) - 1;
                for k in 0..ROWS as u32 {
                    values[k as usize] = self.rows.load(t, first + k * Self::ROW_STEP);
                }
                if !t.warp().is_multiple_of(SLABS) {
                    values[ROWS] = self.rows.load(t, first - Self::ROW_STEP);
                }
            } else {
                values[ROWS - 1] = self.rows.load(t, Self::first_row(t, 0) - 1);
            }
        }
        let (codes, _) = self.quantize(&values);
        let _ = earlier.advance::<S>(&codes);
        if matches!(S::SHAPE, Shape::Line) {
            (_, earlier.carry) = before(t, codes[ROWS - 1], 0);
        }
        earlier
    }

    /// Writes a row's codes; whether one of them, other than the tile's first, is [`RAW`].
    #[inline(always)]
    fn store<T: Thread>(
        &self,
        t: T,
        step: u32,
        k: usize,
        residuals: Pair<i32>,
        missing: u32,
        is_origin: bool,
    ) -> bool {
        let row = Self::first_row(t, step) + k as u32 * Self::ROW_STEP;
        let count = self.rows.places(row);
        let mut has_raw = false;
        for half in 0..2u32 {
            let residual = residuals[half as usize];
            let is_inside = place(t, half) < count;
            let is_missing = missing >> (2 * k as u32 + half) & 1 == 1;
            let is_raw = is_missing || !fits(residual);
            has_raw |= is_raw && is_inside && !(is_origin && half == 0);
            let code = if !is_inside {
                0
            } else if is_raw {
                RAW
            } else {
                zigzag(residual)
            };
            self.rows.store_code(t, row, half, code);
        }
        has_raw
    }
}

/// What a step needs of the one before.
struct Earlier {
    /// In a cube, of each of its rows, what it was more than the slice before; in a plane the last row
    /// is the last of these.
    rows: [Pair<i32>; ROWS],
    /// In a line, lane 0's code of the place before.
    carry: i32,
}

impl Earlier {
    /// Codes less what the rows before predict on their own.
    #[inline(always)]
    fn advance<S: StaticShape>(&mut self, codes: &Step<i32>) -> [Pair<i32>; ROWS] {
        let own: [Pair<i32>; ROWS] = core::array::from_fn(|k| codes[k]);
        match S::SHAPE {
            Shape::Line => own,
            Shape::Plane => {
                let above = self.rows[ROWS - 1];
                self.rows = own;
                core::array::from_fn(|k| subtract(own[k], if k == 0 { above } else { own[k - 1] }))
            }
            Shape::Cube => {
                let more: [Pair<i32>; ROWS] = core::array::from_fn(|k| {
                    subtract(own[k], codes[if k == 0 { ROWS } else { k - 1 }])
                });
                let above = self.rows;
                self.rows = more;
                core::array::from_fn(|k| subtract(more[k], above[k]))
            }
        }
    }
}
