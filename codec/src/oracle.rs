//! The oracle: whole arrays compressed and decompressed in plain loops.
//!
//! It shares the types, the quantiser's arithmetic on one value, the header, the chunk table, checksums and updates
//! with the backends; docs/testing.md has the list. It has its own code to divide fields, order positions, count tokens
//! and tune parameters. Bits are set one by one; there are no tables, no words of planes, no parallel chunks and no
//! positions summed from parts. It is slow, and meant to be read beside FORMAT.md.

use crate::bound::{Bound, Extremes};
use crate::container::checksum::checksum;
use crate::container::header::{HEADER_BYTES, Header};
use crate::container::layout::Layout;
use crate::container::record;
use crate::container::table::Entry;
use crate::container::tiles::prologue_bytes;
use crate::container::update::{Replacements, Tail};
use crate::element::Element;
use crate::error::{ChunkFault, FormatError};
use crate::pipeline::{BlockCodec, Codec, TileCodec};
use crate::shape::Shape;
use alloc::vec;
use alloc::vec::Vec;
use blocks::Blocks;
use tiles::Tiles;

mod bit_planes;
mod blocks;
mod bytes;
pub mod entropy;
mod exceptions;
mod frequencies;
pub mod interp;
mod order;
mod tiles;
mod tuning;

/// Compresses a field.
///
/// `values` must have as many elements as the layout says; this is not checked.
pub fn compress<T: Element>(layout: Layout, bound: Bound, values: &[T]) -> Vec<u8> {
    compress_with_radius(layout, bound, tuning::RADIUS, values)
}

/// As [`compress`], with codes of interpolation less than `radius`, 1 to 32,768, in magnitude. Other encoders of
/// ferrosz do not make them.
pub fn compress_with_radius<T: Element>(
    layout: Layout,
    bound: Bound,
    radius: u32,
    values: &[T],
) -> Vec<u8> {
    let mut extremes = Extremes::default();
    for value in values {
        extremes.see(*value);
    }
    let quantizer = bound.resolve(&extremes);
    let chunks = match layout.codec {
        Codec::Blocks(codec) => blocks_of(codec, &layout).compress(&quantizer, values),
        Codec::Tiles(codec) => tiles_of(codec, &layout).compress(&quantizer, radius, values),
    };
    let header = layout.header(T::DTYPE, bound, quantizer.error().to_bits64());
    let has_prologue = layout.tiles().is_some();
    let mut table = Vec::new();
    let mut payload = Vec::new();
    for (index, (form, bytes)) in (0..).zip(chunks) {
        let sum = checksum(header.identity().seed(index, form.id()), &bytes);
        let length = match (has_prologue, index) {
            (true, 0) => 0,
            _ => bytes.len() as u64,
        };
        table.extend(Entry::new(payload.len() as u64, length, form, sum).to_bytes());
        payload.extend(bytes);
    }
    let header = Header {
        payload_bytes: payload.len() as u64,
        ..header
    };
    [&header.to_bytes()[..], &table, &payload].concat()
}

/// Decompresses a stream.
///
/// # Errors
///
/// [`FormatError`] if it is not a whole, undamaged stream of `T`.
pub fn decompress<T: Element>(stream: &[u8]) -> Result<Vec<T>, FormatError> {
    let header = Header::read(stream)?;
    let quantizer = header.quantizer::<T>()?;
    let (needed, found) = (header.stream_bytes(), stream.len() as u64);
    if found < needed {
        return Err(FormatError::Truncated { needed, found });
    }
    let (stream, tail) = stream.split_at(needed as usize);
    if Tail::of(tail).is_none() {
        return Err(FormatError::TrailingBytes(found - needed));
    }
    let chunks = read_chunks(&header, stream)?;
    match header.codec {
        Codec::Blocks(codec) => blocks_of(codec, &header.layout()).decompress(&quantizer, &chunks),
        Codec::Tiles(codec) => tiles_of(codec, &header.layout()).decompress(&quantizer, &chunks),
    }
}

/// The entries of a whole stream and the bytes of their chunks, after a check of their checksums.
fn read_chunks<'a>(
    header: &Header,
    stream: &'a [u8],
) -> Result<Vec<(Entry, &'a [u8])>, FormatError> {
    let (stream, updates) = stream.split_at(header.payload_end() as usize);
    let replacements = Replacements::read(updates, header)?;
    let (start, payload) = stream.split_at(header.payload_start() as usize);
    let (start, table) = start.split_at(header.table_start() as usize);
    record::check(&start[HEADER_BYTES..], header.record_sum)?;
    let mut chunks = Vec::new();
    for (number, entry) in (0..).zip(table.as_chunks().0) {
        let mut entry = Entry::from_bytes(entry);
        let mut source = payload;
        if let Some(replacement) = replacements.of(number) {
            (source, entry) = (updates, replacement.entry);
        }
        let mut range = entry.range();
        if let (0, Some(layout)) = (number, header.layout().tiles()) {
            // The prologue says itself how long it is, and its entry nothing: FORMAT.md, section 15.
            if !range.is_empty() {
                return Err(ChunkFault::Length.in_chunk(0));
            }
            let length = prologue_bytes(&layout, header.dtype, payload);
            range.end = entry.start + length.ok_or(ChunkFault::Length.in_chunk(0))?;
        }
        let bytes = source
            .get(range.start as usize..range.end as usize)
            .ok_or(ChunkFault::Place.in_chunk(number))?;
        if checksum(header.identity().seed(number, entry.form), bytes) != entry.checksum {
            return Err(FormatError::ChunkChecksum { chunk: number });
        }
        chunks.push((entry, bytes));
    }
    Ok(chunks)
}

/// The field's extents in the dimensions of blocks and tiles of a shape (FORMAT.md, section 2).
fn lengths_of(layout: &Layout) -> [u64; 3] {
    let extents = layout.extents.lengths();
    if layout.shape == Shape::Line {
        return [1, 1, extents.iter().product()];
    }
    let mut lengths = vec![1; 3];
    lengths.extend(extents.iter().filter(|length| **length != 1));
    let (slower, last) = lengths.split_at(lengths.len() - 2);
    [slower.iter().product(), last[0], last[1]]
}

fn blocks_of(codec: BlockCodec, layout: &Layout) -> Blocks {
    Blocks {
        codec,
        shape: layout.shape,
        lengths: lengths_of(layout),
    }
}

fn tiles_of(codec: TileCodec, layout: &Layout) -> Tiles {
    Tiles::new(codec, layout.shape, lengths_of(layout))
}
