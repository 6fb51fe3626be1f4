//! Compression of a batch in one kernel: one thread block an array, one thread a group of each of its chunks.
//!
//! 1. Look up the array. An array that cannot be compressed gets a stream of 0 bytes.
//! 2. Find its extremes, if the bound needs them, and resolve the bound.
//! 3. Code its chunks, one after the other, as the kernel of single fields does.
//! 4. Write the header, and the length of the stream.

use crate::PACKAGE;
use crate::pipeline::batch::arrays::Arrays;
use crate::pipeline::blocks::compress::field::FieldOf;
use crate::pipeline::blocks::compress::parameters::Scratch;
use crate::pipeline::blocks::compress::taken_chunk::TakenChunk;
use crate::pipeline::blocks::compress::{Compress, Stages};
use crate::pipeline::blocks::staged_chunk::UnitSteps;
use crate::pipeline::blocks::{CHUNK_THREADS, CHUNK_WARPS};
use crate::primitives::scan::warp_max_u64;
use crate::quantize::extremes::{resolve, see_share};
use core::array::from_fn;
use core::convert::Infallible;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::chunk::CHUNK;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::header::{HEADER_BYTES, max_line_bytes};
use ferrosz_codec::container::header_words::{Ending, LineDraft, LineLength, error_term};
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::container::table::ENTRY_BYTES;
use ferrosz_codec::pipeline::StaticCodec;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{GROUP, Line};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View};

/// Compresses arrays of `E` with codec `C` in blocks that are lines. Launched with one block an array.
pub struct CompressBatch<E, C>(PhantomData<(E, C)>);

/// Parameters of [`CompressBatch`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CompressBatchParams {
    /// The arrays: elements of each input, bytes of each output.
    pub arrays: Arrays,
    /// The lengths of the streams in bytes, to be written; 0 for an array that is not aligned, or whose output may be
    /// too small for its stream.
    pub sizes: View<u64>,
    /// The header of lines.
    pub header: LineDraft,
    /// The bits of the quantiser, if the bound needs no extremes.
    pub quantizer: [u64; 3],
    /// The bound's number.
    pub bound: f64,
    /// The bound's mode.
    pub mode: u32,
    /// Not 0 if the bound needs extremes.
    pub needs_extremes: u32,
}

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct BatchScratch<E> {
    chunk: Scratch<E>,
    array: ArrayCells,
    /// The warps' extremes for each of two cells.
    extremes: Shared<u64>,
}

impl<E: Element> BatchScratch<E> {
    const SHARED: (Self, Layout) = {
        let mut layout = Layout::new();
        let scratch = Self {
            chunk: Scratch::new(&mut layout),
            array: ArrayCells(layout.array("array", ArrayCells::COUNT)),
            extremes: layout.array("extremes of warps", 2 * CHUNK_WARPS as u32),
        };
        (scratch, layout)
    };
}

/// The array of a thread block, in shared memory.
#[derive(Clone, Copy)]
struct ArrayCells(Shared<u64>);

impl ArrayCells {
    const INPUT: u32 = 0;
    const ELEMENTS: u32 = 1;
    const STREAM: u32 = 2;
    const STREAM_BYTES: u32 = 3;
    /// Three cells.
    const QUANTIZER: u32 = 4;
    const IDENTITY: u32 = 7;
    /// The bytes of the chunks before the present one.
    const START: u32 = 8;
    const COUNT: u32 = 9;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn elements<T: Thread>(self, t: T) -> u64 {
        self.0.load(t, Self::ELEMENTS)
    }
}

impl<E: Element> FieldOf<E> for ArrayCells {
    type Source = View<u32>;
    type Map = Infallible;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn source<T: Thread>(&self, t: T) -> View<u32> {
        let words = self.elements(t) * E::WORDS as u64;
        // SAFETY: the launch promises so many elements there.
        unsafe { View::at(self.0.load(t, Self::INPUT), words) }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn map<T: Thread>(&self, _: T) -> Option<Infallible> {
        None
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn stream<T: Thread>(&self, t: T) -> View<u32> {
        let bytes = self.0.load(t, Self::STREAM_BYTES);
        // SAFETY: the launch promises so many bytes there.
        unsafe { View::at(self.0.load(t, Self::STREAM), bytes / 4) }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn entries<T: Thread>(&self, t: T) -> u64 {
        Grid::line(self.elements(t)).chunk_count()
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn quantizer<T: Thread>(&self, t: T) -> Quantizer<E> {
        Quantizer::from_bits(from_fn(|i| self.0.load(t, Self::QUANTIZER + i as u32)))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn identity<T: Thread>(&self, t: T) -> Identity {
        Identity(self.0.load(t, Self::IDENTITY))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn grid(&self) -> &Grid {
        const { &Grid::line(0) }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn has_holes(&self) -> bool {
        false
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn steps(&self) -> &UnitSteps {
        const { &UnitSteps::NONE }
    }
}

impl<E: Element, C: StaticCodec> Kernel for CompressBatch<E, C> {
    type Params = CompressBatchParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_compress_batch", C::CODEC.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = BatchScratch::<E>::SHARED.1.words();
    // With four blocks, threads would spill what the compiler computes once for all chunks.
    const RESIDENT_BLOCKS: u32 = 3;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &CompressBatchParams) {
        let BatchScratch {
            chunk: scratch,
            array,
            extremes,
        } = BatchScratch::<E>::SHARED.0;
        // 1. Look up the array.
        if !Self::open(t, params, array) {
            return;
        }
        // 2. Resolve the bound.
        Self::resolve(t, params, array, extremes);
        // 3. Code the chunks.
        let mut number = 0u32;
        while u64::from(number) < FieldOf::<E>::entries(&array, t) {
            Self::chunk(t, array, scratch, u64::from(number));
            number += 1;
        }
        // 4. Write the header and the length.
        if t.thread_index() == 0 {
            Self::close(t, params, array);
        }
    }
}

impl<E: Element, C: StaticCodec> CompressBatch<E, C> {
    /// Leaves the block's array in shared memory, for the first thread; whether it can be compressed.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn open<T: Thread>(t: T, params: &CompressBatchParams, array: ArrayCells) -> bool {
        let own = params.arrays.own(t);
        let most = max_line_bytes(own.input_size, E::BYTES as u64);
        let fits = most.is_some_and(|most| most <= own.output_size);
        let has_numbers = Grid::line(own.input_size).chunk_count() <= u64::from(u32::MAX);
        if !fits || !has_numbers || !own.is_aligned() {
            if t.thread_index() == 0 {
                t.store_u64(params.sizes, u64::from(t.block_index()), 0);
            }
            return false;
        }
        if t.thread_index() == 0 {
            let cells = [
                (ArrayCells::INPUT, own.input),
                (ArrayCells::ELEMENTS, own.input_size),
                (ArrayCells::STREAM, own.output),
                (ArrayCells::STREAM_BYTES, own.output_size),
                (ArrayCells::START, 0),
            ];
            for (at, value) in &cells {
                array.0.store(t, *at, *value);
            }
        }
        true
    }

    /// Leaves quantiser and identity in shared memory. Ends with a barrier.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn resolve<T: Thread>(
        t: T,
        params: &CompressBatchParams,
        array: ArrayCells,
        extremes: Shared<u64>,
    ) {
        let mut quantizer = params.quantizer;
        if params.needs_extremes != 0 {
            // The array is in shared memory.
            t.barrier();
            let found = Self::extremes(t, array, extremes);
            if t.thread_index() == 0 {
                let found = Extremes::<E>::from_cells(found);
                quantizer = resolve(params.mode, params.bound, &found);
            }
        }
        if t.thread_index() == 0 {
            for (i, bits) in (0..).zip(&quantizer) {
                array.0.store(t, ArrayCells::QUANTIZER + i, *bits);
            }
            let sum = params.header.identity_sum(Self::length(t, array));
            // The first of the quantiser's numbers is the error.
            let identity = Identity::of_sum(sum.wrapping_add(error_term(quantizer[0])));
            array.0.store(t, ArrayCells::IDENTITY, identity.0);
        }
        t.barrier();
    }

    /// The extremes of the array, in the first warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn extremes<T: Thread>(t: T, array: ArrayCells, extremes: Shared<u64>) -> [u64; 2] {
        const WARPS: u32 = CHUNK_WARPS as u32;
        let (thread, threads) = (u64::from(t.thread_index()), u64::from(CHUNK_THREADS));
        let input = FieldOf::<E>::source(&array, t);
        let mut own = Extremes::default();
        see_share(t, input, array.elements(t), thread, threads, |value: E| {
            own.see(value);
        });
        let seen = own.to_cells();
        let largest = [warp_max_u64(t, seen[0]), warp_max_u64(t, seen[1])];
        if t.lane() == 0 {
            for (i, cell) in (0..).zip(&largest) {
                extremes.store(t, WARPS * i + t.warp(), *cell);
            }
        }
        t.barrier();
        let mut found = [0; 2];
        if t.warp() == 0 {
            for (i, found) in (0..).zip(&mut found) {
                let mut cell = 0;
                if t.lane() < WARPS {
                    cell = extremes.load(t, WARPS * i + t.lane());
                }
                *found = warp_max_u64(t, cell);
            }
        }
        found
    }

    /// Codes a chunk behind those before. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn chunk<T: Thread>(t: T, array: ArrayCells, scratch: Scratch<E>, number: u64) {
        let grid = Grid::line(array.elements(t));
        let taken: TakenChunk<_, E, Line> =
            TakenChunk::new(array, scratch, number, grid.line_chunk(number));
        if (number + 2) * CHUNK as u64 <= array.elements(t) {
            Self::prefetch(t, array, number + 1);
        }
        taken.stage(t);
        let coded = Stages::<E, Line>::code(t, C::CODEC, &taken, scratch);
        let positions = Stages::<E, Line>::positions(t, &coded, scratch);
        let plan = Stages::<E, Line>::plan(t, C::CODEC, &taken, &coded, positions);
        // All threads have read their rows, and the image may overwrite them.
        t.barrier();
        Compress::<E, C, Line>::build(t, &taken, coded, &plan, scratch);
        t.barrier();
        let sum = taken.copy_image(t, array.0.load(t, ArrayCells::START), plan.words);
        Compress::<E, C, Line>::add_up(t, sum, scratch, |sum| {
            let start = array.0.load(t, ArrayCells::START);
            taken.write_entry(t, start, plan.words, plan.form, sum);
            let end = start + 4 * u64::from(plan.words);
            array.0.store(t, ArrayCells::START, end);
        });
    }

    /// Sends for a whole chunk, 32 elements a thread.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn prefetch<T: Thread>(t: T, array: ArrayCells, number: u64) {
        let input = FieldOf::<E>::source(&array, t);
        let element = number * CHUNK as u64 + (t.thread_index() * GROUP as u32) as u64;
        for i in 0..E::WORDS {
            t.prefetch(input, element * E::WORDS as u64 + (GROUP * i) as u64);
        }
    }

    /// Writes the header, and the length of the stream. For one thread, after all chunks.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn close<T: Thread>(t: T, params: &CompressBatchParams, array: ArrayCells) {
        let payload_bytes = array.0.load(t, ArrayCells::START);
        let length = Self::length(t, array);
        let ending = Ending {
            error_bits: FieldOf::<E>::quantizer(&array, t).error().to_bits64(),
            identity: FieldOf::<E>::identity(&array, t),
            payload_bytes,
        };
        let stream = FieldOf::<E>::stream(&array, t);
        params.header.for_each_unit(length, &ending, |unit, words| {
            t.store4(stream, unit as u64, words);
        });
        let before = HEADER_BYTES as u64 + length.entries * ENTRY_BYTES as u64;
        let bytes = before + payload_bytes;
        t.store_u64(params.sizes, u64::from(t.block_index()), bytes);
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn length<T: Thread>(t: T, array: ArrayCells) -> LineLength {
        LineLength {
            elements: array.elements(t),
            entries: FieldOf::<E>::entries(&array, t),
        }
    }
}
