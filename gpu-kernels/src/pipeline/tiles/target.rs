//! A chunk that is to be decoded: its image in the stream, and where its codes and values go.

use crate::code::entropy::walk::{OfCells, QUAD_STEPS, QUADS, Quad, first_half};
use crate::pipeline::cells::{self, Fault};
use crate::pipeline::tiles::layout::region;
use crate::pipeline::tiles::list_chunks::NO_CHUNK;
use crate::pipeline::tiles::record::PADDING;
use crate::pipeline::tiles::stream::{has_table, payload, table};
use crate::pipeline::tiles::tiling::Tiling;
use crate::pipeline::tiles::window::MemoryBox;
use core::array::from_fn;
use core::marker::PhantomData;
use ferrosz_codec::code::entropy::token::RAW;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::header_words::Summary;
use ferrosz_codec::container::table::{Entry, Split};
use ferrosz_codec::container::tiles::FIRST_ENTRY;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::{LANES, STEPS, position};
use ferrosz_simt::{Thread, View};

/// Parameters of decoders.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DecodeParams {
    /// The tiles.
    pub tiling: Tiling,
    /// The header's words.
    pub header: View<u32>,
    /// The stream without its records, 16-byte aligned; its header is not read. Nothing behind its end is read.
    pub stream: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The tables of a coder that has any, 16-byte aligned.
    pub tables: View<u32>,
    /// The parameters of the field, whose shifts contexts have; nothing without them.
    pub parameters: View<u32>,
    /// The regions of all runs, which get the codes.
    pub regions: View<u32>,
    /// The words of the elements of the coarse field: those whose code is [`RAW`] are written.
    pub coarse: View<u32>,
    /// The words of the elements of a box of the field.
    pub field: View<u32>,
    /// The box. Elements outside of it are not written.
    pub memory: MemoryBox,
    /// The chunks that are decoded, with [`NO_CHUNK`] between them; all if the list is empty.
    pub chunks: View<u32>,
    /// The workspace.
    pub cells: View<u64>,
    /// Words of an element.
    pub element_words: u32,
    /// Not 0 to compare checksums.
    pub verify: u32,
    /// How entries are divided.
    pub split: Split,
}

impl DecodeParams {
    /// The chunk that a warp or a thread block of this number decodes; none for one too many. For whole warps.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn chunk<T: Thread>(&self, t: T, at: u64) -> Option<u64> {
        if self.chunks.is_empty() {
            let chunk = self.tiling.chunk_of_launch(at);
            return (chunk < self.tiling.chunks()).then_some(chunk);
        }
        let listed = match at < self.chunks.len() {
            true => t.load(self.chunks, at),
            false => NO_CHUNK,
        };
        // A shuffle tells NVIDIA's assembler that all lanes have the same.
        let chunk = t.shuffle(listed, 0);
        (chunk != NO_CHUNK).then_some(u64::from(chunk))
    }
}

/// A chunk to be decoded, in tiles of shape `S`.
pub struct Target<'a, S> {
    /// The kernel's parameters.
    pub params: &'a DecodeParams,
    /// Its number.
    pub chunk: u64,
    /// Its tiles.
    pub tiles: u32,
    /// The region of its first tile, and those behind.
    pub region: View<u32>,
    /// The quads that this warp clears: the number of the first, and the distance from each to the next.
    share: [u32; 2],
    shape: PhantomData<S>,
}

/// Words that a thread requests before it waits for the first.
const TOGETHER: usize = 16;

/// The bytes of a chunk.
#[derive(Clone, Copy)]
pub struct Image {
    /// From the first word on.
    pub view: View<u32>,
    /// Its words.
    pub words: u32,
}

impl Image {
    /// A thread's part of the checksum: that of every `step`th word from `first` on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn checksum_part<T: Thread>(&self, t: T, first: u32, step: u32) -> u64 {
        let (mut sum, mut first) = (0u64, first);
        while first < self.words {
            let at: [u32; TOGETHER] = from_fn(|i| first + i as u32 * step);
            let words = at.map(|at| self.word(t, at));
            for (at, word) in at.iter().zip(&words) {
                sum = sum.wrapping_add(term(*at, *word));
            }
            first += TOGETHER as u32 * step;
        }
        sum
    }

    /// A word, or 0 behind the end.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn word<T: Thread>(&self, t: T, at: u32) -> u32 {
        if at < self.words {
            t.load(self.view, u64::from(at))
        } else {
            0
        }
    }
}

impl<'a, S: StaticShape> Target<'a, S> {
    /// A chunk; of its quads this warp has every `share[1]`th from number `share[0]` on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn new(params: &'a DecodeParams, chunk: u64, share: [u32; 2]) -> Self {
        Self {
            params,
            chunk,
            tiles: params.tiling.tiles_of(chunk),
            region: region(params.regions, params.tiling.first_of_runs(chunk)),
            share,
            shape: PhantomData,
        }
    }

    /// The seed of the chunk's checksum.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn seed<T: Thread>(&self, t: T, form: u32) -> u64 {
        let summary = Summary::from_words(|word| t.load(self.params.header, word as u64));
        summary.identity.seed(FIRST_ENTRY + self.chunk, form)
    }

    /// The chunk's table entry, and its bytes if their position is possible. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn find<T: Thread>(&self, t: T) -> Result<(Entry, Image), ChunkFault> {
        let (stream, entries) = (self.params.stream, self.params.entries);
        let payload = payload(stream, entries);
        if !has_table(stream, entries) {
            return Err(ChunkFault::Place);
        }
        let entry = Entry::from_words(
            t.load4(table(stream), FIRST_ENTRY + self.chunk),
            self.params.split,
        );
        let words = entry.bytes / 4;
        let is_possible =
            entry.range().end / 4 <= payload.len() && words <= u64::from(self.raw_words(t));
        // Vote and shuffle tell NVIDIA's assembler that all lanes have the same.
        if t.any(!is_possible) {
            return Err(ChunkFault::Place);
        }
        let image = Image {
            view: payload.from(entry.start / 4),
            words: t.shuffle(words as u32, 0),
        };
        Ok((entry, image))
    }

    /// Words of the raw form, the longest that there is.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn raw_words<T: Thread>(&self, t: T) -> u32 {
        let tiling = &self.params.tiling;
        let mut positions = 0;
        for tile in 0..t.opaque(self.tiles) {
            positions += tiling
                .order
                .positions(&tiling.tile(self.chunk, tile).position);
        }
        (positions * self.params.element_words).next_multiple_of(PADDING)
    }

    /// Reports the chunk's fault.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn report<T: Thread>(&self, t: T, fault: ChunkFault) {
        if t.lane() == 0 {
            let fault = Fault::Chunk(FIRST_ENTRY + self.chunk, fault as u32).to_cell();
            t.atomic_max(self.params.cells, cells::FAULT, fault);
        }
    }

    /// Makes this warp's share of the codes 0.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn clear<T: Thread>(&self, t: T) {
        let [mut quad, count] = self.share;
        while quad < self.tiles * QUADS {
            self.clear_quad(t, quad);
            quad += count;
        }
    }

    /// Makes the codes of a quad 0.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn clear_quad<T: Thread>(&self, t: T, quad: u32) {
        let unit = first_half(quad) / 8 + t.lane();
        t.store4(self.region, u64::from(unit), [0; 4]);
    }

    /// Number of this lane's code of a step of a quad.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn code<T: Thread>(t: T, quad: u32, step: u32) -> u64 {
        u64::from(first_half(quad) + t.lane()) + u64::from(step * LANES)
    }

    /// Makes this warp's share of the codes [`RAW`], where there are any.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn set_raw<T: Thread>(&self, t: T) {
        let [mut number, count] = self.share;
        while number < self.tiles * QUADS {
            let quad = self.positions(t, number);
            for step in 0..QUAD_STEPS {
                let z = if quad.is_active(step) { RAW } else { 0 };
                t.store_half(self.region, Self::code(t, number, step), z as u16);
            }
            number += count;
        }
    }

    /// A quad of the chunk, as if no zone were of class 0.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn positions<T: Thread>(&self, t: T, quad: u32) -> Quad {
        let tiling = &self.params.tiling;
        let position = tiling.tile(self.chunk, quad / QUADS).position;
        Quad::of::<_, S>(
            t,
            &tiling.order,
            (&position, false),
            quad % QUADS,
            OfCells::all(1, 0),
        )
    }

    /// Writes the values whose code is [`RAW`] to their positions. The image has them from word `from` on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn copy_values<T: Thread>(&self, t: T, image: Image, from: u32) -> Result<(), ChunkFault> {
        // Other lanes may have written them.
        t.sync_warp();
        let words = self.params.element_words;
        let mut at = from;
        for quad in 0..t.opaque(self.tiles * QUADS) {
            let codes: [u32; QUAD_STEPS as usize] = core::array::from_fn(|step| {
                t.load_own_half(self.region, Self::code(t, quad, step as u32))
            });
            if !t.any(codes.contains(&RAW)) {
                continue;
            }
            for (step, z) in (0..).zip(&codes) {
                let z = *z;
                let marks = t.ballot(z == RAW);
                let before = (marks & ((1 << t.lane()) - 1)).count_ones();
                if z == RAW {
                    self.copy_value(t, quad, step, image, at + before * words);
                }
                at += marks.count_ones() * words;
            }
        }
        check_end(image, at)
    }

    /// Writes the value of this lane's position of a step, whose words begin at word `at` of the image.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn copy_value<T: Thread>(&self, t: T, quad: u32, step: u32, image: Image, at: u32) {
        let tiling = &self.params.tiling;
        let words = self.params.element_words;
        let tile = tiling.tile(self.chunk, quad / QUADS);
        let step = quad * QUAD_STEPS % STEPS + step;
        let place = tile.position.at(position(S::SHAPE, step, t.lane()));
        let (field, element) = if tile.is_coarse {
            (self.params.coarse, Some(tile.grid.flat(place)))
        } else {
            (self.params.field, self.params.memory.element(place))
        };
        let Some(element) = element else {
            return;
        };
        let to = element * u64::from(words);
        for i in 0..t.opaque(words) {
            t.store(field, to + u64::from(i), image.word(t, at + i));
        }
    }
}

/// Checks that nothing but padding is left from word `at` on.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn check_end(image: Image, at: u32) -> Result<(), ChunkFault> {
    if at.next_multiple_of(PADDING) == image.words {
        Ok(())
    } else {
        Err(ChunkFault::Length)
    }
}
