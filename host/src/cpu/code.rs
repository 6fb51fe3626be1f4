//! Coders on the CPU: the stems of `ferrosz_codec::code`, and what the coders of tiles share.

pub mod bit_planes;
pub mod entropy;
pub mod fixed_length;
pub mod image;
#[cfg(test)]
mod samples;
pub mod zones;
