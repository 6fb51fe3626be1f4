//! All errors of the library, with their causes.

use ferrosz_codec::{BoundError, Codec, Dtype, FormatError};
use thiserror::Error;

/// An error of the library.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A part of a stream of tiles cannot be decoded in device memory.
    #[error(
        "a part of a stream of tiles cannot be decoded in device memory; decode all of it, or the part on the host"
    )]
    PartOfTiles,
    /// A stream of tiles cannot be updated, as its statistics are those of its field.
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
        /// The given extents.
        extents: Vec<u64>,
        /// Their product.
        product: u64,
        /// Elements in the array.
        elements: u64,
    },
    /// An output buffer is too small.
    #[error("the output has room for {found} {unit}, but {needed} are needed")]
    OutputTooSmall {
        /// The required size.
        needed: u64,
        /// The size of the buffer.
        found: u64,
        /// The unit of the sizes: `bytes` or `elements`.
        unit: &'static str,
    },
    /// A range of elements is not within the field.
    #[error("elements {from}..{to} are not within the field's {elements}")]
    RangeOutside {
        /// First element of the range.
        from: u64,
        /// First element after the range.
        to: u64,
        /// Elements of the field.
        elements: u64,
    },
    /// A box is not within the field.
    #[error("the box {ranges:?} is not one range within each of the field's extents {extents:?}")]
    BoxOutside {
        /// The given ranges, slowest dimension first.
        ranges: Vec<std::ops::Range<u64>>,
        /// The field's extents.
        extents: Vec<u64>,
    },
    /// The number of values is not the number of elements of the part that they replace.
    #[error("the part has {elements} elements, but there are {found} values to replace them")]
    PartMismatch {
        /// Elements of the part.
        elements: u64,
        /// The number of values.
        found: u64,
    },
    /// No shape of blocks has so many dimensions.
    #[error("rank {0} does not exist: blocks and tiles have rank 1, 2 or 3")]
    BadRank(u8),
    /// The codec has no blocks of this shape.
    #[error("codec {codec} has no blocks of rank {rank}, only of rank 1")]
    RankOfCodec {
        /// The codec.
        codec: Codec,
        /// The requested rank.
        rank: u8,
    },
    /// The codec must be known beforehand here.
    #[error("no codec has been chosen: call Compressor::choose with the field first")]
    NotChosen,
    /// The field is too large for this machine or backend.
    #[error("{elements} elements of {dtype} are too many for this computer or device")]
    TooLarge {
        /// The number of elements.
        elements: u64,
        /// Their type.
        dtype: Dtype,
    },
    /// Memory could not be allocated.
    #[error("no memory for {bytes} bytes")]
    OutOfMemory {
        /// The requested bytes.
        bytes: u64,
    },
    /// The requested device is not available.
    #[error("no device '{device}': {reason}")]
    NoDevice {
        /// The device's name.
        device: &'static str,
        /// The reason.
        reason: String,
    },
    /// A call of the CUDA driver failed.
    #[error("CUDA failed to {action}: {reason}")]
    Cuda {
        /// The action that failed.
        action: &'static str,
        /// The driver's message.
        reason: String,
    },
    /// Device memory is not aligned as a kernel requires.
    #[error("the {argument} buffer is not aligned to {alignment} bytes")]
    Misaligned {
        /// The name of the argument.
        argument: &'static str,
        /// The required alignment in bytes.
        alignment: u64,
    },
    /// The workspace is too small for the field.
    #[error("the workspace is for {capacity} chunks, but the field has {chunks}")]
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
        /// The least capability that the kernels need.
        needed: (i32, i32),
    },
    /// A reader or writer failed.
    #[error("cannot {action}: {reason}")]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The kind of failure.
        kind: std::io::ErrorKind,
        /// The operating system's message.
        reason: String,
    },
    /// A kernel broke a rule of the machine, as found by the emulator. This is a defect of ferrosz.
    #[error("a kernel broke a rule of the GPU, which is a defect of ferrosz: {0}")]
    KernelFault(String),
}

impl Error {
    /// An error of a reader or writer that failed in this action.
    pub(crate) fn io(action: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |error| Self::Io {
            action,
            kind: error.kind(),
            reason: error.to_string(),
        }
    }
}
