//! Decompression in one kernel: one thread block a chunk, one thread a group.
//!
//! The chunk table says where a chunk lies, so no block waits for another. The chunk's bytes are
//! brought into shared memory, their checksum taken on the way; each thread reads its body, adds
//! its differences up, and the elements leave through shared memory again, 16 bytes a thread.
//!
//! Whatever the stream holds, no access leaves it or the output: a chunk whose parts contradict
//! each other is reported in the fault cell and decodes to zeros. A chunk with a wrong checksum is
//! reported, and its decoded elements are not meant to be used.

use crate::PACKAGE;
use crate::code::fixed_length::read_body;
use crate::pipeline::blocks::groups;
use crate::pipeline::blocks::output::{Output, Words};
use crate::pipeline::blocks::staged_chunk::{StagedChunk, UNIT_WORDS, UnitSteps};
use crate::pipeline::blocks::{CHUNK_THREADS, CHUNK_WARPS};
use crate::pipeline::cells::{self, Fault};
use crate::predict::group;
use crate::primitives::element::by_width;
use crate::primitives::scan::{
    BlockSum, block_sum, store_warp_sum_u64, sum_of_warps, warp_sum_u64,
};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::chunk::{CONSTANT_WORDS, Form, Sections, raw_words};
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::header::{CHECKSUM_WORD, HEADER_WORDS};
use ferrosz_codec::container::header_words::{LAYOUT_WORDS, Summary};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::table::Entry;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::difference;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{GROUP, Shape, StaticShape};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Decompresses elements of `E` from blocks of shape `S`. Launched with one block for each chunk that
/// the region may touch.
pub struct Decompress<E, S>(PhantomData<(E, S)>);

/// Parameters of [`Decompress`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DecompressParams {
    /// The stream, 16-byte aligned. Nothing behind its end is read.
    pub stream: View<u32>,
    /// The output: the elements, 16-byte aligned.
    pub output: View<u32>,
    /// The workspace: see [`cells`].
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
    pub layout: [u32; LAYOUT_WORDS],
    /// The codec: its index in [`BlockCodec::ALL`].
    pub codec: u32,
    /// Not 0 to compare checksums.
    pub verify: u32,
}

/// 16-byte units of the header.
const HEADER_UNITS: u64 = HEADER_WORDS as u64 / UNIT_WORDS as u64;

impl<E: Element, S: StaticShape> Kernel for Decompress<E, S> {
    type Params = DecompressParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_decompress", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = Scratch::<E>::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &DecompressParams) {
        // 1. Find the chunk in the table.
        let Some(stored) = StoredChunk::<E, S>::find(t, params) else {
            return;
        };
        // 2. Bring its bytes in and, if it is coded, decode them to elements.
        let words = match stored.read(t) {
            Ok(words) => words,
            Err(fault) => {
                stored.report(t, fault);
                Words::Filled(0, 0)
            }
        };
        // 3. Write its elements that lie in the region.
        stored.output(&stored.chunk_again(t)).write(t, words);
    }
}

/// The shared memory of a block. The chunk's elements overwrite its image.
#[derive(Clone, Copy)]
struct Scratch<E> {
    image: Shared<u32>,
    elements: StagedChunk<E>,
    body_sums: Shared<u32>,
    flag_sums: Shared<u32>,
    value_sums: Shared<u32>,
    layer_sums: Shared<u32>,
    checksums: Shared<u64>,
    /// For each thread its exceptions, and the word of the image at which their values start: here and not in
    /// registers.
    exceptions: Shared<u32>,
}

impl<E: Element> Scratch<E> {
    const SHARED: (Self, Layout) = {
        // Words behind the image, for readers of unaligned words.
        const SLACK: u32 = 4;
        let mut layout = Layout::new();
        let [mut early, mut late] = layout.overlays();
        let image = early.array("image", StagedChunk::<E>::WORDS + SLACK);
        let elements = StagedChunk::new(&mut late);
        layout.join([early, late]);
        let warps = CHUNK_WARPS as u32;
        let scratch = Self {
            image,
            elements,
            body_sums: layout.array("sums of bodies", warps),
            flag_sums: layout.array("sums of flags", warps),
            value_sums: layout.array("sums of values", warps),
            layer_sums: layout.array("sums of a layer", warps),
            checksums: layout.array("checksums", warps),
            exceptions: layout.array("exceptions", 2 * CHUNK_THREADS),
        };
        (scratch, layout)
    };
}

/// The chunk of a thread block, as the stream has it.
struct StoredChunk<'a, E, S> {
    params: &'a DecompressParams,
    quantizer: Quantizer<E>,
    codec: BlockCodec,
    number: u64,
    chunk: ChunkBox,
    entry: Entry,
    /// The chunk's words in the stream, if its position is possible.
    words: Option<u32>,
    shape: PhantomData<S>,
}

/// A coded chunk's parts, as a thread sees them.
struct Parts {
    rate: RateByte,
    /// The byte of the image at which this thread's body starts.
    body_at: u32,
}

impl<'a, E: Element, S: StaticShape> StoredChunk<'a, E, S> {
    const SHARED: Scratch<E> = Scratch::<E>::SHARED.0;
    const IS_LINE: bool = matches!(S::SHAPE, Shape::Line);

    /// This block's chunk; none if the stream ends before its payload, or if no part of the chunk is to be decoded. The
    /// chunk has no words if its position or length is impossible.
    #[inline(always)]
    fn find<T: Thread>(t: T, params: &'a DecompressParams) -> Option<Self> {
        let grid = &params.grid;
        let at = Self::position(t.block_index(), params);
        let number = Self::number(grid, at);
        let chunk = grid.chunk_at(at);
        let units = params.stream.len() / u64::from(UNIT_WORDS);
        let Some(payload_units) = units.checked_sub(first_payload_unit(grid)) else {
            Self::refuse(t, params);
            return None;
        };
        let word = |word: usize| t.load(params.stream, word as u64);
        // One look at the header is enough; whatever the other blocks do meanwhile is in bounds.
        if t.block_index() == 0 && t.warp() == 0 {
            let is_sound = header_is_sound(t, word) & Summary::is_of(&params.layout, word);
            if !is_sound {
                Self::refuse(t, params);
            }
        }
        let summary = Summary::from_words(word);
        let entry = load_entry(t, params, number);
        let mut stored = Self {
            params,
            quantizer: Quantizer::from_error(E::from_bits64(summary.error_bits)),
            codec: BlockCodec::at(params.codec)?,
            number,
            chunk,
            entry,
            words: None,
            shape: PhantomData,
        };
        if !stored.is_asked_for(t) {
            return None;
        }
        let raw = raw_words(chunk.elements(), E::WORDS as u32);
        let words = entry.bytes / 4;
        if entry.range().end / 16 <= payload_units && words <= u64::from(raw) {
            stored.words = Some(words as u32);
        }
        Some(stored)
    }

    /// The position of a thread block's chunk, in chunks along each dimension.
    #[inline(always)]
    fn position(block: u32, params: &DecompressParams) -> [u64; 3] {
        let mut at = params.first_chunk;
        if Self::IS_LINE {
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
    #[inline(always)]
    fn number(grid: &Grid, at: [u64; 3]) -> u64 {
        let [_, rows, columns] = grid.chunks();
        (at[0] * rows + at[1]) * columns + at[2]
    }

    /// The chunk, computed a second time, so that it needs no registers in between.
    #[inline(always)]
    fn chunk_again<T: Thread>(&self, t: T) -> ChunkBox {
        let at = Self::position(t.opaque(t.block_index()), self.params);
        self.params.grid.chunk_at(at)
    }

    /// Whether the region has any of the chunk's elements. For the whole block.
    #[inline(always)]
    fn is_asked_for<T: Thread>(&self, t: T) -> bool {
        let region = &self.params.region;
        if !Self::IS_LINE || region.is_line() {
            return true;
        }
        let row = t.thread_index() * GROUP as u32;
        let length = self.chunk.elements().saturating_sub(row).min(GROUP as u32);
        let mut has_any = false;
        let flat = self.chunk.origin[2] + u64::from(row);
        region.cut(flat, u64::from(length), |_, _| has_any = true);
        t.barrier_or(has_any)
    }

    /// The output for the chunk's elements.
    #[inline(always)]
    fn output<'b>(&'b self, chunk: &'b ChunkBox) -> Output<'b, E, S> {
        let params = self.params;
        Output {
            output: params.output,
            first: params.output_first,
            grid: &params.grid,
            region: &params.region,
            steps: &params.steps,
            chunk,
            image: Self::SHARED.image,
            elements: Self::SHARED.elements,
            shape: PhantomData,
        }
    }

    /// Reports a header that is not the expected one, once.
    #[inline(always)]
    fn refuse<T: Thread>(t: T, params: &DecompressParams) {
        if t.thread_index() == 0 {
            t.atomic_max(params.cells, cells::FAULT, Fault::Header.to_cell());
        }
    }

    /// Reports a fault of the chunk.
    #[inline(always)]
    fn report<T: Thread>(&self, t: T, fault: ChunkFault) {
        if t.thread_index() == 0 {
            let fault = Fault::Chunk(self.number, fault as u32);
            t.atomic_max(self.params.cells, cells::FAULT, fault.to_cell());
        }
    }

    /// Brings the chunk's elements into shared memory; where they are. For the whole block.
    #[inline(always)]
    fn read<T: Thread>(&self, t: T) -> Result<Words, ChunkFault> {
        let words = self.words.ok_or(ChunkFault::Place)?;
        let form = Form::from_id(self.entry.form);
        if words == 0 {
            self.verify(t, 0);
            return match form.ok_or(ChunkFault::Form)? {
                Form::Zero => Ok(Words::Filled(0, 0)),
                _ => Err(ChunkFault::Length),
            };
        }
        let sums = Self::SHARED.checksums;
        let sum = self.load_image(t, words);
        store_warp_sum_u64(t, sum, sums);
        t.barrier();
        if t.warp() == 0 {
            self.verify(t, sum_of_warps::<T, CHUNK_WARPS>(t, sums));
        }
        match form.ok_or(ChunkFault::Form)? {
            Form::Raw if words == raw_words(self.chunk.elements(), E::WORDS as u32) => {
                Ok(Words::InImage)
            }
            Form::Constant if words == CONSTANT_WORDS => {
                let [low, high] = [0, 1].map(|word| Self::SHARED.image.load(t, word));
                Ok(Words::Filled(low, high))
            }
            // One call: each would be a copy of all of decoding.
            form @ (Form::Coded | Form::CodedWithExceptions) => {
                self.decode(t, words, form == Form::CodedWithExceptions)
            }
            Form::Zero | Form::Raw | Form::Constant => Err(ChunkFault::Length),
        }
    }

    /// Reports a wrong checksum. `sum` is the summand of the chunk's words in it.
    #[inline(always)]
    fn verify<T: Thread>(&self, t: T, sum: u64) {
        if self.params.verify != 0 {
            let summary = Summary::from_words(|word| t.load(self.params.stream, word as u64));
            let seed = summary.identity.seed(self.number, self.entry.form);
            if sum.wrapping_add(seed) != self.entry.checksum {
                self.report(t, ChunkFault::Checksum);
            }
        }
    }

    /// The chunk's first 16-byte unit in the stream.
    #[inline(always)]
    fn first_unit(&self, entry: &Entry) -> u64 {
        first_payload_unit(&self.params.grid) + entry.start / 16
    }

    /// Brings the chunk's bytes into shared memory; this thread's part of the checksum.
    #[inline(always)]
    fn load_image<T: Thread>(&self, t: T, words: u32) -> u64 {
        let first = self.first_unit(&self.entry);
        let units = words / UNIT_WORDS;
        let load = |unit: u32| {
            if unit < units {
                t.load4(self.params.stream, first + u64::from(unit))
            } else {
                [0; 4]
            }
        };
        let mut sum = 0u64;
        let mut unit = t.thread_index();
        while unit < units {
            // Two at once, so that few threads wait for memory twice.
            let later = unit + CHUNK_THREADS;
            let loaded = [load(unit), load(later)];
            for (unit, values) in [unit, later].iter().zip(&loaded) {
                if *unit < units {
                    Self::SHARED.image.store4(t, UNIT_WORDS * unit, *values);
                    for (i, word) in values.iter().enumerate() {
                        sum = sum.wrapping_add(term(UNIT_WORDS * unit + i as u32, *word));
                    }
                }
            }
            unit += 2 * CHUNK_THREADS;
        }
        if t.thread_index() == 0 {
            Self::SHARED.image.store(t, words, 0);
        }
        sum
    }

    /// Decodes the image of a coded chunk to its elements. For the whole block.
    #[inline(always)]
    fn decode<T: Thread>(
        &self,
        t: T,
        words: u32,
        has_exceptions: bool,
    ) -> Result<Words, ChunkFault> {
        let parts = self.find_parts(t, words, has_exceptions)?;
        let mut codes = self.read_codes(t, &parts);
        self.predict_backward(t, &mut codes);
        // The elements overwrite the image.
        t.barrier();
        Self::SHARED
            .elements
            .set_row(t, |e| self.quantizer.dequantize(codes[e]));
        if has_exceptions {
            self.read_exceptions(t);
        }
        if Self::IS_LINE {
            t.sync_warp();
        } else {
            t.barrier();
        }
        Ok(Words::Staged)
    }

    /// This thread's differences.
    #[inline(always)]
    fn read_codes<T: Thread>(&self, t: T, parts: &Parts) -> Group {
        let number = t.lane() % groups::<S>();
        let image = Self::SHARED.image;
        read_body(
            t,
            image,
            S::SHAPE,
            number,
            parts.rate,
            parts.body_at,
            self.codec,
        )
    }

    /// Differences to codes. For the whole block.
    #[inline(always)]
    fn predict_backward<T: Thread>(&self, t: T, codes: &mut Group) {
        group::backward(t, self.codec.predictor(), S::SHAPE, codes);
        if self.codec.is_layered() {
            let initial = Self::SHARED.image.load(t, self.sections().initial());
            let initial = initial.cast_signed();
            let sum = codes[GROUP - 1].cast_unsigned();
            let sums = block_sum::<T, CHUNK_WARPS>(t, sum, Self::SHARED.layer_sums);
            difference::add(codes, initial.wrapping_add(sums.before.cast_signed()));
        }
    }

    /// The sections of the chunk; if they are contradictory, the same fault for the whole block.
    #[inline(always)]
    fn find_parts<T: Thread>(
        &self,
        t: T,
        words: u32,
        has_exceptions: bool,
    ) -> Result<Parts, ChunkFault> {
        let mut sections = self.sections();
        if sections.bodies() > words {
            return Err(ChunkFault::Length);
        }
        let rate = self.read_rate(t, &sections);
        // The bytes of a refused rate are a large number: so no other barrier is needed to find it.
        let bytes = rate.map_or(1 << 20, |rate| rate.body_bytes(groups::<S>()));
        let own_bytes = if t.lane().is_multiple_of(groups::<S>()) {
            bytes
        } else {
            0
        };
        let bodies = block_sum::<T, CHUNK_WARPS>(t, own_bytes, Self::SHARED.body_sums);
        if bodies.total >= 1 << 20 {
            return Err(ChunkFault::Rate);
        }
        sections.body_bytes = bodies.total;
        let parts = Parts {
            rate: rate.unwrap_or_default(),
            // The bytes before the second group's are those before its block and its block's.
            body_at: 4 * sections.bodies() + bodies.before - (bytes - own_bytes),
        };
        if has_exceptions {
            self.find_exceptions(t, words, &mut sections)?;
        }
        if sections.words(E::WORDS as u32) == words && has_exceptions == (sections.exceptions > 0) {
            Ok(parts)
        } else {
            Err(ChunkFault::Length)
        }
    }

    /// The chunk's sections, as far as its blocks tell.
    #[inline(always)]
    fn sections(&self) -> Sections {
        Sections::of(self.chunk.block_count(S::SHAPE), S::SHAPE, self.codec)
    }

    /// This thread's rate byte; none if no encoder writes it.
    #[inline(always)]
    fn read_rate<T: Thread>(&self, t: T, sections: &Sections) -> Option<RateByte> {
        let block = t.thread_index() / groups::<S>();
        if block < sections.blocks {
            let byte = (Self::SHARED.image.load(t, block / 4) >> (8 * (block % 4))) as u8;
            RateByte::from_byte(byte, self.codec.stores_outliers(), self.codec.max_planes())
        } else {
            Some(RateByte::default())
        }
    }

    /// Finds the exceptions, as the masks say.
    #[inline(always)]
    fn find_exceptions<T: Thread>(
        &self,
        t: T,
        words: u32,
        sections: &mut Sections,
    ) -> Result<(), ChunkFault> {
        if sections.element_masks() > words {
            return Err(ChunkFault::Length);
        }
        let mut flags = 0;
        if t.warp() < sections.groups.div_ceil(32) {
            flags = Self::SHARED.image.load(t, sections.group_mask() + t.warp());
        }
        let flag = flags >> t.lane() & 1;
        let flagged: BlockSum = block_sum::<T, CHUNK_WARPS>(t, flag, Self::SHARED.flag_sums);
        sections.flagged_groups = flagged.total;
        if sections.values() > words {
            return Err(ChunkFault::Length);
        }
        let mut mask = 0;
        if flag == 1 {
            mask = Self::SHARED
                .image
                .load(t, sections.element_masks() + flagged.before);
        }
        // An exception where there is no element makes the sum impossible.
        let groups = groups::<S>();
        let position = self.chunk.block(S::SHAPE, t.thread_index() / groups);
        let inside = S::SHAPE.inside(t.thread_index() % groups, position.inside);
        let outside = mask & !inside != 0;
        let count = if outside { 1 << 20 } else { mask.count_ones() };
        let values = block_sum::<T, CHUNK_WARPS>(t, count, Self::SHARED.value_sums);
        if values.total >= 1 << 20 {
            return Err(ChunkFault::Length);
        }
        sections.exceptions = values.total;
        let values_at = sections.values() + values.before * E::WORDS as u32;
        let at = 2 * t.thread_index();
        Self::SHARED.exceptions.store(t, at, mask);
        Self::SHARED.exceptions.store(t, at + 1, values_at);
        Ok(())
    }

    /// Puts this thread's exceptions into its row, from the stream, since the image is gone.
    #[inline(always)]
    fn read_exceptions<T: Thread>(&self, t: T) {
        let words = E::WORDS as u32;
        // Rare, so the entry is read again instead of staying in registers.
        let at = Self::position(t.opaque(t.block_index()), self.params);
        let entry = load_entry(t, self.params, Self::number(&self.params.grid, at));
        let first_word = u64::from(UNIT_WORDS) * self.first_unit(&entry);
        let at = 2 * t.thread_index();
        let mut left = Self::SHARED.exceptions.load(t, at);
        let mut from = Self::SHARED.exceptions.load(t, at + 1);
        while left != 0 {
            let element = t.thread_index() * GROUP as u32 + left.trailing_zeros();
            for i in 0..words {
                let word = t.load(self.params.stream, first_word + u64::from(from + i));
                Self::SHARED
                    .elements
                    .store_word(t, element * words + i, word);
            }
            from += words;
            left &= left - 1;
        }
    }
}

/// The payload's first 16-byte unit in the stream.
#[inline(always)]
fn first_payload_unit(grid: &Grid) -> u64 {
    HEADER_UNITS + grid.chunk_count()
}

/// The entry of a chunk.
#[inline(always)]
fn load_entry<T: Thread>(t: T, params: &DecompressParams, number: u64) -> Entry {
    Entry::from_words(t.load4(params.stream, HEADER_UNITS + number))
}

/// Whether the header has its checksum. For one warp.
#[inline(always)]
pub(crate) fn header_is_sound<T: Thread>(t: T, word: impl Fn(usize) -> u32) -> bool {
    let mut sum = 0u64;
    let mut at = t.lane();
    while at < CHECKSUM_WORD as u32 {
        sum = sum.wrapping_add(term(at, word(at as usize)));
        at += WARP;
    }
    Summary::has_checksum(warp_sum_u64(t, sum), word)
}
