//! Coders on a thread block: the stems of `ferrosz_codec::code`.

pub mod bit_planes;
pub mod entropy;
pub mod fixed_length;
