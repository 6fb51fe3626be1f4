//! Prediction: a field to codes.
//!
//! A warp takes 8 steps of 4 rows. In a line or a plane they follow each other; in a cube a step has a row of
//! each of 4 slices, and of the one before. A warp also quantises the values it needs of other warps' rows.

#![expect(
    clippy::needless_range_loop,
    reason = "arrays stay in registers if bounds are constant, which iterators hide"
)]

use crate::PACKAGE;
use crate::predict::tile_lorenzo::THREADS;
use crate::predict::tile_lorenzo::exact;
use crate::predict::tile_lorenzo::rows::{Pair, Row, SLICE_ROWS, TileRows, is_whole};
use crate::predict::tile_lorenzo::{HOLES, LorenzoParams};
use crate::primitives::element::by_width;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::token::{RAW, zigzag};
use ferrosz_codec::predict::tile_lorenzo::fits;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_simt::{Kernel, Name, Package, Thread};

/// Predicts a field of `E` in tiles of shape `S`. Launched with a block for each tile.
pub struct Predict<E, S>(PhantomData<(E, S)>);

/// Rows of a step that are the warp's own.
const ROWS: usize = 4;
/// Steps of a warp.
const STEPS: u32 = 8;
/// The number of the first of them; the one before belongs to another warp.
const FIRST_STEP: u32 = 1;
/// Warps whose steps are side by side in a cube, each with 4 of the 16 slices.
const SLABS: u32 = SLICE_ROWS / ROWS as u32;

/// A lane's values of the rows of a step, the last one being the row of the slice before.
type Step<V> = [Pair<V>; ROWS + 1];

impl<E: Element, S: StaticShape> Kernel for Predict<E, S> {
    type Params = LorenzoParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_lorenzo_predict", S::SHAPE.name(), E::DTYPE.name()]) }
            .as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = exact::shared(S::SHAPE).1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &LorenzoParams) {
        let (number, tile) = params.taken_tile(t, S::SHAPE, t.block_index());
        let quantizer = params.quantizer::<T, E>(t);
        let has_raw = if is_whole(S::SHAPE, &tile) {
            let rows = TileRows::<S, true>::new(params, number, &tile);
            predict(t, &rows, &quantizer)
        } else {
            let rows = TileRows::<S, false>::new(params, number, &tile);
            predict(t, &rows, &quantizer)
        };
        if t.barrier_or(has_raw) {
            // Computed again: if these values stayed live until here, they would need registers throughout.
            let (number, tile) = params.taken_tile(t, S::SHAPE, t.opaque(t.block_index()));
            let rows = TileRows::<S, false>::new(params, number, &tile);
            exact::predict(t, &rows, &params.quantizer::<T, E>(t));
            if params.flags & HOLES != 0 {
                t.barrier();
                let (number, tile) = params.taken_tile(t, S::SHAPE, t.opaque(t.block_index()));
                let rows = TileRows::<S, false>::new(params, number, &tile);
                exact::clear_holes::<T, E, S>(t, &rows);
            }
        }
    }
}

/// Writes this warp's codes, as if all positions but the tile's first had one that fits. Returns whether one has
/// not, so that the written codes are of no use.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn predict<T: Thread, E: Element, S: StaticShape, const WHOLE: bool>(
    t: T,
    rows: &TileRows<'_, S, WHOLE>,
    quantizer: &Quantizer<E>,
) -> bool {
    let share = Share::new(t, rows, quantizer);
    let (mut step, mut row) = share.first_step(t);
    let mut earlier = Earlier::default();
    let mut has_raw = false;
    let mut largest = 0;
    while step < t.opaque(STEPS + 1) {
        let (codes, missing) = share.quantize(t, row);
        let rest = earlier.advance::<S>(&codes);
        let has_origin = step == FIRST_STEP && t.thread_index() == 0;
        has_raw |= missing >> u32::from(has_origin) != 0;
        if step < FIRST_STEP {
            if matches!(S::SHAPE, Shape::Line) {
                (_, earlier.carry) = rest[ROWS - 1].before(t, 0);
            }
        } else {
            let largest_here = share.store(t, row, &rest, &mut earlier.carry, has_origin);
            largest = largest_here.max(largest);
        }
        if has_origin {
            let has_code = missing & 1 == 0 && fits(codes[0].low);
            let code = if has_code { zigzag(codes[0].low) } else { RAW };
            rows.store_code(t, row, 0, code);
        }
        row = share.next_row(row);
        step += 1;
    }
    has_raw || largest >= RAW
}

/// A warp's steps.
struct Share<'a, E, S, const WHOLE: bool> {
    rows: &'a TileRows<'a, S, WHOLE>,
    quantizer: &'a Quantizer<E>,
    /// All ones, or 0 if the tile has no slice before the warp's.
    slice_before: u32,
}

impl<'a, E: Element, S: StaticShape, const WHOLE: bool> Share<'a, E, S, WHOLE> {
    const HAS_SLICES: bool = matches!(S::SHAPE, Shape::Cube);

    /// Rows that a step looks at.
    const COUNT: usize = if Self::HAS_SLICES { ROWS + 1 } else { ROWS };

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn new<T: Thread>(t: T, rows: &'a TileRows<'a, S, WHOLE>, quantizer: &'a Quantizer<E>) -> Self {
        let has_slice_before = Self::HAS_SLICES && !t.warp().is_multiple_of(SLABS);
        Self {
            rows,
            quantizer,
            slice_before: t.opaque(if has_slice_before { u32::MAX } else { 0 }),
        }
    }

    /// The number of the step that this warp begins with, which is the one before its own if the tile has that,
    /// and its first row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn first_step<T: Thread>(&self, t: T) -> (u32, Row) {
        let (number, before) = if Self::HAS_SLICES {
            let slice = t.warp() % SLABS * ROWS as u32;
            let y = t.warp() / SLABS * STEPS;
            (slice * SLICE_ROWS + y, y.min(1))
        } else {
            let number = t.warp() * STEPS * ROWS as u32;
            (number, number.min(ROWS as u32))
        };
        let row = self.rows.row(t, number - before);
        (FIRST_STEP - u32::from(before > 0), row)
    }

    /// The first row of the next step.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn next_row(&self, row: Row) -> Row {
        self.rows
            .moved(row, 0, if Self::HAS_SLICES { 1 } else { ROWS as u32 })
    }

    /// Row number `k` of the step whose first row is `row`, modulo 2^32.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn row_of(&self, row: Row, k: u32) -> Row {
        if Self::HAS_SLICES {
            self.rows.moved(row, k, 0)
        } else {
            self.rows.moved(row, 0, k)
        }
    }

    /// The value of half a row of the step whose first row is `row`: that of `k`, or of the slice before. If there is
    /// none, anything.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn load<T: Thread>(&self, t: T, row: Row, k: usize, half: u32) -> E {
        let by = if k == ROWS {
            self.slice_before
        } else {
            k as u32
        };
        self.rows.load(t, self.row_of(row, by), half)
    }

    /// The codes of the step whose first row is `row`, 0 where there is none; bit 2 k + half says that row k has
    /// none there.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn quantize<T: Thread>(&self, t: T, row: Row) -> (Step<i32>, u32) {
        let mut values = [Pair::default(); ROWS + 1];
        for k in 0..Self::COUNT {
            values[k] = Pair::of(|half| self.load(t, row, k, half));
        }
        let mut codes = [Pair::default(); ROWS + 1];
        let mut is_clear = true;
        for k in 0..Self::COUNT {
            codes[k] = values[k].map(|value| self.quantizer.nearest_code(value));
            let clear = values[k].map(|value| self.quantizer.is_clearly_within(value));
            is_clear &= clear.low & clear.high;
        }
        let missing = if is_clear {
            0
        } else {
            self.quantize_with_care(t, row, &mut codes)
        };
        let mask = self.slice_before.cast_signed();
        codes[ROWS] = codes[ROWS].map(|code| code & mask);
        (codes, missing)
    }

    /// Corrects the doubtful codes; returns the positions that have none. The values are loaded again, since they would
    /// need registers if they stayed live.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn quantize_with_care<T: Thread>(&self, t: T, row: Row, codes: &mut Step<i32>) -> u32 {
        let row = self.rows.moved(row, 0, t.opaque(0));
        let count = 2 * Self::COUNT as u32;
        // Values of f64, whose rounding is seldom in doubt, one after the other.
        let count = if E::WORDS == 1 {
            count
        } else {
            t.opaque(count)
        };
        let mut doubtful = 0u32;
        for number in 0..count {
            let value = self.load(t, row, number as usize / 2, number % 2);
            doubtful |= u32::from(!self.quantizer.is_clearly_within(value)) << number;
        }
        let mut missing = 0;
        while doubtful != 0 {
            let number = doubtful.trailing_zeros();
            doubtful &= doubtful - 1;
            let value = self.load(t, row, number as usize / 2, number % 2);
            let code = self.quantizer.quantize_with_care(value);
            missing |= u32::from(code.is_none()) << number;
            let code = code.unwrap_or(0);
            // A register has no address: the one that is meant is found by comparison.
            for k in 0..Self::COUNT {
                let slot = &mut codes[k];
                let [low, high] = [2 * k as u32, 2 * k as u32 + 1];
                slot.low = if number == low { code } else { slot.low };
                slot.high = if number == high { code } else { slot.high };
            }
        }
        missing
    }

    /// Writes a step's residuals as codes, but with `has_origin` the first; the largest code.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store<T: Thread>(
        &self,
        t: T,
        first: Row,
        rest: &[Pair<i32>; ROWS],
        carry: &mut i32,
        has_origin: bool,
    ) -> u32 {
        let mut largest = 0;
        for k in 0..ROWS {
            let (before, last) = rest[k].before(t, *carry);
            if matches!(S::SHAPE, Shape::Line) {
                *carry = last;
            }
            let row = self.row_of(first, k as u32);
            let mut codes = rest[k].minus(before).map(zigzag);
            codes.low = if self.rows.has(t, row, 0) {
                codes.low
            } else {
                0
            };
            codes.high = if self.rows.has(t, row, 1) {
                codes.high
            } else {
                0
            };
            if k == 0 && has_origin {
                codes.low = 0;
            }
            largest = codes.low.max(codes.high).max(largest);
            self.rows.store_code(t, row, 0, codes.low);
            self.rows.store_code(t, row, 1, codes.high);
        }
        largest
    }
}

/// The values that a step needs of the one before.
#[derive(Default)]
struct Earlier {
    /// In a cube, the difference of each of its rows from the slice before; in a plane the last row
    /// is the last of these.
    rows: [Pair<i32>; ROWS],
    /// In a line, lane 0's code of the position before.
    carry: i32,
}

impl Earlier {
    /// Codes less the prediction from the rows before alone.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn advance<S: StaticShape>(&mut self, codes: &Step<i32>) -> [Pair<i32>; ROWS] {
        let own = [codes[0], codes[1], codes[2], codes[3]];
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

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn each_less(a: [Pair<i32>; ROWS], b: [Pair<i32>; ROWS]) -> [Pair<i32>; ROWS] {
    core::array::from_fn(|k| a[k].minus(b[k]))
}
