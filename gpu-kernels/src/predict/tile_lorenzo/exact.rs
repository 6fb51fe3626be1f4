//! Prediction of a tile that has raw positions, row after row.
//!
//! A position is raw or not depending on the positions before it in the row. But a position whose code differs little
//! from its predecessor's is not raw if its predecessor is not. So a whole run of positions is decided at once, and each
//! round ends at the next raw position.
//!
//! Lines and planes are for one warp. In a cube a row waits for the preceding row, which the same warp has processed, and
//! for the same row of the preceding slice, which the preceding warp has processed. So a wave of rows runs through the
//! block's warps.

use crate::predict::tile_lorenzo::THREADS;
use crate::predict::tile_lorenzo::rows::{Pair, SLICE_ROWS, TileRows, position};
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::token::{RAW, zigzag};
use ferrosz_codec::predict::tile_lorenzo::fits;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile;
use ferrosz_simt::{Layout, Shared, Thread, WARP};

/// Warps of a block, half as many as a cube's tile has slices.
const WARPS: u32 = THREADS / WARP;

/// The shared memory of a block: in a cube, the codes of the last slice.
pub const fn shared(shape: Shape) -> (Shared<i32>, Layout) {
    let mut layout = Layout::new();
    let codes = match shape {
        Shape::Line | Shape::Plane => 0,
        Shape::Cube => SLICE_ROWS * tile::ROW,
    };
    (layout.array("last slice", codes), layout)
}

/// Writes a tile's codes. For the whole block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn predict<T: Thread, E: Element, S: StaticShape>(
    t: T,
    rows: &TileRows<'_, S, false>,
    quantizer: &Quantizer<E>,
) {
    let is_cube = matches!(S::SHAPE, Shape::Cube);
    let load = |turn| {
        let row = rows.row(t, row_of_turn(t, S::SHAPE, turn));
        Pair::of(|half| rows.load(t, row, half))
    };
    let mut state = RowsBefore {
        shape: S::SHAPE,
        above: Pair::default(),
        carry: 0,
    };
    let mut next = load(0);
    let mut turn = 0u32.wrapping_sub(if is_cube { t.warp() } else { 0 });
    let turns = t.opaque(if is_cube { 2 * SLICE_ROWS } else { tile::ROWS });
    let waves = turns + if is_cube { WARPS - 1 } else { 0 };
    let mut wave = 0;
    while wave < waves && (is_cube || t.warp() == 0) {
        if turn < turns {
            let values = next;
            next = load(turn + 1);
            let number = row_of_turn(t, S::SHAPE, turn);
            predict_row(t, rows, quantizer, &mut state, number, values);
        }
        if is_cube {
            t.barrier();
        }
        turn = turn.wrapping_add(1);
        wave += 1;
    }
}

/// Sets the codes of holes, which [`predict`] has taken for raw positions, to 0. For the whole block, after a barrier. It
/// reads the values again: in [`predict`] they would need registers to the end.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn clear_holes<T: Thread, E: Element, S: StaticShape>(t: T, rows: &TileRows<'_, S, false>) {
    let mut number = t.warp();
    while number < t.opaque(tile::ROWS) {
        let row = rows.row(t, number);
        for half in 0..t.opaque(2) {
            if rows.has(t, row, half) && rows.load_own_code(t, row, half) == RAW {
                let value: E = rows.load(t, row, half);
                if value.is_hole() {
                    rows.store_code(t, row, half, 0);
                }
            }
        }
        number += WARPS;
    }
}

/// The row that a warp has in a turn: in a cube those of one slice, and then of another.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn row_of_turn<T: Thread>(t: T, shape: Shape, turn: u32) -> u32 {
    match shape {
        Shape::Line | Shape::Plane => turn,
        Shape::Cube => {
            let slice = t.warp() + turn / SLICE_ROWS * WARPS;
            slice * SLICE_ROWS + turn % SLICE_ROWS
        }
    }
}

/// Writes a row's codes.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn predict_row<T: Thread, E: Element, S: StaticShape>(
    t: T,
    rows: &TileRows<'_, S, false>,
    quantizer: &Quantizer<E>,
    state: &mut RowsBefore,
    number: u32,
    values: Pair<E>,
) {
    let row = rows.row(t, number);
    let is_inside = Pair::of(|half| rows.has(t, row, half));
    if rows.positions(row) > 0 {
        let codes = state.codes(t, quantizer, number, is_inside, values);
        if is_inside.low {
            rows.store_code(t, row, 0, codes.low);
        }
        if is_inside.high {
            rows.store_code(t, row, 1, codes.high);
        }
    }
}

/// The values that the rows of a tile need from the rows before; the last slice is in shared memory.
struct RowsBefore {
    shape: Shape,
    /// The row above, less that of the slice before.
    above: Pair<i32>,
    /// Of the position before the row's first: its code, less the prediction from the rows before.
    carry: i32,
}

impl RowsBefore {
    /// The codes of the next row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn codes<T: Thread, E: Element>(
        &mut self,
        t: T,
        quantizer: &Quantizer<E>,
        row: u32,
        is_inside: Pair<bool>,
        values: Pair<E>,
    ) -> Pair<u32> {
        let found = values.map(|value| quantizer.quantize(value));
        let mut codes = found.map(|code| code.unwrap_or(0));
        let mut has_code = found.zip(is_inside, |code, is_inside| code.is_some() && is_inside);
        if row == 0 {
            // The first position counts with its own code, whether that fits or not.
            self.carry = t.shuffle(codes.low.cast_unsigned(), 0).cast_signed();
            has_code.low |= t.lane() == 0;
        }
        let (base, slice) = self.base(t, row);
        let rest = codes.minus(base);
        let mut settled = Settled::find(t, rest, has_code, is_inside, self.carry);
        codes = base.plus(settled.rest);
        if row == 0 && t.lane() == 0 {
            // Its own residual is all of it.
            settled.residuals.low = codes.low;
            settled.has_code.low = found.low.is_some() && fits(codes.low);
        }
        self.advance(t, row, codes, slice, settled.last);
        settled.codes()
    }

    /// The prediction from the rows before alone, and the row of the slice before.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn base<T: Thread>(&self, t: T, row: u32) -> (Pair<i32>, Pair<i32>) {
        match self.shape {
            Shape::Line => (Pair::default(), Pair::default()),
            Shape::Plane => (self.above, Pair::default()),
            Shape::Cube => {
                let mut slice = Pair::default();
                if row >= SLICE_ROWS {
                    let last = const { shared(Shape::Cube).0 };
                    slice = Pair::of(|half| last.load(t, in_slice(t, row, half)));
                }
                if row.is_multiple_of(SLICE_ROWS) {
                    (slice, slice)
                } else {
                    (slice.plus(self.above), slice)
                }
            }
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
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
        self.above = codes.minus(slice);
        if matches!(self.shape, Shape::Cube) {
            let last = const { shared(Shape::Cube).0 };
            last.store(t, in_slice(t, row, 0), codes.low);
            last.store(t, in_slice(t, row, 1), codes.high);
        }
    }
}

/// The index of this lane's code of half a row in the array of the last slice.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn in_slice<T: Thread>(t: T, row: u32, half: u32) -> u32 {
    row % SLICE_ROWS * tile::ROW + position(t, half)
}

/// A row after the decision which of its positions are raw.
struct Settled {
    /// Codes less the prediction from the rows before.
    rest: Pair<i32>,
    residuals: Pair<i32>,
    has_code: Pair<bool>,
    /// The row's last `rest`, in all lanes.
    last: i32,
}

impl Settled {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn codes(&self) -> Pair<u32> {
        (self.residuals).zip(
            self.has_code,
            |residual, has_code| {
                if has_code { zigzag(residual) } else { RAW }
            },
        )
    }

    /// Decides which positions of a row are raw; `carry` is the same in all lanes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find<T: Thread>(
        t: T,
        rest: Pair<i32>,
        has_code: Pair<bool>,
        is_inside: Pair<bool>,
        carry: i32,
    ) -> Self {
        let (previous, _) = rest.before(t, carry);
        let residuals = rest.minus(previous);
        let follows = mask(t, has_code, residuals);
        if follows == mask(t, is_inside, Pair::default()) {
            let last = at(t, rest, tile::ROW - 1);
            return Self {
                rest,
                residuals,
                has_code,
                last,
            };
        }
        let mut last = carry;
        let mut settled = 0u64;
        let mut from = 0;
        while from < tile::ROW {
            let from_last = rest.map(|rest| rest.wrapping_sub(last));
            let able = mask(t, has_code, from_last) >> from << from;
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

    /// Gives each raw position, whose bit in `settled` is 0, the `rest` of the last position before it that is not raw.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn fill<T: Thread>(t: T, rest: Pair<i32>, settled: u64, carry: i32, last: i32) -> Self {
        let rest = Pair::of(|half| {
            let up_to = settled & u64::MAX >> (tile::ROW - 1 - position(t, half));
            let found = at(t, rest, up_to.checked_ilog2().unwrap_or(0));
            if up_to == 0 { carry } else { found }
        });
        let (before, _) = rest.before(t, carry);
        Self {
            rest,
            residuals: rest.minus(before),
            has_code: Pair::of(|half| settled >> position(t, half) & 1 == 1),
            last,
        }
    }
}

/// The value at a position of the row; the position may differ from lane to lane.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn at<T: Thread>(t: T, row: Pair<i32>, position: u32) -> i32 {
    let Pair { low, high } = row.map(|value| t.shuffle(value.cast_unsigned(), position % WARP));
    if position < WARP { low } else { high }.cast_signed()
}

/// Bit x is whether position x of the row has a code and this residual of it fits.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn mask<T: Thread>(t: T, has_code: Pair<bool>, residuals: Pair<i32>) -> u64 {
    let is_able = has_code.zip(residuals, |has_code, residual| has_code && fits(residual));
    let Pair { low, high } = is_able.map(|is_able| u64::from(t.ballot(is_able)));
    low | high << WARP
}
