//! The errors of a cuSZp stream, and of an array to be compressed to one.

use thiserror::Error;

/// A cuSZp stream that cannot be written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CuszpError {
    /// cuSZp 1 had one rank and one mode.
    #[error("cuSZp 1 has only the plain mode in one dimension")]
    V1IsPlain,
    /// An array of no, or more than three, dimensions.
    #[error(
        "an array of {found} dimensions: cuSZp has one to three; multiply the leading ones of more"
    )]
    Dimensions {
        /// Dimensions.
        found: usize,
    },
    /// More elements than cuSZp's indices can count.
    #[error("{dims:?} are too many elements: cuSZp counts them in {index_bits} bits")]
    TooManyElements {
        /// Lengths along z, y and x.
        dims: [u64; 3],
        /// The number of elements must be below 2 to this power.
        index_bits: u32,
    },
    /// The dimensions are not the array's.
    #[error("the dimensions make {needed} elements, but the array has {found}")]
    ElementCount {
        /// Elements of the dimensions.
        needed: u64,
        /// Elements of the array.
        found: u64,
    },
    /// The stream would be longer than cuSZp's offsets can count.
    #[error("the stream would have {bytes} bytes; cuSZp's offsets end at 2^32")]
    StreamTooLong {
        /// The length that the stream would have.
        bytes: u64,
    },
    /// Memory for the array could not be allocated.
    #[error("no memory for {elements} elements")]
    OutOfMemory {
        /// Elements.
        elements: u64,
    },
    /// The strict encoder refuses the input.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The stream ends within its rate bytes.
    #[error("the stream ends within its {needed} rate bytes, after {found}")]
    CutInRates {
        /// The number of rate bytes.
        needed: u64,
        /// Bytes that are present.
        found: u64,
    },
    /// A rate byte that no encoder writes: damage, or other dimensions, type, mode or framing than
    /// the encoder's.
    #[error(
        "the rate byte {byte:#04x} of block {block} is corrupt ({fault}); or dimensions, mode or \
         version differ from those of the stream"
    )]
    CorruptRate {
        /// The block's number.
        block: u32,
        /// Its rate byte.
        byte: u8,
        /// The fault of the rate byte.
        fault: RateFault,
    },
    /// The stream ends early.
    #[error("the stream is cut off: {found} bytes of {needed}")]
    Truncated {
        /// Bytes that it must have.
        needed: u64,
        /// Bytes that are present.
        found: u64,
    },
    /// A part of an array with another number of elements.
    #[error("the part is one of an array of {found} elements, but the stream has {needed}")]
    PartOfOther {
        /// Elements of the stream.
        needed: u64,
        /// Elements of the array of the part.
        found: u64,
    },
    /// A block that the stream does not have.
    #[error("there is no block {block}: the stream has {blocks}")]
    NoBlock {
        /// The number.
        block: u32,
        /// Blocks.
        blocks: u32,
    },
    /// A block that is replaced in place would need another length.
    #[error(
        "the body of block {block} has {old} bytes, and would have {new} with the new values: it cannot be replaced in \
         place, and the stream is unchanged"
    )]
    BodyLength {
        /// The block's number.
        block: u32,
        /// Bytes of its body.
        old: u64,
        /// Bytes of the new one.
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
    /// The stream ends just where the size that cuSZp returns for small arrays ends: all bodies
    /// are lost.
    #[error(
        "the stream has its {found} rate bytes but none of the {payload} bytes after them: it was \
         saved with the size that cuSZp returns for small arrays, and the data are lost",
        payload = needed - found
    )]
    PayloadMissing {
        /// Bytes that it must have.
        needed: u64,
        /// Bytes that are present: one for each block.
        found: u64,
    },
    /// The stream ends just where the size that cuSZp returns in 2D and 3D ends if the number of
    /// blocks is not a multiple of 4: the last 1 to 3 bytes are lost, which belong to the highest
    /// bits of the last elements that are not 0.
    #[error(
        "the last {missing} of {needed} bytes are missing: the stream was saved with the size that \
         cuSZp returns; they can be read as zero, which may be wrong for up to {elements} elements",
        elements = 8 * missing
    )]
    TailMissing {
        /// How many bytes are missing: 1 to 3.
        missing: u64,
        /// Bytes that it must have.
        needed: u64,
        /// Bytes that are present.
        found: u64,
    },
}

/// A fault of a rate byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RateFault {
    /// More planes than 1D has.
    #[error("above 31")]
    Above31,
    /// More planes than a code has bits.
    #[error("above 32")]
    Above32,
    /// An outlier's length without an outlier.
    #[error("bits 6..5 set with bit 7 clear")]
    OutlierBits,
}

/// The reason why the strict encoder refuses its input: cuSZp would decode other values, or depend on the
/// memory behind the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// cuSZp launches nothing, silently.
    #[error("strict: there are no elements")]
    Empty,
    /// cuSZp reads behind the array, or leaves elements out (cuSZp stream, section 6.2).
    #[error("strict: rows of {x} elements are not multiples of 4")]
    RowLength {
        /// Elements of a row.
        x: u64,
    },
    /// The bound is zero, negative, infinite or NaN.
    #[error("strict: the error bound is not a positive finite number")]
    Bound,
    /// The bound's inverse is infinite.
    #[error("strict: the error bound is so small that 0.5 / bound overflows")]
    BoundTooSmall,
    /// cuSZp gives NaNs and infinities some finite value.
    #[error("strict: element {element} is not finite")]
    NotFinite {
        /// Its index.
        element: u64,
    },
    /// The code does not fit in 32 bits; it saturates or wraps.
    #[error("strict: the code of element {element} overflows; use a larger bound")]
    CodeOverflow {
        /// Its index.
        element: u64,
    },
    /// The code may be wrong by one: 2^23 and more in `f32`.
    #[error("strict: the code of element {element} is too large to be exact; use a larger bound")]
    CodeInexact {
        /// Its index.
        element: u64,
    },
    /// The decoded value would be further from the element than the bound, for the roundings of
    /// cuSZp's arithmetic.
    #[error(
        "strict: the decoded value of element {element} would be beyond the error bound, because cuSZp \
         rounds; use a larger bound"
    )]
    BeyondBound {
        /// Its index.
        element: u64,
    },
    /// A difference of -2^31 is lost in 1D (section 7).
    #[error(
        "strict: a difference in block {block} is -2^31, which cuSZp loses in 1D; use a larger bound"
    )]
    LostDifference {
        /// The block's number.
        block: u32,
    },
    /// The rate-32 anomaly: the block and all later chunks are lost (section 8.3).
    #[error(
        "strict: block {block} needs 32 bits, which the outlier mode cannot store; use the plain \
         mode or a larger bound"
    )]
    RateAnomaly {
        /// The block's number.
        block: u32,
    },
}
