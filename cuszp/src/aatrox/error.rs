//! The errors of an AATROX stream.

use thiserror::Error;

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
    /// A part of an array with another number of elements.
    #[error("the part is one of an array of {found} elements, but the stream has {needed}")]
    PartOfOther {
        /// Elements of the stream.
        needed: u64,
        /// Elements of the array of the part.
        found: u64,
    },
    /// A layer that is replaced in place would need another length.
    #[error(
        "the bodies of layer {layer} have {old} bytes, and would have {new} with the new values: they cannot be replaced in \
         place, and the stream is unchanged"
    )]
    LayerLength {
        /// The layer's number.
        layer: u64,
        /// Bytes of its bodies.
        old: u64,
        /// Bytes of the new ones.
        new: u64,
    },
    /// Bytes behind the end of a stream that is checked.
    #[error("{found} bytes are more than the {needed} of the stream")]
    Trailing {
        /// Bytes that it must have.
        needed: u64,
        /// Bytes that are present.
        found: u64,
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
