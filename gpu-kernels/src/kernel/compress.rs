//! Compression in one kernel: one thread block a chunk, one thread a coding block.
//!
//! 1. Take a ticket: the chunk. Bring its elements into shared memory ([`Tile`]).
//! 2. Each thread quantises its row, takes differences, and knows the length of its body.
//! 3. A sum over the thread block gives every body its place in the chunk, and the chunk its form
//!    and length, which is published at once for the look-back.
//! 4. The chunk's image is built in shared memory, where the elements lay.
//! 5. The look-back gives the chunk its place in the stream; the image is copied there, 16 bytes a
//!    thread, and its checksum taken on the way.
//!
//! The last chunk completes the header. Nothing depends on the order in which blocks run.

use crate::kernel::image::{Image, write_body};
use crate::kernel::tile::{Tile, UNIT_WORDS};
use crate::kernel::{CHUNK_THREADS, CHUNK_WARPS, cells};
use crate::look_back::{TileState, sum_before};
use crate::scan::{BlockSum, block_sum, block_sum_u64};
use crate::simt::{Thread, View};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::encode::block::SignedBlock;
use ferrosz_codec::encode::rate::BLOCK;
use ferrosz_codec::pipeline::{Codec, StaticCodec};
use ferrosz_codec::predict::difference;
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::stream::checksum::term;
use ferrosz_codec::stream::chunk::{CHUNK, Form, Sections, chunk_count, chunk_elements};
use ferrosz_codec::stream::container::{HEADER_WORDS, seal};
use ferrosz_codec::stream::table::{Entry, seed};

/// Compresses a field of `E` with codec `C`. Launched with one block a chunk.
pub struct Compress<E, C>(PhantomData<(E, C)>);

/// Parameters of [`Compress`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CompressParams {
    /// The field, 16-byte aligned.
    pub input: View<u32>,
    /// Elements of the field.
    pub elements: u64,
    /// Where the stream goes, 16-byte aligned; as long as the longest stream of so many elements.
    pub stream: View<u32>,
    /// The workspace: see [`cells`].
    pub cells: View<u64>,
    /// The quantiser's bits, unless it is in the workspace.
    pub quantizer: [u64; 3],
    /// Not 0 if the quantiser is in the workspace.
    pub quantizer_in_cells: u32,
    /// The header, to be sealed with the error and the payload's length.
    pub header: [u32; HEADER_WORDS],
}

/// Words of shared memory behind the tile.
const SCRATCH_WORDS: u32 = 64;

impl<E: Element, C: StaticCodec> Compress<E, C> {
    const BODY_SUMS: u32 = Tile::<E>::WORDS;
    const FLAG_SUMS: u32 = Self::BODY_SUMS + CHUNK_WARPS as u32;
    const CHECKSUMS: u32 = Self::FLAG_SUMS + CHUNK_WARPS as u32;
    const TICKET: u32 = Self::CHECKSUMS + 2 * CHUNK_WARPS as u32;
    const START: u32 = Self::TICKET + 1;

    /// What one thread does once the names are in scope.
    #[inline(always)]
    pub fn run<T: Thread>(t: T, params: &CompressParams) {
        let work = Work::<E>::take(t, params, Self::TICKET);
        work.stage(t);
        let (block, mask) = work.quantize(t, C::CODEC);
        let rate = block.rate(C::CODEC);
        let sizes = rate.body_bytes() | mask.count_ones() << 16;
        let places = block_sum::<T, CHUNK_WARPS>(t, sizes, Self::BODY_SUMS);
        let exceptions = places.total >> 16;
        let flags = if exceptions > 0 {
            block_sum::<T, CHUNK_WARPS>(t, u32::from(mask != 0), Self::FLAG_SUMS)
        } else {
            BlockSum {
                before: 0,
                total: 0,
            }
        };
        let sections = Sections {
            blocks: work.elements.div_ceil(BLOCK as u32),
            body_bytes: places.total & 0xffff,
            flagged_blocks: flags.total,
            exceptions,
        };
        let is_constant = work.quantizer(t).is_lossless() && work.is_constant(t);
        let (form, words) = sections.choose(work.elements, E::WORDS as u32, is_constant);
        work.publish(t, words);
        // From here on the tile holds the chunk's image instead of its elements.
        t.barrier();
        match form {
            Form::Zero => {}
            Form::Constant | Form::Raw => work.write_elements(t, form, words),
            Form::Coded | Form::CodedWithExceptions => {
                let image = Image { sections, words };
                image.clear::<T, E>(t, C::CODEC);
                image.write_rate(t, rate);
                let at = 4 * sections.bodies() + (places.before & 0xffff);
                write_body(t, block, rate, at, C::CODEC);
                if exceptions > 0 {
                    let first = flags.before;
                    let input = |word| work.input_word(t, word);
                    image.write_exceptions::<T, E>(t, input, mask, first, places.before >> 16);
                }
            }
        }
        let start = work.find_start(t, words, Self::START);
        let sum = work.copy_image(t, start, words);
        let sum = block_sum_u64::<T, CHUNK_WARPS>(t, sum, Self::CHECKSUMS);
        if t.thread_index() == 0 {
            let sum = seed(work.chunk, form.id()).wrapping_add(sum);
            work.finish(t, start, words, form, sum);
        }
    }
}

impl<E: Element, C: StaticCodec> Compress<E, C> {
    /// Words of shared memory.
    pub const SHARED_WORDS: u32 = Tile::<E>::WORDS + SCRATCH_WORDS;
}

/// One chunk's task.
struct Work<'a, E> {
    params: &'a CompressParams,
    chunk: u64,
    /// Elements in the chunk.
    elements: u32,
    element: PhantomData<E>,
}

impl<'a, E: Element> Work<'a, E> {
    /// The next chunk that no block has.
    #[inline(always)]
    fn take<T: Thread>(t: T, params: &'a CompressParams, ticket: u32) -> Self {
        if t.thread_index() == 0 {
            let chunk = t.cell_add(params.cells, cells::TICKET, 1);
            t.shared_store(ticket, chunk as u32);
        }
        t.barrier();
        let chunk = u64::from(t.shared_load(ticket));
        Self {
            params,
            chunk,
            elements: chunk_elements(params.elements, chunk),
            element: PhantomData,
        }
    }

    /// The quantiser, read where it is needed: kept, it would cost registers throughout.
    #[inline(always)]
    fn quantizer<T: Thread>(&self, t: T) -> Quantizer<E> {
        let params = self.params;
        Quantizer::from_bits(if params.quantizer_in_cells != 0 {
            core::array::from_fn(|i| t.cell_load(params.cells, cells::QUANTIZER + i as u64))
        } else {
            params.quantizer
        })
    }

    /// The first word of the chunk in the input.
    #[inline(always)]
    fn first_word(&self) -> u64 {
        self.chunk * (CHUNK * E::WORDS) as u64
    }

    #[inline(always)]
    fn input_word<T: Thread>(&self, t: T, word: u32) -> u32 {
        t.load(self.params.input, self.first_word() + u64::from(word))
    }

    /// Brings the elements into the tile, this warp's rows for this warp.
    #[inline(always)]
    fn stage<T: Thread>(&self, t: T) {
        if self.elements == CHUNK as u32 {
            let first = self.first_word() / u64::from(UNIT_WORDS);
            Tile::<E>::fill(t, |unit| {
                t.load4(self.params.input, first + u64::from(unit))
            });
        } else {
            let words = self.elements * E::WORDS as u32;
            Tile::<E>::fill_part(t, words, |word| self.input_word(t, word));
        }
        t.sync_warp();
    }

    /// Elements of this thread's row.
    #[inline(always)]
    fn row_elements<T: Thread>(&self, t: T) -> u32 {
        let before = t.thread_index() * BLOCK as u32;
        self.elements.saturating_sub(before).min(BLOCK as u32)
    }

    /// This thread's row as it will be stored, and which of its elements are exceptions.
    #[inline(always)]
    fn quantize<T: Thread>(&self, t: T, codec: Codec) -> (SignedBlock, u32) {
        let quantizer = self.quantizer(t);
        let mut codes = [0; BLOCK];
        let mut clear = self.row_elements(t) == BLOCK as u32;
        Tile::<E>::for_row(t, |e, value| {
            codes[e] = quantizer.nearest_code(value);
            clear &= quantizer.is_clearly_within(value, codes[e]);
        });
        let mask = if clear {
            0
        } else {
            self.quantize_with_care(t, &quantizer, codec, &mut codes)
        };
        if codec.predicts() {
            difference::forward(&mut codes);
        }
        // LLVM would keep the codes as well, to make the sign row from them where it is stored: 24
        // registers more, a block a multiprocessor less.
        let mut block = SignedBlock::split(&codes);
        block.signs = t.opaque(block.signs);
        (block, mask)
    }

    /// Sets right the codes of a row in which some are in doubt or that the field's end cuts; which
    /// of its elements are exceptions. Rare, but whoever looks back waits for it: only what is in
    /// doubt is looked at again.
    #[inline(always)]
    fn quantize_with_care<T: Thread>(
        &self,
        t: T,
        quantizer: &Quantizer<E>,
        codec: Codec,
        codes: &mut [i32; BLOCK],
    ) -> u32 {
        let count = self.row_elements(t);
        let inside = if count == 0 {
            0
        } else {
            u32::MAX >> (BLOCK as u32 - count)
        };
        let first = t.thread_index() * BLOCK as u32;
        let mut doubtful = 0u32;
        for e in 0..t.opaque(BLOCK as u32) {
            let value = Tile::<E>::get(t, first + e);
            let is_clear = quantizer.is_clearly_within(value, quantizer.nearest_code(value));
            doubtful |= u32::from(!is_clear) << e;
        }
        doubtful &= inside;
        let mut exceptions = 0u32;
        while doubtful != 0 {
            let e = doubtful.trailing_zeros();
            doubtful &= doubtful - 1;
            let value = Tile::<E>::get(t, first + e);
            match quantizer.quantize_with_care(value) {
                // A register has no address: the one to set is found by comparison.
                Some(code) => {
                    for (i, slot) in codes.iter_mut().enumerate() {
                        *slot = if i as u32 == e { code } else { *slot };
                    }
                }
                None => exceptions |= 1 << e,
            }
        }
        // What has no code must have no difference.
        let mut neutral = 0;
        for (e, code) in codes.iter_mut().enumerate() {
            let has_code = (inside & !exceptions) >> e & 1 == 1;
            *code = if has_code { *code } else { neutral };
            if codec.predicts() {
                neutral = *code;
            }
        }
        exceptions
    }

    /// Whether all elements equal the first, bit for bit. For the whole block, after a barrier.
    #[inline(always)]
    fn is_constant<T: Thread>(&self, t: T) -> bool {
        let first = Tile::<E>::get(t, 0).to_bits64();
        let mut differs = false;
        for e in 0..self.row_elements(t) {
            let value = Tile::<E>::get(t, t.thread_index() * BLOCK as u32 + e);
            differs |= value.to_bits64() != first;
        }
        !t.barrier_or(differs)
    }

    /// Says how long the chunk is, for those who look back.
    #[inline(always)]
    fn publish<T: Thread>(&self, t: T, words: u32) {
        if t.thread_index() == 0 {
            let state = TileState::Partial(4 * u64::from(words));
            t.cell_store(
                self.params.cells,
                cells::STATES + self.chunk,
                state.to_cell(),
            );
        }
    }

    /// The image of a chunk that is not coded: all its elements, or one.
    #[inline(always)]
    fn write_elements<T: Thread>(&self, t: T, form: Form, words: u32) {
        let elements = if form == Form::Constant {
            1
        } else {
            self.elements
        };
        let filled = elements * E::WORDS as u32;
        let mut word = t.thread_index();
        while word < words {
            let value = if word < filled {
                self.input_word(t, word)
            } else {
                0
            };
            t.shared_store(word, value);
            word += CHUNK_THREADS;
        }
    }

    /// Where the chunk starts in the payload, in bytes. For the whole block.
    #[inline(always)]
    fn find_start<T: Thread>(&self, t: T, words: u32, scratch: u32) -> u64 {
        if t.warp() == 0 {
            let states = self.params.cells;
            let start = self.look_back(t);
            if t.lane() == 0 {
                let state = TileState::Inclusive(start + 4 * u64::from(words));
                t.cell_store(states, cells::STATES + self.chunk, state.to_cell());
                t.shared_store(scratch, start as u32);
                t.shared_store(scratch + 1, (start >> 32) as u32);
            }
        }
        t.barrier();
        u64::from(t.shared_load(scratch)) | u64::from(t.shared_load(scratch + 1)) << 32
    }

    #[inline(always)]
    fn look_back<T: Thread>(&self, t: T) -> u64 {
        sum_before(t, self.params.cells, cells::STATES, self.chunk)
    }

    /// The first word of the payload in the stream.
    #[inline(always)]
    fn payload_word(&self) -> u64 {
        HEADER_WORDS as u64 + 4 * chunk_count(self.params.elements)
    }

    /// Copies the image to its place; this thread's part of the checksum.
    #[inline(always)]
    fn copy_image<T: Thread>(&self, t: T, start: u64, words: u32) -> u64 {
        let first = (self.payload_word() + start / 4) / u64::from(UNIT_WORDS);
        let mut sum = 0u64;
        let mut unit = t.thread_index();
        while unit < words / UNIT_WORDS {
            let image = t.shared_load4(UNIT_WORDS * unit);
            t.store4(self.params.stream, first + u64::from(unit), image);
            for (i, word) in image.iter().enumerate() {
                sum = sum.wrapping_add(term(UNIT_WORDS * unit + i as u32, *word));
            }
            unit += CHUNK_THREADS;
        }
        sum
    }

    /// Writes the chunk's table entry and, behind the last chunk, the header. For one thread.
    #[inline(always)]
    fn finish<T: Thread>(&self, t: T, start: u64, words: u32, form: Form, checksum: u64) {
        let entry = Entry::new(start, form, checksum).to_words();
        let first = HEADER_WORDS as u64 / u64::from(UNIT_WORDS);
        t.store4(self.params.stream, first + self.chunk, entry);
        if self.chunk + 1 == chunk_count(self.params.elements) {
            let payload = start + 4 * u64::from(words);
            let error = self.quantizer(t).error().to_bits64();
            write_header(t, self.params, error, payload);
            let length = 4 * self.payload_word() + payload;
            t.cell_store(self.params.cells, cells::STREAM_BYTES, length);
        }
    }
}

/// Writes the completed header.
#[inline(always)]
fn write_header<T: Thread>(t: T, params: &CompressParams, error_bits: u64, payload_bytes: u64) {
    let mut words = params.header;
    seal(&mut words, error_bits, payload_bytes);
    for unit in 0..HEADER_WORDS / 4 {
        let at = 4 * unit;
        let values = [words[at], words[at + 1], words[at + 2], words[at + 3]];
        t.store4(params.stream, unit as u64, values);
    }
}
