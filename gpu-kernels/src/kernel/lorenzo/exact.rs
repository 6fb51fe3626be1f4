//! Prediction of a tile in which a place has no code that fits, by one warp, row after row.
//!
//! Which places have one depends on those before them in the row. But a place at which two neighbours differ by
//! little has one if the place before it has, so that whole runs are known at once, and a turn ends at
//! the next place that has none.

use super::rows::{Pair, SLICE_ROWS, TileRows, add, before, both_fit, place, subtract};
use crate::simt::{Thread, WARP};
use ferrosz_codec::Element;
use ferrosz_codec::entropy::token::{RAW, zigzag};
use ferrosz_codec::predict::tile_lorenzo::fits;
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile;

/// Words of shared memory: in a cube, a slice.
pub const fn shared_words(shape: Shape) -> u32 {
    match shape {
        Shape::Line | Shape::Plane => 0,
        Shape::Cube => SLICE_ROWS * tile::ROW,
    }
}

/// Writes a tile's codes. For a whole warp.
#[inline(always)]
pub fn predict<T: Thread, E: Element, S: StaticShape>(
    t: T,
    rows: &TileRows<'_, S, false>,
    quantizer: &Quantizer<E>,
) {
    let mut state = RowsBefore {
        shape: S::SHAPE,
        above: [0; 2],
        carry: 0,
    };
    let mut next = rows.load(t, rows.row(t, 0));
    let mut number = 0;
    let count = t.opaque(tile::ROWS);
    while number < count {
        let values = next;
        if number + 1 < count {
            next = rows.load(t, rows.row(t, number + 1));
        }
        let row = rows.row(t, number);
        let is_inside = [rows.has(t, row, 0), rows.has(t, row, 1)];
        if rows.places(row) > 0 {
            let codes = state.predict_row(t, quantizer, number, is_inside, values);
            for half in 0..2 {
                if is_inside[half as usize] {
                    rows.store_code(t, row, half, codes[half as usize]);
                }
            }
        }
        number += 1;
    }
}

/// What the rows of a tile need from those before; the last slice is in shared memory.
struct RowsBefore {
    shape: Shape,
    /// The row above, less that of the slice before.
    above: Pair<i32>,
    /// Of the place before the row's first: its code, less what the rows before predict there.
    carry: i32,
}

impl RowsBefore {
    /// The codes of the next row.
    #[inline(always)]
    fn predict_row<T: Thread, E: Element>(
        &mut self,
        t: T,
        quantizer: &Quantizer<E>,
        row: u32,
        is_inside: Pair<bool>,
        values: Pair<E>,
    ) -> Pair<u32> {
        let found = values.map(|value| quantizer.quantize(value));
        let mut codes = found.map(|code| code.unwrap_or(0));
        let mut has_code = and(found.map(|code| code.is_some()), is_inside);
        if row == 0 {
            // It counts as what it is, whether its code fits or not.
            self.carry = t.shuffle(codes[0].cast_unsigned(), 0).cast_signed();
            has_code[0] |= t.lane() == 0;
        }
        let (base, slice) = self.base(t, row);
        let mut settled = Settled::find(t, subtract(codes, base), has_code, self.carry);
        codes = add(base, settled.rest);
        if row == 0 && t.lane() == 0 {
            // Its own residual is all of it.
            settled.residuals[0] = codes[0];
            settled.has_code[0] = found[0].is_some() && fits(codes[0]);
        }
        self.advance(t, row, codes, slice, settled.last);
        settled.codes()
    }

    /// What the rows before predict on their own, and the row of the slice before.
    #[inline(always)]
    fn base<T: Thread>(&self, t: T, row: u32) -> (Pair<i32>, Pair<i32>) {
        match self.shape {
            Shape::Line => ([0; 2], [0; 2]),
            Shape::Plane => (self.above, [0; 2]),
            Shape::Cube => {
                let mut slice = [0; 2];
                if row >= SLICE_ROWS {
                    slice = [0, 1].map(|half| t.shared_load(word(t, row, half)).cast_signed());
                }
                let is_first = row.is_multiple_of(SLICE_ROWS);
                let above = if is_first { [0; 2] } else { self.above };
                (add(slice, above), slice)
            }
        }
    }

    #[inline(always)]
    fn advance<T: Thread>(
        &mut self,
        t: T,
        row: u32,
        codes: Pair<i32>,
        slice: Pair<i32>,
        last: i32,
    ) {
        self.carry = if matches!(self.shape, Shape::Line) {
            last
        } else {
            0
        };
        self.above = subtract(codes, slice);
        if matches!(self.shape, Shape::Cube) {
            for half in 0..2 {
                let code = codes[half as usize].cast_unsigned();
                t.shared_store(word(t, row, half), code);
            }
        }
    }
}

/// Where this lane keeps its code of half a row of the last slice: no other looks at it.
#[inline(always)]
fn word<T: Thread>(t: T, row: u32, half: u32) -> u32 {
    row % SLICE_ROWS * tile::ROW + place(t, half)
}

/// A row, settled.
struct Settled {
    /// Codes less what the rows before predict.
    rest: Pair<i32>,
    residuals: Pair<i32>,
    has_code: Pair<bool>,
    /// The row's last `rest`, in all lanes.
    last: i32,
}

impl Settled {
    #[inline(always)]
    fn codes(&self) -> Pair<u32> {
        [0, 1].map(|half: usize| {
            if self.has_code[half] {
                zigzag(self.residuals[half])
            } else {
                RAW
            }
        })
    }

    /// Settles a row; `carry` is the same in all lanes.
    #[inline(always)]
    fn find<T: Thread>(t: T, rest: Pair<i32>, has_code: Pair<bool>, carry: i32) -> Self {
        let (previous, _) = before(t, rest, carry);
        let follows = mask(t, and(has_code, both_fit(rest, previous)));
        let mut last = carry;
        let mut settled = 0u64;
        let mut from = 0;
        while from < tile::ROW {
            let is_able = and(has_code, both_fit(rest, [last; 2]));
            let able = mask(t, is_able) >> from << from;
            if able == 0 {
                break;
            }
            let first = able.trailing_zeros();
            let end = first + 1 + (follows >> first >> 1).trailing_ones();
            settled |= u64::MAX >> (u64::BITS - (end - first)) << first;
            last = at(t, rest, end - 1);
            from = end;
        }
        Self::fill(t, rest, settled, carry, last)
    }

    /// Gives the places that are not among `settled` what is at the last one that is.
    #[inline(always)]
    fn fill<T: Thread>(t: T, rest: Pair<i32>, settled: u64, carry: i32, last: i32) -> Self {
        let rest = [0, 1].map(|half| {
            let up_to = settled & u64::MAX >> (tile::ROW - 1 - place(t, half));
            let found = at(t, rest, up_to.checked_ilog2().unwrap_or(0));
            if up_to == 0 { carry } else { found }
        });
        let (before, _) = before(t, rest, carry);
        Self {
            rest,
            residuals: subtract(rest, before),
            has_code: [0, 1].map(|half| settled >> place(t, half) & 1 == 1),
            last,
        }
    }
}

/// What is at a place of the row, which may be another one for each lane.
#[inline(always)]
fn at<T: Thread>(t: T, row: Pair<i32>, place: u32) -> i32 {
    let [low, high] = row.map(|value| t.shuffle(value.cast_unsigned(), place % WARP));
    if place < WARP { low } else { high }.cast_signed()
}

/// Bit x is what place x of the row says.
#[inline(always)]
fn mask<T: Thread>(t: T, row: Pair<bool>) -> u64 {
    let [low, high] = row.map(|is_so| u64::from(t.ballot(is_so)));
    low | high << WARP
}

#[inline(always)]
fn and(a: Pair<bool>, b: Pair<bool>) -> Pair<bool> {
    [a[0] && b[0], a[1] && b[1]]
}
