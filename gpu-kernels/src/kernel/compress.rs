//! Compression in one kernel: one thread block a chunk, one thread a group: a coding block or half of
//! one.
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
use crate::kernel::task::Task;
use crate::kernel::tile::{BoxWalk, Tile, UNIT_WORDS, UnitSteps};
use crate::kernel::{CHUNK_THREADS, CHUNK_WARPS, cells, layer, predict};
use crate::look_back::{TileState, sum_before};
use crate::scan::{BlockSum, block_sum, store_warp_sum_u64, sum_of_warps};
use crate::simt::{Thread, View};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::encode::block::{SignedGroup, choose_rate};
use ferrosz_codec::encode::rate::RateByte;
use ferrosz_codec::pipeline::{Codec, StaticCodec};
use ferrosz_codec::predict::{Group, MAX_REACH, Predictor, difference};
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::shape::{GROUP, Shape, StaticShape, WHOLE_GROUP};
use ferrosz_codec::stream::checksum::term;
use ferrosz_codec::stream::chunk::{CHUNK, Form, Sections};
use ferrosz_codec::stream::container::{HEADER_WORDS, seal};
use ferrosz_codec::stream::grid::{ChunkBox, Grid};
use ferrosz_codec::stream::table::{Entry, seed};

/// Compresses a field of `E` with codec `C` in blocks of shape `S`. Launched with one block a chunk.
pub struct Compress<E, C, S>(PhantomData<(E, C, S)>);

/// Parameters of [`Compress`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CompressParams {
    /// The field, 16-byte aligned.
    pub input: View<u32>,
    /// How the field is cut.
    pub grid: Grid,
    /// The units of a whole chunk, in the field.
    pub steps: UnitSteps,
    /// Where the stream goes, 16-byte aligned; as long as the longest stream of such a field.
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

impl<E: Element, C: StaticCodec, S: StaticShape> Compress<E, C, S> {
    const BODY_SUMS: u32 = Tile::<E>::WORDS;
    const FLAG_SUMS: u32 = Self::BODY_SUMS + CHUNK_WARPS as u32;
    const CHECKSUMS: u32 = Self::FLAG_SUMS + CHUNK_WARPS as u32;
    const LAYER: u32 = Self::CHECKSUMS + 2 * CHUNK_WARPS as u32;
    const TASK: u32 = Self::LAYER + layer::SCRATCH_WORDS;
    const START: u32 = Self::TASK + Task::SCRATCH_WORDS;

    /// Words of shared memory.
    pub const SHARED_WORDS: u32 = Self::START + 2;

    /// What one thread does.
    #[inline(always)]
    pub fn run<T: Thread>(t: T, params: &CompressParams) {
        let work = Work::<E, S>::take(t, params, Self::TASK);
        work.stage(t);
        let coded = Self::code(t, &work);
        let sizes = coded.own_bytes::<T, S>(t) | coded.mask.count_ones() << 16;
        let places = block_sum::<T, CHUNK_WARPS>(t, sizes, Self::BODY_SUMS);
        let work = work.again(t, Self::TASK);
        let (sections, flags) = Self::sections(t, &work, coded.mask, places.total);
        let is_constant = work.quantizer(t).is_lossless() && work.is_constant(t);
        let elements = work.chunk.elements();
        let (form, words) = sections.choose(elements, E::WORDS as u32, coded.initial, is_constant);
        work.publish(t, words);
        // From here on the tile holds the chunk's image instead of its elements.
        t.barrier();
        match form {
            Form::Zero => {}
            Form::Constant | Form::Raw => work.write_elements(t, form, words),
            Form::Coded | Form::CodedWithExceptions => {
                let image = Image { sections, words };
                Self::write_image(t, &work, &image, coded, places.before, flags.before);
            }
        }
        let start = work.find_start(t, words, Self::START);
        Self::store(t, &work, start, words, form);
    }

    /// This thread's part of the chunk: quantised, predicted, and how its block will be stored.
    #[inline(always)]
    fn code<T: Thread>(t: T, work: &Work<'_, E, S>) -> Coded {
        let (mut codes, mask) = work.quantize(t);
        let has_code = work.inside(t) & !mask;
        let bias = Quantizer::<E>::BIAS;
        let initial = predict_forward::<T, S>(t, C::CODEC, &mut codes, bias, has_code, Self::LAYER);
        // LLVM would keep the codes as well, to make the sign row from them where it is stored: 24
        // registers more, a block a multiprocessor less.
        let mut group = SignedGroup::split(&codes);
        group.signs = t.opaque(group.signs);
        let (first, others) = first_and_others::<T, S>(t, &group);
        Coded {
            group,
            rate: choose_rate(first, others, groups::<S>(), C::CODEC),
            mask,
            initial,
        }
    }

    /// The chunk's sections, `sizes` being the sum of all threads'; and, if there are exceptions, the groups
    /// that have any. For the whole block.
    #[inline(always)]
    fn sections<T: Thread>(
        t: T,
        work: &Work<'_, E, S>,
        mask: u32,
        sizes: u32,
    ) -> (Sections, BlockSum) {
        let exceptions = sizes >> 16;
        let flags = if exceptions > 0 {
            block_sum::<T, CHUNK_WARPS>(t, u32::from(mask != 0), Self::FLAG_SUMS)
        } else {
            BlockSum {
                before: 0,
                total: 0,
            }
        };
        let sections = Sections {
            body_bytes: sizes & 0xffff,
            flagged_groups: flags.total,
            exceptions,
            ..Sections::of(work.chunk.block_count(S::SHAPE), S::SHAPE, C::CODEC)
        };
        (sections, flags)
    }

    /// Writes this thread's part of a coded chunk's image; `sizes_before` and `flags_before` are the sums of
    /// the threads before.
    #[inline(always)]
    fn write_image<T: Thread>(
        t: T,
        work: &Work<'_, E, S>,
        image: &Image,
        coded: Coded,
        sizes_before: u32,
        flags_before: u32,
    ) {
        let codec = C::CODEC;
        image.clear::<T, E>(t, codec);
        image.write_rate(t, S::SHAPE, coded.rate);
        if codec.is_layered() {
            image.write_initial(t, coded.initial);
        }
        let write_exceptions = || {
            if image.sections.exceptions > 0 {
                let input = |word| work.slot_word(t, word);
                let values_before = sizes_before >> 16;
                image.write_exceptions::<T, E>(t, input, coded.mask, flags_before, values_before);
            }
        };
        // Where it costs fewer registers.
        let is_early = codec.stores_outliers() && E::WORDS == 1;
        if is_early {
            write_exceptions();
        }
        // The bytes before the second group's are those before its block and its block's.
        let block_bytes = if is_first::<T, S>(t) {
            0
        } else {
            coded.rate.body_bytes(groups::<S>())
        };
        let at = 4 * image.sections.bodies() + (sizes_before & 0xffff) - block_bytes;
        write_body(t, S::SHAPE, coded.group, coded.rate, at, codec);
        if !is_early {
            write_exceptions();
        }
    }

    /// Copies the image to its place in the payload, and completes what tells of it. For the whole block.
    #[inline(always)]
    fn store<T: Thread>(t: T, work: &Work<'_, E, S>, start: u64, words: u32, form: Form) {
        let sum = work.copy_image(t, start, words);
        store_warp_sum_u64(t, sum, Self::CHECKSUMS);
        t.barrier();
        if t.warp() == 0 {
            let sum = sum_of_warps::<T, CHUNK_WARPS>(t, Self::CHECKSUMS);
            if t.lane() == 0 {
                let sum = seed(work.number, form.id()).wrapping_add(sum);
                work.finish(t, start, words, form, sum);
            }
        }
    }
}

/// A thread's part of a chunk, coded.
struct Coded {
    group: SignedGroup,
    /// How its block is stored.
    rate: RateByte,
    /// Its exceptions.
    mask: u32,
    /// The initial code of a layered chunk, else 0.
    initial: i32,
}

impl Coded {
    /// The bytes of its block's body, which the block's first group counts.
    #[inline(always)]
    fn own_bytes<T: Thread, S: StaticShape>(&self, t: T) -> u32 {
        if is_first::<T, S>(t) {
            self.rate.body_bytes(groups::<S>())
        } else {
            0
        }
    }
}

/// Groups of a block.
pub const fn groups<S: StaticShape>() -> u32 {
    S::SHAPE.groups() as u32
}

/// Whether this thread has the first group of its block.
#[inline(always)]
pub fn is_first<T: Thread, S: StaticShape>(t: T) -> bool {
    t.lane().is_multiple_of(groups::<S>())
}

/// Codes, each with `bias` on top, to differences, in which it cancels; the initial code of a layer, else
/// 0. For the whole block.
#[inline(always)]
fn predict_forward<T: Thread, S: StaticShape>(
    t: T,
    codec: Codec,
    biased: &mut Group,
    bias: i32,
    has_code: u32,
    scratch: u32,
) -> i32 {
    if codec.is_layered() {
        let found = layer::find(t, biased, has_code, scratch);
        if has_code != WHOLE_GROUP {
            let mut before = [0; MAX_REACH];
            before[0] = found.before;
            Predictor::Difference.fill(Shape::Line, biased, has_code, &before);
        }
        difference::forward(Shape::Line, biased, found.before);
        return found.initial.map_or(0, |code| code.wrapping_sub(bias));
    }
    let predictor = codec.predictor();
    let is_whole = has_code == WHOLE_GROUP;
    let is_filled = if groups::<S>() == 1 {
        is_whole
    } else {
        t.ballot(!is_whole) == 0
    };
    if !is_filled {
        difference::add(biased, bias.wrapping_neg());
        predict::fill(t, predictor, S::SHAPE, biased, has_code);
        difference::add(biased, bias);
    }
    predict::forward(t, predictor, S::SHAPE, biased);
    if matches!(predictor, Predictor::Zero) {
        difference::add(biased, bias.wrapping_neg());
    } else if is_first::<T, S>(t) {
        // The first of a block is predicted by 0, which has no bias.
        biased[0] = biased[0].wrapping_sub(bias);
    }
    0
}

/// The first magnitude of this thread's block, and all others or-ed together. For whole warps.
#[inline(always)]
pub fn first_and_others<T: Thread, S: StaticShape>(t: T, group: &SignedGroup) -> (u32, u32) {
    let (mut first, mut others) = group.first_and_others();
    if groups::<S>() == 2 {
        let other_first = t.shuffle_xor(first, 1);
        others |= t.shuffle_xor(others, 1);
        if is_first::<T, S>(t) {
            others |= other_first;
        } else {
            others |= first;
            first = other_first;
        }
    }
    (first, others)
}

/// One chunk's task.
struct Work<'a, E, S> {
    params: &'a CompressParams,
    number: u64,
    chunk: ChunkBox,
    element: PhantomData<(E, S)>,
}

impl<'a, E: Element, S: StaticShape> Work<'a, E, S> {
    const IS_LINE: bool = matches!(S::SHAPE, Shape::Line);

    /// How many chunks ahead of its own a block has the GPU bring elements into its cache, so that the
    /// block that takes that chunk need not wait for memory: 4 MiB. A multiple of it displaces
    /// what has not been used yet (docs/measurements).
    const AHEAD: u32 = ((4 << 20) / (CHUNK * E::BYTES)) as u32;

    /// The next chunk that no block has.
    #[inline(always)]
    fn take<T: Thread>(t: T, params: &'a CompressParams, scratch: u32) -> Self {
        let grid = &params.grid;
        let (task, later) = Task::take::<T, S>(t, params.cells, grid, Self::AHEAD, scratch);
        if later.exists(grid) {
            Self::prefetch(t, params, &later.chunk::<S>(grid));
        }
        Self::of(params, task)
    }

    /// The same, a box read again rather than kept in registers.
    #[inline(always)]
    fn again<T: Thread>(self, t: T, scratch: u32) -> Self {
        if Self::IS_LINE {
            self
        } else {
            Self::of(self.params, Task::load::<T, S>(t, scratch))
        }
    }

    #[inline(always)]
    fn of(params: &'a CompressParams, task: Task) -> Self {
        Self {
            params,
            number: u64::from(task.number),
            chunk: task.chunk::<S>(&params.grid),
            element: PhantomData,
        }
    }

    /// Sends for a whole chunk, 32 elements a thread.
    #[inline(always)]
    fn prefetch<T: Thread>(t: T, params: &CompressParams, chunk: &ChunkBox) {
        if chunk.elements() == CHUNK as u32 {
            let first = t.thread_index() * GROUP as u32;
            let element = if Self::IS_LINE {
                chunk.origin[2] + u64::from(first)
            } else {
                let walk = BoxWalk::new(S::SHAPE, &params.grid, chunk);
                walk.flat(walk.at(first))
            };
            for i in 0..E::WORDS {
                let word = element * E::WORDS as u64 + (GROUP * i) as u64;
                t.prefetch(params.input, word);
            }
        }
    }

    /// The quantiser, read where it is needed: kept, it would cost registers throughout.
    #[inline(always)]
    fn quantizer<T: Thread>(&self, t: T) -> Quantizer<E> {
        let params = self.params;
        Quantizer::from_bits(if params.quantizer_in_cells != 0 {
            // An earlier launch has left it there.
            let first = u64::from(t.opaque(2 * cells::QUANTIZER as u32));
            let word = |i: usize| t.load(params.cells.words(), first + i as u64);
            core::array::from_fn(|i| u64::from(word(2 * i)) | u64::from(word(2 * i + 1)) << 32)
        } else {
            params.quantizer
        })
    }

    /// The first word of a line's chunk in the input.
    #[inline(always)]
    fn first_word(&self) -> u64 {
        self.number * (CHUNK * E::WORDS) as u64
    }

    #[inline(always)]
    fn walk(&self) -> BoxWalk<'_> {
        BoxWalk::new(S::SHAPE, &self.params.grid, &self.chunk)
    }

    /// A word of the element in a slot: word `word % E::WORDS` of slot `word / E::WORDS`.
    #[inline(always)]
    fn slot_word<T: Thread>(&self, t: T, word: u32) -> u32 {
        let words = E::WORDS as u32;
        let at = if Self::IS_LINE {
            self.first_word() + u64::from(word)
        } else {
            let walk = self.walk();
            walk.flat(walk.of_slot(word / words)) * u64::from(words) + u64::from(word % words)
        };
        t.load(self.params.input, at)
    }

    /// A word of the chunk's elements, row by row.
    #[inline(always)]
    fn raster_word<T: Thread>(&self, t: T, word: u32) -> u32 {
        let words = E::WORDS as u32;
        let at = if Self::IS_LINE {
            self.first_word() + u64::from(word)
        } else {
            let walk = self.walk();
            walk.flat(walk.of_raster(word / words)) * u64::from(words) + u64::from(word % words)
        };
        t.load(self.params.input, at)
    }

    /// Brings the elements into the tile. Ends so that threads may read their own rows.
    #[inline(always)]
    fn stage<T: Thread>(&self, t: T) {
        let elements = self.chunk.elements();
        if !Self::IS_LINE {
            if elements < CHUNK as u32 {
                Tile::<E>::clear(t);
                t.barrier();
            }
            Tile::<E>::fill_box(t, &self.walk(), &self.params.steps, self.params.input);
            t.barrier();
        } else if elements == CHUNK as u32 {
            let first = self.first_word() / u64::from(UNIT_WORDS);
            Tile::<E>::fill(t, |unit| {
                t.load4(self.params.input, first + u64::from(unit))
            });
            t.sync_warp();
        } else {
            let words = elements * E::WORDS as u32;
            let word = |word| t.load(self.params.input, self.first_word() + u64::from(word));
            Tile::<E>::fill_part(t, words, word);
            t.sync_warp();
        }
    }

    /// The places of this thread's row that hold elements.
    #[inline(always)]
    fn inside<T: Thread>(&self, t: T) -> u32 {
        if self.chunk.elements() == CHUNK as u32 {
            return WHOLE_GROUP;
        }
        let groups = groups::<S>();
        let place = self.chunk.block(S::SHAPE, t.thread_index() / groups);
        S::SHAPE.inside(t.thread_index() % groups, place.inside)
    }

    /// The codes of this thread's row, each with [`Quantizer::BIAS`] on top, and which of its elements
    /// have none. Places without elements have any.
    #[inline(always)]
    fn quantize<T: Thread>(&self, t: T) -> (Group, u32) {
        let quantizer = self.quantizer(t);
        let mut biased = [0; GROUP];
        let mut clear = true;
        Tile::<E>::for_row(t, |e, value| {
            biased[e] = quantizer.round(value).low_bits().cast_signed();
            clear &= quantizer.is_clearly_within(value);
        });
        let exceptions = if clear {
            0
        } else {
            self.quantize_with_care(t, &quantizer, &mut biased)
        };
        (biased, exceptions)
    }

    /// Sets right the codes of a row in which some are in doubt; which of its elements are exceptions.
    /// Rare, but whoever looks back waits for it: only what is in doubt is looked at again.
    #[inline(always)]
    fn quantize_with_care<T: Thread>(
        &self,
        t: T,
        quantizer: &Quantizer<E>,
        biased: &mut Group,
    ) -> u32 {
        let first = t.thread_index() * GROUP as u32;
        let mut doubtful = 0u32;
        for e in 0..t.opaque(GROUP as u32) {
            let is_clear = quantizer.is_clearly_within(Tile::<E>::get(t, first + e));
            doubtful |= u32::from(!is_clear) << e;
        }
        doubtful &= self.inside(t);
        let mut exceptions = 0u32;
        while doubtful != 0 {
            let e = doubtful.trailing_zeros();
            doubtful &= doubtful - 1;
            let value = Tile::<E>::get(t, first + e);
            match quantizer.quantize_with_care(value) {
                // A register has no address: the one to set is found by comparison.
                Some(code) => {
                    let code = code.wrapping_add(Quantizer::<E>::BIAS);
                    for (i, slot) in biased.iter_mut().enumerate() {
                        *slot = if i as u32 == e { code } else { *slot };
                    }
                }
                None => exceptions |= 1 << e,
            }
        }
        exceptions
    }

    /// Whether all elements equal the first, bit for bit. For the whole block, after a barrier.
    #[inline(always)]
    fn is_constant<T: Thread>(&self, t: T) -> bool {
        let first = Tile::<E>::get(t, 0).to_bits64();
        let inside = self.inside(t);
        let mut differs = false;
        for e in 0..t.opaque(GROUP as u32) {
            let value = Tile::<E>::get(t, t.thread_index() * GROUP as u32 + e);
            differs |= inside >> e & 1 == 1 && value.to_bits64() != first;
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
                cells::STATES + self.number,
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
            self.chunk.elements()
        };
        let filled = elements * E::WORDS as u32;
        let mut word = t.thread_index();
        while word < words {
            let value = if word < filled {
                self.raster_word(t, word)
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
                t.cell_store(states, cells::STATES + self.number, state.to_cell());
                t.shared_store(scratch, start as u32);
                t.shared_store(scratch + 1, (start >> 32) as u32);
            }
        }
        t.barrier();
        u64::from(t.shared_load(scratch)) | u64::from(t.shared_load(scratch + 1)) << 32
    }

    #[inline(always)]
    fn look_back<T: Thread>(&self, t: T) -> u64 {
        sum_before(t, self.params.cells, cells::STATES, self.number)
    }

    /// The first word of the payload in the stream.
    #[inline(always)]
    fn payload_word(&self) -> u64 {
        HEADER_WORDS as u64 + 4 * self.params.grid.chunk_count()
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
        t.store4(self.params.stream, first + self.number, entry);
        if self.number + 1 == self.params.grid.chunk_count() {
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
