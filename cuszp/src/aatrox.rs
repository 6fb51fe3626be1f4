//! The bare byte stream of AATROX (Huang et al., *Pushing the Limits of GPU Lossy Compression: A
//! Hierarchical Delta Approach*, ICS'25).
//!
//! No code of its authors is public, and the paper gives no byte layout. Where the paper leaves the layout open, it is
//! that of cuSZp. Differences run through a whole *layer* of 32,768 elements, whose first code is stored separately:
//!
//! ```text
//! [ one rate byte for 32 elements, whole layers ][ an i32 for every layer ][ the blocks' bodies ]
//! ```
//!
//! A body is a row of signs and as many bit planes as the rate says, 0 to 32, the lowest first;
//! there is none for rate 0, whose 32 elements all have the code before them.
//!
//! The quantiser is [`Quantizer`], cuSZp's, with its faults.

use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::shape::GROUP;
use thiserror::Error;

pub use crate::cuszp::Quantizer;

#[cfg(feature = "host")]
mod devices;
#[cfg(feature = "host")]
pub mod reference;

#[cfg(feature = "host")]
pub use crate::aatrox::devices::{compress, compress_on, decompress, decompress_on};

/// Elements of a layer.
pub const LAYER: usize = 32_768;

/// Elements of a block.
pub const BLOCK: usize = GROUP;

/// Blocks of a layer.
pub const LAYER_BLOCKS: usize = LAYER / BLOCK;

/// Bytes of a layer's initial value.
pub const INITIAL_BYTES: usize = 4;

/// The parameters of a stream. The stream does not hold them; both sides must have the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params<T> {
    /// Number of elements.
    pub elements: u64,
    /// The absolute error bound.
    pub error: T,
}

/// An AATROX stream that cannot be written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AatroxError {
    /// The number of elements is not the array's.
    #[error("the parameters give {needed} elements, but the array has {found}")]
    ElementCount {
        /// Elements that the parameters give.
        needed: u64,
        /// Elements of the array.
        found: u64,
    },
    /// Memory for the array could not be allocated.
    #[error("no memory for {elements} elements")]
    OutOfMemory {
        /// Elements.
        elements: u64,
    },
    /// The stream ends within its rate bytes and initial values.
    #[error("the stream ends within the {needed} bytes before its bodies, after {found}")]
    CutInHead {
        /// Bytes before the bodies.
        needed: u64,
        /// Bytes that are present.
        found: u64,
    },
    /// A rate byte above 32.
    #[error(
        "the rate byte {byte} of block {block} is corrupt (above 32), or the number of elements is \
         not that of the stream"
    )]
    CorruptRate {
        /// The block's number.
        block: u64,
        /// Its rate byte.
        byte: u8,
    },
    /// The stream ends early.
    #[error("the stream is cut off: {found} bytes of {needed}")]
    Truncated {
        /// Bytes that it must have.
        needed: u64,
        /// Bytes that are present.
        found: u64,
    },
}

/// The starts of a stream's sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Layers.
    pub layers: u64,
}

impl Layout {
    /// For an array of this length.
    #[inline(always)]
    pub const fn new(elements: u64) -> Self {
        Self {
            layers: elements.div_ceil(LAYER as u64),
        }
    }

    /// Bytes before the initial values: one for every block, in whole layers.
    #[inline(always)]
    pub const fn initials_start(self) -> u64 {
        self.layers * LAYER_BLOCKS as u64
    }

    /// Bytes before the bodies.
    #[inline(always)]
    pub const fn payload_start(self) -> u64 {
        self.layers * (LAYER_BLOCKS + INITIAL_BYTES) as u64
    }
}

/// The rate of a rate byte; none if no encoder writes this byte.
#[inline(always)]
pub fn rate_from_byte(byte: u8) -> Option<RateByte> {
    RateByte::from_byte(byte, false, 32)
}
