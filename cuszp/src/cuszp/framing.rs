//! The framing: how a stream is put together from its blocks.

use ferrosz_codec::{Dtype, Shape};

/// The arrangement of a stream.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Of cuSZp 2 and 3.
    V3,
    /// Of cuSZp 1, which has only the plain mode in 1D.
    V1,
}

/// Blocks of one of cuSZp's thread blocks. The stream shows them only where the size that cuSZp returns
/// is wrong, and in the rate-32 anomaly.
#[inline(always)]
pub const fn chunk_blocks(shape: Shape, dtype: Dtype) -> u32 {
    match (shape, dtype.bytes()) {
        (Shape::Line, _) | (_, 8) => 1024,
        (Shape::Plane | Shape::Cube, _) => 512,
    }
}
