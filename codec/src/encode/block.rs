//! Fixed-length coding of one block: 32 differences to a rate byte and a body, and back.
//!
//! A body is, after the bytes of an outlier if there is one, a row of signs and as many bit planes
//! as the largest magnitude needs, the lowest first (SC'23 cuSZp, section IV-C).

use crate::encode::bit_plane::{sign_row, transpose_low_bytes, transpose_rows};
use crate::encode::rate::{BLOCK, MAX_BODY_BYTES, ROW_BYTES, RateByte};
use crate::pipeline::Codec;

/// Differences as they are stored: signs and magnitudes apart.
#[derive(Debug, Clone, Copy)]
pub struct SignedBlock {
    /// The sign row.
    pub signs: u32,
    /// The magnitudes.
    pub magnitudes: [u32; BLOCK],
}

impl SignedBlock {
    /// Takes differences apart.
    #[inline(always)]
    pub fn split(differences: &[i32; BLOCK]) -> Self {
        Self {
            signs: sign_row(differences),
            magnitudes: differences.map(i32::unsigned_abs),
        }
    }

    /// Puts differences together.
    #[inline(always)]
    pub fn join(&self) -> [i32; BLOCK] {
        let mut signs = self.signs.swap_bytes();
        self.magnitudes.map(|magnitude| {
            let negative = (signs as i32) >> 31;
            signs <<= 1;
            (magnitude as i32 ^ negative).wrapping_sub(negative)
        })
    }

    /// The rate byte that this block gets.
    #[inline(always)]
    pub fn rate(&self, codec: Codec) -> RateByte {
        let first = self.magnitudes[0];
        let others = self.magnitudes[1..].iter().fold(0, |or, m| or | m);
        if codec.stores_outliers() {
            RateByte::shorter(first, others)
        } else {
            RateByte::plain(first | others)
        }
    }

    /// Takes the first magnitude out, for a block in the outlier form.
    #[inline(always)]
    pub fn take_outlier(&mut self, rate: RateByte) -> u32 {
        let first = self.magnitudes[0];
        if rate.outlier_bytes() > 0 {
            self.magnitudes[0] = 0;
        }
        first
    }

    /// Bit planes `8 * byte ..` of the magnitudes.
    #[inline(always)]
    pub fn planes(&self, byte: usize) -> [u32; 8] {
        transpose_low_bytes(&self.magnitudes.map(|m| m >> (8 * byte) & 0xff))
    }

    /// Adds bit planes `8 * byte ..` to magnitudes that lack them.
    #[inline(always)]
    pub fn add_planes(&mut self, byte: usize, rows: &[u32; 8]) {
        let values = transpose_rows(rows);
        for (magnitude, value) in self.magnitudes.iter_mut().zip(&values) {
            *magnitude |= value << (8 * byte);
        }
    }

    /// Writes the body at the start of `out`, which holds at least [`MAX_BODY_BYTES`].
    pub fn write_body(mut self, rate: RateByte, out: &mut [u8]) {
        if rate.body_bytes() == 0 {
            return;
        }
        let first = self.take_outlier(rate);
        out[..4].copy_from_slice(&first.to_le_bytes());
        let (_, rows) = out.split_at_mut(rate.outlier_bytes() as usize);
        let (rows, _) = rows.as_chunks_mut::<{ ROW_BYTES as usize }>();
        rows[0] = self.signs.to_le_bytes();
        let (_, rows) = rows.split_at_mut(1);
        let planes = rate.planes() as usize;
        for (byte, rows) in rows[..planes].chunks_mut(8).enumerate() {
            for (to, row) in rows.iter_mut().zip(self.planes(byte)) {
                *to = row.to_le_bytes();
            }
        }
    }

    /// Reads the body at the start of `bytes`, which holds all of it.
    pub fn read_body(rate: RateByte, bytes: &[u8]) -> Self {
        let mut block = Self {
            signs: 0,
            magnitudes: [0; BLOCK],
        };
        if rate.body_bytes() == 0 {
            return block;
        }
        let (outlier, rows) = bytes.split_at(rate.outlier_bytes() as usize);
        let (rows, _) = rows.as_chunks::<{ ROW_BYTES as usize }>();
        block.signs = u32::from_le_bytes(rows[0]);
        for (byte, stored) in rows[1..=rate.planes() as usize].chunks(8).enumerate() {
            let mut group = [0; 8];
            for (row, bytes) in group.iter_mut().zip(stored) {
                *row = u32::from_le_bytes(*bytes);
            }
            block.add_planes(byte, &group);
        }
        if !outlier.is_empty() {
            let mut first = [0; 4];
            first[..outlier.len()].copy_from_slice(outlier);
            block.magnitudes[0] = u32::from_le_bytes(first);
        }
        block
    }
}

/// The bytes that a body may need while it is written.
pub const BODY_SCRATCH: usize = MAX_BODY_BYTES as usize;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::difference;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// One block of 32 values with its known bytes in cuSZp's three modes.
    const CODES: [i32; BLOCK] = [
        500, 500, 501, 500, 502, 500, 503, 500, 500, 501, 502, 501, 500, 502, 502, 499, 502, 502,
        502, 503, 501, 503, 502, 505, 502, 502, 503, 502, 502, 504, 502, 503,
    ];
    const OUTLIER_BODY: [u8; 14] = [
        0xf4, 0x01, 0x15, 0x19, 0x0a, 0x92, 0x33, 0x79, 0x93, 0xb1, 0x0f, 0x05, 0x8d, 0x86,
    ];

    fn coded(codes: [i32; BLOCK], codec: Codec) -> (RateByte, [u8; BODY_SCRATCH]) {
        let mut values = codes;
        if codec.predicts() {
            difference::forward(&mut values);
        }
        let block = SignedBlock::split(&values);
        let rate = block.rate(codec);
        let mut body = [0xee; BODY_SCRATCH];
        block.write_body(rate, &mut body);
        (rate, body)
    }

    #[test]
    fn bodies_of_the_cuszp_worked_example() {
        let (rate, body) = coded(CODES, Codec::Outlier);
        assert_eq!(rate.to_byte(), 0xa2);
        assert_eq!(body[..14], OUTLIER_BODY);
        let (rate, body) = coded(CODES, Codec::Plain);
        assert_eq!(rate.to_byte(), 9);
        assert_eq!(body[..12], OUTLIER_BODY[2..]);
        let top = [0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x80];
        for (plane, first) in top.into_iter().enumerate() {
            assert_eq!(body[12 + 4 * plane..][..4], [first, 0, 0, 0]);
        }
        let (rate, body) = coded(CODES, Codec::Fixed);
        assert_eq!(rate.to_byte(), 9);
        let low = [0u32, 0x22511d21, 0x0a27f6fb, 0xfffefefb, 0x00000104];
        for (row, expected) in low.into_iter().enumerate() {
            assert_eq!(body[4 * row..][..4], expected.to_be_bytes());
        }
        assert_eq!(body[20..40], [0xff; 20]);
    }

    #[test]
    fn differences_of_every_rate_come_back() {
        let mut rng = SmallRng::seed_from_u64(4);
        for _ in 0..2000 {
            let bits = rng.random_range(0..32);
            let first_bits = rng.random_range(0..32);
            let mut values: [i32; BLOCK] = core::array::from_fn(|_| {
                let magnitude = (rng.random::<u64>() & ((1 << bits) - 1)) as i32;
                if rng.random() { magnitude } else { -magnitude }
            });
            values[0] = (rng.random::<u64>() & ((1 << first_bits) - 1)) as i32;
            for codec in Codec::ALL {
                let block = SignedBlock::split(&values);
                let rate = block.rate(codec);
                let mut body = [0xee; BODY_SCRATCH];
                block.write_body(rate, &mut body);
                let body = &body[..rate.body_bytes() as usize];
                assert_eq!(SignedBlock::read_body(rate, body).join(), values);
            }
        }
    }
}
