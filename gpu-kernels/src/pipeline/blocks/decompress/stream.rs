//! The stream of a chunk, as the stages of decompression need it.

use crate::pipeline::blocks::decompress::DecompressParams;
use crate::pipeline::blocks::staged_chunk::UNIT_WORDS;
use crate::pipeline::cells::{self, Fault};
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_simt::{Thread, View};

/// 16-byte units of the header.
const HEADER_UNITS: u64 = HEADER_WORDS as u64 / UNIT_WORDS as u64;

/// A stream whose chunk a thread block decodes.
pub(crate) trait StreamOf: Copy {
    /// The words of the header.
    fn header<T: Thread>(&self, t: T) -> View<u32>;
    /// The stream without its records, 16-byte aligned; its header is not read.
    fn stream<T: Thread>(&self, t: T) -> View<u32>;
    /// The chunk table, 16-byte aligned.
    fn table<T: Thread>(&self, t: T) -> View<u32>;
    /// Entries of the chunk table.
    fn entries<T: Thread>(&self, t: T) -> u64;
    /// The number of the block's chunk, found a second time, so that it needs no registers in between.
    fn number_again<T: Thread, S: StaticShape>(&self, t: T) -> u64;
    /// Whether checksums are compared.
    fn verifies(&self) -> bool;
    /// Reports a fault. For the first thread of the block.
    fn report<T: Thread>(&self, t: T, fault: Fault);
}

impl StreamOf for &DecompressParams {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn header<T: Thread>(&self, _: T) -> View<u32> {
        self.header
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn stream<T: Thread>(&self, _: T) -> View<u32> {
        self.stream
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn table<T: Thread>(&self, _: T) -> View<u32> {
        self.table
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn entries<T: Thread>(&self, _: T) -> u64 {
        self.entries
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn number_again<T: Thread, S: StaticShape>(&self, t: T) -> u64 {
        let at = chunk_position::<S>(t.opaque(t.block_index()), self);
        number_of(&self.grid, at)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn verifies(&self) -> bool {
        self.verify != 0
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn report<T: Thread>(&self, t: T, fault: Fault) {
        t.atomic_max(self.cells, cells::FAULT, fault.to_cell());
    }
}

/// The whole 16-byte units of a stream.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn stream_units(stream: View<u32>) -> u64 {
    stream.len() / u64::from(UNIT_WORDS)
}

/// The payload's first 16-byte unit in a stream of this many entries.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn first_payload_unit(entries: u64) -> u64 {
    HEADER_UNITS + entries
}

/// The position of a thread block's chunk, in chunks along each dimension.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn chunk_position<S: StaticShape>(block: u32, params: &DecompressParams) -> [u64; 3] {
    let mut at = params.first_chunk;
    if matches!(S::SHAPE, Shape::Line) {
        at[2] += u64::from(block);
        return at;
    }
    // There are as many chunks as blocks, whose number is one of 32 bits.
    let [_, rows, columns] = params.chunks.map(|count| (count as u32).max(1));
    let row = block / columns;
    at[0] += u64::from(row / rows);
    at[1] += u64::from(row % rows);
    at[2] += u64::from(block % columns);
    at
}

/// The number of the chunk that is this one in each dimension.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn number_of(grid: &Grid, at: [u64; 3]) -> u64 {
    let [_, rows, columns] = grid.chunks();
    (at[0] * rows + at[1]) * columns + at[2]
}
