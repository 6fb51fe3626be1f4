//! Coders: differences to bits and back.

pub mod bit_plane;
pub mod block;
pub mod chunk;
pub mod lanes;
pub mod rate;
