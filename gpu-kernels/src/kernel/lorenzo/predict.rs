//! Prediction: a field to codes.
//!
//! A warp takes 8 steps of 4 rows. In a line or a plane they follow each other; in a cube a step has a row of
//! each of 4 slices, and of the one before. What a warp needs of rows that are not its own it quantises too.

use super::LorenzoParams;
use super::exact;
use super::rows::{Pair, Row, SLICE_ROWS, TileRows, before, is_whole, subtract};
use crate::kernel::interp::predict::load_element;
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
const SLABS: u32 = SLICE_ROWS / ROWS as u32;

/// What a lane has of the rows of a step, the last one being the row of the slice before.
type Step<V> = [Pair<V>; ROWS + 1];

impl<E: Element, S: StaticShape> Predict<E, S> {
    /// Words of shared memory.
    pub const SHARED_WORDS: u32 = exact::shared_words(S::SHAPE);

    /// What one thread does.
    #[inline(always)]
    pub fn run<T: Thread>(t: T, params: &LorenzoParams) {
        let (number, tile) = params.tile(t, S::SHAPE);
        let quantizer = params.quantizer::<T, E>(t);
        let rows = TileRows::<S, false>::new(params, number, &tile);
        let has_raw = if is_whole(S::SHAPE, &tile) {
            let rows = TileRows::<S, true>::new(params, number, &tile);
            predict(t, &rows, &quantizer)
        } else {
            predict(t, &rows, &quantizer)
        };
        if t.barrier_or(has_raw) && t.warp() == 0 {
            exact::predict(t, &rows, &quantizer);
        }
    }
}

/// Writes this warp's codes, as if all places but the tile's first had one that fits; whether one has not, so
/// that what was written is of no use.
#[inline(always)]
fn predict<T: Thread, E: Element, S: StaticShape, const WHOLE: bool>(
    t: T,
    rows: &TileRows<'_, S, WHOLE>,
    quantizer: &Quantizer<E>,
) -> bool {
    let share = Share { rows, quantizer };
    let mut row = share.first_row(t);
    // One step ahead, but for f64, which is many registers, and many bytes under way.
    let is_ahead = E::WORDS == 1;
    let mut next = share.load(t, row);
    if t.thread_index() == 0 {
        share.store_origin(t, row);
    }
    let mut earlier = share.earlier(t, row);
    let mut has_raw = false;
    let mut largest = 0;
    let mut step = 0;
    while step < t.opaque(STEPS) {
        let values = if is_ahead { next } else { share.load(t, row) };
        let current = row;
        row = share.next_row(row);
        if is_ahead && step + 1 < STEPS {
            next = share.load(t, row);
        }
        let has_origin = step == 0 && t.thread_index() == 0;
        let (codes, missing) = share.quantize(t, &values);
        has_raw |= missing >> u32::from(has_origin) != 0;
        let rest = earlier.advance::<S>(&codes);
        for k in 0..ROWS {
            let (before, last) = before(t, rest[k], earlier.carry);
            if matches!(S::SHAPE, Shape::Line) {
                earlier.carry = last;
            }
            let residuals = subtract(rest[k], before);
            let row = share.row_of(current, k as u32);
            for half in 0..2 {
                if !(has_origin && k == 0 && half == 0) {
                    let code = zigzag(residuals[half as usize]);
                    let code = if rows.has(t, row, half) { code } else { 0 };
                    largest = code.max(largest);
                    rows.store_code(t, row, half, code);
                }
            }
        }
        step += 1;
    }
    has_raw || largest >= RAW
}

/// A warp's steps.
struct Share<'a, E, S, const WHOLE: bool> {
    rows: &'a TileRows<'a, S, WHOLE>,
    quantizer: &'a Quantizer<E>,
}

impl<E: Element, S: StaticShape, const WHOLE: bool> Share<'_, E, S, WHOLE> {
    const HAS_SLICES: bool = matches!(S::SHAPE, Shape::Cube);

    /// Rows that a step looks at.
    const COUNT: usize = if Self::HAS_SLICES { ROWS + 1 } else { ROWS };

    /// The first row of the first step.
    #[inline(always)]
    fn first_row<T: Thread>(&self, t: T) -> Row {
        let number = if Self::HAS_SLICES {
            let slice = t.warp() % SLABS * ROWS as u32;
            slice * SLICE_ROWS + t.warp() / SLABS * STEPS
        } else {
            t.warp() * STEPS * ROWS as u32
        };
        self.rows.row(t, number)
    }

    /// The first row of the next step.
    #[inline(always)]
    fn next_row(&self, row: Row) -> Row {
        self.rows
            .moved(row, 0, if Self::HAS_SLICES { 1 } else { ROWS as u32 })
    }

    /// Row number `k` of the step whose first row is `row`, modulo 2^32.
    #[inline(always)]
    fn row_of(&self, row: Row, k: u32) -> Row {
        if Self::HAS_SLICES {
            self.rows.moved(row, k, 0)
        } else {
            self.rows.moved(row, 0, k)
        }
    }

    /// The values of the step whose first row is `row`.
    #[inline(always)]
    fn load<T: Thread>(&self, t: T, row: Row) -> Step<E> {
        let mut values = [[E::ZERO; 2]; ROWS + 1];
        for k in 0..ROWS {
            values[k] = self.rows.load(t, self.row_of(row, k as u32));
        }
        if Self::HAS_SLICES && !t.warp().is_multiple_of(SLABS) {
            values[ROWS] = self.rows.load(t, self.row_of(row, u32::MAX));
        }
        values
    }

    /// Writes the code of the tile's first place.
    #[inline(always)]
    fn store_origin<T: Thread>(&self, t: T, row: Row) {
        if self.rows.has(t, row, 0) {
            let value = load_element(t, self.rows.params.field, self.rows.first_element);
            let code = self.quantizer.quantize(value).filter(|code| fits(*code));
            self.rows.store_code(t, row, 0, code.map_or(RAW, zigzag));
        }
    }

    /// Values to codes, 0 where there is none; bit 2 k + half says that row k has none there.
    #[inline(always)]
    fn quantize<T: Thread>(&self, t: T, values: &Step<E>) -> (Step<i32>, u32) {
        let mut codes = [[0; 2]; ROWS + 1];
        let mut is_clear = true;
        for i in 0..2 * Self::COUNT {
            let value = values[i / 2][i % 2];
            codes[i / 2][i % 2] = self.quantizer.nearest_code(value);
            is_clear &= self.quantizer.is_clearly_within(value);
        }
        let mut missing = 0;
        if !is_clear {
            // A register has no address: the one that is meant is found by comparison.
            for number in 0..t.opaque(2 * Self::COUNT as u32) {
                let mut value = values[0][0];
                for i in 1..2 * Self::COUNT {
                    let is_it = i as u32 == number;
                    value = if is_it { values[i / 2][i % 2] } else { value };
                }
                let code = self.quantizer.quantize(value);
                missing |= u32::from(code.is_none()) << number;
                let code = code.unwrap_or(0);
                for i in 0..2 * Self::COUNT {
                    let slot = &mut codes[i / 2][i % 2];
                    *slot = if i as u32 == number { code } else { *slot };
                }
            }
        }
        (codes, missing)
    }

    /// What the first step, whose first row is `row`, needs of the rows before.
    #[inline(always)]
    fn earlier<T: Thread>(&self, t: T, row: Row) -> Earlier {
        let mut earlier = Earlier {
            rows: [[0; 2]; ROWS],
            carry: 0,
        };
        let has_earlier = if Self::HAS_SLICES {
            t.warp() / SLABS > 0
        } else {
            t.warp() > 0
        };
        if has_earlier {
            let above = self.rows.moved(row, 0, u32::MAX);
            let values = if Self::HAS_SLICES {
                self.load(t, above)
            } else {
                let mut values = [[E::ZERO; 2]; ROWS + 1];
                values[ROWS - 1] = self.rows.load(t, above);
                values
            };
            let (codes, _) = self.quantize(t, &values);
            let _ = earlier.advance::<S>(&codes);
            if matches!(S::SHAPE, Shape::Line) {
                (_, earlier.carry) = before(t, codes[ROWS - 1], 0);
            }
        }
        earlier
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
        let own: [Pair<i32>; ROWS] = [codes[0], codes[1], codes[2], codes[3]];
        let rows_before = |first| [first, own[0], own[1], own[2]];
        match S::SHAPE {
            Shape::Line => own,
            Shape::Plane => {
                let above = self.rows[ROWS - 1];
                self.rows = own;
                each_less(own, rows_before(above))
            }
            Shape::Cube => {
                let more = each_less(own, rows_before(codes[ROWS]));
                let above = self.rows;
                self.rows = more;
                each_less(more, above)
            }
        }
    }
}

#[inline(always)]
fn each_less(a: [Pair<i32>; ROWS], b: [Pair<i32>; ROWS]) -> [Pair<i32>; ROWS] {
    core::array::from_fn(|k| subtract(a[k], b[k]))
}
