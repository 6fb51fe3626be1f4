//! Information in a stream's header and chunk table, without decoding.

use crate::error::Error;
use crate::stream::table;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::container::table::{ENTRY_BYTES, Entry};
use ferrosz_codec::container::tiles::FIRST_ENTRY;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{self, CHUNK_TILES};
use ferrosz_codec::{Bound, Codec, Dtype};

/// The properties of a stream in its header and chunk table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Info {
    /// Element type.
    pub dtype: Dtype,
    /// Codec.
    pub codec: Codec,
    /// Dimensions of a coding block or tile.
    pub rank: u8,
    /// Extents, slowest dimension first.
    pub extents: Vec<u64>,
    /// Number of elements.
    pub elements: u64,
    /// The error bound as the user gave it.
    pub bound: Bound,
    /// The absolute error that follows from it; 0 is lossless.
    pub absolute_error: f64,
    /// Elements in a full chunk.
    pub chunk_elements: u64,
    /// A full chunk's extents, slowest dimension first, in the dimensions longer than 1. If a chunk is
    /// [`Info::chunk_tiles`] tiles, the extents of a tile.
    pub chunk_extents: Vec<u64>,
    /// Tiles of a full chunk; none for codecs of blocks.
    pub chunk_tiles: Option<u32>,
    /// Number of chunks, including those of a coarse field of anchors.
    pub chunks: u64,
    /// Bytes of updates, which are chunks that replaced others.
    pub update_bytes: u64,
    /// Bytes of the whole stream.
    pub stream_bytes: u64,
    /// Bytes of the uncompressed field.
    pub field_bytes: u64,
    /// The number of chunks of each form. Replaced chunks count with their old form.
    pub forms: ChunkForms,
}

/// The number of chunks of each form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ChunkForms {
    /// All codes are zero.
    pub zero: u64,
    /// Coded.
    pub coded: u64,
    /// Coded, with separate values that have no code.
    pub coded_with_exceptions: u64,
    /// Not compressed.
    pub raw: u64,
    /// All elements are equal.
    pub constant: u64,
}

impl Info {
    /// Field bytes over stream bytes.
    pub fn ratio(&self) -> f64 {
        self.field_bytes as f64 / self.stream_bytes as f64
    }

    /// Bits of the stream for each element.
    pub fn bits_per_value(&self) -> f64 {
        8.0 * self.stream_bytes as f64 / self.elements as f64
    }
}

/// Reads header and chunk table of a stream; the payload may be missing.
///
/// # Errors
///
/// [`Error::Format`] if the header is damaged or the table is cut off.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Bound, Codec, Compressor};
///
/// let field = [1.0f32, 1.5, 2.0, 2.5];
/// let stream = Compressor::new(Codec::PLAIN, Bound::abs(0.01)?).compress(&field)?;
/// let info = ferrosz::info(&stream)?;
/// assert_eq!(info.elements, 4);
/// assert_eq!(info.codec, Codec::PLAIN);
/// assert_eq!(info.stream_bytes, stream.len() as u64);
/// # Ok::<(), ferrosz::Error>(())
/// ```
pub fn info(stream: &[u8]) -> Result<Info, Error> {
    let header = Header::read(stream)?;
    let entries = table(&header, stream)?;
    let chunks = match header.codec.tiles() {
        Some(_) => entries.get(FIRST_ENTRY as usize..).unwrap_or_default(),
        None => entries,
    };
    Ok(Info {
        dtype: header.dtype,
        codec: header.codec,
        rank: header.shape.rank(),
        extents: header.extents.lengths().to_vec(),
        elements: header.elements(),
        bound: header.bound,
        absolute_error: header.absolute_error(),
        chunk_elements: u64::from(header.layout().chunk_elements()),
        chunk_extents: chunk_extents(&header),
        chunk_tiles: header.codec.tiles().map(|_| CHUNK_TILES),
        chunks: chunks.len() as u64,
        update_bytes: header.update_bytes,
        stream_bytes: header.stream_bytes(),
        field_bytes: header.elements() * header.dtype.bytes() as u64,
        forms: count_forms(chunks),
    })
}

/// The extents of a chunk, without the leading dimensions in which it has one element.
fn chunk_extents(header: &Header) -> Vec<u64> {
    let extents = match header.layout().family() {
        Family::Blocks(layout) => layout.grid.tile().map(|bits| 1u64 << bits),
        Family::Tiles(layout) => tile::extents(layout.shape()).map(u64::from),
    };
    let leading = extents
        .iter()
        .take(2)
        .take_while(|extent| **extent == 1)
        .count();
    extents[leading..].to_vec()
}

fn count_forms(table: &[[u8; ENTRY_BYTES]]) -> ChunkForms {
    let mut forms = ChunkForms::default();
    for entry in table {
        match Form::from_id(Entry::from_bytes(entry).form) {
            Some(Form::Zero) => forms.zero += 1,
            Some(Form::Coded) => forms.coded += 1,
            Some(Form::CodedWithExceptions) => forms.coded_with_exceptions += 1,
            Some(Form::Raw) => forms.raw += 1,
            Some(Form::Constant) => forms.constant += 1,
            // The decoder reports this error.
            None => {}
        }
    }
    forms
}

/// A strict upper bound on the bytes of the stream of `elements` elements, coded in blocks of rank 1, whatever their
/// values: 0.05 % and 188 bytes over the field. Saturates if it exceeds a `u64`. For other ranks see
/// [`Compressor::max_compressed_len`](crate::Compressor::max_compressed_len).
pub fn max_compressed_len(elements: u64, dtype: Dtype) -> u64 {
    let layout = Layout::new(Codec::PLAIN, Shape::Line, Extents::line(elements));
    layout.max_stream_bytes(dtype).unwrap_or(u64::MAX)
}
