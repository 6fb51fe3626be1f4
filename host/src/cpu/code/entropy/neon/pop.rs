//! Popping the steps of a tile.

use super::{
    Eight, PARTS, States, all, eight_contexts, low_halves, mask_of, shifted_left, shifted_right,
    widened,
};
use crate::cpu::code::entropy::decoder::Decoder;
use crate::cpu::code::entropy::order::{RANKS, Words};
use crate::cpu::code::entropy::tables::{FIRST_ALONE, Pop, Pops};
use crate::cpu::code::zones::Contexts;
use ferrosz_codec::code::entropy::states::WORD_BITS;
use ferrosz_codec::code::entropy::token::{ESCAPE, ESCAPE_BITS, PRECISION, SLOTS};
use ferrosz_codec::tile::LANES;
use ferrosz_codec::tile::code::TileCodes;
use std::arch::aarch64::*;

/// The states after a pop, with one more word for those that need one.
#[target_feature(enable = "neon")]
#[inline]
fn refilled(words: &mut Words<'_>, states: Eight) -> Eight {
    let is_low = states.map(|x| vceqzq_u32(vshrq_n_u32::<{ WORD_BITS as i32 }>(x)));
    let mask = mask_of(is_low);
    let ranks: uint8x8_t = bytemuck::cast(RANKS[usize::from(mask)]);
    // The two bytes of each lane's word.
    let low = vshl_n_u8::<1>(ranks);
    let at = vcombine_u8(vzip1_u8(low, low), vzip2_u8(low, low));
    let at = vorrq_u8(at, vreinterpretq_u8_u16(vdupq_n_u16(0x0100)));
    let own = vqtbl1q_u8(bytemuck::cast(words.eight()), at);
    words.next += mask.count_ones() as usize;
    let own = widened(vreinterpretq_u16_u8(own));
    let mut filled = states;
    for half in 0..2 {
        let more = vorrq_u32(vshlq_n_u32::<{ WORD_BITS as i32 }>(states[half]), own[half]);
        filled[half] = vbslq_u32(is_low[half], more, states[half]);
    }
    filled
}

/// [`Decoder::pop_steps`].
#[target_feature(enable = "neon")]
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
        let mut pops = [[all(0); 2]; PARTS];
        let mut found = pops;
        let mut any = all(0);
        for part in 0..PARTS {
            pops[part] = tops(decoder.pops, eight_contexts(&contexts, part), states[part]);
            for half in 0..2 {
                let (pop, state) = (pops[part][half], &mut states[part][half]);
                found[part][half] = pop_symbols(pop, state);
                any = vorrq_u32(any, pop);
            }
            states[part] = refilled(&mut words, states[part]);
        }
        if vmaxvq_u32(any) & Pop::ALONE != 0 {
            for part in 0..PARTS {
                for half in 0..2 {
                    let (pop, state) = (pops[part][half], &mut states[part][half]);
                    found[part][half] = pop_alone(pop, found[part][half], state, &mut may_be_raw);
                }
                states[part] = refilled(&mut words, states[part]);
            }
        }
        *codes = bytemuck::cast(found.map(|eight| low_halves(eight)));
    }
    decoder.states = bytemuck::cast(states);
    decoder.next = words.next;
    may_be_raw
}

/// The symbols on top of the states.
#[target_feature(enable = "neon")]
#[inline]
fn tops(pops: &Pops, contexts: Eight, states: Eight) -> Eight {
    let mut at = contexts;
    for half in 0..2 {
        let slot = vandq_u32(states[half], all(SLOTS - 1));
        at[half] = vorrq_u32(vshlq_n_u32::<{ PRECISION as i32 }>(contexts[half]), slot);
    }
    let at: [u32; 8] = bytemuck::cast(at);
    // SAFETY: the table has slots of all contexts, and `Contexts` has no others.
    bytemuck::cast(at.map(|at| unsafe { *pops.slots.get_unchecked(at as usize) }))
}

/// Pops symbols, and the extra bits that are popped with them. Returns the codes that they make.
#[target_feature(enable = "neon")]
#[inline]
fn pop_symbols(pops: uint32x4_t, states: &mut uint32x4_t) -> uint32x4_t {
    let frequency = vaddq_u32(vandq_u32(pops, all(SLOTS - 1)), all(1));
    let rest = vandq_u32(vshrq_n_u32::<{ Pop::REST_AT as i32 }>(pops), all(SLOTS - 1));
    let high = vshrq_n_u32::<{ PRECISION as i32 }>(*states);
    let popped = vmlaq_u32(rest, frequency, high);
    let is_alone = vcltzq_s32(vreinterpretq_s32_u32(pops));
    let bits = vbicq_u32(vshrq_n_u32::<{ Pop::BITS_AT as i32 }>(pops), is_alone);
    let base = vandq_u32(vshrq_n_u32::<{ Pop::TOKEN_AT as i32 }>(pops), all(15));
    *states = shifted_right(popped, bits);
    // The state's low bits below the token's bits.
    vaddq_u32(popped, shifted_left(vsubq_u32(base, *states), bits))
}

/// Pops the extra bits that are popped after all symbols; returns the codes. Sets whether a code may be raw.
#[target_feature(enable = "neon")]
#[inline]
fn pop_alone(
    pops: uint32x4_t,
    codes: uint32x4_t,
    states: &mut uint32x4_t,
    may_be_raw: &mut bool,
) -> uint32x4_t {
    let is_alone = vcltzq_s32(vreinterpretq_s32_u32(pops));
    let stored = vandq_u32(vshrq_n_u32::<{ Pop::TOKEN_AT as i32 }>(pops), all(63));
    let is_escape = vandq_u32(vceqq_u32(stored, all(ESCAPE - FIRST_ALONE)), is_alone);
    *may_be_raw |= vmaxvq_u32(is_escape) != 0;
    let bits = vshrq_n_u32::<3>(vaddq_u32(stored, all(FIRST_ALONE - 8)));
    let bits = vandq_u32(vbslq_u32(is_escape, all(ESCAPE_BITS), bits), is_alone);
    let base = vorrq_u32(vandq_u32(stored, all(7)), all(8));
    let popped = *states;
    *states = shifted_right(popped, bits);
    let code = vaddq_u32(popped, shifted_left(vsubq_u32(base, *states), bits));
    // The mask removes the bits that an escape shifts beyond bit 15.
    vbslq_u32(is_alone, vandq_u32(code, all(0xffff)), codes)
}
