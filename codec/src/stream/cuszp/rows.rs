//! A half block's differences as rows of bits, and back (cuSZp stream, section 7).

use super::HALF;
use super::rate::{HALF_ROW, MAX_BODY, Rate};
use crate::encode::bit_plane::{sign_row, transpose_low_bytes, transpose_rows};

/// Or of the magnitudes, without the first.
#[inline(always)]
pub fn or_of_others(differences: &[i32; HALF]) -> u32 {
    let [_, others @ ..] = differences;
    others.iter().fold(0, |or, d| or | d.unsigned_abs())
}

/// The rows of a half block: `put` gets the place in the body and four bytes of each, little end
/// first. With an outlier the first difference of half 0 has no bits in the planes.
#[inline(always)]
pub fn write(rate: Rate, half: u32, differences: &[i32; HALF], mut put: impl FnMut(u32, u32)) {
    if !rate.has_signs {
        return;
    }
    let mut magnitudes = differences.map(i32::unsigned_abs);
    if half == 0 && rate.outlier_bytes > 0 {
        magnitudes[0] = 0;
    }
    put(rate.row_at(0, half), sign_row(differences));
    for byte in 0..rate.planes.div_ceil(8) {
        let rows = transpose_low_bytes(&magnitudes.map(|m| m >> (8 * byte) & 0xff));
        for (plane, row) in (8 * byte..rate.planes).zip(rows) {
            put(rate.row_at(1 + plane, half), row);
        }
    }
}

/// The differences of a half block; `get` gives four bytes of the body, little end first. The
/// first one of half 0 is what the planes say; an outlier is for [`with_outlier`] to put in.
#[inline(always)]
pub fn read(rate: Rate, half: u32, mut get: impl FnMut(u32) -> u32) -> [i32; HALF] {
    if !rate.has_signs {
        return [0; HALF];
    }
    let mut magnitudes = [0u32; HALF];
    for byte in 0..rate.planes.div_ceil(8) {
        let mut rows = [0; 8];
        for (plane, row) in (8 * byte..rate.planes).zip(&mut rows) {
            *row = get(rate.row_at(1 + plane, half));
        }
        let bits = transpose_rows(&rows);
        for (magnitude, bits) in magnitudes.iter_mut().zip(bits) {
            *magnitude |= bits << (8 * byte);
        }
    }
    // The first place's sign on top.
    let mut signs = get(rate.row_at(0, half)).swap_bytes();
    magnitudes.map(|magnitude| {
        let is_negative = signs >> 31 != 0;
        signs <<= 1;
        signed(magnitude, is_negative)
    })
}

/// The first difference of a block in the outlier form; `word` is the body's first four bytes,
/// little end first, `signs` half 0's sign row.
#[inline(always)]
pub fn with_outlier(rate: Rate, word: u32, signs: u32) -> i32 {
    let unused = 32 - 8 * rate.outlier_bytes.clamp(1, 4);
    signed(word << unused >> unused, signs & 0x80 != 0)
}

#[inline(always)]
fn signed(magnitude: u32, is_negative: bool) -> i32 {
    if is_negative {
        magnitude.wrapping_neg() as i32
    } else {
        magnitude as i32
    }
}

/// Writes the body of a whole block to the start of `out`.
pub fn write_body(rate: Rate, halves: &[[i32; HALF]], out: &mut [u8; MAX_BODY]) {
    let mut put = |at: u32, word: u32| {
        let bytes = out.get_mut(at as usize..).unwrap_or_default();
        if let Some(bytes) = bytes.first_chunk_mut::<{ HALF_ROW as usize }>() {
            *bytes = word.to_le_bytes();
        }
    };
    // The signs overwrite what is not of the first magnitude's bytes.
    if let (1.., Some([first, ..])) = (rate.outlier_bytes, halves.first()) {
        put(0, first.unsigned_abs());
    }
    for (half, differences) in (0..).zip(halves) {
        write(rate, half, differences, &mut put);
    }
}

/// Reads the body of a whole block from the start of `body`; missing bytes are 0.
pub fn read_body(rate: Rate, body: &[u8], halves: &mut [[i32; HALF]]) {
    let get = |at: u32| {
        let bytes = body.get(at as usize..).unwrap_or_default();
        match bytes.first_chunk() {
            Some(bytes) => u32::from_le_bytes(*bytes),
            None => bytes
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u32::from(*byte)),
        }
    };
    for (half, differences) in (0..).zip(&mut *halves) {
        *differences = read(rate, half, get);
    }
    if let (1.., Some([first, ..])) = (rate.outlier_bytes, halves.first_mut()) {
        *first = with_outlier(rate, get(0), get(rate.row_at(0, 0)));
    }
}
