//! The errors of bounds and streams.

use crate::container::record_kind::RecordKind;
use crate::container::version::{Need, VERSION, Version};
use crate::pipeline::CodecId;
use crate::value::ValueType;
use thiserror::Error;

/// An error bound that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum BoundError {
    /// The bound is below zero.
    #[error("the error bound {0} is negative; give a number from 0 (0 is lossless)")]
    Negative(f64),
    /// The bound is NaN or infinite.
    #[error("the error bound {0} is not a finite number")]
    NotFinite(f64),
}

/// Roles of axes that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the roles of axes must be s, z, y or x for each of at most eight axes, slowest first, with commas between; one must \
     be x, and one y if there is a z, as in s,z,y,x"
)]
pub struct AxesError;

/// A stream that is damaged, cut off, or not of the requested kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The first bytes are not those of a ferrosz stream.
    #[error("not a ferrosz stream: the magic bytes are missing")]
    NotFerrosz,
    /// A version that this library does not read.
    #[error(
        "the stream has format {0}, which this library does not read: it reads format {VERSION}"
    )]
    UnknownVersion(Version),
    /// The header's checksum is wrong.
    #[error("the header is damaged: its checksum does not match")]
    HeaderChecksum,
    /// A header field has a value that no encoder writes.
    #[error("the header is invalid: {0}")]
    InvalidHeader(&'static str),
    /// The stream has something that a reader must know, and this library does not.
    #[error("the stream has {what}, which this library does not know{}", Need(*.version))]
    Unknown {
        /// What it is.
        what: Unknown,
        /// The version of the stream.
        version: Version,
    },
    /// The checksum of the records does not match, or they contradict themselves.
    #[error("the records are damaged: {0}")]
    InvalidRecords(&'static str),
    /// The stream has safeguards, which calls on device memory do not mend.
    #[error(
        "the stream has safeguards, which calls on device memory do not keep: decompress it to host memory"
    )]
    SafeguardsOnDevice,
    /// The sections behind the chunks are damaged.
    #[error("the sections behind the chunks are damaged: {0}")]
    InvalidSections(&'static str),
    /// The stream holds values of another type.
    #[error("the stream holds {found} elements, not {wanted}")]
    WrongDtype {
        /// The requested type.
        wanted: ValueType,
        /// The type in the stream.
        found: ValueType,
    },
    /// The stream ends early.
    #[error("the stream is cut off: {found} bytes of {needed}")]
    Truncated {
        /// The length of the stream, in bytes.
        needed: u64,
        /// The bytes that are present.
        found: u64,
    },
    /// Bytes follow the end of the stream.
    #[error("{0} bytes follow the end of the stream")]
    TrailingBytes(u64),
    /// An update of the stream is damaged.
    #[error("the update at byte {at} of the stream's updates is damaged")]
    InvalidUpdate {
        /// The start of the update in the bytes of all updates.
        at: u64,
    },
    /// The checksum of a chunk does not match its bytes.
    #[error("chunk {chunk} is damaged: its checksum does not match")]
    ChunkChecksum {
        /// The chunk's number.
        chunk: u64,
    },
    /// A chunk's bytes contradict themselves.
    #[error("chunk {chunk} is invalid: {what}")]
    InvalidChunk {
        /// The chunk's number.
        chunk: u64,
        /// The fault.
        what: ChunkFault,
    },
    /// The entropy coder's tables contradict themselves.
    #[error("the tables of the entropy coder are invalid: {0}")]
    InvalidTables(TableFault),
}

impl FormatError {
    /// The error in an undamaged header, record or section of a stream of this version. What no version up to
    /// [`VERSION`] allows is unknown in a newer one.
    #[must_use]
    pub fn in_version(self, version: Version) -> Self {
        let what = match self {
            Self::Unknown { what, .. } => what,
            Self::InvalidHeader(why) | Self::InvalidRecords(why) if version.is_newer() => {
                Unknown::Meaning(why)
            }
            other => return other,
        };
        Self::Unknown { what, version }
    }
}

/// A part of a stream that a reader must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unknown {
    /// A pair of predictor and coder.
    #[error("predictor {} with coder {}", .0.predictor, .0.coder)]
    Codec(CodecId),
    /// The number of a type of values.
    #[error("value type {0}")]
    ValueType(u8),
    /// The number of a mode of bounds.
    #[error("bound mode {0}")]
    BoundMode(u8),
    /// The number of a conversion of values.
    #[error("conversion {0}")]
    Conversion(u8),
    /// A record whose kind has a capital first letter.
    #[error("a record '{0}'")]
    Record(RecordKind),
    /// A section whose kind has a capital first letter.
    #[error("a section '{0}'")]
    Section(RecordKind),
    /// A value that a field or a record does not have in any version up to this library's.
    #[error("a field of another meaning ({0})")]
    Meaning(&'static str),
}

/// A fault in the frequencies of an entropy coder's symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[repr(u32)]
#[non_exhaustive]
pub enum TableFault {
    /// There are too few words, or too many.
    #[error("their length is not the length that their contents need")]
    Size = 1,
    /// A head has symbols or an end that are impossible.
    #[error("a head names impossible symbols or an impossible end")]
    Head = 2,
    /// The length of a frequency is impossible.
    #[error("the length of a frequency is impossible")]
    Length = 3,
    /// The frequencies of a context do not sum to 4096.
    #[error("the frequencies of a context do not sum to 4096")]
    Sum = 4,
    /// Bits behind the end are set.
    #[error("bits behind the end are set")]
    Padding = 5,
}

impl TableFault {
    /// The fault with this number.
    pub fn from_code(code: u32) -> Option<Self> {
        [
            Self::Size,
            Self::Head,
            Self::Length,
            Self::Sum,
            Self::Padding,
        ]
        .into_iter()
        .find(|fault| *fault as u32 == code)
    }
}

/// A fault in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[repr(u32)]
#[non_exhaustive]
pub enum ChunkFault {
    /// Its checksum does not match its bytes.
    #[error("its checksum does not match")]
    Checksum = 1,
    /// Its position in the payload is impossible.
    #[error("its table entry names an impossible position")]
    Place = 2,
    /// Its form is unknown.
    #[error("its table entry names an unknown form")]
    Form = 3,
    /// Its length does not match its contents.
    #[error("its length is not the length that its contents need")]
    Length = 4,
    /// A rate byte has a value that no encoder writes.
    #[error("a rate byte is out of range")]
    Rate = 5,
    /// Its interleaved states do not end in an encoder's start state.
    #[error("its interleaved states do not end in the start state of an encoder")]
    State = 6,
    /// A symbol of a context without symbols, or a code at a position that has no code.
    #[error("it has a symbol in a context without symbols, or a code at a position without a code")]
    Symbol = 7,
    /// A mask of stored words has a value that no encoder writes.
    #[error("its masks of the words that are not zero are wrong")]
    Zeros = 8,
    /// The prologue, the first entry of a stream of tiles, is not one that an encoder writes.
    #[error("it is the prologue, and no encoder writes such a prologue")]
    Prologue = 9,
}

impl ChunkFault {
    /// The fault with this number.
    pub fn from_code(code: u32) -> Option<Self> {
        [
            Self::Checksum,
            Self::Place,
            Self::Form,
            Self::Length,
            Self::Rate,
            Self::State,
            Self::Symbol,
            Self::Zeros,
            Self::Prologue,
        ]
        .into_iter()
        .find(|fault| *fault as u32 == code)
    }

    /// The fault in chunk number `chunk` as an error.
    pub fn in_chunk(self, chunk: u64) -> FormatError {
        match self {
            Self::Checksum => FormatError::ChunkChecksum { chunk },
            what => FormatError::InvalidChunk { chunk, what },
        }
    }
}
