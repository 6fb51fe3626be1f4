//! The steps of a block with the instructions of NEON.
//!
//! A vector holds four values: an eighth of a group, half of a row of a plane's block, or a row of a cube's. All
//! AArch64 targets of this crate have NEON, so the compiler uses it for portable code, too. This file has what the
//! compiler does not find: how bits are transposed, and the instruction `tbl`, which looks up bytes.

use crate::cpu::code::entropy::{self, Decoder, Encoder};
use crate::cpu::code::zones::Contexts;
use crate::cpu::lanes::{Lanes, Portable, WEIGHT_FACTOR};
use ferrosz_codec::code::fixed_length::block::BODY_SCRATCH;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::predict::Predictor;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::code::TileCodes;
use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

/// Values of a vector.
const FOUR: usize = 4;

/// Vectors of a group.
const PARTS: usize = 8;

/// A group in vectors.
type Parts = [int32x4_t; PARTS];

/// The proof that the processor has NEON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neon(());

impl Neon {
    /// The proof; none if the processor does not have NEON.
    pub(crate) fn detect() -> Option<Self> {
        is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

impl Lanes for Neon {
    #[inline(always)]
    fn forward<S: StaticShape, const G: usize>(
        self,
        predictor: Predictor,
        codes: &[Group; G],
        before: i32,
    ) -> [Group; G] {
        // SAFETY: a `Neon` exists only if the processor has NEON.
        unsafe {
            match predictor {
                Predictor::Difference => difference_forward::<S, G>(codes, before),
                Predictor::Lorenzo => lorenzo_forward::<S, G>(codes),
                without_vectors => Portable.forward::<S, G>(without_vectors, codes, before),
            }
        }
    }

    #[inline(always)]
    fn backward<S: StaticShape, const G: usize>(
        self,
        predictor: Predictor,
        block: &mut [Group; G],
        before: &mut i32,
    ) {
        // SAFETY: a `Neon` exists only if the processor has NEON.
        unsafe {
            match predictor {
                Predictor::Difference => difference_backward::<S, G>(block, before),
                Predictor::Lorenzo => lorenzo_backward::<S, G>(block),
                without_vectors => Portable.backward::<S, G>(without_vectors, block, before),
            }
        }
    }

    #[inline(always)]
    fn checksum(self, seed: u64, bytes: &[u8]) -> u64 {
        // SAFETY: a `Neon` exists only if the processor has NEON.
        unsafe { checksum(seed, bytes) }
    }

    #[inline(always)]
    fn write_body<const G: usize>(self, block: &[Group; G], rate: RateByte, out: &mut [u8]) {
        // SAFETY: a `Neon` exists only if the processor has NEON.
        unsafe { write_body(block, rate, out) }
    }

    #[inline(always)]
    fn read_body<const G: usize>(self, rate: RateByte, bytes: &[u8]) -> [Group; G] {
        // SAFETY: a `Neon` exists only if the processor has NEON.
        unsafe { read_body(rate, bytes) }
    }

    #[inline(always)]
    fn push_steps(self, encoder: &mut Encoder<'_>, contexts: &Contexts<'_>, codes: &TileCodes) {
        // SAFETY: a `Neon` exists only if the processor has NEON.
        unsafe { entropy::neon::push_steps(encoder, contexts, codes) }
    }

    #[inline(always)]
    fn pop_steps(
        self,
        decoder: &mut Decoder<'_>,
        contexts: &Contexts<'_>,
        codes: &mut TileCodes,
    ) -> bool {
        // SAFETY: a `Neon` exists only if the processor has NEON.
        unsafe { entropy::neon::pop_steps(decoder, contexts, codes) }
    }
}

#[inline(always)]
fn parts<const G: usize>(block: &[Group; G]) -> [Parts; G] {
    block.map(bytemuck::cast)
}

#[inline(always)]
fn groups<const G: usize>(block: [Parts; G]) -> [Group; G] {
    block.map(bytemuck::cast)
}

/// What predicts the first value of vector `i` by one neighbour, as the last value of a vector.
#[target_feature(enable = "neon")]
#[inline]
fn neighbour<S: StaticShape>(codes: &[int32x4_t], i: usize, before: int32x4_t) -> int32x4_t {
    match S::SHAPE {
        Shape::Line if i > 0 => codes[i - 1],
        Shape::Plane if i % 2 == 1 => codes[i - 1],
        Shape::Plane if i > 0 => vdupq_laneq_s32::<0>(codes[i - 2]),
        Shape::Cube if i % 4 > 0 => vdupq_laneq_s32::<0>(codes[i - 1]),
        Shape::Cube if i > 0 => vdupq_laneq_s32::<0>(codes[i - 4]),
        Shape::Line | Shape::Plane | Shape::Cube => before,
    }
}

/// Moves every value up by one position; the last value of `before` comes first.
#[target_feature(enable = "neon")]
#[inline]
fn shifted(before: int32x4_t, vector: int32x4_t) -> int32x4_t {
    vextq_s32::<3>(before, vector)
}

/// Running sums.
#[target_feature(enable = "neon")]
#[inline]
fn sums(vector: int32x4_t) -> int32x4_t {
    let zero = vdupq_n_s32(0);
    let pairs = vaddq_s32(vector, shifted(zero, vector));
    vaddq_s32(pairs, vextq_s32::<2>(zero, pairs))
}

#[target_feature(enable = "neon")]
#[inline]
fn difference_forward<S: StaticShape, const G: usize>(
    codes: &[Group; G],
    before: i32,
) -> [Group; G] {
    let codes = parts(codes);
    let codes = codes.as_flattened();
    let before = vdupq_n_s32(before);
    let mut differences = [[before; PARTS]; G];
    for (i, difference) in differences.as_flattened_mut().iter_mut().enumerate() {
        let predictions = shifted(neighbour::<S>(codes, i, before), codes[i]);
        *difference = vsubq_s32(codes[i], predictions);
    }
    groups(differences)
}

#[target_feature(enable = "neon")]
#[inline]
fn difference_backward<S: StaticShape, const G: usize>(block: &mut [Group; G], before: &mut i32) {
    let start = vdupq_n_s32(*before);
    let mut vectors = parts(block);
    let codes = vectors.as_flattened_mut();
    for i in 0..codes.len() {
        let first = neighbour::<S>(codes, i, start);
        codes[i] = vaddq_s32(sums(codes[i]), vdupq_laneq_s32::<3>(first));
    }
    *before = vgetq_lane_s32::<3>(codes[codes.len() - 1]);
    *block = groups(vectors);
}

/// Whether vector `i` starts a row of a block with more than one axis.
#[inline(always)]
fn starts_row<S: StaticShape>(i: usize) -> bool {
    matches!(S::SHAPE, Shape::Cube) || i.is_multiple_of(2)
}

#[target_feature(enable = "neon")]
#[inline]
fn lorenzo_forward<S: StaticShape, const G: usize>(codes: &[Group; G]) -> [Group; G] {
    if matches!(S::SHAPE, Shape::Line) {
        return difference_forward::<S, G>(codes, 0);
    }
    let mut vectors = parts(codes);
    let codes = vectors.as_flattened_mut();
    for i in (0..codes.len()).rev() {
        let left = if starts_row::<S>(i) {
            vdupq_n_s32(0)
        } else {
            codes[i - 1]
        };
        codes[i] = vsubq_s32(codes[i], shifted(left, codes[i]));
    }
    if matches!(S::SHAPE, Shape::Cube) {
        for i in (0..codes.len()).rev().filter(|i| i % 4 > 0) {
            codes[i] = vsubq_s32(codes[i], codes[i - 1]);
        }
    }
    let reach = S::SHAPE.reach() / FOUR;
    for i in (reach..codes.len()).rev() {
        codes[i] = vsubq_s32(codes[i], codes[i - reach]);
    }
    groups(vectors)
}

#[target_feature(enable = "neon")]
#[inline]
fn lorenzo_backward<S: StaticShape, const G: usize>(block: &mut [Group; G]) {
    if matches!(S::SHAPE, Shape::Line) {
        return difference_backward::<S, G>(block, &mut 0);
    }
    let mut vectors = parts(block);
    let codes = vectors.as_flattened_mut();
    let reach = S::SHAPE.reach() / FOUR;
    for i in reach..codes.len() {
        codes[i] = vaddq_s32(codes[i], codes[i - reach]);
    }
    if matches!(S::SHAPE, Shape::Cube) {
        for i in (0..codes.len()).filter(|i| i % 4 > 0) {
            codes[i] = vaddq_s32(codes[i], codes[i - 1]);
        }
    }
    for i in 0..codes.len() {
        codes[i] = sums(codes[i]);
        if !starts_row::<S>(i) {
            codes[i] = vaddq_s32(codes[i], vdupq_laneq_s32::<3>(codes[i - 1]));
        }
    }
    *block = groups(vectors);
}

/// The checksum of a chunk's bytes, eight words at a time.
#[target_feature(enable = "neon")]
#[inline]
fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    let (rows, rest) = bytes.as_chunks::<32>();
    let first: uint32x4_t = bytemuck::cast([1u32, 2, 3, 4].map(|n| n.wrapping_mul(WEIGHT_FACTOR)));
    let four = vdupq_n_u32(WEIGHT_FACTOR.wrapping_mul(FOUR as u32));
    let mut products = [first, vaddq_u32(first, four)];
    let mut sums = [vdupq_n_u64(0); 4];
    for row in rows {
        let words: [uint32x4_t; 2] = bytemuck::cast(*row);
        for half in 0..2 {
            let product = products[half];
            let mixed = veorq_u32(product, vshrq_n_u32::<15>(product));
            let weights = vorrq_u32(mixed, vdupq_n_u32(1));
            let (low, high) = (vget_low_u32(words[half]), vget_low_u32(weights));
            sums[2 * half] = vmlal_u32(sums[2 * half], low, high);
            sums[2 * half + 1] = vmlal_high_u32(sums[2 * half + 1], words[half], weights);
            products[half] = vaddq_u32(product, vshlq_n_u32::<1>(four));
        }
    }
    let sum = sums
        .into_iter()
        .fold(vdupq_n_u64(0), |sum, part| vaddq_u64(sum, part));
    let sum = seed.wrapping_add(vaddvq_u64(sum));
    let (words, _) = rest.as_chunks::<4>();
    (8 * rows.len() as u32..)
        .zip(words)
        .fold(sum, |sum, (index, word)| {
            sum.wrapping_add(term(index, u32::from_le_bytes(*word)))
        })
}

/// Transposes eight bytes as a matrix of bits, twice: bit p of byte e and bit e of byte p change places.
#[target_feature(enable = "neon")]
#[inline]
fn transposed(bytes: uint8x16_t) -> uint8x16_t {
    /// Changes the places of the bits of `mask` and of those that are `BY` bits above them.
    #[target_feature(enable = "neon")]
    #[inline]
    fn swapped<const BY: i32>(bits: uint64x2_t, mask: u64) -> uint64x2_t {
        let other = veorq_u64(bits, vshrq_n_u64::<BY>(bits));
        let other = vandq_u64(other, vdupq_n_u64(mask));
        veorq_u64(bits, veorq_u64(other, vshlq_n_u64::<BY>(other)))
    }
    let bits = vreinterpretq_u64_u8(bytes);
    let bits = swapped::<7>(bits, 0x00AA_00AA_00AA_00AA);
    let bits = swapped::<14>(bits, 0x0000_CCCC_0000_CCCC);
    let bits = swapped::<28>(bits, 0x0000_0000_F0F0_F0F0);
    vreinterpretq_u8_u64(bits)
}

/// Indices for `tbl` that take the first byte of each of 16 values. Each eight values are reversed, as a bit plane has the
/// first of eight values in the highest bit of a byte.
const FIRST_BYTES: [u8; 16] = {
    let mut at = [0; 16];
    let mut e = 0;
    while e < at.len() {
        at[e] = 4 * (e as u8 ^ 7);
        e += 1;
    }
    at
};

/// Indices for `tbl` that join 16 values of four bytes. Each of four vectors has one byte of all values, in the order of
/// [`FIRST_BYTES`].
const VALUES: [[u8; 16]; PARTS / 2] = {
    let mut at = [[0; 16]; PARTS / 2];
    let mut i = 0;
    while i < 64 {
        let (value, byte) = (i / 4, i % 4);
        at[i / 16][i % 16] = (16 * byte + (value ^ 7)) as u8;
        i += 1;
    }
    at
};

/// Indices for `tbl` that transpose 32 bytes of two vectors: the result has `columns` bytes of each row of the transposed
/// matrix, one row behind the other.
const fn transposing(columns: usize) -> [[u8; 16]; 2] {
    let mut at = [[0; 16]; 2];
    let mut i = 0;
    while i < 32 {
        at[i / 16][i % 16] = ((32 / columns) * (i % columns) + i / columns) as u8;
        i += 1;
    }
    at
}

/// From four times the bytes of eight rows to eight rows of four bytes, and back.
const ROWS: [[u8; 16]; 2] = transposing(4);
const COLUMNS: [[u8; 16]; 2] = transposing(8);

/// Four vectors as a table of bytes.
#[target_feature(enable = "neon")]
#[inline]
fn table(vectors: [uint8x16_t; 4]) -> uint8x16x4_t {
    let [a, b, c, d] = vectors;
    uint8x16x4_t(a, b, c, d)
}

/// The rows of byte `byte` of a group's values: row p has bit p of each.
#[target_feature(enable = "neon")]
#[inline]
fn rows_of(group: &Parts, byte: u8) -> [[u8; 4]; 8] {
    let at = vaddq_u8(bytemuck::cast(FIRST_BYTES), vdupq_n_u8(byte));
    let [low, high]: [[uint8x16_t; 4]; 2] = bytemuck::cast(*group);
    let low = transposed(vqtbl4q_u8(table(low), at));
    let high = transposed(vqtbl4q_u8(table(high), at));
    let columns = uint8x16x2_t(low, high);
    bytemuck::cast(ROWS.map(|row| vqtbl2q_u8(columns, bytemuck::cast(row))))
}

/// One byte of each of a group's values, from their rows, in the order of [`FIRST_BYTES`].
#[target_feature(enable = "neon")]
#[inline]
fn bytes_of(rows: [[u8; 4]; 8]) -> [uint8x16_t; 2] {
    let [low, high] = bytemuck::cast(rows);
    let rows = uint8x16x2_t(low, high);
    COLUMNS.map(|column| transposed(vqtbl2q_u8(rows, bytemuck::cast(column))))
}

#[target_feature(enable = "neon")]
#[inline]
fn write_body<const G: usize>(block: &[Group; G], rate: RateByte, out: &mut [u8]) {
    let out = &mut out[..BODY_SCRATCH];
    let differences = parts(block);
    let mut magnitudes = differences;
    for magnitude in magnitudes.as_flattened_mut() {
        *magnitude = vabsq_s32(*magnitude);
    }
    let outlier = rate.outlier_bytes() as usize;
    if outlier > 0 {
        let first = &mut magnitudes[0][0];
        out[..4].copy_from_slice(&vgetq_lane_s32::<0>(*first).to_le_bytes());
        *first = vsetq_lane_s32::<0>(0, *first);
    }
    let (words, _) = out[outlier..].as_chunks_mut::<4>();
    for g in 0..G {
        // The sign is the last bit.
        words[g] = rows_of(&differences[g], 3)[7];
    }
    for byte in 0..rate.planes().div_ceil(8) as usize {
        // All eight planes, also those that the block does not have: the following bytes overwrite them.
        let words = &mut words[(1 + 8 * byte) * G..][..8 * G];
        for (g, group) in magnitudes.iter().enumerate() {
            let rows = rows_of(group, byte as u8);
            for (plane, row) in rows.into_iter().enumerate() {
                words[plane * G + g] = row;
            }
        }
    }
}

/// The values of a group whose sign is set in a row, as all ones.
#[target_feature(enable = "neon")]
#[inline]
fn negatives(row: [u8; 4]) -> [uint32x4_t; PARTS] {
    let bits: [uint32x4_t; 2] = bytemuck::cast([128u32, 64, 32, 16, 8, 4, 2, 1]);
    let mut negatives = [vdupq_n_u32(0); PARTS];
    for (i, negative) in negatives.iter_mut().enumerate() {
        *negative = vtstq_u32(vdupq_n_u32(row[i / 2].into()), bits[i % 2]);
    }
    negatives
}

#[target_feature(enable = "neon")]
#[inline]
fn read_body<const G: usize>(rate: RateByte, bytes: &[u8]) -> [Group; G] {
    let outlier = rate.outlier_bytes() as usize;
    let (words, _) = bytes[outlier..].as_chunks::<4>();
    let planes = rate.planes() as usize;
    let mut block = [[vdupq_n_s32(0); PARTS]; G];
    for (g, group) in block.iter_mut().enumerate() {
        // The bytes of the first half of the values, then those of the second.
        let mut halves = [[vdupq_n_u8(0); 4]; 2];
        for byte in 0..planes.div_ceil(8) {
            let mut rows = [[0; 4]; 8];
            for (plane, row) in rows.iter_mut().enumerate().take(planes - 8 * byte) {
                *row = words[(1 + 8 * byte + plane) * G + g];
            }
            let [low, high] = bytes_of(rows);
            (halves[0][byte], halves[1][byte]) = (low, high);
        }
        for (i, value) in group.iter_mut().enumerate() {
            let at = bytemuck::cast(VALUES[i % 4]);
            *value = vreinterpretq_s32_u8(vqtbl4q_u8(table(halves[i / 4]), at));
        }
    }
    if outlier > 0 {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let own = word & u32::MAX >> (32 - 8 * outlier);
        block[0][0] = vsetq_lane_s32::<0>(own.cast_signed(), block[0][0]);
    }
    for (g, group) in block.iter_mut().enumerate() {
        for (value, negative) in group.iter_mut().zip(negatives(words[g])) {
            let negative = vreinterpretq_s32_u32(negative);
            *value = vsubq_s32(veorq_s32(*value, negative), negative);
        }
    }
    groups(block)
}
