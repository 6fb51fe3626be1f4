//! Bit planes: 32 integers as 32-bit rows, one for each bit, and back.
//!
//! Row p holds bit p of every integer. Element e is bit 7 - e % 8 of byte e / 8 of the row, so the
//! first element is in the top bit of the first byte; rows are little-endian words.
//!
//! Eight planes are made together. Byte k of word 7 - r is that byte of element 8 k + r: then the four bytes of eight
//! words are the rows of four 8 x 8 bit matrices. Three rounds of swaps between words transpose all four (after H. S.
//! Warren, Hacker's Delight, 2nd ed., section 7-3). The result is the planes, in the order of the stream. Transposition
//! is its own inverse.

use crate::shape::GROUP;

/// Operations on bytes and bits of words: GPUs have an instruction for each.
pub trait Bits: Copy {
    /// Byte i of the result is named by hexadecimal digit i of `selector`, counted from the low end:
    /// 0 to 3 are the bytes of `low`, 4 to 7 those of `high`, and with 8 added the digit stands for
    /// eight times that byte's top bit.
    fn pick(self, low: u32, high: u32, selector: u32) -> u32;

    /// The bits of `a` where `mask` has ones, and of `b` elsewhere.
    #[inline(always)]
    fn select(self, mask: u32, a: u32, b: u32) -> u32 {
        a & mask | b & !mask
    }
}

/// The operations by shifts and masks.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl Bits for Portable {
    #[inline(always)]
    fn pick(self, low: u32, high: u32, selector: u32) -> u32 {
        let bytes = u64::from(high) << 32 | u64::from(low);
        let mut picked = 0;
        for i in 0..4 {
            let digit = selector >> (4 * i) & 0xf;
            let byte = (bytes >> (8 * (digit & 7))) as u8;
            let byte = if digit & 8 == 0 {
                byte
            } else {
                (byte.cast_signed() >> 7).cast_unsigned()
            };
            picked |= u32::from(byte) << (8 * i);
        }
        picked
    }
}

/// Rows `8 * byte ..` of integers.
#[inline(always)]
pub fn rows_of(machine: impl Bits, values: &[u32; GROUP], byte: u32) -> [u32; 8] {
    // The selector of this byte of both words.
    let both = byte | (4 + byte) << 4;
    let mut words = [0; 8];
    for r in 0..8 {
        let low = machine.pick(values[r], values[8 + r], both);
        let high = machine.pick(values[16 + r], values[24 + r], both);
        words[7 - r] = machine.pick(low, high, 0x5410);
    }
    transpose(machine, words)
}

/// Sets byte number `byte` of each integer from these rows, and the bytes above it to the sign. To be called for bytes
/// 0, 1, ... in this order.
#[inline(always)]
pub fn set_rows(machine: impl Bits, values: &mut [i32; GROUP], byte: u32, rows: [u32; 8]) {
    let words = transpose(machine, rows);
    for k in 0..4u32 {
        let mut selector = 0;
        for i in 0..4 {
            let digit = match i {
                i if i < byte => i,
                i if i == byte => 4 + k,
                _ => 8 + 4 + k,
            };
            selector |= digit << (4 * i);
        }
        for r in 0..8 {
            let value = &mut values[8 * k as usize + r];
            *value = machine
                .pick(value.cast_unsigned(), words[7 - r], selector)
                .cast_signed();
        }
    }
}

/// A sign row: the bit of element e is set if the element is negative.
#[inline(always)]
pub fn sign_row(values: &[i32; GROUP]) -> u32 {
    let mut row = 0u32;
    for value in values {
        row = row << 1 | value.cast_unsigned() >> 31;
    }
    row.swap_bytes()
}

/// Transposes four bit matrices: bit i of byte k of word j becomes bit j of byte k of word i.
#[inline(always)]
pub fn transpose(machine: impl Bits, words: [u32; 8]) -> [u32; 8] {
    let words = swap_across(machine, words, 4, 0x0f0f_0f0f);
    let words = swap_across(machine, words, 2, 0x3333_3333);
    swap_across(machine, words, 1, 0x5555_5555)
}

/// Exchanges bits between each two words whose numbers differ only in bit `distance`: bits where `mask` has ones in one
/// word with bits where it has zeros in the other.
#[inline(always)]
fn swap_across(machine: impl Bits, mut words: [u32; 8], distance: usize, mask: u32) -> [u32; 8] {
    for i in 0..8 {
        if i & distance == 0 {
            let (a, b) = (words[i], words[i + distance]);
            words[i] = machine.select(mask, a, b << distance);
            words[i + distance] = machine.select(mask, a >> distance, b);
        }
    }
    words
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
            let values: [u32; GROUP] = core::array::from_fn(|_| rng.random());
            let mut back = [0; GROUP];
            for byte in 0..4 {
                let rows = rows_of(Portable, &values, byte);
                for (i, row) in rows.iter().enumerate() {
                    assert_eq!(*row, naive_row(&values, 8 * byte as usize + i));
                }
                set_rows(Portable, &mut back, byte, rows);
                for (value, back) in values.iter().zip(&back) {
                    let above = 24 - 8 * byte;
                    assert_eq!(*back, value.cast_signed() << above >> above);
                }
            }
        }
    }

    #[test]
    fn sign_rows_are_those_of_the_definition() {
        let values: [i32; GROUP] = core::array::from_fn(|e| if e % 3 == 1 { -5 } else { 7 });
        let negative = values.map(|value| u32::from(value < 0));
        assert_eq!(sign_row(&values), naive_row(&negative, 0));
    }
}
