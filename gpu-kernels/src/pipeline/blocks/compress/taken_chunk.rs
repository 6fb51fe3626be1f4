//! One chunk's way through a compression kernel: which one it is, its elements in and its image out.

use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::compress::field::{FieldOf, Source, WholeField};
use crate::pipeline::blocks::compress::parameters::Scratch;
use crate::pipeline::blocks::groups;
use crate::pipeline::blocks::staged_chunk::{BoxWalk, UNIT_WORDS};
use crate::pipeline::cells;
use crate::primitives::map::Map;
use crate::primitives::task::Task;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::chunk::{CHUNK, Form};
use ferrosz_codec::container::grid::ChunkBox;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::header_words::Ending;
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::container::table::{Entry, Split};
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{GROUP, Shape, StaticShape, WHOLE_GROUP};
use ferrosz_simt::Thread;

/// The chunk of a field that a thread block has taken.
pub(crate) struct TakenChunk<F, E, S> {
    field: F,
    pub(super) shared: Scratch<E>,
    pub(super) number: u64,
    pub(super) chunk: ChunkBox,
    shape: PhantomData<S>,
}

impl<'a, P: WholeField<E>, E: Element, S: StaticShape> TakenChunk<&'a P, E, S> {
    /// The number of chunks between a block's own chunk and the chunk that it prefetches into the cache, so that the
    /// block of that chunk need not wait for memory: 4 MiB. A multiple of this distance evicts elements that have not
    /// been used yet: docs/measurements/h200-speed.md has the distances.
    const AHEAD: u32 = ((4 << 20) / (CHUNK * E::BYTES)) as u32;

    /// The next chunk that no block has taken.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn take<T: Thread>(t: T, field: &'a P, shared: Scratch<E>) -> Self {
        let (grid, cells) = (field.grid(), field.params().cells);
        let (task, later) = Task::take::<T, S>(t, cells, grid, Self::AHEAD, shared.task);
        if later.exists(grid) {
            Self::prefetch(t, field, &later.chunk::<S>(grid));
        }
        Self::of(field, shared, task)
    }

    /// The same work; the box is read again, so that it needs no registers in between.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn again<T: Thread>(self, t: T) -> Self {
        if Self::IS_LINE {
            self
        } else {
            Self::of(
                self.field,
                self.shared,
                Task::again::<T, S>(t, self.shared.task),
            )
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn of(field: &'a P, shared: Scratch<E>, task: Task) -> Self {
        let number = u64::from(task.number);
        Self::new(field, shared, number, task.chunk::<S>(field.grid()))
    }

    /// Sends for a whole chunk, 32 elements a thread.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn prefetch<T: Thread>(t: T, field: &P, chunk: &ChunkBox) {
        if chunk.elements() == CHUNK as u32 {
            let first = t.thread_index() * GROUP as u32;
            let element = if Self::IS_LINE {
                chunk.origin[2] + u64::from(first)
            } else {
                let walk = BoxWalk::new(S::SHAPE, field.grid(), chunk);
                walk.flat(walk.at(first))
            };
            field.source(t).prefetch(t, element);
        }
    }

    /// Writes the chunk's table entry and, behind the last chunk, the header. `sum` is the summand of the chunk's words
    /// in its checksum. For one thread.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn finish<T: Thread>(&self, t: T, start: u64, words: u32, form: Form, sum: u64) {
        let params = self.field.params();
        let identity = self.write_entry(t, start, words, form, sum);
        if self.number + 1 == params.grid.chunk_count() {
            let payload_bytes = start + 4 * u64::from(words);
            let ending = Ending {
                error_bits: self.quantizer(t).error().to_bits64(),
                identity,
                payload_bytes,
            };
            (params.header).for_each_unit(&ending, |unit, words| {
                t.store4(params.stream, unit as u64, words);
            });
            let length = 4 * self.payload_word(t) + payload_bytes;
            t.atomic_store(params.cells, cells::STREAM_BYTES, length);
        }
    }
}

impl<F: FieldOf<E>, E: Element, S: StaticShape> TakenChunk<F, E, S> {
    pub(super) const IS_LINE: bool = matches!(S::SHAPE, Shape::Line);

    /// Chunk `number` of a field, which is this box.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn new(field: F, shared: Scratch<E>, number: u64, chunk: ChunkBox) -> Self {
        Self {
            field,
            shared,
            number,
            chunk,
            shape: PhantomData,
        }
    }

    /// The quantiser, read at each use, so that it needs no registers in between.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn quantizer<T: Thread>(&self, t: T) -> Quantizer<E> {
        self.field.quantizer(t)
    }

    /// The first word of a line's chunk in the input.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn first_word(&self) -> u64 {
        self.number * (CHUNK * E::WORDS) as u64
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn walk(&self) -> BoxWalk<'_> {
        BoxWalk::new(S::SHAPE, self.field.grid(), &self.chunk)
    }

    /// A word of the element in a slot: word `word % E::WORDS` of slot `word / E::WORDS`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn slot_word<T: Thread>(&self, t: T, word: u32) -> u32 {
        let words = E::WORDS as u32;
        let at = if Self::IS_LINE {
            self.first_word() + u64::from(word)
        } else {
            let walk = self.walk();
            walk.flat(walk.of_slot(word / words)) * u64::from(words) + u64::from(word % words)
        };
        self.field_word(t, at)
    }

    /// A word of the chunk's elements, row by row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn raster_word<T: Thread>(&self, t: T, word: u32) -> u32 {
        let words = E::WORDS as u32;
        let at = if Self::IS_LINE {
            self.first_word() + u64::from(word)
        } else {
            let walk = self.walk();
            walk.flat(walk.of_raster(word / words)) * u64::from(words) + u64::from(word % words)
        };
        self.field_word(t, at)
    }

    /// A word of the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn field_word<T: Thread>(&self, t: T, at: u64) -> u32 {
        let source = self.field.source(t);
        match self.field.map(t) {
            None => source.word(t, at),
            Some(map) => {
                let (words, first) = (E::WORDS as u64, at - at % E::WORDS as u64);
                let high = if E::WORDS == 2 {
                    source.word(t, first + 1)
                } else {
                    0
                };
                let element = E::from_words([source.word(t, first), high]);
                let [low, high] = map.element(element).to_words();
                if at.is_multiple_of(words) { low } else { high }
            }
        }
    }

    /// Brings the elements in. Ends so that threads may read their own rows.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn stage<T: Thread>(&self, t: T) {
        let (elements, staged) = (self.chunk.elements(), self.shared.elements);
        let source = self.field.source(t);
        if !Self::IS_LINE {
            if elements < CHUNK as u32 {
                staged.clear(t);
                t.barrier();
            }
            staged.fill_box(t, &self.walk(), self.field.steps(), source);
            t.barrier();
        } else if elements == CHUNK as u32 {
            let first = self.first_word() / u64::from(UNIT_WORDS);
            staged.fill(t, |unit| source.unit(t, first + u64::from(unit)));
            t.sync_warp();
        } else {
            let words = elements * E::WORDS as u32;
            let word = |word| source.word(t, self.first_word() + u64::from(word));
            staged.fill_part(t, words, word);
            t.sync_warp();
        }
        if let Some(map) = self.field.map(t) {
            staged.map_row(t, map);
        }
    }

    /// As [`TakenChunk::stage`], for a box that need not be a chunk of the field's own grid, whose elements are coded as they are.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn stage_box<T: Thread>(&self, t: T) {
        let staged = self.shared.elements;
        staged.clear(t);
        t.barrier();
        staged.fill_any(t, &self.walk(), self.field.source(t));
        t.barrier();
    }

    /// The positions of this thread's row that hold elements.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn inside<T: Thread>(&self, t: T) -> u32 {
        if self.chunk.elements() == CHUNK as u32 {
            return WHOLE_GROUP;
        }
        let groups = groups::<S>();
        let position = self.chunk.block(S::SHAPE, t.thread_index() / groups);
        S::SHAPE.inside(t.thread_index() % groups, position.inside)
    }

    /// The codes of this thread's row, each with [`Quantizer::BIAS`] on top, and which of its elements have none.
    /// Positions without elements have any.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn quantize<T: Thread>(&self, t: T) -> (Group, u32) {
        let quantizer = self.quantizer(t);
        let mut biased = [0; GROUP];
        let mut clear = true;
        self.shared.elements.for_row(t, |e, value| {
            biased[e] = quantizer.round(value).low_bits().cast_signed();
            clear &= quantizer.is_clearly_within(value);
        });
        let missing = if clear {
            0
        } else {
            self.quantize_with_care(t, &quantizer, &mut biased)
        };
        (biased, missing)
    }

    /// Sets right the codes of a row in which some are in doubt; which of its elements have none.
    /// Rare, but blocks that look back wait for it: only the codes in doubt are looked at again.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn quantize_with_care<T: Thread>(
        &self,
        t: T,
        quantizer: &Quantizer<E>,
        biased: &mut Group,
    ) -> u32 {
        let first = t.thread_index() * GROUP as u32;
        let mut doubtful = 0u32;
        for e in 0..t.opaque(GROUP as u32) {
            let is_clear = quantizer.is_clearly_within(self.shared.elements.get(t, first + e));
            doubtful |= u32::from(!is_clear) << e;
        }
        doubtful &= self.inside(t);
        let mut missing = 0u32;
        while doubtful != 0 {
            let e = doubtful.trailing_zeros();
            doubtful &= doubtful - 1;
            let value = self.shared.elements.get(t, first + e);
            match quantizer.quantize_with_care(value) {
                // A register has no address: the one to set is found by comparison.
                Some(code) => {
                    let code = code.wrapping_add(Quantizer::<E>::BIAS);
                    for (i, slot) in biased.iter_mut().enumerate() {
                        *slot = if i as u32 == e { code } else { *slot };
                    }
                }
                None => missing |= 1 << e,
            }
        }
        missing
    }

    /// Those of the elements without a code whose values are stored: all but holes. They are read again, as a second mask
    /// would need a register through the prediction.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn exceptions<T: Thread>(&self, t: T, missing: u32) -> u32 {
        if missing == 0 || !self.field.has_holes() {
            return missing;
        }
        let first = t.thread_index() * GROUP as u32;
        let (mut exceptions, mut rest) = (missing, missing);
        while rest != 0 {
            let e = rest.trailing_zeros();
            rest &= rest - 1;
            let is_hole = self.shared.elements.get(t, first + e).is_hole();
            exceptions &= !(u32::from(is_hole) << e);
        }
        exceptions
    }

    /// Whether all elements equal the first, bit for bit. For the whole block, after a barrier.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn is_constant<T: Thread>(&self, t: T) -> bool {
        let first = self.shared.elements.get(t, 0).to_bits64();
        let inside = self.inside(t);
        let mut differs = false;
        for e in 0..t.opaque(GROUP as u32) {
            let value = self
                .shared
                .elements
                .get(t, t.thread_index() * GROUP as u32 + e);
            differs |= inside >> e & 1 == 1 && value.to_bits64() != first;
        }
        !t.barrier_or(differs)
    }

    /// The image of a chunk that is not coded: all its elements, or one.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn write_elements<T: Thread>(&self, t: T, form: Form, words: u32) {
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
            self.shared.image.store(t, word, value);
            word += CHUNK_THREADS;
        }
    }

    /// The first word of the payload in the stream.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn payload_word<T: Thread>(&self, t: T) -> u64 {
        HEADER_WORDS as u64 + 4 * self.field.entries(t)
    }

    /// Copies the image to its position in the stream; this thread's part of the checksum.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn copy_image<T: Thread>(&self, t: T, start: u64, words: u32) -> u64 {
        let first = (self.payload_word(t) + start / 4) / u64::from(UNIT_WORDS);
        let stream = self.field.stream(t);
        let mut sum = 0u64;
        let mut unit = t.thread_index();
        while unit < words / UNIT_WORDS {
            let image = self.shared.image.load4(t, UNIT_WORDS * unit);
            t.store4(stream, first + u64::from(unit), image);
            for (i, word) in image.iter().enumerate() {
                sum = sum.wrapping_add(term(UNIT_WORDS * unit + i as u32, *word));
            }
            unit += CHUNK_THREADS;
        }
        sum
    }

    /// Writes the chunk's table entry; the identity of the stream. `sum` is the summand of the chunk's words in its
    /// checksum. For one thread.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn write_entry<T: Thread>(
        &self,
        t: T,
        start: u64,
        words: u32,
        form: Form,
        sum: u64,
    ) -> Identity {
        let identity = self.field.identity(t);
        let checksum = identity.seed(self.number, form.id()).wrapping_add(sum);
        // In units, which an entry has; from words, the assembler spills a register.
        let bytes = u64::from(UNIT_WORDS) * 4 * u64::from(words / UNIT_WORDS);
        let entry = Entry::new(start, bytes, form, checksum).to_words(Split::SHORT);
        let first = HEADER_WORDS as u64 / u64::from(UNIT_WORDS);
        t.store4(self.field.stream(t), first + self.number, entry);
        identity
    }
}
