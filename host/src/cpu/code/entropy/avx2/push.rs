//! Pushing the steps of a tile.

use super::{PARTS, States, all, eight_contexts, signed, signs};
use crate::cpu::code::entropy::encoder::Encoder;
use crate::cpu::code::entropy::order::{Emitted, PACKED};
use crate::cpu::code::entropy::tables::{Push, Pushes, TOKEN_BITS};
use crate::cpu::code::zones::Contexts;
use ferrosz_codec::code::entropy::states::WORD_BITS;
use ferrosz_codec::code::entropy::token::{ESCAPE_BITS, PRECISION};
use ferrosz_codec::tile::STEPS;
use ferrosz_codec::tile::code::{Step, TileCodes};
use std::arch::x86_64::*;

/// Shifts of flags of a push to the sign.
const ALONE_TO_SIGN: i32 = Push::ALONE.leading_zeros() as i32;
const ESCAPED_TO_SIGN: i32 = Push::ESCAPED.leading_zeros() as i32;

/// Emits a word from each state that has no room.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn make_room(emitted: &mut Emitted<'_>, states: __m256i, has_room: __m256i) -> __m256i {
    let mask = !signs(has_room);
    let low = _mm256_and_si256(states, all(0xffff));
    let low = _mm_packus_epi32(
        _mm256_castsi256_si128(low),
        _mm256_extracti128_si256::<1>(low),
    );
    let packed = _mm_shuffle_epi8(low, bytemuck::cast(PACKED[usize::from(mask)]));
    emitted.emit(bytemuck::cast(packed), mask.count_ones());
    let rest = _mm256_srli_epi32::<{ WORD_BITS as i32 }>(states);
    _mm256_blendv_epi8(rest, states, has_room)
}

/// The pushes of eight lanes. A push is 64 bits, so the lanes are in two vectors.
#[derive(Clone, Copy)]
struct EightPushes {
    /// Those of lanes 0, 2, 4 and 6.
    even: __m256i,
    /// Those of lanes 1, 3, 5 and 7.
    odd: __m256i,
    /// The low halves.
    words: __m256i,
    /// The numbers of extra bits, and the extra bits.
    bits: __m256i,
    extra: __m256i,
}

/// [`Encoder::push_steps`].
#[target_feature(enable = "avx2,popcnt")]
pub(crate) fn push_steps(encoder: &mut Encoder<'_>, contexts: &Contexts<'_>, codes: &TileCodes) {
    let mut states: States = bytemuck::cast(encoder.states);
    let mut emitted = Emitted {
        words: &mut *encoder.words,
        start: encoder.start,
    };
    let mut flags = _mm256_setzero_si256();
    let (steps, _) = codes.as_chunks();
    for (step, codes) in (0..STEPS).zip(steps).rev() {
        let Some(contexts) = contexts.of(step) else {
            continue;
        };
        let codes = eights(codes);
        let mut pushes = [EightPushes::none(); PARTS];
        let mut any = _mm256_setzero_si256();
        for part in 0..PARTS {
            let contexts = eight_contexts(&contexts, part);
            pushes[part] = EightPushes::find(encoder.pushes, contexts, codes[part]);
            any = _mm256_or_si256(any, pushes[part].words);
        }
        flags = _mm256_or_si256(flags, any);
        if signs(_mm256_slli_epi32::<ALONE_TO_SIGN>(any)) != 0 {
            for part in (0..PARTS).rev() {
                states[part] = pushes[part].push_alone(codes[part], states[part], &mut emitted);
            }
        }
        for part in (0..PARTS).rev() {
            states[part] = pushes[part].push(states[part], &mut emitted);
        }
    }
    encoder.states = bytemuck::cast(states);
    encoder.start = emitted.start;
    let missing = _mm256_and_si256(flags, all(Push::MISSING));
    encoder.is_codable &= _mm256_testz_si256(missing, missing) == 1;
}

/// A step's codes in vectors.
#[target_feature(enable = "avx2")]
#[inline]
fn eights(codes: &Step<u16>) -> [__m256i; PARTS] {
    let parts: [__m128i; PARTS] = bytemuck::cast(*codes);
    let mut eights = [_mm256_setzero_si256(); PARTS];
    for (eight, part) in eights.iter_mut().zip(parts) {
        *eight = _mm256_cvtepu16_epi32(part);
    }
    eights
}

/// The low 32 bits of each lane of two vectors of 64 bits, which have the even lanes and the odd ones.
#[target_feature(enable = "avx2")]
#[inline]
fn low_halves(even: __m256i, odd: __m256i) -> __m256i {
    _mm256_blend_epi32::<0b1010_1010>(even, _mm256_slli_epi64::<32>(odd))
}

/// The high 32 bits of each lane of two vectors of 64 bits, which have the even lanes and the odd ones.
#[target_feature(enable = "avx2")]
#[inline]
fn high_halves(even: __m256i, odd: __m256i) -> __m256i {
    _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(even), odd)
}

impl EightPushes {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn none() -> Self {
        let zero = _mm256_setzero_si256();
        Self {
            even: zero,
            odd: zero,
            words: zero,
            bits: zero,
            extra: zero,
        }
    }

    /// Those of codes in these contexts.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn find(pushes: &Pushes, contexts: __m256i, codes: __m256i) -> Self {
        // The position of the highest bit, from the exponent as a float.
        let exponent = _mm256_castps_si256(_mm256_cvtepi32_ps(codes));
        let exponent = _mm256_srli_epi32::<23>(exponent);
        let bits = _mm256_sub_epi32(exponent, all(127 + 3));
        let bits = _mm256_max_epi32(bits, _mm256_setzero_si256());
        // At most 12. The mask tells the compiler that no shift is by more than 31.
        let bits = _mm256_and_si256(bits, all(15));
        let leading = _mm256_srlv_epi32(codes, bits);
        let extra = _mm256_sub_epi32(codes, _mm256_sllv_epi32(leading, bits));
        let token = _mm256_add_epi32(_mm256_slli_epi32::<3>(bits), leading);
        let at = _mm256_or_si256(_mm256_slli_epi32::<{ TOKEN_BITS as i32 }>(contexts), token);
        let even_at = _mm256_and_si256(at, _mm256_set1_epi64x(0xffff_ffff));
        let odd_at = _mm256_srli_epi64::<32>(at);
        let table = pushes.0.as_ptr().cast();
        // SAFETY: the table has all tokens of all contexts, and `Contexts` has no others.
        let [even, odd] = unsafe {
            [
                _mm256_i64gather_epi64::<8>(table, even_at),
                _mm256_i64gather_epi64::<8>(table, odd_at),
            ]
        };
        Self {
            even,
            odd,
            words: low_halves(even, odd),
            bits,
            extra,
        }
    }

    /// Pushes the extra bits that are pushed before all symbols, and removes them from these pushes.
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    fn push_alone(
        &mut self,
        codes: __m256i,
        states: __m256i,
        emitted: &mut Emitted<'_>,
    ) -> __m256i {
        let is_alone = signed(_mm256_slli_epi32::<ALONE_TO_SIGN>(self.words));
        let is_escaped = signed(_mm256_slli_epi32::<ESCAPED_TO_SIGN>(self.words));
        let bits = _mm256_blendv_epi8(self.bits, all(ESCAPE_BITS), is_escaped);
        let bits = _mm256_and_si256(bits, is_alone);
        let extra = _mm256_blendv_epi8(self.extra, codes, is_escaped);
        let extra = _mm256_and_si256(extra, is_alone);
        self.bits = _mm256_andnot_si256(is_alone, self.bits);
        self.extra = _mm256_andnot_si256(is_alone, self.extra);
        // All bits that are shifted out must be 0. Without bits, the shift by 32 gives 0.
        let lost = _mm256_srlv_epi32(states, _mm256_sub_epi32(all(32), bits));
        let has_room = _mm256_cmpeq_epi32(lost, _mm256_setzero_si256());
        let states = make_room(emitted, states, has_room);
        _mm256_or_si256(_mm256_sllv_epi32(states, bits), extra)
    }

    /// Pushes the extra bits, then the symbols.
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    fn push(&self, states: __m256i, emitted: &mut Emitted<'_>) -> __m256i {
        let frequency = _mm256_and_si256(self.words, all((1 << Push::SHIFT_AT) - 1));
        let shift = _mm256_srli_epi32::<{ Push::SHIFT_AT as i32 }>(self.words);
        let shift = _mm256_and_si256(shift, all(15));
        let start = _mm256_srli_epi32::<{ Push::START_AT as i32 }>(self.words);
        // A shift by 20 - bits, in two parts whose widths the compiler knows.
        let top = _mm256_srli_epi32::<{ 32 - PRECISION as i32 - 15 }>(states);
        let top = _mm256_srlv_epi32(top, _mm256_xor_si256(self.bits, all(15)));
        let has_room = _mm256_cmpgt_epi32(frequency, top);
        let states = make_room(emitted, states, has_room);
        let x = _mm256_or_si256(_mm256_sllv_epi32(states, self.bits), self.extra);
        let even = _mm256_mul_epu32(x, _mm256_srli_epi64::<32>(self.even));
        let odd = _mm256_mul_epu32(
            _mm256_srli_epi64::<32>(x),
            _mm256_srli_epi64::<32>(self.odd),
        );
        // Exact or one too small, as the reciprocals are.
        let quotient = high_halves(even, odd);
        let rest = _mm256_sub_epi32(x, _mm256_mullo_epi32(quotient, frequency));
        let is_small = _mm256_cmpgt_epi32(rest, _mm256_sub_epi32(frequency, all(1)));
        let quotient = _mm256_sub_epi32(quotient, is_small);
        let rest = _mm256_sub_epi32(rest, _mm256_and_si256(frequency, is_small));
        let slot = _mm256_add_epi32(start, _mm256_sllv_epi32(rest, shift));
        _mm256_add_epi32(_mm256_slli_epi32::<{ PRECISION as i32 }>(quotient), slot)
    }
}
