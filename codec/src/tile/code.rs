//! The codes of tiles as they are kept in memory: 16 bits each.

use crate::code::entropy::token;
use crate::tile::{LANES, TILE};

/// A tile's codes, in the order of steps and lanes. Positions without one hold 0.
pub type TileCodes = [u16; TILE];

/// The codes of a step, or what else each lane has.
pub type Step<T> = [T; LANES as usize];

/// Codes are less than this in magnitude: -32,767 to 32,767.
pub const RADIUS: u32 = 1 << 15;

/// [`token::RAW`], as codes are kept in memory.
pub const RAW: u16 = token::RAW as u16;

/// [`token::zigzag`] of a code of at most 32,767 in magnitude, as codes are kept in memory.
#[inline(always)]
pub const fn zigzag(code: i32) -> u16 {
    token::zigzag(code) as u16
}

/// The inverse of [`zigzag`].
#[inline(always)]
pub const fn unzigzag(code: u16) -> i32 {
    token::unzigzag(code as u32)
}
