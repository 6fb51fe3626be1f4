//! Decompression of a batch in one kernel: one thread block a stream, one thread a group of each of its chunks.
//!
//! Each stream has a fault of its own, so that a damaged one spoils no other. Nothing is written for a stream whose header
//! is not that of a line of the expected length; otherwise the output is as that of
//! [`Decompress`](crate::pipeline::blocks::decompress::Decompress). The streams of a batch may have different codecs.

use crate::PACKAGE;
use crate::pipeline::batch::arrays::Arrays;
use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::decompress::header_is_sound;
use crate::pipeline::blocks::decompress::stored_chunk::{Scratch, StoredChunk};
use crate::pipeline::blocks::decompress::stream::{StreamOf, first_payload_unit, stream_units};
use crate::pipeline::blocks::output::Words;
use crate::pipeline::cells::Fault;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::header_words::{LayoutWords, Summary};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::shape::{Line, StaticShape};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View};

/// Decompresses streams of lines of `E`. Launched with one block a stream.
pub struct DecompressBatch<E>(PhantomData<E>);

/// Parameters of [`DecompressBatch`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DecompressBatchParams {
    /// The arrays: bytes of each stream, elements of each output.
    pub arrays: Arrays,
    /// The fault of each stream, as a cell (see [`Fault`]), to be written.
    pub faults: View<u64>,
    /// The first words of the header of a line, whatever its codec and length.
    pub layout: LayoutWords,
    /// Not 0 to compare checksums.
    pub verify: u32,
}

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct BatchScratch<E> {
    chunk: Scratch<E>,
    stream: StreamCells,
}

impl<E: Element> BatchScratch<E> {
    const SHARED: (Self, Layout) = {
        let mut layout = Layout::new();
        let scratch = Self {
            chunk: Scratch::new(&mut layout),
            stream: StreamCells(layout.array("stream", StreamCells::COUNT)),
        };
        (scratch, layout)
    };
}

/// The stream of a thread block, in shared memory.
#[derive(Clone, Copy)]
struct StreamCells(Shared<u64>);

impl StreamCells {
    const STREAM: u32 = 0;
    const STREAM_BYTES: u32 = 1;
    const OUTPUT: u32 = 2;
    const ELEMENTS: u32 = 3;
    /// The position of the codec in [`BlockCodec::ALL`].
    const CODEC: u32 = 4;
    /// The fault so far, which only the first thread reads and writes.
    const FAULT: u32 = 5;
    /// The number of the present chunk.
    const NUMBER: u32 = 6;
    const COUNT: u32 = 7;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn elements<T: Thread>(self, t: T) -> u64 {
        self.0.load(t, Self::ELEMENTS)
    }
}

/// A chunk of the stream of a thread block.
#[derive(Clone, Copy)]
struct ChunkOf<'a> {
    params: &'a DecompressBatchParams,
    stream: StreamCells,
}

impl StreamOf for ChunkOf<'_> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn stream<T: Thread>(&self, t: T) -> View<u32> {
        let cells = self.stream.0;
        let bytes = cells.load(t, StreamCells::STREAM_BYTES);
        // SAFETY: the launch promises so many bytes there.
        unsafe { View::at(cells.load(t, StreamCells::STREAM), bytes / 4) }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn header<T: Thread>(&self, t: T) -> View<u32> {
        self.stream(t)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn table<T: Thread>(&self, t: T) -> View<u32> {
        self.stream(t).from(HEADER_WORDS as u64)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn entries<T: Thread>(&self, t: T) -> u64 {
        Grid::line(self.stream.elements(t)).chunk_count()
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn number_again<T: Thread, S: StaticShape>(&self, t: T) -> u64 {
        self.stream.0.load(t, StreamCells::NUMBER)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn verifies(&self) -> bool {
        self.params.verify != 0
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn report<T: Thread>(&self, t: T, fault: Fault) {
        let known = self.stream.0.load(t, StreamCells::FAULT);
        let fault = known.max(fault.to_cell());
        self.stream.0.store(t, StreamCells::FAULT, fault);
    }
}

impl<E: Element> Kernel for DecompressBatch<E> {
    type Params = DecompressBatchParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_decompress_batch", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = BatchScratch::<E>::SHARED.1.words();
    // With four blocks, threads would spill what the compiler computes once for all chunks.
    const RESIDENT_BLOCKS: u32 = 3;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &DecompressBatchParams) {
        let BatchScratch {
            chunk: scratch,
            stream,
        } = BatchScratch::<E>::SHARED.0;
        // 1. Check the header.
        if Self::open(t, params, stream).is_none() {
            Self::close(t, params, Fault::Header.to_cell());
            return;
        }
        // 2. Decode the chunks.
        let chunk = ChunkOf { params, stream };
        while chunk.number_again::<T, Line>(t) < chunk.entries(t) {
            Self::chunk(t, chunk, scratch);
            t.barrier();
            if t.thread_index() == 0 {
                let next = chunk.number_again::<T, Line>(t) + 1;
                stream.0.store(t, StreamCells::NUMBER, next);
            }
            t.barrier();
        }
        // 3. Write the fault.
        Self::close(t, params, stream.0.load(t, StreamCells::FAULT));
    }
}

impl<E: Element> DecompressBatch<E> {
    /// Leaves the block's stream in shared memory; nothing if it is not that of a line of the expected length. For the
    /// whole block. Ends with a barrier.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn open<T: Thread>(t: T, params: &DecompressBatchParams, stream: StreamCells) -> Option<()> {
        let own = params.arrays.own(t);
        // SAFETY: the launch promises so many bytes there.
        let view: View<u32> = unsafe { View::at(own.input, own.input_size / 4) };
        let chunks = Grid::line(own.output_size).chunk_count();
        stream_units(view).checked_sub(first_payload_unit(chunks))?;
        if !own.is_aligned() || chunks > u64::from(u32::MAX) {
            return None;
        }
        Self::prefetch(t, view);
        let word = |word: usize| t.load(view, word as u64);
        let codec = Summary::block_codec(word)?;
        let mut is_wrong = false;
        if t.warp() == 0 {
            let is_of_line = Summary::is_of_line(&params.layout, own.output_size, word);
            is_wrong = !(header_is_sound(t, word) & is_of_line);
        }
        if t.thread_index() == 0 {
            let cells = [
                (StreamCells::STREAM, own.input),
                (StreamCells::STREAM_BYTES, own.input_size),
                (StreamCells::OUTPUT, own.output),
                (StreamCells::ELEMENTS, own.output_size),
                (StreamCells::CODEC, u64::from(codec.position())),
                (StreamCells::FAULT, 0),
                (StreamCells::NUMBER, 0),
            ];
            for (at, value) in &cells {
                stream.0.store(t, *at, *value);
            }
        }
        (!t.barrier_or(is_wrong)).then_some(())
    }

    /// Writes the fault, a cell that only the first thread needs to know.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn close<T: Thread>(t: T, params: &DecompressBatchParams, fault: u64) {
        if t.thread_index() == 0 {
            t.store_u64(params.faults, u64::from(t.block_index()), fault);
        }
    }

    /// Sends for the start of a stream, 128 bytes a thread: the header, the table and the first chunks would wait for
    /// memory one after the other.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn prefetch<T: Thread>(t: T, stream: View<u32>) {
        let word = u64::from(t.thread_index()) * 32;
        if word < stream.len() {
            t.prefetch(stream, word);
        }
    }

    /// Decodes a chunk. For the whole block, which may then overwrite its shared memory.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn chunk<T: Thread>(t: T, of: ChunkOf<'_>, scratch: Scratch<E>) {
        let number = of.number_again::<T, Line>(t);
        let chunk = || {
            let number = of.number_again::<T, Line>(t);
            Grid::line(of.stream.elements(t)).line_chunk(number)
        };
        let codec = of.stream.0.load(t, StreamCells::CODEC) as u32;
        // The codec of `open`.
        let Some(codec) = BlockCodec::at(codec) else {
            return;
        };
        let mut stored: StoredChunk<_, E, Line> =
            StoredChunk::new(t, of, scratch, codec, number, chunk());
        // `open` has found the stream long enough.
        let before = first_payload_unit(of.entries(t));
        stored.locate(stream_units(of.stream(t)).saturating_sub(before));
        let words = match stored.read(t) {
            Ok(words) => words,
            Err(fault) => {
                stored.report(t, fault);
                Words::Filled(0, 0)
            }
        };
        let output_words = of.stream.elements(t).saturating_mul(E::WORDS as u64);
        // SAFETY: the launch promises so many elements there.
        let output = unsafe { View::at(of.stream.0.load(t, StreamCells::OUTPUT), output_words) };
        // Computed a second time, so that it needs no registers in between.
        stored.held().write_line(t, words, output, &chunk());
    }
}
