//! The errors of an AATROX stream.

use thiserror::Error;

/// An AATROX stream that cannot be written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AatroxError {
    /// The number of elements is not the array's.
    #[error("{needed} elements are announced, but the array has {found}")]
    ElementCount {
        /// Elements announced.
        needed: u64,
        /// Elements of the array.
        found: u64,
    },
    /// There is not the memory for the array.
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
        /// Bytes there are.
        found: u64,
    },
    /// A rate byte above 32.
    #[error(
        "the rate byte {byte} of block {block} is corrupt: above 32; or the number of elements is \
         not the stream's"
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
        /// Bytes there are.
        found: u64,
    },
}
