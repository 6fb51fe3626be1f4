//! Coders on the CPU, named as in `ferrosz_codec::code`, and the code that the coders of tiles share.

pub mod bit_planes;
pub mod entropy;
pub mod fixed_length;
pub mod image;
#[cfg(test)]
mod samples;
pub mod zones;
