//! The steps of a block with the instructions of AVX2.
//!
//! A vector holds eight values: a quarter of a group, a row of a plane's block, or two rows of a cube's.

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
use std::arch::x86_64::*;

/// Vectors of a group.
const PARTS: usize = 4;

/// A group in vectors.
type Parts = [__m256i; PARTS];

/// The proof that the processor has the features for which [`Avx2`]'s functions are compiled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// The proof; none if the processor does not have the features.
    pub(crate) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        has_all.then_some(Self(()))
    }
}

impl Lanes for Avx2 {
    #[inline(always)]
    fn forward<S: StaticShape, const G: usize>(
        self,
        predictor: Predictor,
        codes: &[Group; G],
        before: i32,
    ) -> [Group; G] {
        // SAFETY: an `Avx2` exists only if the processor has AVX2.
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
        // SAFETY: an `Avx2` exists only if the processor has AVX2.
        unsafe {
            match predictor {
                Predictor::Difference => difference_backward::<S, G>(block, before),
                Predictor::Lorenzo => lorenzo_backward::<S, G>(block),
                without_vectors => Portable.backward::<S, G>(without_vectors, block, before),
            }
        }
    }

    #[inline(always)]
    fn magnitude_bits<const G: usize>(self, block: &[Group; G]) -> (u32, u32) {
        // SAFETY: an `Avx2` exists only if the processor has AVX2.
        unsafe { magnitude_bits(block) }
    }

    #[inline(always)]
    fn checksum(self, seed: u64, bytes: &[u8]) -> u64 {
        // SAFETY: an `Avx2` exists only if the processor has AVX2.
        unsafe { checksum(seed, bytes) }
    }

    #[inline(always)]
    fn write_body<const G: usize>(self, block: &[Group; G], rate: RateByte, out: &mut [u8]) {
        // SAFETY: an `Avx2` exists only if the processor has AVX2.
        unsafe { write_body(block, rate, out) }
    }

    #[inline(always)]
    fn read_body<const G: usize>(self, rate: RateByte, bytes: &[u8]) -> [Group; G] {
        // SAFETY: an `Avx2` exists only if the processor has AVX2.
        unsafe { read_body(rate, bytes) }
    }

    #[inline(always)]
    fn push_steps(self, encoder: &mut Encoder<'_>, contexts: &Contexts<'_>, codes: &TileCodes) {
        // SAFETY: an `Avx2` exists only if the processor has AVX2 and POPCNT.
        unsafe { entropy::avx2::push_steps(encoder, contexts, codes) }
    }

    #[inline(always)]
    fn pop_steps(
        self,
        decoder: &mut Decoder<'_>,
        contexts: &Contexts<'_>,
        codes: &mut TileCodes,
    ) -> bool {
        // SAFETY: an `Avx2` exists only if the processor has AVX2 and POPCNT.
        unsafe { entropy::avx2::pop_steps(decoder, contexts, codes) }
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

/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn difference_forward<S: StaticShape, const G: usize>(
    codes: &[Group; G],
    before: i32,
) -> [Group; G] {
    // SAFETY: the processor has AVX2, by the contract of this function.
    unsafe {
        let codes = parts(codes);
        let codes = codes.as_flattened();
        let before = _mm256_set1_epi32(before);
        let mut differences = [[_mm256_setzero_si256(); PARTS]; G];
        for (i, difference) in differences.as_flattened_mut().iter_mut().enumerate() {
            *difference = _mm256_sub_epi32(codes[i], predecessors::<S>(codes, i, before));
        }
        groups(differences)
    }
}

/// The predictions of the codes of vector `i` by one neighbour; `before` is the prediction of the first.
#[target_feature(enable = "avx2")]
#[inline]
fn predecessors<S: StaticShape>(codes: &[__m256i], i: usize, before: __m256i) -> __m256i {
    let first = match S::SHAPE {
        Shape::Line if i > 0 => rotate(codes[i - 1]),
        Shape::Plane if i > 0 => codes[i - 1],
        Shape::Cube if i % 2 == 1 => _mm256_permute2x128_si256::<0x01>(codes[i - 1], codes[i - 1]),
        Shape::Cube if i > 1 => codes[i - 2],
        Shape::Line | Shape::Plane | Shape::Cube => before,
    };
    let others = match S::SHAPE {
        Shape::Line | Shape::Plane => rotate(codes[i]),
        Shape::Cube => {
            let left = _mm256_setr_epi32(0, 0, 1, 2, 0, 4, 5, 6);
            _mm256_permutevar8x32_epi32(codes[i], left)
        }
    };
    _mm256_blend_epi32::<1>(others, first)
}

/// Moves every value up by one position, and the last value to the first position.
#[target_feature(enable = "avx2")]
#[inline]
fn rotate(vector: __m256i) -> __m256i {
    _mm256_permutevar8x32_epi32(vector, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6))
}

/// Copies one value to all positions.
#[target_feature(enable = "avx2")]
#[inline]
fn broadcast(vector: __m256i, position: i32) -> __m256i {
    _mm256_permutevar8x32_epi32(vector, _mm256_set1_epi32(position))
}

/// Running sums in each half.
#[target_feature(enable = "avx2")]
#[inline]
fn sum_halves(vector: __m256i) -> __m256i {
    let pairs = _mm256_add_epi32(vector, _mm256_slli_si256::<4>(vector));
    _mm256_add_epi32(pairs, _mm256_slli_si256::<8>(pairs))
}

/// Adds a value of the low half to all values of the high half.
#[target_feature(enable = "avx2")]
#[inline]
fn add_to_high(vector: __m256i, position: i32) -> __m256i {
    let zero = _mm256_setzero_si256();
    let added = _mm256_blend_epi32::<0xf0>(zero, broadcast(vector, position));
    _mm256_add_epi32(vector, added)
}

/// Running sums.
#[target_feature(enable = "avx2")]
#[inline]
fn sum_all(vector: __m256i) -> __m256i {
    add_to_high(sum_halves(vector), 3)
}

/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn difference_backward<S: StaticShape, const G: usize>(
    block: &mut [Group; G],
    before: &mut i32,
) {
    // SAFETY: the processor has AVX2, by the contract of this function.
    unsafe {
        let start = _mm256_set1_epi32(*before);
        let mut vectors = parts(block);
        let codes = vectors.as_flattened_mut();
        for i in 0..codes.len() {
            let sums = match S::SHAPE {
                Shape::Line | Shape::Plane => sum_all(codes[i]),
                Shape::Cube => add_to_high(sum_halves(codes[i]), 0),
            };
            let added = match S::SHAPE {
                Shape::Line if i > 0 => broadcast(codes[i - 1], 7),
                Shape::Plane if i > 0 => broadcast(codes[i - 1], 0),
                Shape::Cube if i % 2 == 1 => broadcast(codes[i - 1], 4),
                Shape::Cube if i > 1 => broadcast(codes[i - 2], 0),
                _ => start,
            };
            codes[i] = _mm256_add_epi32(sums, added);
        }
        *before = _mm256_extract_epi32::<7>(codes[codes.len() - 1]);
        *block = groups(vectors);
    }
}

/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn lorenzo_forward<S: StaticShape, const G: usize>(codes: &[Group; G]) -> [Group; G] {
    // SAFETY: the processor has AVX2, by the contract of this function.
    unsafe {
        if matches!(S::SHAPE, Shape::Line) {
            return difference_forward::<S, G>(codes, 0);
        }
        let mut vectors = parts(codes);
        let codes = vectors.as_flattened_mut();
        for code in codes.iter_mut() {
            let left = match S::SHAPE {
                Shape::Cube => _mm256_slli_si256::<4>(*code),
                _ => _mm256_blend_epi32::<1>(rotate(*code), _mm256_setzero_si256()),
            };
            *code = _mm256_sub_epi32(*code, left);
        }
        if matches!(S::SHAPE, Shape::Cube) {
            for i in (0..codes.len()).rev() {
                let above = if i % 2 == 1 {
                    _mm256_permute2x128_si256::<0x21>(codes[i - 1], codes[i])
                } else {
                    _mm256_permute2x128_si256::<0x08>(codes[i], codes[i])
                };
                codes[i] = _mm256_sub_epi32(codes[i], above);
            }
        }
        let reach = S::SHAPE.reach() / 8;
        for i in (reach..codes.len()).rev() {
            codes[i] = _mm256_sub_epi32(codes[i], codes[i - reach]);
        }
        groups(vectors)
    }
}

/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn lorenzo_backward<S: StaticShape, const G: usize>(block: &mut [Group; G]) {
    // SAFETY: the processor has AVX2, by the contract of this function.
    unsafe {
        if matches!(S::SHAPE, Shape::Line) {
            return difference_backward::<S, G>(block, &mut 0);
        }
        let mut vectors = parts(block);
        let codes = vectors.as_flattened_mut();
        let reach = S::SHAPE.reach() / 8;
        for i in reach..codes.len() {
            codes[i] = _mm256_add_epi32(codes[i], codes[i - reach]);
        }
        if matches!(S::SHAPE, Shape::Cube) {
            for i in 0..codes.len() {
                let own = _mm256_permute2x128_si256::<0x08>(codes[i], codes[i]);
                codes[i] = _mm256_add_epi32(codes[i], own);
                if i % 2 == 1 {
                    let above = _mm256_permute2x128_si256::<0x11>(codes[i - 1], codes[i - 1]);
                    codes[i] = _mm256_add_epi32(codes[i], above);
                }
            }
        }
        for code in codes {
            *code = match S::SHAPE {
                Shape::Cube => sum_halves(*code),
                _ => sum_all(*code),
            };
        }
        *block = groups(vectors);
    }
}

/// The first magnitude, and the bitwise or of all others.
///
/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn magnitude_bits<const G: usize>(block: &[Group; G]) -> (u32, u32) {
    // SAFETY: the processor has AVX2, by the contract of this function.
    unsafe {
        let mut differences = parts(block);
        let part = &mut differences[0][0];
        let first = _mm256_cvtsi256_si32(*part).unsigned_abs();
        *part = _mm256_blend_epi32::<1>(*part, _mm256_setzero_si256());
        let mut all = _mm256_setzero_si256();
        for difference in differences.as_flattened() {
            all = _mm256_or_si256(all, _mm256_abs_epi32(*difference));
        }
        let half = _mm_or_si128(
            _mm256_castsi256_si128(all),
            _mm256_extracti128_si256::<1>(all),
        );
        let pair = _mm_cvtsi128_si64(_mm_or_si128(half, _mm_srli_si128::<8>(half)));
        (first, (pair | pair >> 32) as u32)
    }
}

/// The checksum of a chunk's bytes, eight words at a time.
///
/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    let (rows, rest) = bytes.as_chunks::<32>();
    // SAFETY: the processor has AVX2, by the contract of this function.
    unsafe {
        let factor = i32::from_ne_bytes(WEIGHT_FACTOR.to_ne_bytes());
        let eight = _mm256_set1_epi32(factor.wrapping_mul(8));
        let numbers = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8);
        let mut products = _mm256_mullo_epi32(numbers, _mm256_set1_epi32(factor));
        let mut sums = [_mm256_setzero_si256(); 2];
        for row in rows {
            let words: __m256i = bytemuck::cast(*row);
            let mixed = _mm256_xor_si256(products, _mm256_srli_epi32::<15>(products));
            let weights = _mm256_or_si256(mixed, _mm256_set1_epi32(1));
            let even = _mm256_mul_epu32(words, weights);
            let odd = _mm256_mul_epu32(
                _mm256_srli_epi64::<32>(words),
                _mm256_srli_epi64::<32>(weights),
            );
            sums = [
                _mm256_add_epi64(sums[0], even),
                _mm256_add_epi64(sums[1], odd),
            ];
            products = _mm256_add_epi32(products, eight);
        }
        let sums: [u64; 4] = bytemuck::cast(_mm256_add_epi64(sums[0], sums[1]));
        let sum = sums.iter().fold(seed, |sum, part| sum.wrapping_add(*part));
        let (words, _) = rest.as_chunks::<4>();
        (8 * rows.len() as u32..)
            .zip(words)
            .fold(sum, |sum, (index, word)| {
                sum.wrapping_add(term(index, u32::from_le_bytes(*word)))
            })
    }
}

/// A group's values, saturated to bytes, so that their signs are preserved. The bytes are in the order in which
/// [`_mm256_movemask_epi8`] makes a row of them: each eight are reversed.
#[target_feature(enable = "avx2")]
#[inline]
fn pack(values: Parts) -> __m256i {
    let [a, b, c, d] = values;
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    ordered(bytes)
}

/// As [`pack`], for values from 0 to 255.
#[target_feature(enable = "avx2")]
#[inline]
fn pack_unsigned(values: Parts) -> __m256i {
    let [a, b, c, d] = values;
    let bytes = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    ordered(bytes)
}

/// Restores a row's order of bytes, four values at a time, after the two steps of packing.
#[target_feature(enable = "avx2")]
#[inline]
fn ordered(bytes: __m256i) -> __m256i {
    let words = _mm256_setr_epi32(4, 0, 5, 1, 6, 2, 7, 3);
    #[rustfmt::skip]
    let reversed = _mm256_setr_epi8(
        3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12,
        3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12,
    );
    _mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(bytes, words), reversed)
}

/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn write_body<const G: usize>(block: &[Group; G], rate: RateByte, out: &mut [u8]) {
    // SAFETY: the processor has AVX2, by the contract of this function.
    unsafe {
        let out = &mut out[..BODY_SCRATCH];
        let differences = parts(block);
        let mut magnitudes = differences;
        for magnitude in magnitudes.as_flattened_mut() {
            *magnitude = _mm256_abs_epi32(*magnitude);
        }
        let outlier = rate.outlier_bytes() as usize;
        if outlier > 0 {
            let first = &mut magnitudes[0][0];
            out[..4].copy_from_slice(&_mm256_cvtsi256_si32(*first).to_le_bytes());
            *first = _mm256_blend_epi32::<1>(*first, _mm256_setzero_si256());
        }
        let (words, _) = out[outlier..].as_chunks_mut::<4>();
        for g in 0..G {
            let signs = _mm256_movemask_epi8(pack(differences[g]));
            words[g] = signs.to_le_bytes();
        }
        for byte in 0..rate.planes().div_ceil(8) as usize {
            // All eight planes, also those that the block does not have: the following bytes overwrite them.
            let words = &mut words[(1 + 8 * byte) * G..][..8 * G];
            let shift = _mm_cvtsi32_si128(8 * byte as i32);
            for (g, group) in magnitudes.iter().enumerate() {
                let mut low = *group;
                for part in &mut low {
                    let shifted = _mm256_srl_epi32(*part, shift);
                    *part = _mm256_and_si256(shifted, _mm256_set1_epi32(0xff));
                }
                let mut bits = pack_unsigned(low);
                for plane in (0..8).rev() {
                    words[plane * G + g] = _mm256_movemask_epi8(bits).to_le_bytes();
                    bits = _mm256_add_epi8(bits, bits);
                }
            }
        }
    }
}

/// Sets to all ones the bytes of the elements whose bit in a row is set.
#[target_feature(enable = "avx2")]
#[inline]
fn spread(row: [u8; 4]) -> __m256i {
    #[rustfmt::skip]
    let byte_of = _mm256_setr_epi8(
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
        2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3,
    );
    let bit_of = _mm256_set1_epi64x(0x0102_0408_1020_4080);
    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(i32::from_le_bytes(row)), byte_of);
    _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of), bit_of)
}

/// Splits a vector into four of eight bytes each, in order.
#[target_feature(enable = "avx2")]
#[inline]
fn eighths(bytes: __m256i) -> [__m128i; PARTS] {
    let (low, high) = (
        _mm256_castsi256_si128(bytes),
        _mm256_extracti128_si256::<1>(bytes),
    );
    [
        low,
        _mm_srli_si128::<8>(low),
        high,
        _mm_srli_si128::<8>(high),
    ]
}

/// The bytes made of up to eight planes of group `g`, whose rows begin at `rows`.
#[target_feature(enable = "avx2")]
#[inline]
fn join_planes<const G: usize>(rows: &[[u8; 4]], g: usize, planes: u32) -> __m256i {
    let mut bytes = _mm256_setzero_si256();
    for plane in 0..8 {
        let bit = _mm256_set1_epi8((1u8 << plane).cast_signed());
        let row = _mm256_and_si256(spread(rows[plane * G + g]), bit);
        bytes = _mm256_or_si256(bytes, row);
    }
    let own = (u8::MAX >> 8u32.saturating_sub(planes)).cast_signed();
    _mm256_and_si256(bytes, _mm256_set1_epi8(own))
}

/// # Safety
///
/// The processor must have AVX2.
#[inline(always)]
unsafe fn read_body<const G: usize>(rate: RateByte, bytes: &[u8]) -> [Group; G] {
    // SAFETY: the processor has AVX2, by the contract of this function.
    unsafe {
        let outlier = rate.outlier_bytes() as usize;
        let (words, _) = bytes[outlier..].as_chunks::<4>();
        let mut magnitudes = [[_mm256_setzero_si256(); PARTS]; G];
        for byte in 0..rate.planes().div_ceil(8) {
            let rows = &words[(1 + 8 * byte as usize) * G..];
            let mut padded = [[0; 4]; 2 * 8];
            let rows = match rows.get(..8 * G) {
                Some(rows) => rows,
                None => {
                    padded[..rows.len()].copy_from_slice(rows);
                    &padded[..8 * G]
                }
            };
            let shift = _mm_cvtsi32_si128(8 * byte.cast_signed());
            for (g, group) in magnitudes.iter_mut().enumerate() {
                let numbers = eighths(join_planes::<G>(rows, g, rate.planes() - 8 * byte));
                for (magnitude, numbers) in group.iter_mut().zip(numbers) {
                    let numbers = _mm256_sll_epi32(_mm256_cvtepu8_epi32(numbers), shift);
                    *magnitude = _mm256_or_si256(*magnitude, numbers);
                }
            }
        }
        if outlier > 0 {
            let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let own = word & u32::MAX >> (32 - 8 * outlier);
            let first = &mut magnitudes[0][0];
            *first = _mm256_blend_epi32::<1>(*first, _mm256_set1_epi32(own.cast_signed()));
        }
        for (g, group) in magnitudes.iter_mut().enumerate() {
            let negative = eighths(spread(words[g]));
            for (value, negative) in group.iter_mut().zip(negative) {
                let negative = _mm256_cvtepi8_epi32(negative);
                *value = _mm256_sub_epi32(_mm256_xor_si256(*value, negative), negative);
            }
        }
        groups(magnitudes)
    }
}
