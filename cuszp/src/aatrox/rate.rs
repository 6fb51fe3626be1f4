//! Rate bytes: how a block is stored, and so how long its body is.

use ferrosz_codec::code::fixed_length::rate::RateByte;

/// The rate of a rate byte; none if no encoder writes this byte.
#[inline(always)]
pub fn rate_from_byte(byte: u8) -> Option<RateByte> {
    RateByte::from_byte(byte, false, 32)
}
