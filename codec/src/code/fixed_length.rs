//! Fixed-length coding: the differences of a block as bit planes, as many as the largest difference needs.

pub mod bit_plane;
pub mod block;
pub mod rate;
