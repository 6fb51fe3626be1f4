//! Decompression in one kernel: one thread block a chunk, one thread a coding block.
//!
//! The chunk table says where a chunk lies, so no block waits for another. The chunk's bytes are
//! brought into shared memory, their checksum taken on the way; each thread reads its body, adds
//! its differences up, and the elements leave through shared memory again, 16 bytes a thread.
//!
//! Whatever the stream holds, no access leaves it or the output: a chunk whose parts contradict
//! each other is reported in the fault cell and decodes to zeros. A chunk with a wrong checksum is
//! reported, and what it decodes to is not meant to be used.

use crate::kernel::cells::{self, Fault};
use crate::kernel::tile::{Tile, UNIT_WORDS};
use crate::kernel::{CHUNK_THREADS, CHUNK_WARPS};
use crate::scan::{BlockSum, block_sum, block_sum_u64, warp_sum_u64};
use crate::simt::{Thread, View};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::encode::block::SignedBlock;
use ferrosz_codec::encode::rate::{BLOCK, RateByte};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::Codec;
use ferrosz_codec::predict::difference;
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::stream::checksum::term;
use ferrosz_codec::stream::chunk::{
    CHUNK, CONSTANT_WORDS, Form, Sections, chunk_count, chunk_elements, raw_words,
};
use ferrosz_codec::stream::container::{CHECKSUM_WORD, HEADER_WORDS, Summary};
use ferrosz_codec::stream::table::{Entry, seed};

/// Decompresses elements of `E`. Launched with one block for each chunk that the range touches.
pub struct Decompress<E>(PhantomData<E>);

/// Parameters of [`Decompress`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DecompressParams {
    /// The stream, 16-byte aligned. What follows its end is not read.
    pub stream: View<u32>,
    /// Where the elements go, 16-byte aligned.
    pub output: View<u32>,
    /// The workspace: see [`cells`].
    pub cells: View<u64>,
    /// Elements of the field. A stream of another number is a fault.
    pub elements: u64,
    /// First element to decode.
    pub from: u64,
    /// First element not to decode.
    pub to: u64,
    /// Number of the codec. A stream of another codec is a fault.
    pub codec: u32,
    /// Not 0 to compare checksums.
    pub verify: u32,
}

/// Words of shared memory behind the tile.
const SCRATCH_WORDS: u32 = 64;

impl<E: Element> Decompress<E> {
    /// A word behind the image, for readers of unaligned words.
    const SLACK: u32 = 4;
    const SUMS: u32 = Tile::<E>::WORDS + Self::SLACK;
    const FLAG_SUMS: u32 = Self::SUMS + CHUNK_WARPS as u32;
    const VALUE_SUMS: u32 = Self::FLAG_SUMS + CHUNK_WARPS as u32;
    const CHECKSUMS: u32 = Self::VALUE_SUMS + CHUNK_WARPS as u32;
    /// Words of shared memory.
    pub const SHARED_WORDS: u32 = Tile::<E>::WORDS + SCRATCH_WORDS;

    /// What one thread does.
    #[inline(always)]
    pub fn run<T: Thread>(t: T, params: &DecompressParams) {
        let Some(work) = Work::<E>::find(t, params) else {
            return;
        };
        let sum = work.load_image(t);
        let sum = block_sum_u64::<T, CHUNK_WARPS>(t, sum, Self::CHECKSUMS);
        if params.verify != 0 && sum.wrapping_add(work.seed()) != work.entry.checksum {
            work.report(t, ChunkFault::Checksum);
        }
        let raw = raw_words(work.elements, E::WORDS as u32);
        match Form::from_id(work.entry.form) {
            Some(Form::Zero) if work.words == 0 => work.write_all(t, |_| [0; 4]),
            Some(Form::Raw) if work.words == raw => {
                work.write_all(t, |unit| t.shared_load4(UNIT_WORDS * unit));
            }
            Some(Form::Constant) if work.words == CONSTANT_WORDS => {
                let [a, b, ..] = t.shared_load4(0);
                let other = if E::WORDS == 2 { b } else { a };
                work.write_all(t, |_| [a, other, a, other]);
            }
            Some(Form::Coded) => work.decode(t, false),
            Some(Form::CodedWithExceptions) => work.decode(t, true),
            Some(_) => work.give_up(t, ChunkFault::Length),
            None => work.give_up(t, ChunkFault::Form),
        }
    }
}

/// One chunk's task.
struct Work<'a, E> {
    params: &'a DecompressParams,
    quantizer: Quantizer<E>,
    codec: Codec,
    chunk: u64,
    /// Elements in the chunk.
    elements: u32,
    entry: Entry,
    /// The chunk's first 16-byte unit in the stream.
    first_unit: u64,
    /// The chunk's words in the stream.
    words: u32,
}

/// A coded chunk's parts, as a thread sees them.
struct Parts {
    rate: RateByte,
    /// The byte of the image at which this thread's body starts.
    body_at: u32,
    sections: Sections,
    /// Blocks with exceptions before this thread's.
    flagged_before: u32,
    /// This thread's exceptions.
    mask: u32,
    /// Exceptions before this thread's.
    exceptions_before: u32,
}

impl<'a, E: Element> Work<'a, E> {
    /// This block's chunk, or none if the stream cannot be this one or has no place for it.
    #[inline(always)]
    fn find<T: Thread>(t: T, params: &'a DecompressParams) -> Option<Self> {
        let chunk = params.from / CHUNK as u64 + u64::from(t.block_index());
        let header_units = HEADER_WORDS as u64 / u64::from(UNIT_WORDS);
        let chunks = chunk_count(params.elements);
        if params.stream.len() / u64::from(UNIT_WORDS) < header_units + chunks {
            Self::refuse(t, params);
            return None;
        }
        let word = |word: usize| t.load(params.stream, word as u64);
        let summary = Summary::from_words(word);
        let codec = Codec::from_id(params.codec as u8)?;
        // One look at the checksum is enough; whatever the other blocks do meanwhile is in bounds.
        let is_sound = t.block_index() > 0 || t.warp() > 0 || header_is_sound(t, word);
        if !is_sound {
            t.cell_max(params.cells, cells::FAULT, Fault::Header.to_cell());
        }
        if !summary.is_of(E::DTYPE, codec, params.elements) {
            Self::refuse(t, params);
            return None;
        }
        let entry_at = |chunk: u64| Entry::from_words(t.load4(params.stream, header_units + chunk));
        let entry = entry_at(chunk);
        let end = if chunk + 1 < chunks {
            entry_at(chunk + 1).start
        } else {
            summary.payload_bytes
        };
        let mut work = Self {
            params,
            quantizer: Quantizer::from_error(E::from_bits64(summary.error_bits)),
            codec,
            chunk,
            elements: chunk_elements(params.elements, chunk),
            entry,
            first_unit: header_units + chunks + entry.start / 16,
            words: 0,
        };
        let units = params.stream.len() / u64::from(UNIT_WORDS) - (header_units + chunks);
        let raw = raw_words(work.elements, E::WORDS as u32);
        let words = end.wrapping_sub(entry.start) / 4;
        if entry.start <= end && end / 16 <= units && words <= u64::from(raw) && end % 16 == 0 {
            work.words = words as u32;
            Some(work)
        } else {
            work.give_up(t, ChunkFault::Place);
            None
        }
    }

    /// Reports a header that is not the expected one, once.
    #[inline(always)]
    fn refuse<T: Thread>(t: T, params: &DecompressParams) {
        if t.thread_index() == 0 {
            t.cell_max(params.cells, cells::FAULT, Fault::Header.to_cell());
        }
    }

    #[inline(always)]
    fn seed(&self) -> u64 {
        seed(self.chunk, self.entry.form)
    }

    /// Reports a fault of the chunk.
    #[inline(always)]
    fn report<T: Thread>(&self, t: T, fault: ChunkFault) {
        if t.thread_index() == 0 {
            let fault = Fault::Chunk(self.chunk, fault as u32);
            t.cell_max(self.params.cells, cells::FAULT, fault.to_cell());
        }
    }

    /// Reports a fault of the chunk and writes zeros for it. For the whole block.
    #[inline(always)]
    fn give_up<T: Thread>(&self, t: T, fault: ChunkFault) {
        self.report(t, fault);
        self.write_all(t, |_| [0; 4]);
    }

    /// Brings the chunk's bytes into shared memory; this thread's part of the checksum.
    #[inline(always)]
    fn load_image<T: Thread>(&self, t: T) -> u64 {
        let mut sum = 0u64;
        let mut unit = t.thread_index();
        while unit < self.words / UNIT_WORDS {
            let words = t.load4(self.params.stream, self.first_unit + u64::from(unit));
            t.shared_store4(UNIT_WORDS * unit, words);
            for (i, word) in words.iter().enumerate() {
                sum = sum.wrapping_add(term(UNIT_WORDS * unit + i as u32, *word));
            }
            unit += CHUNK_THREADS;
        }
        if t.thread_index() == 0 {
            t.shared_store(self.words, 0);
        }
        sum
    }

    /// Decodes the image of a coded chunk. For the whole block.
    #[inline(always)]
    fn decode<T: Thread>(&self, t: T, has_exceptions: bool) {
        match self.find_parts(t, has_exceptions) {
            Err(fault) => self.give_up(t, fault),
            Ok(parts) => {
                let mut codes = read_body(t, parts.rate, parts.body_at, self.codec);
                if self.codec.predicts() {
                    difference::backward(&mut codes);
                }
                // From here on the tile holds the chunk's elements instead of its image.
                t.barrier();
                Tile::<E>::set_row(t, |e| self.quantizer.dequantize(codes[e]));
                if parts.mask != 0 {
                    self.read_exceptions(t, &parts);
                }
                t.sync_warp();
                self.write_all(t, |unit| t.shared_load4(Tile::<E>::unit_word(unit)));
            }
        }
    }

    /// Where everything lies; the same fault for the whole block if that is contradictory.
    #[inline(always)]
    fn find_parts<T: Thread>(&self, t: T, has_exceptions: bool) -> Result<Parts, ChunkFault> {
        let mut sections = Sections {
            blocks: self.elements.div_ceil(BLOCK as u32),
            body_bytes: 0,
            flagged_blocks: 0,
            exceptions: 0,
        };
        if sections.bodies() > self.words {
            return Err(ChunkFault::Length);
        }
        let rate = self.read_rate(t, &sections);
        // Not a rate that is refused, which would have to be told apart by another barrier.
        let bytes = rate.map_or(1 << 20, RateByte::body_bytes);
        let bodies = block_sum::<T, CHUNK_WARPS>(t, bytes, Decompress::<E>::SUMS);
        if bodies.total >= 1 << 20 {
            return Err(ChunkFault::Rate);
        }
        sections.body_bytes = bodies.total;
        let mut parts = Parts {
            rate: rate.unwrap_or_default(),
            body_at: 4 * sections.bodies() + bodies.before,
            sections,
            flagged_before: 0,
            mask: 0,
            exceptions_before: 0,
        };
        if has_exceptions {
            self.find_exceptions(t, &mut parts)?;
        }
        if parts.sections.words(E::WORDS as u32) == self.words
            && has_exceptions == (parts.sections.exceptions > 0)
        {
            Ok(parts)
        } else {
            Err(ChunkFault::Length)
        }
    }

    /// This thread's rate byte; none if no encoder writes it.
    #[inline(always)]
    fn read_rate<T: Thread>(&self, t: T, sections: &Sections) -> Option<RateByte> {
        let thread = t.thread_index();
        if thread < sections.blocks {
            let byte = (t.shared_load(thread / 4) >> (8 * (thread % 4))) as u8;
            RateByte::from_byte(byte, self.codec.stores_outliers())
        } else {
            Some(RateByte::default())
        }
    }

    /// Adds what the masks say.
    #[inline(always)]
    fn find_exceptions<T: Thread>(&self, t: T, parts: &mut Parts) -> Result<(), ChunkFault> {
        if parts.sections.element_masks() > self.words {
            return Err(ChunkFault::Length);
        }
        let mut flags = 0;
        if t.warp() < parts.sections.blocks.div_ceil(32) {
            flags = t.shared_load(parts.sections.block_mask() + t.warp());
        }
        let flag = flags >> t.lane() & 1;
        let flagged: BlockSum = block_sum::<T, CHUNK_WARPS>(t, flag, Decompress::<E>::FLAG_SUMS);
        parts.sections.flagged_blocks = flagged.total;
        parts.flagged_before = flagged.before;
        if parts.sections.values() > self.words {
            return Err(ChunkFault::Length);
        }
        if flag == 1 {
            parts.mask = t.shared_load(parts.sections.element_masks() + flagged.before);
        }
        // An exception behind the end of the field makes the sum impossible.
        let row = self
            .elements
            .saturating_sub(t.thread_index() * BLOCK as u32);
        let outside = row < BLOCK as u32 && parts.mask >> row != 0;
        let count = if outside {
            1 << 20
        } else {
            parts.mask.count_ones()
        };
        let values = block_sum::<T, CHUNK_WARPS>(t, count, Decompress::<E>::VALUE_SUMS);
        if values.total >= 1 << 20 {
            return Err(ChunkFault::Length);
        }
        parts.sections.exceptions = values.total;
        parts.exceptions_before = values.before;
        Ok(())
    }

    /// Puts this thread's exceptions into its row, from the stream, since the image is gone.
    #[inline(always)]
    fn read_exceptions<T: Thread>(&self, t: T, parts: &Parts) {
        let words = E::WORDS as u32;
        let mut from = parts.sections.values() + parts.exceptions_before * words;
        let mut left = parts.mask;
        while left != 0 {
            let element = t.thread_index() * BLOCK as u32 + left.trailing_zeros();
            for i in 0..words {
                let at = u64::from(UNIT_WORDS) * self.first_unit + u64::from(from + i);
                let word = t.load(self.params.stream, at);
                t.shared_store(Tile::<E>::word(element * words + i), word);
            }
            from += words;
            left &= left - 1;
        }
    }

    /// Writes what of the chunk lies in the range, `units` giving the chunk's 16-byte units.
    #[inline(always)]
    fn write_all<T: Thread>(&self, t: T, units: impl Fn(u32) -> [u32; 4]) {
        let params = self.params;
        let first = self.chunk * CHUNK as u64;
        let words = E::WORDS as u64;
        // In words, from the start of the output; below 0 where the range starts inside the chunk.
        let offset = first.wrapping_sub(params.from).wrapping_mul(words);
        let is_whole = first >= params.from
            && self.elements == CHUNK as u32
            && first + CHUNK as u64 <= params.to
            && offset.is_multiple_of(u64::from(UNIT_WORDS));
        if is_whole {
            let unit_offset = offset / u64::from(UNIT_WORDS);
            Tile::<E>::for_units(t, |unit| {
                t.store4(params.output, unit_offset + u64::from(unit), units(unit));
            });
        } else {
            Tile::<E>::for_words(t, self.elements * E::WORDS as u32, |word| {
                let element = first + u64::from(word) / words;
                if element >= params.from && element < params.to {
                    let [a, b, c, d] = units(word / UNIT_WORDS);
                    let low = if word % 2 == 0 { a } else { b };
                    let high = if word % 2 == 0 { c } else { d };
                    let value = if word % 4 < 2 { low } else { high };
                    t.store(params.output, offset.wrapping_add(u64::from(word)), value);
                }
            });
        }
    }
}

/// Whether the header has its checksum. For one warp.
#[inline(always)]
fn header_is_sound<T: Thread>(t: T, word: impl Fn(usize) -> u32) -> bool {
    let lane = t.lane();
    let covered = (lane as usize) < CHECKSUM_WORD;
    let term = if covered {
        term(lane, word(lane as usize))
    } else {
        0
    };
    Summary::has_checksum(warp_sum_u64(t, term), word)
}

const _: () = assert!(CHECKSUM_WORD < 32);

/// Reads a body at byte `at` of the image.
#[inline(always)]
fn read_body<T: Thread>(t: T, rate: RateByte, at: u32, codec: Codec) -> [i32; BLOCK] {
    let mut block = SignedBlock {
        signs: 0,
        magnitudes: [0; BLOCK],
    };
    if rate.body_bytes() == 0 {
        return [0; BLOCK];
    }
    if codec.stores_outliers() {
        let rows = UnalignedWords::new(t, at + rate.outlier_bytes());
        block.signs = rows.get(0);
        add_rows(&mut block, rate, |row| rows.get(1 + row));
        let bits = 8 * rate.outlier_bytes();
        if bits > 0 {
            block.magnitudes[0] = UnalignedWords::new(t, at).get(0) & u32::MAX >> (32 - bits);
        }
    } else {
        block.signs = t.shared_load(at / 4);
        add_rows(&mut block, rate, |row| t.shared_load(at / 4 + 1 + row));
    }
    block.join()
}

/// Adds the bit planes that `rows` gives.
#[inline(always)]
fn add_rows(block: &mut SignedBlock, rate: RateByte, rows: impl Fn(u32) -> u32) {
    let planes = rate.planes();
    for byte in 0..4 {
        if planes > 8 * byte {
            let group = core::array::from_fn(|i| {
                let plane = 8 * byte + i as u32;
                if plane < planes { rows(plane) } else { 0 }
            });
            block.add_planes(byte as usize, &group);
        }
    }
}

/// Words at any byte of the image, which has a word of slack.
struct UnalignedWords<T> {
    thread: T,
    word: u32,
    shift: u32,
}

impl<T: Thread> UnalignedWords<T> {
    #[inline(always)]
    fn new(thread: T, at: u32) -> Self {
        Self {
            thread,
            word: at / 4,
            shift: 8 * (at % 4),
        }
    }

    #[inline(always)]
    fn get(&self, index: u32) -> u32 {
        let low = self.thread.shared_load(self.word + index);
        let high = self.thread.shared_load(self.word + index + 1);
        ((u64::from(high) << 32 | u64::from(low)) >> self.shift) as u32
    }
}
