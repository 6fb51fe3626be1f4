//! The codes of tiles in memory, 16 bits each.

use crate::code::entropy::token;
use crate::tile::{LANES, TILE};

/// A tile's codes, in the order of steps and lanes. Positions without a code hold 0.
pub type TileCodes = [u16; TILE];

/// The codes of a step, or other data of each lane.
pub type Step<T> = [T; LANES as usize];

/// Codes are less than this in magnitude: -32,767 to 32,767.
pub const RADIUS: u32 = 1 << 15;

/// [`token::RAW`] as a code in memory.
pub const RAW: u16 = token::RAW as u16;

/// [`token::zigzag`] of a quantisation code of at most 32,767 in magnitude, as a code in memory.
#[inline(always)]
pub const fn zigzag(code: i32) -> u16 {
    token::zigzag(code) as u16
}

/// The inverse of [`zigzag`].
#[inline(always)]
pub const fn unzigzag(code: u16) -> i32 {
    token::unzigzag(code as u32)
}

/// Of so many holes of a sample of a field, the codes of one are counted by a choice that predicts the sample by interpolation:
/// the values in place of holes are smoother in a stream. With none of them, streams of `stencil` of four masked fields were 3 to
/// 16 % longer than predicted, with all of them up to 23 % shorter. Lorenzo's prediction needs next to no bytes for holes.
const COUNTED_HOLES: u32 = 4;

/// Whether the code of a hole at this place among the codes of its tile is counted: pseudo-random, as holes at equal distances
/// could all be of one level.
#[inline(always)]
pub const fn is_counted_hole(code: u32) -> bool {
    code.wrapping_mul(0x9E37_79B9) >> 16 & (COUNTED_HOLES - 1) == 0
}
