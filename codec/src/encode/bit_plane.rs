//! Bit planes: 32 integers of few bits as few 32-bit rows, and back.
//!
//! Row p holds bit p of every integer. Element e is bit 7 - e % 8 of byte e / 8 of the row, so the
//! first element is in the top bit of the first byte; rows are little-endian words.
//!
//! Eight planes are made at a time: the 32 bytes of the elements are four 8 x 8 bit matrices, one
//! a byte of the rows, each transposed by three rounds of swaps (H. S. Warren, Hacker's Delight,
//! 2nd ed., section 7-3). Transposition is its own inverse.

use crate::shape::GROUP;

/// Rows 0 to 7 of the low bytes of `values`, whose higher bits must be 0.
#[inline(always)]
pub fn transpose_low_bytes(values: &[u32; GROUP]) -> [u32; 8] {
    let mut high = [0; 4];
    let mut low = [0; 4];
    for group in 0..4 {
        let at = 8 * group;
        let top = pack(values[at], values[at + 1], values[at + 2], values[at + 3]);
        let bottom = pack(
            values[at + 4],
            values[at + 5],
            values[at + 6],
            values[at + 7],
        );
        (high[group], low[group]) = transpose_8x8(top, bottom);
    }
    let low = transpose_bytes(low);
    let high = transpose_bytes(high);
    [
        low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3],
    ]
}

/// The bytes whose rows 0 to 7 are `rows`.
#[inline(always)]
pub fn transpose_rows(rows: &[u32; 8]) -> [u32; GROUP] {
    let low = transpose_bytes([rows[0], rows[1], rows[2], rows[3]]);
    let high = transpose_bytes([rows[4], rows[5], rows[6], rows[7]]);
    let mut values = [0; GROUP];
    for group in 0..4 {
        let (top, bottom) = transpose_8x8(high[group], low[group]);
        for i in 0..4 {
            values[8 * group + i] = top >> (24 - 8 * i) & 0xff;
            values[8 * group + 4 + i] = bottom >> (24 - 8 * i) & 0xff;
        }
    }
    values
}

/// A sign row: element e's bit from `negative(e)`.
#[inline(always)]
pub fn sign_row(values: &[i32; GROUP]) -> u32 {
    let mut row = 0u32;
    for value in values {
        row = row << 1 | *value as u32 >> 31;
    }
    row.swap_bytes()
}

/// Four bytes in one word, the first on top.
#[inline(always)]
fn pack(a: u32, b: u32, c: u32, d: u32) -> u32 {
    a << 24 | b << 16 | c << 8 | d
}

/// Transposes the matrix whose rows are the bytes of `top`, then of `bottom`, from the high byte
/// down, columns from the high bit down.
#[inline(always)]
fn transpose_8x8(top: u32, bottom: u32) -> (u32, u32) {
    let swap = |x: u32, distance: u32, mask: u32| {
        let t = (x ^ x >> distance) & mask;
        x ^ t ^ t << distance
    };
    let top = swap(swap(top, 7, 0x00aa_00aa), 14, 0x0000_cccc);
    let bottom = swap(swap(bottom, 7, 0x00aa_00aa), 14, 0x0000_cccc);
    (
        top & 0xf0f0_f0f0 | bottom >> 4 & 0x0f0f_0f0f,
        top << 4 & 0xf0f0_f0f0 | bottom & 0x0f0f_0f0f,
    )
}

/// Byte j of result i is byte i of word j, counted from the low end.
#[inline(always)]
fn transpose_bytes(words: [u32; 4]) -> [u32; 4] {
    let mix = |a: u32, b: u32| {
        (
            a & 0x00ff_00ff | (b & 0x00ff_00ff) << 8,
            a >> 8 & 0x00ff_00ff | b & 0xff00_ff00,
        )
    };
    let (even01, odd01) = mix(words[0], words[1]);
    let (even23, odd23) = mix(words[2], words[3]);
    let join = |a: u32, b: u32| (a & 0xffff | b << 16, a >> 16 | b & 0xffff_0000);
    let (byte0, byte2) = join(even01, even23);
    let (byte1, byte3) = join(odd01, odd23);
    [byte0, byte1, byte2, byte3]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    fn naive_row(values: &[u32; GROUP], plane: usize) -> u32 {
        let mut row = [0u8; 4];
        for (e, value) in values.iter().enumerate() {
            row[e / 8] |= ((value >> plane & 1) as u8) << (7 - e % 8);
        }
        u32::from_le_bytes(row)
    }

    #[test]
    fn rows_are_those_of_the_definition() {
        let mut rng = SmallRng::seed_from_u64(3);
        for _ in 0..1000 {
            let values: [u32; GROUP] = core::array::from_fn(|_| rng.random::<u32>() & 0xff);
            let rows = transpose_low_bytes(&values);
            for (plane, row) in rows.iter().enumerate() {
                assert_eq!(*row, naive_row(&values, plane));
            }
            assert_eq!(transpose_rows(&rows), values);
        }
    }

    #[test]
    fn sign_rows_are_those_of_the_definition() {
        let values: [i32; GROUP] = core::array::from_fn(|e| if e % 3 == 1 { -5 } else { 7 });
        let negative = values.map(|value| u32::from(value < 0));
        assert_eq!(sign_row(&values), naive_row(&negative, 0));
    }
}
