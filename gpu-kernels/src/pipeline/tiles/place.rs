//! Copies chunks to their positions in the stream: one thread block a chunk.
//!
//! The encoder has stored the length of every chunk for the look-back, so no block waits for another. The block copies
//! the encoder's words and the raw values to the stream, and computes the checksum at the same time.

use crate::PACKAGE;
use crate::code::entropy::{THREADS, WARPS};
use crate::pipeline::cells;
use crate::pipeline::identity::IdentityOf;
use crate::pipeline::tiles::layout::{self, TILE_RAWS, TILE_WORDS};
use crate::pipeline::tiles::record::Record;
use crate::pipeline::tiles::stream::{payload, table};
use crate::pipeline::tiles::tiling::{Tile, Tiling};
use crate::primitives::look_back::look_back;
use crate::primitives::scan::{block_sum, store_warp_sum_u64, sum_of_warps};
use core::marker::PhantomData;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::table::{Entry, Split};
use ferrosz_codec::container::tiles::FIRST_ENTRY;
use ferrosz_codec::tile::{STEPS, position};
use ferrosz_simt::{Kernel, Layout, Package, Shared, Thread, View, WARP};

/// Puts chunks into the stream whose words are `C`. Launched with one block a chunk.
pub struct Place<C>(PhantomData<C>);

/// The words of a coded chunk, as a coder has left them.
pub trait CodedWords {
    /// The name of the kernel that places them.
    const PLACE: &'static str;
    /// Arrays of shared memory that it takes to write them.
    type Scratch: Copy;
    /// These, and the layout to go on with.
    const SHARED: (Self::Scratch, Layout);
    /// Blocks that a multiprocessor should hold at once.
    const RESIDENT_BLOCKS: u32;

    /// Writes all of the image but the values. For the whole block.
    fn place<T: Thread>(t: T, placed: &mut PlacedChunk<'_>, scratch: Self::Scratch);
}

/// Parameters of [`Place`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PlaceParams {
    /// The tiles.
    pub tiling: Tiling,
    /// The regions and marks of all runs, as the encoder left them.
    pub regions: View<u32>,
    /// The statistics kernel's words of each tile.
    pub tiles: View<u32>,
    /// The encoder's record of each chunk.
    pub records: View<u32>,
    /// The words of the elements of the coarse field.
    pub coarse: View<u32>,
    /// The words of the field's elements.
    pub field: View<u32>,
    /// Words of an element.
    pub element_words: u32,
    /// The output: the stream, 16-byte aligned; its header is not written.
    pub stream: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The workspace. Gets the length of the payload.
    pub cells: View<u64>,
    /// The header's identity.
    pub identity: IdentityOf,
    /// How entries are divided.
    pub split: Split,
}

impl<C: CodedWords> Kernel for Place<C> {
    type Params = PlaceParams;
    const NAME: &'static str = C::PLACE;
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Self::SHARED.2.words();
    const RESIDENT_BLOCKS: u32 = C::RESIDENT_BLOCKS;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &PlaceParams) {
        let (scratch, shared, _) = Self::SHARED;
        let chunk = params.tiling.chunk_of_launch(t.block_index().into());
        let record = Record::load(t, params.records, chunk);
        // 1. Look back for the chunk's position: the prologue lies before all chunks.
        let bytes = 4 * u64::from(record.image_words);
        let states = (params.cells, cells::STATES);
        let start = look_back(t, states, chunk, bytes, shared.start, |before| {
            let start = t.atomic_load(params.cells, cells::PROLOGUE_BYTES) + before;
            if t.lane() == 0 && chunk + 1 == params.tiling.chunks() {
                t.atomic_store(params.cells, cells::STREAM_BYTES, start + bytes);
            }
            start
        });
        // 2. Write the coder's words, then the raw values, then padding.
        let payload = payload(params.stream, params.entries);
        let mut placed = PlacedChunk {
            params,
            chunk,
            record,
            sums: shared.sums,
            image: payload.from(start / 4),
            sum: 0,
        };
        match record.form {
            Form::Coded => {
                C::place(t, &mut placed, scratch);
                placed.place_values(t);
            }
            Form::Raw => placed.place_values(t),
            _ => {}
        }
        placed.place_padding(t);
        // 3. Sum the checksum up, and write the table's entry.
        store_warp_sum_u64(t, placed.sum, shared.checksums);
        t.barrier();
        if t.warp() == 0 {
            let sum = sum_of_warps::<T, { WARPS as usize }>(t, shared.checksums);
            if t.lane() == 0 {
                let number = FIRST_ENTRY + chunk;
                let identity = params.identity.find(t, params.cells);
                let sum = identity.seed(number, record.form.id()).wrapping_add(sum);
                let entry = Entry::new(start, bytes, record.form, sum).to_words(params.split);
                t.store4(table(params.stream), number, entry);
            }
        }
    }
}

/// The shared memory of a block, besides the coder's.
#[derive(Clone, Copy)]
struct Scratch {
    sums: Shared<u32>,
    checksums: Shared<u64>,
    start: Shared<u64>,
}

impl<C: CodedWords> Place<C> {
    const SHARED: (C::Scratch, Scratch, Layout) = {
        let (scratch, mut layout) = C::SHARED;
        let shared = Scratch {
            sums: layout.array("sums", WARPS),
            checksums: layout.array("checksums", WARPS),
            start: layout.array("start", 1),
        };
        (scratch, shared, layout)
    };
}

/// The chunk that a thread block places.
pub struct PlacedChunk<'a> {
    /// The kernel's parameters.
    pub params: &'a PlaceParams,
    /// The chunk's number.
    pub chunk: u64,
    /// The encoder's record of the chunk.
    pub record: Record,
    /// An element for each warp.
    pub sums: Shared<u32>,
    /// From the chunk's first word on.
    image: View<u32>,
    /// This thread's part of the checksum.
    sum: u64,
}

impl PlacedChunk<'_> {
    /// Writes a word of the image.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn store<T: Thread>(&mut self, t: T, at: u32, word: u32) {
        t.store(self.image, u64::from(at), word);
        self.sum = self.sum.wrapping_add(term(at, word));
    }

    /// Writes the raw values. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn place_values<T: Thread>(&mut self, t: T) {
        if self.record.values == 0 {
            return;
        }
        let mut values_before = 0;
        for number in 0..t.opaque(self.params.tiling.tiles_of(self.chunk)) {
            let tile = self.params.tiling.tile(self.chunk, number);
            values_before += self.place_tile(t, &tile, number, values_before);
        }
    }

    /// Writes the values of a tile; how many there are. Two steps a thread. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn place_tile<T: Thread>(&mut self, t: T, tile: &Tile, number: u32, values_before: u32) -> u32 {
        const STEPS_OF_THREAD: u32 = STEPS / THREADS;
        let first = STEPS_OF_THREAD * t.thread_index();
        let has_values = self.record.form == Form::Raw || self.has_marks(t, number);
        let marks: [u32; STEPS_OF_THREAD as usize] = core::array::from_fn(|i| {
            if has_values {
                self.marks(t, tile, number, first + i as u32)
            } else {
                0
            }
        });
        let own = marks.iter().map(|marks| marks.count_ones()).sum();
        t.barrier();
        let sum = block_sum::<T, { WARPS as usize }>(t, own, self.sums);
        let mut value = values_before + sum.before;
        for (step, marks) in (first..).zip(&marks) {
            let mut left = *marks;
            while left != 0 {
                self.place_value(t, tile, step, left.trailing_zeros(), value);
                left &= left - 1;
                value += 1;
            }
        }
        sum.total
    }

    /// Whether the statistics kernel has marked values of a tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn has_marks<T: Thread>(&self, t: T, number: u32) -> bool {
        let tile = self.number_of(number);
        t.load(self.params.tiles, tile * TILE_WORDS + TILE_RAWS) > 0
    }

    /// The number among the tiles of all runs of the chunk's first tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn first_tile(&self) -> u64 {
        self.params.tiling.first_of_runs(self.chunk)
    }

    /// The number among the tiles of all runs of a tile of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn number_of(&self, tile: u32) -> u64 {
        self.first_tile() + u64::from(tile)
    }

    /// The lanes of a step whose values are stored.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn marks<T: Thread>(&self, t: T, tile: &Tile, number: u32, step: u32) -> u32 {
        if self.record.form != Form::Raw {
            let params = self.params;
            let marks = layout::marks(params.regions, &params.tiling, self.number_of(number));
            return t.load(marks, u64::from(step));
        }
        let order = self.params.tiling.order;
        let mut marks = 0;
        for lane in 0..t.opaque(WARP) {
            let is_inside = tile.position.has(position(order.shape, step, lane));
            let has_code = is_inside && order.zone(step, lane).is_some();
            marks |= u32::from(has_code) << lane;
        }
        marks
    }

    /// Writes value number `number` of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn place_value<T: Thread>(&mut self, t: T, tile: &Tile, step: u32, lane: u32, number: u32) {
        let words = self.params.element_words;
        let field = if tile.is_coarse {
            self.params.coarse
        } else {
            self.params.field
        };
        let shape = self.params.tiling.order.shape;
        let from = tile
            .grid
            .flat(tile.position.at(position(shape, step, lane)));
        let to = self.record.values_at + number * words;
        for i in 0..t.opaque(words) {
            let value = t.load(field, from * u64::from(words) + u64::from(i));
            self.store(t, to + i, value);
        }
    }

    /// Writes the chunk's padding.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn place_padding<T: Thread>(&mut self, t: T) {
        let record = &self.record;
        let end = record.values_at + record.values * self.params.element_words;
        let at = end + t.thread_index();
        if at < record.image_words {
            self.store(t, at, 0);
        }
    }
}
