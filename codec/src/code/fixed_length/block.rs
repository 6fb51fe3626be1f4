//! Fixed-length coding of one block: the differences of its groups to a rate byte and a body, and back.
//!
//! A body has the bytes of an outlier, if there is one, then a row of signs and as many bit planes as the largest
//! magnitude needs, the lowest first (SC'23 cuSZp, section IV-C). Each group has one 32-bit word of every row.

use crate::code::fixed_length::bit_plane::{Bits, Portable, rows_of, set_rows, sign_row};
use crate::code::fixed_length::rate::{MAX_BODY_BYTES, RateByte};
use crate::pipeline::BlockCodec;
use crate::predict::group::Group;
use crate::shape::GROUP;

/// A group's differences as they are stored: signs and magnitudes separately.
#[derive(Debug, Clone, Copy)]
pub struct SignedGroup {
    /// The sign row.
    pub signs: u32,
    /// The magnitudes.
    pub magnitudes: [u32; GROUP],
}

impl SignedGroup {
    /// Splits differences into signs and magnitudes.
    #[inline(always)]
    pub fn split(differences: &Group) -> Self {
        Self {
            signs: sign_row(differences),
            magnitudes: differences.map(i32::unsigned_abs),
        }
    }

    /// The first magnitude, and the bitwise or of all others.
    #[inline(always)]
    pub fn first_and_others(&self) -> (u32, u32) {
        let others = self.magnitudes[1..].iter().fold(0, |or, m| or | m);
        (self.magnitudes[0], others)
    }

    /// Removes the first magnitude from a block's first group if the block has the outlier form; returns it.
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
    pub fn planes(&self, machine: impl Bits, byte: u32) -> [u32; 8] {
        rows_of(machine, &self.magnitudes, byte)
    }
}

/// The differences with this sign row and this many bit planes; `row` gives each plane.
///
/// Magnitudes become two's complements as rows, 32 at a time: where the sign is set, all bits are flipped and 1 is
/// added, with the carry going from row to row.
#[inline(always)]
pub fn join(machine: impl Bits, signs: u32, planes: u32, row: impl Fn(u32) -> u32) -> Group {
    let mut differences = [0; GROUP];
    let mut carry = signs;
    for byte in 0..4 {
        // The rows of a byte, and one for the sign.
        if planes >= 8 * byte {
            let mut rows = [0; 8];
            for i in 0..8 {
                let plane = 8 * byte + i;
                let flipped = signs ^ if plane < planes { row(plane) } else { 0 };
                rows[i as usize] = flipped ^ carry;
                carry &= flipped;
            }
            set_rows(machine, &mut differences, byte, rows);
        }
    }
    differences
}

/// A block's first difference, whose magnitude is stored separately.
#[inline(always)]
pub fn join_first(signs: u32, magnitude: u32) -> i32 {
    // The first element's sign is the top bit of the first byte.
    let is_negative = signs & 0x80 != 0;
    let magnitude = magnitude.cast_signed();
    if is_negative {
        magnitude.wrapping_neg()
    } else {
        magnitude
    }
}

/// The rate byte of a block.
#[inline(always)]
pub fn rate_of<const G: usize>(block: &[SignedGroup; G], codec: BlockCodec) -> RateByte {
    let (first, mut others) = block[0].first_and_others();
    for group in &block[1..] {
        let (a, b) = group.first_and_others();
        others |= a | b;
    }
    choose_rate(first, others, G as u32, codec)
}

/// The rate byte of a block of `groups` groups. `first` is the first magnitude, `others` the bitwise or of the others.
#[inline(always)]
pub fn choose_rate(first: u32, others: u32, groups: u32, codec: BlockCodec) -> RateByte {
    if codec.stores_outliers() {
        RateByte::shorter(first, others, groups)
    } else {
        RateByte::plain(first | others)
    }
}

/// Writes a block's body at the start of `out`, which holds at least [`BODY_SCRATCH`] bytes.
pub fn write_body<const G: usize>(mut block: [SignedGroup; G], rate: RateByte, out: &mut [u8]) {
    if rate.body_bytes(G as u32) == 0 {
        return;
    }
    let first = block[0].take_outlier(rate);
    out[..4].copy_from_slice(&first.to_le_bytes());
    let (_, words) = out.split_at_mut(rate.outlier_bytes() as usize);
    let (words, _) = words.as_chunks_mut::<4>();
    let planes = rate.planes() as usize;
    for (g, group) in block.iter().enumerate() {
        words[g] = group.signs.to_le_bytes();
        for byte in 0..planes.div_ceil(8) {
            let rows = group.planes(Portable, byte as u32);
            for plane in 8 * byte..planes.min(8 * byte + 8) {
                words[(1 + plane) * G + g] = rows[plane % 8].to_le_bytes();
            }
        }
    }
}

/// Reads the differences of a block from its body, which is complete, at the start of `bytes`.
pub fn read_body<const G: usize>(rate: RateByte, bytes: &[u8]) -> [Group; G] {
    let mut block = [[0; GROUP]; G];
    if rate.body_bytes(G as u32) == 0 {
        return block;
    }
    let (outlier, words) = bytes.split_at(rate.outlier_bytes() as usize);
    let (words, _) = words.as_chunks::<4>();
    for (g, group) in block.iter_mut().enumerate() {
        let word = |row: usize| u32::from_le_bytes(words[row * G + g]);
        *group = join(Portable, word(0), rate.planes(), |plane| {
            word(1 + plane as usize)
        });
    }
    if !outlier.is_empty() {
        let mut first = [0; 4];
        first[..outlier.len()].copy_from_slice(outlier);
        let signs = u32::from_le_bytes(words[0]);
        block[0][0] = join_first(signs, u32::from_le_bytes(first));
    }
    block
}

/// The bytes that writing a body may need.
pub const BODY_SCRATCH: usize = MAX_BODY_BYTES as usize;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// One block of 32 values; its bytes in cuSZp's three modes are known.
    const CODES: Group = [
        500, 500, 501, 500, 502, 500, 503, 500, 500, 501, 502, 501, 500, 502, 502, 499, 502, 502,
        502, 503, 501, 503, 502, 505, 502, 502, 503, 502, 502, 504, 502, 503,
    ];
    const OUTLIER_BODY: [u8; 14] = [
        0xf4, 0x01, 0x15, 0x19, 0x0a, 0x92, 0x33, 0x79, 0x93, 0xb1, 0x0f, 0x05, 0x8d, 0x86,
    ];

    fn coded(codes: Group, codec: BlockCodec) -> (RateByte, [u8; BODY_SCRATCH]) {
        let mut block = [codes];
        codec.predictor().forward(Shape::Line, &mut block);
        let block = [SignedGroup::split(&block[0])];
        let rate = rate_of(&block, codec);
        let mut body = [0xee; BODY_SCRATCH];
        write_body(block, rate, &mut body);
        (rate, body)
    }

    #[test]
    fn bodies_of_the_cuszp_worked_example() {
        let (rate, body) = coded(CODES, BlockCodec::Outlier);
        assert_eq!(rate.to_byte(), 0xa2);
        assert_eq!(body[..14], OUTLIER_BODY);
        let (rate, body) = coded(CODES, BlockCodec::Plain);
        assert_eq!(rate.to_byte(), 9);
        assert_eq!(body[..12], OUTLIER_BODY[2..]);
        let top = [0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x80];
        for (plane, first) in top.into_iter().enumerate() {
            assert_eq!(body[12 + 4 * plane..][..4], [first, 0, 0, 0]);
        }
        let (rate, body) = coded(CODES, BlockCodec::Fixed);
        assert_eq!(rate.to_byte(), 9);
        let low = [0u32, 0x22511d21, 0x0a27f6fb, 0xfffefefb, 0x00000104];
        for (row, expected) in low.into_iter().enumerate() {
            assert_eq!(body[4 * row..][..4], expected.to_be_bytes());
        }
        assert_eq!(body[20..40], [0xff; 20]);
    }

    fn come_back<const G: usize>(rng: &mut SmallRng) {
        let bits = rng.random_range(0..32);
        let first_bits = rng.random_range(0..32);
        let mut value = |bits: u32| {
            let magnitude = (rng.random::<u64>() & ((1 << bits) - 1)) as i32;
            if rng.random() { magnitude } else { -magnitude }
        };
        let mut groups: [Group; G] =
            core::array::from_fn(|_| core::array::from_fn(|_| value(bits)));
        groups[0][0] = value(first_bits);
        if bits == 31 {
            groups[G - 1][5] = i32::MIN;
        }
        for codec in BlockCodec::ALL {
            let block = groups.map(|group| SignedGroup::split(&group));
            let rate = rate_of(&block, codec);
            let mut body = [0xee; BODY_SCRATCH];
            write_body(block, rate, &mut body);
            let body = &body[..rate.body_bytes(G as u32) as usize];
            assert_eq!(read_body::<G>(rate, body), groups);
        }
    }

    #[test]
    fn differences_of_every_rate_come_back() {
        let mut rng = SmallRng::seed_from_u64(4);
        for _ in 0..2000 {
            come_back::<1>(&mut rng);
            come_back::<2>(&mut rng);
        }
    }
}
