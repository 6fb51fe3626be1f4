//! Pushing the steps of a tile.

use super::{
    Eight, PARTS, States, all, eight_contexts, low_halves, mask_of, shifted_left, shifted_right,
    widened,
};
use crate::cpu::code::entropy::encoder::Encoder;
use crate::cpu::code::entropy::order::{EIGHT, Emitted, PACKED};
use crate::cpu::code::entropy::tables::{Push, Pushes, TOKEN_BITS};
use crate::cpu::code::zones::Contexts;
use ferrosz_codec::code::entropy::states::WORD_BITS;
use ferrosz_codec::code::entropy::token::{ESCAPE_BITS, PRECISION};
use ferrosz_codec::tile::STEPS;
use ferrosz_codec::tile::code::TileCodes;
use std::arch::aarch64::*;

/// Emits a word from each state that is full.
#[target_feature(enable = "neon")]
#[inline]
fn make_room(emitted: &mut Emitted<'_>, states: Eight, is_full: Eight) -> Eight {
    let mask = mask_of(is_full);
    let low = vreinterpretq_u8_u16(low_halves(states));
    let packed = vqtbl1q_u8(low, bytemuck::cast(PACKED[usize::from(mask)]));
    emitted.emit(bytemuck::cast(packed), mask.count_ones());
    let mut made = states;
    for half in 0..2 {
        let rest = vshrq_n_u32::<{ WORD_BITS as i32 }>(states[half]);
        made[half] = vbslq_u32(is_full[half], rest, states[half]);
    }
    made
}

/// The pushes of four lanes.
#[derive(Clone, Copy)]
struct FourPushes {
    /// The low halves of the words of the table, and the high ones, which are reciprocals.
    words: uint32x4_t,
    reciprocals: uint32x4_t,
    /// The numbers of extra bits, and the extra bits.
    bits: uint32x4_t,
    extra: uint32x4_t,
}

/// [`Encoder::push_steps`].
#[target_feature(enable = "neon")]
pub(crate) fn push_steps(encoder: &mut Encoder<'_>, contexts: &Contexts<'_>, codes: &TileCodes) {
    let mut states: States = bytemuck::cast(encoder.states);
    let mut emitted = Emitted {
        words: &mut *encoder.words,
        start: encoder.start,
    };
    let mut flags = all(0);
    let (steps, _) = codes.as_chunks::<{ EIGHT * PARTS }>();
    for (step, codes) in (0..STEPS).zip(steps).rev() {
        let Some(contexts) = contexts.of(step) else {
            continue;
        };
        let codes: [uint16x8_t; PARTS] = bytemuck::cast(*codes);
        let codes = codes.map(|eight| widened(eight));
        let mut pushes = [[FourPushes::none(); 2]; PARTS];
        let mut any = all(0);
        for part in 0..PARTS {
            let contexts = eight_contexts(&contexts, part);
            for half in 0..2 {
                let found = FourPushes::find(encoder.pushes, contexts[half], codes[part][half]);
                any = vorrq_u32(any, found.words);
                pushes[part][half] = found;
            }
        }
        flags = vorrq_u32(flags, any);
        if vmaxvq_u32(vandq_u32(any, all(Push::ALONE))) != 0 {
            for part in (0..PARTS).rev() {
                states[part] =
                    push_alone(&mut pushes[part], codes[part], states[part], &mut emitted);
            }
        }
        for part in (0..PARTS).rev() {
            states[part] = push(&pushes[part], states[part], &mut emitted);
        }
    }
    encoder.states = bytemuck::cast(states);
    encoder.start = emitted.start;
    encoder.is_codable &= vmaxvq_u32(vandq_u32(flags, all(Push::MISSING))) == 0;
}

/// Pushes the extra bits that are pushed before all symbols, and removes them from these pushes.
#[target_feature(enable = "neon")]
#[inline]
fn push_alone(
    pushes: &mut [FourPushes; 2],
    codes: Eight,
    states: Eight,
    emitted: &mut Emitted<'_>,
) -> Eight {
    let mut alone = [(all(0), all(0)); 2];
    let mut is_full = states;
    for half in 0..2 {
        let (bits, extra) = pushes[half].take_alone(codes[half]);
        // Of bits that are shifted out, none may be set. Without bits, the shift by 32 gives 0.
        let lost = shifted_right(states[half], vsubq_u32(all(32), bits));
        is_full[half] = vtstq_u32(lost, lost);
        alone[half] = (bits, extra);
    }
    let mut states = make_room(emitted, states, is_full);
    for half in 0..2 {
        let (bits, extra) = alone[half];
        states[half] = vorrq_u32(shifted_left(states[half], bits), extra);
    }
    states
}

/// Pushes the extra bits, then the symbols.
#[target_feature(enable = "neon")]
#[inline]
fn push(pushes: &[FourPushes; 2], states: Eight, emitted: &mut Emitted<'_>) -> Eight {
    let mut is_full = states;
    for half in 0..2 {
        is_full[half] = pushes[half].is_full(states[half]);
    }
    let mut states = make_room(emitted, states, is_full);
    for half in 0..2 {
        states[half] = pushes[half].apply(states[half]);
    }
    states
}

impl FourPushes {
    #[target_feature(enable = "neon")]
    #[inline]
    fn none() -> Self {
        Self {
            words: all(0),
            reciprocals: all(0),
            bits: all(0),
            extra: all(0),
        }
    }

    /// Those of codes in these contexts.
    #[target_feature(enable = "neon")]
    #[inline]
    fn find(pushes: &Pushes, contexts: uint32x4_t, codes: uint32x4_t) -> Self {
        // The position of the highest bit less 3, at least 0.
        let bits = vqsubq_u32(all(28), vclzq_u32(codes));
        let leading = shifted_right(codes, bits);
        let extra = vsubq_u32(codes, shifted_left(leading, bits));
        let token = vaddq_u32(vshlq_n_u32::<3>(bits), leading);
        let at = vorrq_u32(vshlq_n_u32::<{ TOKEN_BITS as i32 }>(contexts), token);
        let at: [u32; 4] = bytemuck::cast(at);
        // SAFETY: the table has all tokens of all contexts, and `Contexts` has no others.
        let found = at.map(|at| unsafe { *pushes.0.get_unchecked(at as usize) });
        let [low, high]: [uint32x4_t; 2] = bytemuck::cast(found);
        Self {
            words: vuzp1q_u32(low, high),
            reciprocals: vuzp2q_u32(low, high),
            bits,
            extra,
        }
    }

    /// The extra bits that are pushed before all symbols, and their number, which are then no longer here.
    #[target_feature(enable = "neon")]
    #[inline]
    fn take_alone(&mut self, codes: uint32x4_t) -> (uint32x4_t, uint32x4_t) {
        let is_alone = vtstq_u32(self.words, all(Push::ALONE));
        let is_escaped = vtstq_u32(self.words, all(Push::ESCAPED));
        let bits = vbslq_u32(is_escaped, all(ESCAPE_BITS), self.bits);
        let extra = vbslq_u32(is_escaped, codes, self.extra);
        self.bits = vbicq_u32(self.bits, is_alone);
        self.extra = vbicq_u32(self.extra, is_alone);
        (vandq_u32(bits, is_alone), vandq_u32(extra, is_alone))
    }

    #[target_feature(enable = "neon")]
    #[inline]
    fn frequency(&self) -> uint32x4_t {
        vandq_u32(self.words, all((1 << Push::SHIFT_AT) - 1))
    }

    /// [`Push::is_full`].
    #[target_feature(enable = "neon")]
    #[inline]
    fn is_full(&self, states: uint32x4_t) -> uint32x4_t {
        let top = shifted_right(states, vsubq_u32(all(32 - PRECISION), self.bits));
        vcgeq_u32(top, self.frequency())
    }

    /// [`Push::apply`], after the extra bits.
    #[target_feature(enable = "neon")]
    #[inline]
    fn apply(&self, states: uint32x4_t) -> uint32x4_t {
        let frequency = self.frequency();
        let shift = vandq_u32(
            vshrq_n_u32::<{ Push::SHIFT_AT as i32 }>(self.words),
            all(15),
        );
        let start = vshrq_n_u32::<{ Push::START_AT as i32 }>(self.words);
        let x = vorrq_u32(shifted_left(states, self.bits), self.extra);
        let low = vmull_u32(vget_low_u32(x), vget_low_u32(self.reciprocals));
        let high = vmull_high_u32(x, self.reciprocals);
        // Exact or one too small, as the reciprocals are.
        let quotient = vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
        let rest = vmlsq_u32(x, quotient, frequency);
        let is_small = vcgeq_u32(rest, frequency);
        let quotient = vsubq_u32(quotient, is_small);
        let rest = vsubq_u32(rest, vandq_u32(frequency, is_small));
        let slot = vaddq_u32(start, shifted_left(rest, shift));
        vaddq_u32(vshlq_n_u32::<{ PRECISION as i32 }>(quotient), slot)
    }
}
