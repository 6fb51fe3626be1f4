//! Coders: integers to bits and back.
//!
//! The differences of a block have a fixed length ([`fixed_length`]). The codes of tiles are entropy coded
//! ([`entropy`]), or stored as bit planes without their zero words ([`bit_planes`]).

pub mod bit_planes;
pub mod entropy;
pub mod fixed_length;
