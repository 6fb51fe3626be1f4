//! Conversion of values of 16 bits: which values a field has, the conversion that follows, and the way there and back where
//! no other kernel does it on the way.

pub mod backward;
pub mod find;
pub mod forward;
pub mod plan;

/// Words of a set of values of 16 bits: a bit for each, that of value 0 first.
pub const SET_WORDS: u32 = (1 << 16) / u32::BITS;
