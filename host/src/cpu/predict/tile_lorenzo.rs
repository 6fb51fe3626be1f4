//! The Lorenzo predictor of tiles.
//!
//! The whole field is quantised first, by one [`Quantizer`]. Each code is predicted by the codes of its neighbours in
//! the tile: see [`predict::lorenzo`](ferrosz_codec::predict::lorenzo), whose blocks are larger here. The residuals are
//! small where the field is smooth; a value whose residual does not fit in 16 bits is stored raw. After J. Tian et al.,
//! "cuSZ" (PACT'20), and B. Zhang et al., "FZ-GPU" (HPDC'23).
//!
//! A raw position counts as correctly predicted, so that a spike has little effect on its neighbours, and decoding
//! consists only of sums along each dimension. A tile's first position is the exception and counts with its own code,
//! which, like all codes of the tile, may be far from 0.
//!
//! The sums are cheap if a tile is processed row by row. Let b(x) be the prediction from the rows before alone, which
//! is q(z, y-1, x) + q(z-1, y, x) - q(z-1, y-1, x) in a cube, and q' = q - b. Then the residual is q'(x) - q'(x-1).

use crate::cpu::lanes::Lanes;
use crate::cpu::version::{Version, Work};
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::tile_lorenzo::{ROW, fits, origin};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::{RAW, unzigzag, zigzag};
use ferrosz_codec::tile::{self, TILE, TileBox};

/// Rows of a slice of a cube's tile.
const SLICE_ROWS: usize = 16;

/// The codes of a row, or numbers computed from them.
type Row = [i32; ROW];

/// Encodes a tile. Its codes are zigzag or [`RAW`], in the order of steps and lanes, and 0 outside the field.
///
/// `read` fills a slice with the values of the field along x from a position on.
#[inline(always)]
pub fn encode<T: Element>(
    shape: Shape,
    tile: &TileBox,
    quantizer: &Quantizer<T>,
    mut read: impl FnMut([u64; 3], &mut [T]),
    codes: &mut [u16; TILE],
) {
    let mut rows = RowsBefore::new(shape);
    let mut values = [T::ZERO; ROW];
    for (row, codes) in (0..).zip(codes.chunks_exact_mut(ROW)) {
        let count = positions(shape, tile, row);
        if count == 0 {
            codes.fill(0);
            continue;
        }
        read(tile.at(first_position(shape, row)), &mut values[..count]);
        // Values outside the field have no effect; the last value is repeated because it costs least.
        let last = values[count - 1];
        values[count..].fill(last);
        let mut quantized = QuantizedRow::new(quantizer, &values);
        if row == 0 {
            rows.carry = quantized.take_origin();
        }
        let residuals = rows.forward(row, &mut quantized);
        write_codes(&residuals, quantized.raw & !quantized.holes, codes);
        if row == 0 {
            codes[0] = origin_code(&quantized);
        }
        for x in count..ROW {
            codes[index_in_row(x)] = 0;
        }
    }
}

/// Decodes a tile.
///
/// `raw` gives the value at a position of the field whose code is [`RAW`]; `write` is called with the values along x
/// from a position on.
#[inline(always)]
pub fn decode<T: Element>(
    shape: Shape,
    tile: &TileBox,
    quantizer: &Quantizer<T>,
    codes: &[u16; TILE],
    mut raw: impl FnMut([u64; 3]) -> T,
    mut write: impl FnMut([u64; 3], &[T]),
) {
    let mut rows = RowsBefore::new(shape);
    for (row, codes) in (0..).zip(codes.chunks_exact(ROW)) {
        let count = positions(shape, tile, row);
        if count == 0 {
            continue;
        }
        let first = tile.at(first_position(shape, row));
        let mut residuals = [0; ROW];
        let has_raw = read_codes(codes, &mut residuals);
        if row == 0 && codes[0] == RAW {
            residuals[0] = origin(quantizer, raw(first));
        }
        let quantized = rows.backward(row, &residuals);
        let mut values = quantized.map(|code| quantizer.dequantize(code));
        if has_raw {
            for (x, value) in values.iter_mut().enumerate().take(count) {
                if codes[index_in_row(x)] == RAW {
                    *value = raw([first[0], first[1], first[2] + x as u64]);
                }
            }
        }
        write(first, &values[..count]);
    }
}

/// [`encode`] by this version of the code.
pub fn encode_on<T: Element>(
    version: Version,
    shape: Shape,
    tile: &TileBox,
    quantizer: &Quantizer<T>,
    mut read: impl FnMut([u64; 3], &mut [T]),
    codes: &mut [u16; TILE],
) {
    version.run_apart(Encode {
        shape,
        tile,
        quantizer,
        read: &mut read,
        codes,
    });
}

/// [`decode`] by this version of the code.
pub(crate) fn decode_on<T: Element>(
    version: Version,
    shape: Shape,
    tile: &TileBox,
    quantizer: &Quantizer<T>,
    codes: &[u16; TILE],
    mut raw: impl FnMut([u64; 3]) -> T,
    mut write: impl FnMut([u64; 3], &[T]),
) {
    version.run_apart(Decode {
        shape,
        tile,
        quantizer,
        codes,
        raw: &mut raw,
        write: &mut write,
    });
}

struct Encode<'a, T> {
    shape: Shape,
    tile: &'a TileBox,
    quantizer: &'a Quantizer<T>,
    read: &'a mut dyn FnMut([u64; 3], &mut [T]),
    codes: &'a mut [u16; TILE],
}

impl<T: Element> Work for Encode<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        encode(self.shape, self.tile, self.quantizer, self.read, self.codes);
    }
}

struct Decode<'a, T> {
    shape: Shape,
    tile: &'a TileBox,
    quantizer: &'a Quantizer<T>,
    codes: &'a [u16; TILE],
    raw: &'a mut dyn FnMut([u64; 3]) -> T,
    write: &'a mut dyn FnMut([u64; 3], &[T]),
}

impl<T: Element> Work for Decode<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        decode(
            self.shape,
            self.tile,
            self.quantizer,
            self.codes,
            self.raw,
            self.write,
        );
    }
}

/// The position in its tile of a row's first element.
#[inline(always)]
pub const fn first_position(shape: Shape, row: u32) -> [u32; 3] {
    tile::position(shape, 2 * row, 0)
}

/// The number of positions of a row that are in the field.
#[inline(always)]
pub fn positions(shape: Shape, tile: &TileBox, row: u32) -> usize {
    let [z, y, x] = first_position(shape, row);
    if z < tile.left[0] && y < tile.left[1] {
        tile.left[2].saturating_sub(x).min(tile::ROW) as usize
    } else {
        0
    }
}

/// The index of the code of position `x` of a row in the row's two steps.
#[inline(always)]
const fn index_in_row(x: usize) -> usize {
    x % 2 * (ROW / 2) + x / 2
}

/// A row of codes, and the mask of its positions without a code.
struct QuantizedRow {
    codes: Row,
    /// Bit x is set if position x has no code.
    raw: u64,
    /// Bit x is set if position x is a hole: it has no code, and its value is not stored.
    holes: u64,
    /// Whether the tile's first position, if it is in this row, has a code.
    has_origin: bool,
}

impl QuantizedRow {
    #[inline(always)]
    fn new<T: Element>(quantizer: &Quantizer<T>, values: &[T; ROW]) -> Self {
        let mut codes = [0; ROW];
        let mut is_clear = true;
        for (code, &value) in codes.iter_mut().zip(values) {
            *code = quantizer.nearest_code(value);
            is_clear &= quantizer.is_clearly_within(value);
        }
        let (mut raw, mut holes) = (0, 0);
        if !is_clear {
            for x in 0..ROW {
                let code = quantizer.quantize(values[x]);
                codes[x] = code.unwrap_or(0);
                raw |= u64::from(code.is_none()) << x;
                holes |= u64::from(quantizer.is_hole(values[x])) << x;
            }
        }
        Self {
            codes,
            raw,
            holes,
            has_origin: false,
        }
    }

    /// The code with which the tile's first position counts, whether it has a code or not.
    #[inline(always)]
    fn take_origin(&mut self) -> i32 {
        self.has_origin = self.raw & 1 == 0;
        self.raw &= !1;
        self.codes[0]
    }
}

/// The code of a tile's first position.
#[inline(always)]
fn origin_code(row: &QuantizedRow) -> u16 {
    let origin = row.codes[0];
    if row.holes & 1 == 1 {
        0
    } else if row.has_origin && fits(origin) {
        zigzag(origin)
    } else {
        RAW
    }
}

/// The data of the rows before that the next row of a tile needs.
struct RowsBefore {
    shape: Shape,
    /// The last row of codes at each y.
    slice: [Row; SLICE_ROWS],
    /// The row above, minus the corresponding row of the slice before.
    above: Row,
    /// The code of the position before the row's first, minus its prediction from the rows before.
    carry: i32,
}

impl RowsBefore {
    #[inline(always)]
    fn new(shape: Shape) -> Self {
        Self {
            shape,
            slice: [[0; ROW]; SLICE_ROWS],
            above: [0; ROW],
            carry: 0,
        }
    }

    /// The prediction from the rows before alone.
    #[inline(always)]
    fn base(&self, row: u32) -> Row {
        let y = row as usize % SLICE_ROWS;
        match self.shape {
            Shape::Line => [0; ROW],
            Shape::Plane => self.above,
            Shape::Cube if y == 0 => self.slice[0],
            Shape::Cube => zip(&self.slice[y], &self.above, i32::wrapping_add),
        }
    }

    /// Advances to the next row; `codes` are the codes of this row and `rest` the same minus their base.
    #[inline(always)]
    fn advance(&mut self, row: u32, codes: &Row, rest: &Row) {
        self.carry = 0;
        match self.shape {
            Shape::Line => self.carry = rest[ROW - 1],
            Shape::Plane => self.above = *codes,
            Shape::Cube => {
                let slice = &mut self.slice[row as usize % SLICE_ROWS];
                self.above = zip(codes, slice, i32::wrapping_sub);
                *slice = *codes;
            }
        }
    }

    /// The residuals of a row. The codes of positions without a residual that fits become their predictions.
    #[inline(always)]
    fn forward(&mut self, row: u32, quantized: &mut QuantizedRow) -> Row {
        let base = self.base(row);
        let mut rest = zip(&quantized.codes, &base, i32::wrapping_sub);
        let mut residuals = rest;
        residuals[0] = rest[0].wrapping_sub(self.carry);
        for x in 1..ROW {
            residuals[x] = rest[x].wrapping_sub(rest[x - 1]);
        }
        let all_fit = residuals.iter().fold(true, |all, d| all & fits(*d));
        if quantized.raw != 0 || !all_fit {
            residuals = self.visit(&mut rest, &mut quantized.raw);
            quantized.codes = zip(&base, &rest, i32::wrapping_add);
        }
        self.advance(row, &quantized.codes, &rest);
        residuals
    }

    /// The residuals of a row with positions that have no code, which are in `raw`, or whose residual does not fit,
    /// which are added to `raw`.
    #[inline(always)]
    fn visit(&self, rest: &mut Row, raw: &mut u64) -> Row {
        let mut residuals = [0; ROW];
        let mut before = self.carry;
        for x in 0..ROW {
            let residual = rest[x].wrapping_sub(before);
            if *raw >> x & 1 == 0 && fits(residual) {
                residuals[x] = residual;
            } else {
                *raw |= 1 << x;
                rest[x] = before;
            }
            before = rest[x];
        }
        residuals
    }

    /// The codes of a row.
    #[inline(always)]
    fn backward(&mut self, row: u32, residuals: &Row) -> Row {
        let base = self.base(row);
        let mut sum = self.carry;
        let rest = residuals.map(|residual| {
            sum = sum.wrapping_add(residual);
            sum
        });
        let codes = zip(&base, &rest, i32::wrapping_add);
        self.advance(row, &codes, &rest);
        codes
    }
}

#[inline(always)]
fn zip(a: &Row, b: &Row, of: impl Fn(i32, i32) -> i32) -> Row {
    core::array::from_fn(|x| of(a[x], b[x]))
}

/// Writes a row's residuals as codes in the order of steps and lanes.
#[inline(always)]
fn write_codes(residuals: &Row, raw: u64, codes: &mut [u16]) {
    let (even, odd) = codes.split_at_mut(ROW / 2);
    let pairs = residuals.chunks_exact(2);
    for ((even, odd), pair) in even.iter_mut().zip(odd).zip(pairs) {
        *even = zigzag(pair[0]);
        *odd = zigzag(pair[1]);
    }
    let mut rest = raw;
    while rest != 0 {
        codes[index_in_row(rest.trailing_zeros() as usize)] = RAW;
        rest &= rest - 1;
    }
}

/// Reads the residuals of a row, 0 where the code is [`RAW`]; returns whether there is a [`RAW`].
#[inline(always)]
fn read_codes(codes: &[u16], residuals: &mut Row) -> bool {
    let (even, odd) = codes.split_at(ROW / 2);
    let residual = |code: u16| if code == RAW { 0 } else { unzigzag(code) };
    for ((pair, &even), &odd) in residuals.chunks_exact_mut(2).zip(even).zip(odd) {
        pair[0] = residual(even);
        pair[1] = residual(odd);
    }
    codes.iter().fold(false, |any, code| any | (*code == RAW))
}

#[cfg(test)]
mod tests;
