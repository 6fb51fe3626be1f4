//! Slabs: a field as several machines have it. Each has whole chunks along the slowest axis, and compresses them as a field
//! of its own.
//!
//! The chunks of a slab have the same elements in both fields, and the checksum of a chunk starts from a seed that follows
//! from the stream and the chunk's number. So the chunks of a slab's stream are chunks of the field's ([`Slab::chunks_of`]), and
//! back, when the entries of a table get other seeds and starts ([`entries`]). The stream of a slab of tiles begins with what
//! all slabs share: the prologue and the chunks of the coarse field.

mod blocks;
pub(crate) mod compress;
pub(crate) mod decompress;
pub(crate) mod entries;
pub(crate) mod machines;
mod tiles;
mod work;

use crate::device::Device;
use crate::error::Error;
use crate::gpu::tiles::slab::TileSlab;
use crate::stream_layout::StreamLayout;
use ferrosz_codec::container::header::HEADER_BYTES;
use ferrosz_codec::container::layout::{BlockLayout, Family, Layout};
use ferrosz_codec::container::table::ENTRY_BYTES;
use ferrosz_codec::{Bound, BoundMode};
use machines::Machines;
use std::ops::Range;

/// A slab of a field: consecutive elements, and consecutive chunks of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slab {
    /// The slab as its machine codes it.
    pub(crate) part: Part,
    /// The elements.
    pub(crate) elements: Range<u64>,
    /// Elements of the next slab that are in the machine's memory, too, behind the own ones.
    pub(crate) behind: u64,
    /// How many of them a compression reads.
    pub(crate) read: u64,
    /// Entries at the start of the table that the streams of all slabs have.
    pub(crate) shared: u64,
    /// The numbers of the other entries of the slab's stream in the table of the field's stream.
    pub(crate) chunks: Range<u64>,
    /// How many chunks behind those a decompression reads.
    pub(crate) chunks_behind: u64,
}

/// How a machine codes a slab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// As a field of its own, by a codec of blocks.
    Field(Layout),
    /// As a part of the field, by a codec of tiles.
    Tiles(Box<TileSlab>),
}

impl Slab {
    /// How many elements there are.
    pub(crate) fn count(&self) -> u64 {
        self.elements.end - self.elements.start
    }

    /// Entries of the table of the slab's stream.
    pub(crate) fn entries(&self) -> u64 {
        self.shared + self.chunks.end - self.chunks.start
    }

    /// Where the payload of that stream starts.
    pub(crate) fn payload_start(&self) -> usize {
        HEADER_BYTES + ENTRY_BYTES * self.entries() as usize
    }

    /// The part of a field that a compression reads. The field's elements have so many bytes.
    pub(crate) fn bytes<'a>(&self, field: &'a [u8], element_bytes: usize) -> &'a [u8] {
        let [start, end] =
            [self.elements.start, self.elements.end + self.read].map(|at| at as usize);
        &field[start * element_bytes..end * element_bytes]
    }
}

/// Whether the field of a stream is the coded field, so that its chunks are those of its slabs. A line, of a level that is coded
/// apart, goes through all of them.
pub(crate) fn is_divisible(layout: &StreamLayout, bound: Bound) -> bool {
    !layout.is_mapped()
        && layout.record_bytes() == 0
        && layout.layout.levels == 0
        && layout.value_type.is_coded_as_is()
        && bound.mode() != BoundMode::Pwrel
}

/// Several GPUs and their slabs of a field, if the device is several GPUs and the field can be divided among them.
///
/// # Errors
///
/// [`Error::NoDevice`] and [`Error::OldGpu`].
pub(crate) fn divided(
    device: Device,
    layout: &StreamLayout,
    bound: Bound,
) -> Result<Option<(Machines, Vec<Slab>)>, Error> {
    let Device::Gpus(gpus) = device else {
        return Ok(None);
    };
    if !is_divisible(layout, bound) {
        return Ok(None);
    }
    let slabs = divide(&layout.layout, Machines::count(gpus)?);
    match slabs.len() {
        0 | 1 => Ok(None),
        count => Ok(Some((Machines::first(gpus, count)?, slabs))),
    }
}

/// The slabs of a field: at most `most`, as even as layers of chunks are. A field with slices is divided between them. There
/// are none of a field without elements.
pub(crate) fn divide(layout: &Layout, most: usize) -> Vec<Slab> {
    match layout.family() {
        Family::Blocks(BlockLayout { grid, .. }) => {
            let cut = blocks::Cut::new(&grid);
            evenly(cut.layers, most, |layers| cut.slab(layout, &grid, layers))
        }
        Family::Tiles(layout) => {
            let cut = tiles::Cut::new(&layout);
            evenly(cut.most(), most, |steps| cut.slab(steps))
        }
    }
}

/// At most `most` slabs of so many layers.
fn evenly(layers: u64, most: usize, slab: impl Fn(Range<u64>) -> Slab) -> Vec<Slab> {
    let count = (most as u64).min(layers);
    let start = |number: u64| number * layers / count;
    (0..count)
        .map(|number| slab(start(number)..start(number + 1)))
        .collect()
}
