//! All errors of the library, with their causes.

use crate::choice::Choice;
use crate::target::{Target, TargetKind};
use crate::ways::{Setting, Way, refusal};
use ferrosz_codec::error::AxesError;
use ferrosz_codec::mapping::axes::Axes;
use ferrosz_codec::safeguard::Safeguard;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::{BoundError, Codec, FormatError, ValueType};
use std::path::PathBuf;
use thiserror::Error;

/// An error of the library.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A safeguard has an impossible number, or is there already.
    #[error(
        "the safeguard {0} cannot be added: its numbers must be finite, bounds not negative, limits in order; only eight sides may be kept, and every other safeguard once"
    )]
    BadSafeguard(Safeguard),
    /// The bounds of values cannot be used.
    #[error("the bounds of values cannot be used: {0}")]
    BadBounds(String),
    /// A value of the field lies outside of the limits.
    #[error("value {value} at place {at} is outside of the {limits}")]
    OutsideLimits {
        /// The number of the value in the field.
        at: u64,
        /// The value.
        value: f64,
        /// The limits.
        limits: Safeguard,
    },
    /// The field has no such axis.
    #[error("values cannot be monotone along axis {axis}: the field has {rank} axes, from 0 on")]
    NoSuchAxis {
        /// The axis.
        axis: u8,
        /// The number of axes.
        rank: usize,
    },
    /// A stream has safeguards, which this call does not keep.
    #[error("{0} cannot keep the safeguards of the stream")]
    Safeguarded(&'static str),
    /// The elements of a part are not consecutive among those that the kernels decode.
    #[error(
        "this part of a field with these axes cannot be decoded in device memory; decode all of it, or the part on the host"
    )]
    ScatteredPart,
    /// The roles of axes are not those of a field with these extents.
    #[error("the axes {axes} are {} roles, but the array has the extents {extents:?}", axes.roles().len())]
    AxesMismatch {
        /// The given roles.
        axes: Axes,
        /// The field's extents.
        extents: Vec<u64>,
    },
    /// The roles of axes cannot be used.
    #[error(transparent)]
    BadAxes(#[from] AxesError),
    /// A stream of tiles cannot be updated, as its statistics are those of its field.
    #[error(
        "a stream of tiles cannot be updated; compress the whole field again, with a codec of blocks (preset `fast`) if it is to be updated"
    )]
    UpdateOfTiles,
    /// The error bound cannot be used.
    #[error(transparent)]
    Bound(#[from] BoundError),
    /// A target is not a number that a stream can have.
    #[error("a target {kind} of {value} is not {needed}")]
    BadTarget {
        /// What was to be reached.
        kind: TargetKind,
        /// The number.
        value: f64,
        /// What the number must be.
        needed: &'static str,
    },
    /// No error bound reaches the target.
    #[error("{target} cannot be reached: the best is {best:.2}, however large the error bound")]
    TargetNotReached {
        /// The target.
        target: Target,
        /// The best figure of the streams that were tried.
        best: f64,
    },
    /// The stream cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The extents are not up to eight lengths.
    #[error("extents {0} are not up to eight lengths with a product below 2^64")]
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
    /// The last axis of a field of complex numbers is not that of their parts.
    #[error(
        "complex numbers have their parts, the real and the imaginary one, along a last axis of length 2, but the extents are {0:?}"
    )]
    ComplexExtents(Vec<u64>),
    /// Values that cannot be the parts of complex numbers.
    #[error("the parts of complex numbers are f32 or f64, not {0}")]
    ComplexOfType(ValueType),
    /// A stream of real numbers, from which complex ones are wanted.
    #[error("the stream holds real numbers of {0}, not complex ones")]
    NotComplex(ValueType),
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
    /// A bound that is relative to the whole field cannot be kept by its windows.
    #[error(
        "the bound is relative to the whole field: give windows the absolute bound that Compressor::absolute_for finds"
    )]
    RelativeBound,
    /// A stream is not that of the window of a field that it should be.
    #[error("window {number} has the extents {extents:?}, but its stream has {found:?}")]
    WindowMismatch {
        /// The number of the window.
        number: u64,
        /// The extents of the window.
        extents: Vec<u64>,
        /// The extents of the stream.
        found: Vec<u64>,
    },
    /// The number of values is not the number of elements of the part that they replace.
    #[error("the part has {elements} elements, but there are {found} values to replace them")]
    PartMismatch {
        /// Elements of the part.
        elements: u64,
        /// The number of values.
        found: u64,
    },
    /// Integers of 32 bits, and fill values of types that are converted, are not compressed in device memory.
    #[error(
        "device memory takes values of f32, f64 and, without fill values and a preference of quality, of f16, bf16, i16 and \
         u16, not of {0}; give the values in host memory, on any device"
    )]
    ConvertedOnDevice(ValueType),
    /// The order of axes is searched in host memory alone.
    #[error(
        "axes: their order is searched in host memory alone; choose for the values there, or name the roles of the axes"
    )]
    AxesOnDevice,
    /// Values that are not missing are within the bound of a fill value, in a field in device memory. Decoded they might be the
    /// fill value, and so missing. Of a field in host memory they come back apart from it.
    #[error(
        "valid values are within the bound of a fill value, and could come back as missing; give the values in host memory, on any device, or take a smaller bound or another fill value"
    )]
    CloseToFill,
    /// A fill value is none of the values that the type has.
    #[error("the fill value {fill:?} is no {value_type}, so that no element can have it")]
    FillOfOtherType {
        /// The fill value.
        fill: f64,
        /// The type of the field's values.
        value_type: ValueType,
    },
    /// A mapping of values that only elements have.
    #[error(
        "a bound relative to each value is for f32 and f64, not for {0}; give another bound, or convert the values first"
    )]
    MappingOfType(ValueType),
    /// A codec of splines cannot keep zeros and signs of integers that are coded less an offset.
    #[error(
        "codec {0} cannot keep zeros and signs of integers this large; give a codec without splines, which keeps them by itself"
    )]
    KeptOfLargeIntegers(Codec),
    /// The codec's decoded values change when they are compressed again.
    #[error(
        "codec {0} has splines, so errors add up where its decoded values are compressed again; give a codec without splines"
    )]
    NotRewritable(Codec),
    /// Neither a codec nor those of a preset predict level by level, so that levels cannot have bounds of their own.
    #[error(
        "{} no levels, to tighten their bounds or to code them apart; give a codec with splines or stencils, or the preset \
         small, not rewritable",
        without_levels(*.0)
    )]
    NoLevels(Choice),
    /// There are more fill values than a stream can have.
    #[error("there are more than {0} fill values")]
    TooManyFills(usize),
    /// No shape of blocks has so many dimensions.
    #[error("rank {0} does not exist: blocks and tiles have rank 1, 2 or 3")]
    BadRank(u8),
    /// No chunk has so many tiles.
    #[error("chunks of {0} tiles do not exist: they have 4, 16 or 64")]
    BadChunkTiles(u32),
    /// The codec has no blocks of this shape.
    #[error("codec {codec} has no blocks of rank {rank}, only of rank {}", only_rank(*.codec))]
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
        dtype: ValueType,
    },
    /// A batch in device memory has more arrays than a launch has blocks.
    #[error("{0} arrays are too many for a batch in device memory, which has 2147483647 at most")]
    TooManyArrays(u64),
    /// The lists of a batch have different lengths.
    #[error("the list {argument} has {found} items, but the batch has {arrays} arrays")]
    BatchLists {
        /// The name of the list.
        argument: &'static str,
        /// Its items.
        found: u64,
        /// Arrays of the batch.
        arrays: u64,
    },
    /// A way to compress cannot have a setting.
    #[error("{way} cannot have {setting}: {}", refusal(*way, *setting).unwrap_or_default())]
    Refused {
        /// The way.
        way: Way,
        /// The setting.
        setting: Setting,
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
    /// A list of GPUs cannot be used.
    #[error("the list of GPUs cannot be used: {0}")]
    BadGpus(String),
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
    /// A temporary file, which a large array needs, failed.
    #[error(
        "cannot use a temporary file in {}: {reason}; the environment variable TMPDIR names another folder",
        folder.display()
    )]
    TemporaryFile {
        /// The folder of the file.
        folder: PathBuf,
        /// The kind of failure.
        kind: std::io::ErrorKind,
        /// The operating system's message.
        reason: String,
    },
    /// A reader ended before the last value of a field, or within a value.
    #[error(
        "the reader ended after {found} bytes, but {elements} values of {value_type} have {needed}"
    )]
    ReaderEnded {
        /// Bytes of the reader.
        found: u64,
        /// Values of the field, the incomplete one included.
        elements: u64,
        /// Their type.
        value_type: ValueType,
        /// Their bytes.
        needed: u64,
    },
    /// A group of members that compress a field together cannot go on.
    #[error("cannot {action}: {reason}")]
    Group {
        /// The action that failed.
        action: &'static str,
        /// The reason, or the message of the engine that connects the members.
        reason: String,
    },
    /// The extents of a field in parts are not set, which are those of the whole field.
    #[error("a field in parts has no extents: set those of the whole field")]
    NoExtents,
    /// The parts of a field's members are not the field.
    #[error("the parts of the members do not make the field: {0}")]
    BadParts(String),
    /// A plan, or a part that was made by it, cannot be used.
    #[error("{0}")]
    BadPlan(String),
    /// A file of frames is damaged, cut off or none, or its frames cannot be written.
    #[error("{0}")]
    BadFrames(String),
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

/// The choice that has no levels, and its verb.
fn without_levels(choice: Choice) -> String {
    match choice {
        Choice::Codec(codec) => format!("codec {codec} has"),
        Choice::Preset(preset) => format!("the codecs of preset {preset} have"),
    }
}

/// The rank of a codec that has one alone.
fn only_rank(codec: Codec) -> u8 {
    let ranks = Shape::ALL.into_iter().filter(|shape| codec.takes(*shape));
    ranks.map(Shape::rank).next().unwrap_or(1)
}
