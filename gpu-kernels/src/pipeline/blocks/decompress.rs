//! Decompression in one kernel: one thread block a chunk, one thread a group.
//!
//! The chunk table says where a chunk lies, so no block waits for another. The chunk's bytes are
//! brought into shared memory, their checksum taken on the way; each thread reads its body, adds
//! its differences up, and the elements leave through shared memory again, 16 bytes a thread. If they are logarithms,
//! they become elements on the way.
//!
//! Whatever the stream holds, no access leaves it or the output: a chunk whose parts contradict
//! each other is reported in the fault cell and decodes to zeros. A chunk with a wrong checksum is
//! reported, and its decoded elements are not meant to be used.

pub mod list_entries;
pub mod short;
pub(crate) mod stored_chunk;
pub(crate) mod stream;

use crate::PACKAGE;
use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::decompress::stored_chunk::{Scratch, StoredChunk};
use crate::pipeline::blocks::decompress::stream::{
    StreamOf, chunk_position, first_payload_unit, number_of, stream_units,
};
use crate::pipeline::blocks::output::{Destination, Output, Words};
use crate::pipeline::blocks::staged_chunk::UnitSteps;
use crate::pipeline::cells::Fault;
use crate::primitives::element::by_width;
use crate::primitives::map::Map;
use crate::primitives::scan::warp_sum_u64;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::header::CHECKSUM_WORD;
use ferrosz_codec::container::header_words::{self, LayoutWords, Summary};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::mapping::{Scale, logarithm};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::shape::{GROUP, Shape, StaticShape};
use ferrosz_simt::{Kernel, Name, Package, Thread, View, WARP};

/// Decompresses elements of `E` from blocks of shape `S`. Launched with one block for each chunk that
/// the region may touch.
pub struct Decompress<E, S>(PhantomData<(E, S)>);

/// Parameters of [`Decompress`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DecompressParams {
    /// The header's words.
    pub header: View<u32>,
    /// The stream without its records, 16-byte aligned; its header is not read. Nothing behind its end is read.
    pub stream: View<u32>,
    /// The chunk table, 16-byte aligned: the stream's, or the list of [`list_entries`].
    pub table: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The output: the elements, 16-byte aligned.
    pub output: View<u32>,
    /// The workspace: see [`cells`](crate::pipeline::cells).
    pub cells: View<u64>,
    /// The division of the field.
    pub grid: Grid,
    /// The region to decode.
    pub region: Region,
    /// The units of a whole chunk, in the region.
    pub steps: UnitSteps,
    /// Elements of the output before the region's.
    pub output_first: u64,
    /// The first chunk that the region may touch, in each dimension.
    pub first_chunk: [u64; 3],
    /// How many it may touch, in each dimension.
    pub chunks: [u64; 3],
    /// The header's first words. A stream that begins otherwise is a fault.
    pub layout: LayoutWords,
    /// The codec: its index in [`BlockCodec::ALL`].
    pub codec: u32,
    /// Not 0 to compare checksums.
    pub verify: u32,
}

impl<E: Element, S: StaticShape> Kernel for Decompress<E, S> {
    type Params = DecompressParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_decompress", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = Scratch::<E>::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &DecompressParams) {
        // 1. Find the chunk in the table.
        let Some(stored) = Self::find(t, params) else {
            return;
        };
        // 2. Bring its bytes in and, if it is coded, decode them to elements.
        let words = Self::read(t, &stored);
        // 3. Logarithms become elements.
        let words = match header_words::scale(|word| t.load(params.header, word as u64)) {
            Scale::Linear => words,
            Scale::Logarithm => {
                let elements = Self::chunk_again(t, params).elements();
                stored.held().map::<_, S>(t, words, elements, Power)
            }
        };
        // 4. Write the elements that lie in the region.
        let chunk = Self::chunk_again(t, params);
        Self::output(params, params.output, &stored, &chunk).write(t, words);
    }
}

impl<E: Element, S: StaticShape> Decompress<E, S> {
    /// Where the elements of a chunk are; if the chunk is wrong, they are zeros, and its fault is reported.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn read<T: Thread>(t: T, stored: &StoredChunk<&DecompressParams, E, S>) -> Words {
        match stored.read(t) {
            Ok(words) => words,
            Err(fault) => {
                stored.report(t, fault);
                Words::Filled(0, 0)
            }
        }
    }

    /// This block's chunk; none if the stream ends before its payload, or if no part of the chunk is to be decoded. The
    /// chunk has no words if its position or length is impossible.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find<T: Thread>(
        t: T,
        params: &DecompressParams,
    ) -> Option<StoredChunk<&DecompressParams, E, S>> {
        let grid = &params.grid;
        let at = chunk_position::<S>(t.block_index(), params);
        let number = number_of(grid, at);
        let chunk = grid.chunk_at(at);
        let units = stream_units(params.stream);
        let Some(payload_units) = units.checked_sub(first_payload_unit(params.entries)) else {
            Self::refuse(t, params);
            return None;
        };
        let word = |word: usize| t.load(params.header, word as u64);
        // One look at the header is enough; whatever the other blocks do meanwhile is in bounds.
        if t.block_index() == 0 && t.warp() == 0 {
            let is_sound = header_is_sound(t, word) & Summary::is_of(&params.layout, word);
            if !is_sound {
                Self::refuse(t, params);
            }
        }
        let codec = BlockCodec::at(params.codec)?;
        let shared = Scratch::<E>::SHARED.0;
        let mut stored = StoredChunk::new(t, params, shared, codec, number, chunk);
        if !Self::is_asked_for(t, params, &chunk) {
            return None;
        }
        stored.locate(payload_units);
        Some(stored)
    }

    /// The chunk, computed a second time, so that it needs no registers in between.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn chunk_again<T: Thread>(t: T, params: &DecompressParams) -> ChunkBox {
        let at = chunk_position::<S>(t.opaque(t.block_index()), params);
        params.grid.chunk_at(at)
    }

    /// Whether the region has any of the chunk's elements. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_asked_for<T: Thread>(t: T, params: &DecompressParams, chunk: &ChunkBox) -> bool {
        let region = &params.region;
        if !matches!(S::SHAPE, Shape::Line) || region.is_line() {
            return true;
        }
        let row = t.thread_index() * GROUP as u32;
        let length = chunk.elements().saturating_sub(row).min(GROUP as u32);
        let mut has_any = false;
        let flat = chunk.origin[2] + u64::from(row);
        region.cut(flat, u64::from(length), |_, _| has_any = true);
        t.barrier_or(has_any)
    }

    /// The output for the chunk's elements.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn output<'a, D: Destination>(
        params: &'a DecompressParams,
        output: D,
        stored: &StoredChunk<&'a DecompressParams, E, S>,
        chunk: &'a ChunkBox,
    ) -> Output<'a, E, S, D> {
        Output {
            output,
            first: params.output_first,
            grid: &params.grid,
            region: &params.region,
            steps: &params.steps,
            chunk,
            held: stored.held(),
            shape: PhantomData,
        }
    }

    /// Reports a header that is not the expected one, once.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn refuse<T: Thread>(t: T, params: &DecompressParams) {
        if t.thread_index() == 0 {
            (&params).report(t, Fault::Header);
        }
    }
}

/// Elements, which are computed from logarithms.
#[derive(Clone, Copy)]
struct Power;

impl<E: Element> Map<E> for Power {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn element(self, coded: E) -> E {
        logarithm::from_coded(coded)
    }
}

/// Whether the header has its checksum. For one warp.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn header_is_sound<T: Thread>(t: T, word: impl Fn(usize) -> u32) -> bool {
    let mut sum = 0u64;
    let mut at = t.lane();
    while at < CHECKSUM_WORD as u32 {
        sum = sum.wrapping_add(term(at, word(at as usize)));
        at += WARP;
    }
    Summary::has_checksum(warp_sum_u64(t, sum), word)
}
