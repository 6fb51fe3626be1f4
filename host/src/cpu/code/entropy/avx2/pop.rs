//! Popping the steps of a tile.

use super::{PARTS, States, all, eight_contexts, signed, signs};
use crate::cpu::code::entropy::decoder::Decoder;
use crate::cpu::code::entropy::order::{RANKS, Words};
use crate::cpu::code::entropy::tables::{FIRST_ALONE, Pop, Pops};
use crate::cpu::code::zones::Contexts;
use ferrosz_codec::code::entropy::states::WORD_BITS;
use ferrosz_codec::code::entropy::token::{ESCAPE, ESCAPE_BITS, PRECISION, SLOTS};
use ferrosz_codec::tile::LANES;
use ferrosz_codec::tile::code::TileCodes;
use std::arch::x86_64::*;

/// The states after a pop, with one more word for those that need one.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn refilled(words: &mut Words<'_>, states: __m256i) -> __m256i {
    let high = _mm256_srli_epi32::<{ WORD_BITS as i32 }>(states);
    let is_low = _mm256_cmpeq_epi32(high, _mm256_setzero_si256());
    let mask = signs(is_low);
    let next = _mm256_cvtepu16_epi32(bytemuck::cast(words.eight()));
    let ranks = _mm_cvtsi64_si128(i64::from_le_bytes(RANKS[usize::from(mask)]));
    let own = _mm256_permutevar8x32_epi32(next, _mm256_cvtepu8_epi32(ranks));
    words.next += mask.count_ones() as usize;
    let filled = _mm256_or_si256(_mm256_slli_epi32::<{ WORD_BITS as i32 }>(states), own);
    _mm256_blendv_epi8(states, filled, is_low)
}

/// [`Decoder::pop_steps`].
#[target_feature(enable = "avx2,popcnt")]
pub(crate) fn pop_steps(
    decoder: &mut Decoder<'_>,
    contexts: &Contexts<'_>,
    codes: &mut TileCodes,
) -> bool {
    let mut states: States = bytemuck::cast(decoder.states);
    let mut words = Words {
        words: decoder.words,
        next: decoder.next,
    };
    let mut may_be_raw = false;
    let (steps, _) = codes.as_chunks_mut();
    for (step, codes) in (0..).zip(steps) {
        let Some(contexts) = contexts.of(step) else {
            *codes = [0; LANES as usize];
            continue;
        };
        let mut pops = [_mm256_setzero_si256(); PARTS];
        let mut found = pops;
        for part in 0..PARTS {
            pops[part] = tops(decoder.pops, eight_contexts(&contexts, part), states[part]);
            (found[part], states[part]) = pop_symbols(pops[part], states[part], &mut words);
        }
        let any = _mm256_or_si256(
            _mm256_or_si256(pops[0], pops[1]),
            _mm256_or_si256(pops[2], pops[3]),
        );
        if signs(any) != 0 {
            for part in 0..PARTS {
                let (pop, state) = (pops[part], &mut states[part]);
                found[part] = pop_alone(pop, found[part], state, &mut words, &mut may_be_raw);
            }
        }
        let ordered = |low, high| {
            let halves = _mm256_packus_epi32(low, high);
            _mm256_permute4x64_epi64::<0b11_01_10_00>(halves)
        };
        *codes = bytemuck::cast([ordered(found[0], found[1]), ordered(found[2], found[3])]);
    }
    decoder.states = bytemuck::cast(states);
    decoder.next = words.next;
    may_be_raw
}

/// The symbols on top of the states.
#[target_feature(enable = "avx2")]
#[inline]
fn tops(pops: &Pops, contexts: __m256i, states: __m256i) -> __m256i {
    let slot = _mm256_and_si256(states, all(SLOTS - 1));
    let at = _mm256_or_si256(_mm256_slli_epi32::<{ PRECISION as i32 }>(contexts), slot);
    // SAFETY: the table has slots of all contexts, and `Contexts` has no others.
    unsafe { _mm256_i32gather_epi32::<4>(pops.slots.as_ptr().cast(), at) }
}

/// Pops symbols, and the extra bits that are popped with them. Returns the codes that they make, and the states.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn pop_symbols(pops: __m256i, states: __m256i, words: &mut Words<'_>) -> (__m256i, __m256i) {
    let frequency = _mm256_add_epi32(_mm256_and_si256(pops, all(SLOTS - 1)), all(1));
    let rest = _mm256_srli_epi32::<{ Pop::REST_AT as i32 }>(pops);
    let rest = _mm256_and_si256(rest, all(SLOTS - 1));
    let high = _mm256_srli_epi32::<{ PRECISION as i32 }>(states);
    let popped = _mm256_add_epi32(_mm256_mullo_epi32(frequency, high), rest);
    let bits = _mm256_srli_epi32::<{ Pop::BITS_AT as i32 }>(pops);
    let bits = _mm256_andnot_si256(signed(pops), bits);
    let base = _mm256_srli_epi32::<{ Pop::TOKEN_AT as i32 }>(pops);
    let base = _mm256_and_si256(base, all(15));
    let states = _mm256_srlv_epi32(popped, bits);
    // The state's low bits below the token's bits.
    let code = _mm256_sllv_epi32(_mm256_sub_epi32(base, states), bits);
    (_mm256_add_epi32(popped, code), refilled(words, states))
}

/// Pops the extra bits that are popped after all symbols; returns the codes. Sets whether a code may be raw.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn pop_alone(
    pops: __m256i,
    codes: __m256i,
    states: &mut __m256i,
    words: &mut Words<'_>,
    may_be_raw: &mut bool,
) -> __m256i {
    let is_alone = signed(pops);
    let stored = _mm256_srli_epi32::<{ Pop::TOKEN_AT as i32 }>(pops);
    let stored = _mm256_and_si256(stored, all(63));
    let is_escape = _mm256_cmpeq_epi32(stored, all(ESCAPE - FIRST_ALONE));
    let is_escape = _mm256_and_si256(is_escape, is_alone);
    *may_be_raw |= signs(is_escape) != 0;
    let bits = _mm256_srli_epi32::<3>(_mm256_add_epi32(stored, all(FIRST_ALONE - 8)));
    let bits = _mm256_blendv_epi8(bits, all(ESCAPE_BITS), is_escape);
    let bits = _mm256_and_si256(bits, is_alone);
    let base = _mm256_or_si256(_mm256_and_si256(stored, all(7)), all(8));
    let popped = *states;
    let rest = _mm256_srlv_epi32(popped, bits);
    let code = _mm256_sllv_epi32(_mm256_sub_epi32(base, rest), bits);
    let code = _mm256_add_epi32(popped, code);
    *states = refilled(words, rest);
    // The mask removes the bits that an escape shifts beyond bit 15.
    let code = _mm256_and_si256(code, all(0xffff));
    _mm256_blendv_epi8(codes, code, is_alone)
}
