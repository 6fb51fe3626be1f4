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
