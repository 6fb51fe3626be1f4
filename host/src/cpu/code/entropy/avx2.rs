//! The steps of a tile with the instructions of AVX2: a step is four vectors of eight lanes.

use crate::cpu::code::entropy::decoder::Decoder;
use crate::cpu::code::entropy::encoder::{Encoder, MARGIN};
use crate::cpu::code::entropy::tables::{FIRST_ALONE, Pop, Pops, Push, Pushes, TOKEN_BITS};
use crate::cpu::code::zones::Contexts;
use ferrosz_codec::code::entropy::states::WORD_BITS;
use ferrosz_codec::code::entropy::token::{ESCAPE, ESCAPE_BITS, PRECISION, SLOTS};
use ferrosz_codec::tile::code::{Step, TileCodes};
use ferrosz_codec::tile::{LANES, STEPS};
use std::arch::x86_64::*;

/// Lanes of a vector.
const EIGHT: usize = 8;

/// Vectors of a step.
const PARTS: usize = LANES as usize / EIGHT;

/// The states of all lanes.
type States = [__m256i; PARTS];

/// For each mask of lanes, the number of its lanes before each lane: the word that the lane reads.
static RANKS: [[u8; EIGHT]; 256] = {
    let mut ranks = [[0; EIGHT]; 256];
    let mut mask = 0;
    while mask < ranks.len() {
        let mut lane = 0;
        while lane < EIGHT {
            ranks[mask][lane] = (mask & ((1 << lane) - 1)).count_ones() as u8;
            lane += 1;
        }
        mask += 1;
    }
    ranks
};

/// For each mask of lanes, the bytes of their words in order, at the end of sixteen bytes.
static PACKED: [[u8; 2 * EIGHT]; 256] = {
    let mut packed = [[0; 2 * EIGHT]; 256];
    let mut mask = 0;
    while mask < packed.len() {
        let (mut lane, mut at) = (EIGHT, 2 * EIGHT);
        while lane > 0 {
            lane -= 1;
            if mask >> lane & 1 == 1 {
                at -= 2;
                packed[mask][at] = 2 * lane as u8;
                packed[mask][at + 1] = 2 * lane as u8 + 1;
            }
        }
        mask += 1;
    }
    packed
};

/// The same number in all lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn all(number: u32) -> __m256i {
    _mm256_set1_epi32(number.cast_signed())
}

/// Bit l is the sign of lane l.
#[target_feature(enable = "avx2")]
#[inline]
fn signs(vector: __m256i) -> usize {
    _mm256_movemask_ps(_mm256_castsi256_ps(vector)) as usize
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

/// The words of a decoder.
struct Words<'a> {
    words: &'a [[u8; 2]],
    next: usize,
}

impl Words<'_> {
    /// The next eight words.
    #[inline(always)]
    fn eight(&self) -> [[u8; 2]; EIGHT] {
        let rest = self.words.get(self.next..).unwrap_or_default();
        match rest.first_chunk() {
            Some(eight) => *eight,
            None => Self::last(rest),
        }
    }

    /// The last words, then zeros.
    #[cold]
    fn last(rest: &[[u8; 2]]) -> [[u8; 2]; EIGHT] {
        let mut eight = [[0; 2]; EIGHT];
        eight[..rest.len()].copy_from_slice(rest);
        eight
    }

    /// The states after a pop, with one more word for those that need one.
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    fn refilled(&mut self, states: __m256i) -> __m256i {
        let high = _mm256_srli_epi32::<{ WORD_BITS as i32 }>(states);
        let is_low = _mm256_cmpeq_epi32(high, _mm256_setzero_si256());
        let mask = signs(is_low);
        let words = _mm256_cvtepu16_epi32(bytemuck::cast(self.eight()));
        let ranks = _mm_cvtsi64_si128(i64::from_le_bytes(RANKS[mask]));
        let own = _mm256_permutevar8x32_epi32(words, _mm256_cvtepu8_epi32(ranks));
        self.next += mask.count_ones() as usize;
        let filled = _mm256_or_si256(_mm256_slli_epi32::<{ WORD_BITS as i32 }>(states), own);
        _mm256_blendv_epi8(states, filled, is_low)
    }
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
    (_mm256_add_epi32(popped, code), words.refilled(states))
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
    *states = words.refilled(rest);
    // The mask removes the bits that an escape shifts beyond bit 15.
    let code = _mm256_and_si256(code, all(0xffff));
    _mm256_blendv_epi8(codes, code, is_alone)
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
    let mut flags = _mm256_setzero_si256();
    let (steps, _) = codes.as_chunks();
    for (step, codes) in (0..STEPS).zip(steps).rev() {
        let Some(contexts) = contexts.of(step) else {
            continue;
        };
        let codes = eights(codes);
        let mut pushes = codes.map(|_| EightPushes::none());
        let mut any = _mm256_setzero_si256();
        for part in 0..PARTS {
            let contexts = eight_contexts(&contexts, part);
            pushes[part] = EightPushes::find(encoder.pushes, contexts, codes[part]);
            any = _mm256_or_si256(any, pushes[part].words);
        }
        flags = _mm256_or_si256(flags, any);
        if signs(any) != 0 {
            for part in (0..PARTS).rev() {
                states[part] = pushes[part].push_alone(codes[part], states[part], encoder);
            }
        }
        for part in (0..PARTS).rev() {
            states[part] = pushes[part].push(states[part], encoder);
        }
    }
    encoder.states = bytemuck::cast(states);
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

/// Emits a word from each state that is full.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
fn make_room(states: __m256i, has_room: __m256i, encoder: &mut Encoder<'_>) -> __m256i {
    let mask = signs(has_room) ^ 0xff;
    let low = _mm256_and_si256(states, all(0xffff));
    let low = _mm_packus_epi32(
        _mm256_castsi256_si128(low),
        _mm256_extracti128_si256::<1>(low),
    );
    let packed = _mm_shuffle_epi8(low, bytemuck::cast(PACKED[mask]));
    let end = encoder.start;
    if let Some(place) = encoder.words.get_mut(end.wrapping_sub(MARGIN)..end) {
        place.copy_from_slice(&bytemuck::cast::<_, [u16; MARGIN]>(packed));
    }
    encoder.start = end.saturating_sub(mask.count_ones() as usize);
    let emitted = _mm256_srli_epi32::<{ WORD_BITS as i32 }>(states);
    _mm256_blendv_epi8(emitted, states, has_room)
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
        encoder: &mut Encoder<'_>,
    ) -> __m256i {
        let is_alone = signed(self.words);
        let is_escaped =
            signed(_mm256_slli_epi32::<{ Push::ESCAPED.leading_zeros() as i32 }>(self.words));
        let bits = _mm256_blendv_epi8(self.bits, all(ESCAPE_BITS), is_escaped);
        let bits = _mm256_and_si256(bits, is_alone);
        let extra = _mm256_blendv_epi8(self.extra, codes, is_escaped);
        let extra = _mm256_and_si256(extra, is_alone);
        self.bits = _mm256_andnot_si256(is_alone, self.bits);
        self.extra = _mm256_andnot_si256(is_alone, self.extra);
        // All bits that are shifted out must be 0. Without bits, the shift by 32 gives 0.
        let lost = _mm256_srlv_epi32(states, _mm256_sub_epi32(all(32), bits));
        let has_room = _mm256_cmpeq_epi32(lost, _mm256_setzero_si256());
        let states = make_room(states, has_room, encoder);
        _mm256_or_si256(_mm256_sllv_epi32(states, bits), extra)
    }

    /// Pushes the extra bits, then the symbols.
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    fn push(&self, states: __m256i, encoder: &mut Encoder<'_>) -> __m256i {
        let frequency = _mm256_and_si256(self.words, all((1 << Push::SHIFT_AT) - 1));
        let shift = _mm256_srli_epi32::<{ Push::SHIFT_AT as i32 }>(self.words);
        let shift = _mm256_and_si256(shift, all(15));
        let start = _mm256_srli_epi32::<{ Push::START_AT as i32 }>(self.words);
        let start = _mm256_and_si256(start, all(SLOTS - 1));
        let unused = _mm256_sub_epi32(all(32 - PRECISION), self.bits);
        let has_room = _mm256_cmpgt_epi32(frequency, _mm256_srlv_epi32(states, unused));
        let states = make_room(states, has_room, encoder);
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
