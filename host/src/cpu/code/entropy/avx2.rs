//! The steps of a tile with the instructions of AVX2: a step is four vectors of eight lanes.

mod pop;
mod push;

use crate::cpu::code::entropy::order::EIGHT;
use ferrosz_codec::tile::LANES;
use ferrosz_codec::tile::code::Step;
pub(crate) use pop::pop_steps;
pub(crate) use push::push_steps;
use std::arch::x86_64::*;

/// Vectors of a step, of eight lanes each.
const PARTS: usize = LANES as usize / EIGHT;

/// The states of all lanes.
type States = [__m256i; PARTS];

/// The same number in all lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn all(number: u32) -> __m256i {
    _mm256_set1_epi32(number.cast_signed())
}

/// Bit l is the sign of lane l.
#[target_feature(enable = "avx2")]
#[inline]
fn signs(vector: __m256i) -> u8 {
    _mm256_movemask_ps(_mm256_castsi256_ps(vector)) as u8
}

/// All bits of the lanes whose sign is set.
#[target_feature(enable = "avx2")]
#[inline]
fn signed(vector: __m256i) -> __m256i {
    _mm256_srai_epi32::<31>(vector)
}

/// The contexts of eight lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn eight_contexts(contexts: &Step<u8>, part: usize) -> __m256i {
    let (eights, _) = contexts.as_chunks::<EIGHT>();
    let context = i64::from_le_bytes(eights[part]);
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(context))
}
