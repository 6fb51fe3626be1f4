//! Encoding and decoding of one chunk on one CPU thread.
//!
//! All of it is inlined into one function for each shape of blocks, element type and set of [`Lanes`], and so compiled
//! with the instructions of the function that calls it.

mod decoder;
mod encoder;
mod quantizer;
mod sizer;

use crate::cpu::lanes::Lanes;
use ferrosz_codec::code::fixed_length::block::BODY_SCRATCH;
use ferrosz_codec::container::chunk::{CHUNK, Form};
use ferrosz_codec::container::grid::{BlockPosition, ChunkBox, Grid};
use ferrosz_codec::container::table::Entry;
use ferrosz_codec::element::Element;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{Cube, Line, Plane, Shape};

/// The most bytes that [`encode`] writes: a raw chunk of the widest type, and one more body.
pub const IMAGE_BYTES: usize = CHUNK * 8 + BODY_SCRATCH;

/// A chunk of a field.
#[derive(Clone, Copy)]
pub struct Source<'a, T> {
    /// The whole field.
    pub field: &'a [T],
    /// The division of the field.
    pub grid: &'a Grid,
    /// The chunk's number, below the number of chunks of the grid.
    pub chunk: u64,
}

/// A chunk in a stream.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    /// Its number.
    pub chunk: u64,
    /// Its entry.
    pub entry: Entry,
    /// The seed of its checksum.
    pub seed: u64,
    /// Its bytes, as many as the stream has of it.
    pub bytes: &'a [u8],
}

/// Encodes a chunk into the start of `image`, which holds at least [`IMAGE_BYTES`] bytes; returns its form, its length
/// in bytes, and its checksum without a seed.
#[inline(always)]
pub fn encode<L: Lanes, T: Element>(
    lanes: L,
    codec: BlockCodec,
    quantizer: &Quantizer<T>,
    source: Source<'_, T>,
    image: &mut [u8],
) -> (Form, usize, u64) {
    let (form, words) = match source.grid.shape() {
        Shape::Line => encoder::write::<L, Line, T, 1>(lanes, codec, quantizer, source, image),
        Shape::Plane => encoder::write::<L, Plane, T, 2>(lanes, codec, quantizer, source, image),
        Shape::Cube => encoder::write::<L, Cube, T, 2>(lanes, codec, quantizer, source, image),
    };
    let bytes = 4 * words as usize;
    let sum = lanes.checksum(0, &image[..bytes]);
    (form, bytes, sum)
}

/// The lengths in bytes that [`encode`] would return for a chunk with each of these codecs.
#[inline(always)]
pub fn sizes<L: Lanes, T: Element>(
    lanes: L,
    codecs: &[BlockCodec],
    quantizer: &Quantizer<T>,
    source: Source<'_, T>,
) -> Vec<usize> {
    let words = match source.grid.shape() {
        Shape::Line => sizer::words::<L, Line, T, 1>(lanes, codecs, quantizer, source),
        Shape::Plane => sizer::words::<L, Plane, T, 2>(lanes, codecs, quantizer, source),
        Shape::Cube => sizer::words::<L, Cube, T, 2>(lanes, codecs, quantizer, source),
    };
    words.into_iter().map(|words| 4 * words as usize).collect()
}

/// Decodes one chunk of a grid into `values`, row by row; `values` has as many positions as the chunk. With `verify`,
/// the checksum is checked first.
///
/// # Errors
///
/// [`ChunkFault`]; the contents of `values` are then unspecified.
#[inline(always)]
pub fn decode<L: Lanes, T: Element>(
    lanes: L,
    codec: BlockCodec,
    quantizer: &Quantizer<T>,
    grid: &Grid,
    stored: Stored<'_>,
    verify: bool,
    values: &mut [T],
) -> Result<(), ChunkFault> {
    let Stored {
        chunk,
        entry,
        seed,
        bytes,
    } = stored;
    decoder::check_length(bytes, values)?;
    if verify && lanes.checksum(seed, bytes) != entry.checksum {
        return Err(ChunkFault::Checksum);
    }
    let form = Form::from_id(entry.form).ok_or(ChunkFault::Form)?;
    let position = grid.chunk(chunk);
    let coded = decoder::Coded {
        codec,
        quantizer: *quantizer,
        position,
        bytes,
    };
    match grid.shape() {
        Shape::Line => coded.read::<L, Line, 1>(lanes, form, values),
        Shape::Plane => coded.read::<L, Plane, 2>(lanes, form, values),
        Shape::Cube => coded.read::<L, Cube, 2>(lanes, form, values),
    }
}

/// The blocks of a chunk in their order.
#[inline(always)]
fn blocks(chunk: ChunkBox, shape: Shape) -> impl Iterator<Item = BlockPosition> {
    let [depth, height, width] = shape.extents();
    let [z_end, y_end, x_end] = chunk.extents;
    let mut origin = [0; 3];
    // Counted without divisions: `ChunkBox::block` divides twice for each block.
    core::iter::from_fn(move || {
        let [z, y, x] = origin;
        if z >= z_end || y >= y_end || x >= x_end {
            return None;
        }
        origin[2] += width;
        if origin[2] >= x_end {
            origin = [z, y + height, 0];
            if origin[1] >= y_end {
                origin = [z + depth, 0, 0];
            }
        }
        Some(BlockPosition {
            origin: [z, y, x],
            inside: [z_end - z, y_end - y, x_end - x],
        })
    })
}

/// Whether all positions of a block hold elements.
#[inline(always)]
fn is_whole(position: &BlockPosition, shape: Shape) -> bool {
    let [depth, height, width] = shape.extents();
    (position.inside[0] >= depth) & (position.inside[1] >= height) & (position.inside[2] >= width)
}
