//! The steps of a tile with the instructions of NEON: a step is four parts of eight lanes, each in two vectors.

mod pop;
mod push;

use crate::cpu::code::entropy::order::EIGHT;
use ferrosz_codec::tile::LANES;
use ferrosz_codec::tile::code::Step;
pub(crate) use pop::pop_steps;
pub(crate) use push::push_steps;
use std::arch::aarch64::*;

/// Parts of a step, of eight lanes each.
const PARTS: usize = LANES as usize / EIGHT;

/// Eight lanes.
type Eight = [uint32x4_t; 2];

/// The states of all lanes.
type States = [Eight; PARTS];

/// The same number in all lanes.
#[target_feature(enable = "neon")]
#[inline]
fn all(number: u32) -> uint32x4_t {
    vdupq_n_u32(number)
}

/// The low halves of eight lanes.
#[target_feature(enable = "neon")]
#[inline]
fn low_halves([low, high]: Eight) -> uint16x8_t {
    vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high))
}

/// Eight halves as lanes.
#[target_feature(enable = "neon")]
#[inline]
fn widened(halves: uint16x8_t) -> Eight {
    [vmovl_u16(vget_low_u16(halves)), vmovl_high_u16(halves)]
}

/// Bit l says whether the bits of lane l are set, which has all or none.
#[target_feature(enable = "neon")]
#[inline]
fn mask_of(lanes: Eight) -> u8 {
    let bits: uint16x8_t = bytemuck::cast([1u16, 2, 4, 8, 16, 32, 64, 128]);
    vaddvq_u16(vandq_u16(low_halves(lanes), bits)) as u8
}

/// Lanes shifted to the right. NEON shifts to the left, by a number that may be negative.
#[target_feature(enable = "neon")]
#[inline]
fn shifted_right(lanes: uint32x4_t, bits: uint32x4_t) -> uint32x4_t {
    vshlq_u32(lanes, vnegq_s32(vreinterpretq_s32_u32(bits)))
}

#[target_feature(enable = "neon")]
#[inline]
fn shifted_left(lanes: uint32x4_t, bits: uint32x4_t) -> uint32x4_t {
    vshlq_u32(lanes, vreinterpretq_s32_u32(bits))
}

/// The contexts of eight lanes.
#[target_feature(enable = "neon")]
#[inline]
fn eight_contexts(contexts: &Step<u8>, part: usize) -> Eight {
    let (eights, _) = contexts.as_chunks::<EIGHT>();
    widened(vmovl_u8(bytemuck::cast(eights[part])))
}
