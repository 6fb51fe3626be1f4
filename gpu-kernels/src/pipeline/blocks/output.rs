//! Where a decoded chunk's elements go: those that lie in a region, in the region's own order.

use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::staged_chunk::{BoxWalk, StagedChunk, UNIT_WORDS, UnitSteps};
use crate::primitives::map::Map;
use crate::primitives::shorts::Shorts;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::chunk::CHUNK;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_simt::{Shared, Thread, View};

/// The words of a chunk's elements. A position is given both by the word's number in the order
/// of slots and by that in the order of rows.
#[derive(Clone, Copy)]
pub enum Words {
    /// In the staged chunk, in their slots.
    Staged,
    /// In the image, row by row.
    InImage,
    /// All elements have these; the second is that of `f64`.
    Filled(u32, u32),
}

/// Memory that decoded elements are written to.
pub trait Destination: Copy {
    /// Writes 16-byte unit number `number` of the elements.
    fn set_unit<T: Thread>(self, t: T, number: u64, words: [u32; 4]);
    /// Writes word number `at` of the elements.
    fn set_word<T: Thread>(self, t: T, at: u64, word: u32);
}

/// The elements as they are.
impl Destination for View<u32> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set_unit<T: Thread>(self, t: T, number: u64, words: [u32; 4]) {
        t.store4(self, number, words);
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set_word<T: Thread>(self, t: T, at: u64, word: u32) {
        t.store(self, at, word);
    }
}

/// The low halves of the words of elements.
impl Destination for Shorts {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set_unit<T: Thread>(self, t: T, number: u64, words: [u32; 4]) {
        Self::set_unit(self, t, number, words);
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set_word<T: Thread>(self, t: T, at: u64, word: u32) {
        self.set_value(t, at, word);
    }
}

/// A decoded chunk in shared memory, as [`Words`] says.
#[derive(Clone, Copy)]
pub struct Held<E> {
    /// The chunk's image, if its elements are there.
    pub image: Shared<u32>,
    /// The chunk's elements, if they are there.
    pub elements: StagedChunk<E>,
}

impl<E: Element> Held<E> {
    /// Words of an element.
    const WORDS: u32 = E::WORDS as u32;

    /// One word, which has this number in the order of slots, and this one in that of rows.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn word<T: Thread>(&self, t: T, words: Words, slot: u32, raster: u32) -> u32 {
        match words {
            Words::Staged => self.elements.load_word(t, slot),
            Words::InImage => self.image.load(t, raster),
            Words::Filled(low, _) if slot.is_multiple_of(Self::WORDS) => low,
            Words::Filled(_, high) => high,
        }
    }

    /// The four words of a unit, which has its first word here in the staged chunk, and here in the image.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn unit<T: Thread>(&self, t: T, words: Words, staged: u32, raster: u32) -> [u32; 4] {
        match words {
            Words::Staged => self.elements.load_unit(t, staged),
            Words::InImage => self.image.load4(t, raster),
            Words::Filled(low, _) if E::WORDS == 1 => [low; 4],
            Words::Filled(low, high) => [low, high, low, high],
        }
    }

    /// Replaces each of the first `elements` elements; where they are then. For the whole block, all threads of which can
    /// read the image; ends so that threads may read their own rows, in planes and cubes all.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn map<T: Thread, S: StaticShape>(
        &self,
        t: T,
        words: Words,
        elements: u32,
        map: impl Map<E>,
    ) -> Words {
        match words {
            Words::Staged => self.elements.map_row(t, map),
            Words::InImage => {
                let mut element = t.thread_index();
                while element < elements {
                    let at = element * Self::WORDS;
                    let low = self.image.load(t, at);
                    let high = match Self::WORDS {
                        1 => 0,
                        _ => self.image.load(t, at + 1),
                    };
                    let [low, high] = map.element(E::from_words([low, high])).to_words();
                    self.image.store(t, at, low);
                    if Self::WORDS == 2 {
                        self.image.store(t, at + 1, high);
                    }
                    element += CHUNK_THREADS;
                }
            }
            Words::Filled(low, high) => {
                let [low, high] = map.element(E::from_words([low, high])).to_words();
                return Words::Filled(low, high);
            }
        }
        match (words, S::SHAPE) {
            (Words::Staged, Shape::Line) => t.sync_warp(),
            _ => t.barrier(),
        }
        words
    }

    /// Writes a whole chunk of a line from this 16-byte unit of the output on. For the whole block; threads must be
    /// done with their warp's rows.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write_units<T: Thread>(
        &self,
        t: T,
        words: Words,
        output: impl Destination,
        first_unit: u64,
    ) {
        StagedChunk::<E>::for_units(t, |unit, staged_word| {
            let values = self.unit(t, words, staged_word, UNIT_WORDS * unit);
            output.set_unit(t, first_unit + u64::from(unit), values);
        });
    }

    /// Writes a chunk of a line of which all elements are asked for, the first of which is this one of the output. As
    /// `Held::write_units`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn write_line<T: Thread>(&self, t: T, words: Words, output: View<u32>, chunk: &ChunkBox) {
        let first_word = chunk.origin[2] * u64::from(Self::WORDS);
        if chunk.elements() == CHUNK as u32 {
            self.write_units(t, words, output, first_word / u64::from(UNIT_WORDS));
        } else {
            StagedChunk::<E>::for_words(t, chunk.elements() * Self::WORDS, |word| {
                let value = self.word(t, words, word, word);
                t.store(output, first_word + u64::from(word), value);
            });
        }
    }
}

/// The way of one chunk's elements into the output of a region.
pub struct Output<'a, E, S, D> {
    /// The output, 16-byte aligned.
    pub output: D,
    /// Elements of it before the region's.
    pub first: u64,
    /// The division of the field.
    pub grid: &'a Grid,
    /// The region.
    pub region: &'a Region,
    /// The units of a whole chunk, in the region.
    pub steps: &'a UnitSteps,
    /// The chunk.
    pub chunk: &'a ChunkBox,
    /// The chunk's elements.
    pub held: Held<E>,
    /// Shape of blocks.
    pub shape: PhantomData<S>,
}

impl<E: Element, S: StaticShape, D: Destination> Output<'_, E, S, D> {
    const WORDS: u32 = E::WORDS as u32;

    /// Writes the chunk's elements that lie in the region. For the whole block; threads must be done with
    /// their warp's rows, in planes and cubes with all.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn write<T: Thread>(&self, t: T, words: Words) {
        if matches!(S::SHAPE, Shape::Line) {
            self.write_line(t, words);
        } else {
            self.write_box(t, words);
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write_line<T: Thread>(&self, t: T, words: Words) {
        let (first, elements) = (self.chunk.origin[2], self.chunk.elements());
        let holds = self.region.holds_run(first, first + CHUNK as u64 - 1);
        // In words, from the start of the output.
        let position = first
            .wrapping_sub(self.region.from()[2])
            .wrapping_add(self.first);
        let offset = position.wrapping_mul(u64::from(Self::WORDS));
        if holds && elements == CHUNK as u32 && offset.is_multiple_of(u64::from(UNIT_WORDS)) {
            let first_unit = offset / u64::from(UNIT_WORDS);
            (self.held).write_units(t, words, self.output, first_unit);
        } else {
            StagedChunk::<E>::for_words(t, elements * Self::WORDS, |word| {
                let flat = first + u64::from(word / Self::WORDS);
                if let Some(position) = self.region.position_of(flat) {
                    self.store(
                        t,
                        position,
                        word % Self::WORDS,
                        self.held.word(t, words, word, word),
                    );
                }
            });
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write_box<T: Thread>(&self, t: T, words: Words) {
        let unit = StagedChunk::<E>::UNIT_ELEMENTS;
        let walk = BoxWalk::new(S::SHAPE, self.grid, self.chunk);
        let is_aligned = |number: u64| number.is_multiple_of(unit as u64);
        let starts_aligned = is_aligned(self.chunk.origin[2].wrapping_sub(self.region.from()[2]));
        let has_whole_units = walk.has_whole_units(unit)
            && self.region.holds(self.chunk)
            && is_aligned(self.region.extents()[2])
            && is_aligned(self.first)
            && starts_aligned;
        let words_of_slot = |at| walk.slot(at) * Self::WORDS;
        let words_of_raster = |at| walk.raster(at) * Self::WORDS;
        if has_whole_units && walk.is_whole() {
            self.write_whole(t, &walk, words);
        } else if has_whole_units {
            for i in 0..t.opaque((CHUNK / unit) as u32 / CHUNK_THREADS) {
                let number = i * CHUNK_THREADS + t.thread_index();
                let at = walk.at(number * unit as u32);
                if walk.is_inside(at)
                    && let Some(position) = self.region.position(walk.in_field(at))
                {
                    let staged_word = StagedChunk::<E>::unit_word(walk.slot(at) / unit as u32);
                    let values = self.held.unit(t, words, staged_word, words_of_raster(at));
                    let number = (self.first + position) / unit as u64;
                    self.output.set_unit(t, number, values);
                }
            }
        } else {
            let mut number = t.thread_index();
            while number < StagedChunk::<E>::WORDS {
                let (at, word) = (walk.at(number / Self::WORDS), number % Self::WORDS);
                if walk.is_inside(at)
                    && let Some(position) = self.region.position(walk.in_field(at))
                {
                    let value = self.held.word(
                        t,
                        words,
                        words_of_slot(at) + word,
                        words_of_raster(at) + word,
                    );
                    self.store(t, position, word, value);
                }
                number += CHUNK_THREADS;
            }
        }
    }

    /// Units of a whole chunk, all of which are in the requested part.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write_whole<T: Thread>(&self, t: T, walk: &BoxWalk<'_>, words: Words) {
        let unit = StagedChunk::<E>::UNIT_ELEMENTS;
        let first = walk.at(t.thread_index() * unit as u32);
        let position = self.region.position(walk.in_field(first)).unwrap_or(0);
        let first_unit = (self.first + position) / unit as u64;
        let first_word = StagedChunk::<E>::first_word(walk, first);
        for i in 0..StagedChunk::<E>::ROW_UNITS {
            let staged_word = first_word ^ self.steps.words[i];
            let raster = UNIT_WORDS * (i as u32 * CHUNK_THREADS + t.thread_index());
            let values = self.held.unit(t, words, staged_word, raster);
            (self.output).set_unit(t, first_unit + self.steps.units[i], values);
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store<T: Thread>(&self, t: T, position: u64, word: u32, value: u32) {
        let at = (self.first + position) * u64::from(Self::WORDS) + u64::from(word);
        self.output.set_word(t, at, value);
    }
}
