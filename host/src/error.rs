//! All that can go wrong, each with its cause.

use ferrosz_codec::{BoundError, Codec, Dtype, FormatError};
use thiserror::Error;

/// An error of the library.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// On a device, streams of tiles are decoded as a whole.
    #[error(
        "a part of a stream of tiles cannot be decoded in device memory; decode all of it, or the part on the host"
    )]
    PartOfTiles,
    /// The statistics of a stream of tiles are those of its field.
    #[error(
        "a stream of tiles cannot be updated; compress the whole field again, with a codec of blocks (preset `fast`) if it is to be updated"
    )]
    UpdateOfTiles,
    /// The error bound cannot be used.
    #[error(transparent)]
    Bound(#[from] BoundError),
    /// The stream cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The extents are not one to eight lengths.
    #[error("extents {0} are not one to eight lengths with a product below 2^64")]
    BadExtents(String),
    /// The extents do not fit the data.
    #[error("extents {extents:?} make {product} elements, but the array has {elements}")]
    ExtentsMismatch {
        /// The extents given.
        extents: Vec<u64>,
        /// Their product.
        product: u64,
        /// Elements in the array.
        elements: u64,
    },
    /// An output buffer is too small.
    #[error("the output has room for {found} {unit}, and {needed} are needed")]
    OutputTooSmall {
        /// What is needed.
        needed: u64,
        /// What there is.
        found: u64,
        /// Of what: `bytes` or `elements`.
        unit: &'static str,
    },
    /// A range of elements that the field does not have.
    #[error("elements {from}..{to} are not within the field's {elements}")]
    RangeOutside {
        /// First element of the range.
        from: u64,
        /// First element after the range.
        to: u64,
        /// Elements of the field.
        elements: u64,
    },
    /// A box that the field does not have.
    #[error(
        "the box {ranges:?} is not one range for each of the field's extents {extents:?}, within them"
    )]
    BoxOutside {
        /// The ranges given, slowest dimension first.
        ranges: Vec<std::ops::Range<u64>>,
        /// The field's extents.
        extents: Vec<u64>,
    },
    /// Not as many values as the part that they are to replace.
    #[error("the part has {elements} elements, and {found} values are to replace them")]
    PartMismatch {
        /// Elements of the part.
        elements: u64,
        /// Values given.
        found: u64,
    },
    /// No shape of blocks has so many dimensions.
    #[error("blocks of rank {0} do not exist: 1, 2 or 3")]
    BadRank(u8),
    /// A codec that has no blocks of this shape.
    #[error("codec {codec} has no blocks of rank {rank}, only of rank 1")]
    RankOfCodec {
        /// The codec.
        codec: Codec,
        /// The rank asked for.
        rank: u8,
    },
    /// The codec must be known beforehand here.
    #[error("the codec is still to be chosen: call Compressor::choose with the field first")]
    NotChosen,
    /// The field is too large for this machine or backend.
    #[error("{elements} elements of {dtype} are more than can be handled here")]
    TooLarge {
        /// Elements.
        elements: u64,
        /// Their type.
        dtype: Dtype,
    },
    /// Memory could not be had.
    #[error("no memory for {bytes} bytes")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// A device was asked for that is not there.
    #[error("no device '{device}': {reason}")]
    NoDevice {
        /// The device's name.
        device: &'static str,
        /// Why it cannot be used.
        reason: String,
    },
    /// A call of the CUDA driver failed.
    #[error("CUDA failed to {action}: {reason}")]
    Cuda {
        /// What was tried.
        action: &'static str,
        /// What the driver said.
        reason: String,
    },
    /// Device memory does not lie as a kernel needs it.
    #[error("the {argument} buffer is not aligned to {alignment} bytes")]
    Misaligned {
        /// Which argument.
        argument: &'static str,
        /// What it must be a multiple of.
        alignment: u64,
    },
    /// A workspace belongs to a smaller field.
    #[error("the workspace is for {capacity} chunks, and the field has {chunks}")]
    WorkspaceTooSmall {
        /// Chunks of the field.
        chunks: u64,
        /// Chunks that the workspace is for.
        capacity: u64,
    },
    /// A workspace was brought to another stream than it was made for. Calls on two streams could use
    /// it at the same time.
    #[error("the workspace was made for another CUDA stream")]
    WorkspaceStream,
    /// A GPU is too old for the kernels.
    #[error(
        "{name} has compute capability {}.{}, and ferrosz needs {}.{} or newer; use the CPU",
        capability.0, capability.1, needed.0, needed.1
    )]
    OldGpu {
        /// The GPU's name.
        name: String,
        /// Its compute capability, major and minor.
        capability: (i32, i32),
        /// The least that the kernels need.
        needed: (i32, i32),
    },
    /// A reader or writer failed.
    #[error("cannot {action}: {reason}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// What kind of failure it was.
        kind: std::io::ErrorKind,
        /// What the operating system said.
        reason: String,
    },
    /// A kernel broke a rule of the machine; found by the emulator. A defect of ferrosz.
    #[error("a kernel is at fault: {0}")]
    KernelFault(String),
}

impl Error {
    /// Says what was tried when a reader or writer failed.
    pub(crate) fn io(action: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |error| Self::Io {
            action,
            kind: error.kind(),
            reason: error.to_string(),
        }
    }
}
