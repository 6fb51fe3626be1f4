//! A chunk's elements in shared memory, turned from columns to rows.
//!
//! Global memory wants neighbouring lanes to touch neighbouring 16 bytes; coding wants each lane to
//! hold the 32 neighbouring elements of its block. So elements go through shared memory, where
//! block r is row r. The 16-byte units of a row are permuted by exclusive-or with the row number,
//! which spreads the accesses of either direction over all banks.
//!
//! A *slot* is the number of an element in coding order: block after block, and in a block position after
//! position, so that a row holds a group. In a line that is the order of the elements.

use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::compress::field::Source;
use crate::primitives::map::Map;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::chunk::CHUNK;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::shape::{GROUP, Shape};
use ferrosz_simt::{Layout, Shared, Thread, WARP};

/// 32-bit words in a 16-byte unit.
pub const UNIT_WORDS: u32 = 4;

/// Units that a lane moves before it waits for the first.
const IN_FLIGHT: usize = 8;

/// A chunk's elements in shared memory.
#[derive(Clone, Copy)]
pub struct StagedChunk<E> {
    memory: Shared<u32>,
    element: PhantomData<E>,
}

impl<E: Element> StagedChunk<E> {
    /// Takes its words from a layout.
    pub const fn new(layout: &mut Layout) -> Self {
        Self {
            memory: layout.array("staged chunk", Self::WORDS),
            element: PhantomData,
        }
    }

    /// Its words: those of a full chunk.
    pub const WORDS: u32 = (CHUNK * E::WORDS) as u32;
    /// Units in a row.
    pub const ROW_UNITS: usize = GROUP * E::WORDS / UNIT_WORDS as usize;
    /// Units of all rows of a warp.
    const WARP_UNITS: u32 = WARP * Self::ROW_UNITS as u32;
    /// Elements in a unit.
    pub const UNIT_ELEMENTS: usize = UNIT_WORDS as usize / E::WORDS;

    /// The first word of unit number `unit` of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn unit_word(unit: u32) -> u32 {
        let row = unit / Self::ROW_UNITS as u32;
        UNIT_WORDS * (unit ^ (row % 8))
    }

    /// The first word of the unit `steps` warps of units behind the one of this lane that begins at
    /// `first_word`.
    ///
    /// [`StagedChunk::unit_word`] of two numbers without common bits is the exclusive-or of the words of both. For the
    /// bits that the permutation does not change it is a sum, which costs nothing in an address.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn warp_word(first_word: u32, steps: u32) -> u32 {
        const PERMUTED: u32 = 8 * UNIT_WORDS - 1;
        let word = Self::unit_word(steps * WARP);
        (first_word ^ (word & PERMUTED)) + (word & !PERMUTED)
    }

    /// The position of word number `word` of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn word(word: u32) -> u32 {
        Self::unit_word(word / UNIT_WORDS) + word % UNIT_WORDS
    }

    /// Brings this warp's rows in, `load` giving the units of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn fill<T: Thread>(self, t: T, load: impl Fn(u32) -> [u32; 4]) {
        let first = t.warp() * Self::WARP_UNITS + t.lane();
        let first_word = Self::unit_word(first);
        for batch in 0..Self::ROW_UNITS / IN_FLIGHT {
            let number = |i: usize| (batch * IN_FLIGHT + i) as u32;
            let units: [[u32; 4]; IN_FLIGHT] =
                core::array::from_fn(|i| load(first + number(i) * WARP));
            for (i, words) in units.iter().enumerate() {
                self.memory
                    .store4(t, Self::warp_word(first_word, number(i)), *words);
            }
        }
    }

    /// Brings the first `words` words in, `load` giving the words of the chunk; zeros elsewhere.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn fill_part<T: Thread>(self, t: T, words: u32, load: impl Fn(u32) -> u32) {
        let per_warp = Self::WARP_UNITS * UNIT_WORDS;
        let first = t.warp() * per_warp;
        let mut word = first + t.lane();
        while word < first + per_warp {
            let value = if word < words { load(word) } else { 0 };
            self.store_word(t, word, value);
            word += WARP;
        }
    }

    /// Zeros all of it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn clear<T: Thread>(self, t: T) {
        let mut unit = t.thread_index();
        while unit < Self::WORDS / UNIT_WORDS {
            self.memory.store4(t, UNIT_WORDS * unit, [0; 4]);
            unit += CHUNK_THREADS;
        }
    }

    /// Brings the elements of a box in, to their slots; leaves all else as it is. For the whole block,
    /// which must meet at a barrier before it reads them.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn fill_box<T: Thread>(
        self,
        t: T,
        walk: &BoxWalk<'_>,
        steps: &UnitSteps,
        source: impl Source<E>,
    ) {
        if !walk.has_whole_units(Self::UNIT_ELEMENTS) {
            self.fill_words(t, walk, source);
        } else if walk.is_whole() {
            self.fill_whole(t, walk, steps, source);
        } else {
            self.fill_units(t, walk, source);
        }
    }

    /// As [`StagedChunk::fill_box`], for any box of a field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn fill_any<T: Thread>(self, t: T, walk: &BoxWalk<'_>, source: impl Source<E>) {
        match walk.has_whole_units(Self::UNIT_ELEMENTS) {
            true => self.fill_units(t, walk, source),
            false => self.fill_words(t, walk, source),
        }
    }

    /// Units of a box that is whole.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn fill_whole<T: Thread>(
        self,
        t: T,
        walk: &BoxWalk<'_>,
        steps: &UnitSteps,
        source: impl Source<E>,
    ) {
        let first = walk.at(t.thread_index() * Self::UNIT_ELEMENTS as u32);
        let first_unit = walk.flat(first) / Self::UNIT_ELEMENTS as u64;
        let first_word = Self::first_word(walk, first);
        for batch in 0..Self::ROW_UNITS / IN_FLIGHT {
            let units: [[u32; 4]; IN_FLIGHT] = core::array::from_fn(|i| {
                source.unit(t, first_unit + steps.units[batch * IN_FLIGHT + i])
            });
            for (i, words) in units.iter().enumerate() {
                let word = first_word ^ steps.words[batch * IN_FLIGHT + i];
                self.memory.store4(t, word, *words);
            }
        }
    }

    /// The first word of the unit at these coordinates of a whole box.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn first_word(walk: &BoxWalk<'_>, at: [u32; 3]) -> u32 {
        let slot = whole_slot(walk.shape, walk.grid, at);
        Self::unit_word(slot / Self::UNIT_ELEMENTS as u32)
    }

    /// Units of a box whose rows consist of units.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn fill_units<T: Thread>(self, t: T, walk: &BoxWalk<'_>, source: impl Source<E>) {
        for number in 0..t.opaque(Self::ROW_UNITS as u32) {
            let unit = number * CHUNK_THREADS + t.thread_index();
            let at = walk.at(unit * Self::UNIT_ELEMENTS as u32);
            if walk.is_inside(at) {
                let words = source.unit(t, walk.flat(at) / Self::UNIT_ELEMENTS as u64);
                let unit = walk.slot(at) / Self::UNIT_ELEMENTS as u32;
                self.memory.store4(t, Self::unit_word(unit), words);
            }
        }
    }

    /// Words of any box.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn fill_words<T: Thread>(self, t: T, walk: &BoxWalk<'_>, source: impl Source<E>) {
        let words = E::WORDS as u32;
        let mut number = t.thread_index();
        while number < Self::WORDS {
            let (at, word) = (walk.at(number / words), number % words);
            if walk.is_inside(at) {
                let value = source.word(t, walk.flat(at) * u64::from(words) + u64::from(word));
                self.store_word(t, walk.slot(at) * words + word, value);
            }
            number += CHUNK_THREADS;
        }
    }

    /// Gives each element of this thread's row to `take`, with its number.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn for_row<T: Thread>(self, t: T, mut take: impl FnMut(usize, E)) {
        for unit in 0..Self::ROW_UNITS {
            let at = t.thread_index() * Self::ROW_UNITS as u32 + unit as u32;
            let words = self.memory.load4(t, Self::unit_word(at));
            for i in 0..Self::UNIT_ELEMENTS {
                let high = if E::WORDS == 2 {
                    words[(2 * i + 1) % 4]
                } else {
                    0
                };
                let value = E::from_words([words[i * E::WORDS], high]);
                take(unit * Self::UNIT_ELEMENTS + i, value);
            }
        }
    }

    /// Sets each element of this thread's row to the result of `give` for its number.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn set_row<T: Thread>(self, t: T, mut give: impl FnMut(usize) -> E) {
        for unit in 0..Self::ROW_UNITS {
            let mut words = [0; 4];
            for i in 0..Self::UNIT_ELEMENTS {
                let value = give(unit * Self::UNIT_ELEMENTS + i).to_words();
                words[i * E::WORDS] = value[0];
                if E::WORDS == 2 {
                    words[(2 * i + 1) % 4] = value[1];
                }
            }
            let at = t.thread_index() * Self::ROW_UNITS as u32 + unit as u32;
            self.memory.store4(t, Self::unit_word(at), words);
        }
    }

    /// Replaces each element of this thread's row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn map_row<T: Thread>(self, t: T, map: impl Map<E>) {
        for unit in 0..t.opaque(Self::ROW_UNITS as u32) {
            let first_word = Self::unit_word(t.thread_index() * Self::ROW_UNITS as u32 + unit);
            let words = self.memory.load4(t, first_word);
            self.memory.store4(t, first_word, map.unit(t, words));
        }
    }

    /// Element number `element` of the chunk, wherever it lies.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn get<T: Thread>(self, t: T, element: u32) -> E {
        let word = element * E::WORDS as u32;
        let high = if E::WORDS == 2 {
            self.load_word(t, word + 1)
        } else {
            0
        };
        E::from_words([self.load_word(t, word), high])
    }

    /// Word number `word` of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load_word<T: Thread>(self, t: T, word: u32) -> u32 {
        self.memory.load(t, Self::word(word))
    }

    /// Sets word number `word` of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn store_word<T: Thread>(self, t: T, word: u32, value: u32) {
        self.memory.store(t, Self::word(word), value);
    }

    /// The unit whose first word this is: see [`StagedChunk::unit_word`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load_unit<T: Thread>(self, t: T, first_word: u32) -> [u32; 4] {
        self.memory.load4(t, first_word)
    }

    /// Gives this warp's units to `take`: their numbers and first words.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn for_units<T: Thread>(t: T, mut take: impl FnMut(u32, u32)) {
        let first = t.warp() * Self::WARP_UNITS + t.lane();
        let first_word = Self::unit_word(first);
        for i in 0..Self::ROW_UNITS as u32 {
            take(first + i * WARP, Self::warp_word(first_word, i));
        }
    }

    /// Gives this warp's words below `words`, by their numbers, to `take`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn for_words<T: Thread>(t: T, words: u32, mut take: impl FnMut(u32)) {
        let per_warp = Self::WARP_UNITS * UNIT_WORDS;
        let first = t.warp() * per_warp;
        let mut word = first + t.lane();
        while word < words.min(first + per_warp) {
            take(word);
            word += WARP;
        }
    }
}

/// The most units that a thread has of a chunk: those of a row of `f64`.
const MAX_UNITS: usize = 16;

/// The positions of a thread's units in a whole chunk of planes or cubes, counted from the first unit: thread
/// i has units i, i + 256, ... of those of the chunk, walked through row by row.
///
/// All edges of a whole chunk are powers of two, so the coordinates of these units have no bits in
/// common with those of the first. So positions are sums, in the staged chunk exclusive-ors, of the first one and
/// a step that is the same for all threads and chunks. The host makes the table, and the kernel has it as constants.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitSteps {
    /// Units from the first unit on, in memory.
    pub units: [u64; MAX_UNITS],
    /// The numbers that the first word in the staged chunk is combined with.
    pub words: [u32; MAX_UNITS],
}

impl UnitSteps {
    /// Those of lines, which have none.
    pub const NONE: Self = Self {
        units: [0; MAX_UNITS],
        words: [0; MAX_UNITS],
    };

    /// For chunks of a grid, in memory where rows and slices follow each other as in a field of these
    /// lengths.
    pub fn new<E: Element>(shape: Shape, grid: &Grid, lengths: [u64; 3]) -> Self {
        let unit = StagedChunk::<E>::UNIT_ELEMENTS as u32;
        let mut steps = Self::NONE;
        if matches!(shape, Shape::Line) {
            return steps;
        }
        for i in 0..StagedChunk::<E>::ROW_UNITS {
            let at = coordinates(grid, i as u32 * CHUNK_THREADS * unit);
            let [z, y, x] = at.map(u64::from);
            let position = z
                .wrapping_mul(lengths[1])
                .wrapping_add(y)
                .wrapping_mul(lengths[2]);
            steps.units[i] = position.wrapping_add(x) / u64::from(unit);
            steps.words[i] = StagedChunk::<E>::unit_word(whole_slot(shape, grid, at) / unit);
        }
        steps
    }
}

/// The coordinates of position number `index` of a whole chunk.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn coordinates(grid: &Grid, index: u32) -> [u32; 3] {
    let [_, y_bits, x_bits] = grid.tile();
    let row = index >> x_bits;
    [
        row >> y_bits,
        row & ((1 << y_bits) - 1),
        index & ((1 << x_bits) - 1),
    ]
}

/// The slot of a position of a whole chunk, whose edges are powers of two.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn whole_slot(shape: Shape, grid: &Grid, at: [u32; 3]) -> u32 {
    let (tile, edge) = (grid.tile(), shape.extents().map(u32::ilog2));
    let (mut block, mut position) = (0, 0);
    for i in 0..3 {
        block = block << (tile[i] - edge[i]) | at[i] >> edge[i];
        position = position << edge[i] | at[i] & ((1 << edge[i]) - 1);
    }
    (block * shape.elements() as u32) | position
}

/// The positions of a chunk of planes or cubes, walked through row by row as if it were whole.
pub struct BoxWalk<'a> {
    shape: Shape,
    grid: &'a Grid,
    chunk: &'a ChunkBox,
    /// Blocks of the chunk in each dimension.
    blocks: [u32; 3],
}

impl<'a> BoxWalk<'a> {
    /// The positions of a chunk of a grid.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn new(shape: Shape, grid: &'a Grid, chunk: &'a ChunkBox) -> Self {
        Self {
            shape,
            grid,
            chunk,
            blocks: chunk.blocks(shape),
        }
    }

    /// Whether the field's rows consist of whole units of so many elements; then all that begin in the
    /// chunk also end in it, and lie aligned in memory.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn has_whole_units(&self, unit: usize) -> bool {
        self.grid.lengths()[2].is_multiple_of(unit as u64)
    }

    /// Whether the chunk has all positions.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn is_whole(&self) -> bool {
        self.chunk.elements() == CHUNK as u32
    }

    /// The coordinates of position number `index`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn at(&self, index: u32) -> [u32; 3] {
        coordinates(self.grid, index)
    }

    /// Whether the chunk has an element there.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn is_inside(&self, at: [u32; 3]) -> bool {
        let [depth, height, width] = self.chunk.extents;
        (at[0] < depth) & (at[1] < height) & (at[2] < width)
    }

    /// The number of the element there in the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn flat(&self, at: [u32; 3]) -> u64 {
        self.grid.flat(self.in_field(at))
    }

    /// The coordinates in the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn in_field(&self, at: [u32; 3]) -> [u64; 3] {
        core::array::from_fn(|i| self.chunk.origin[i] + u64::from(at[i]))
    }

    /// The number of the element there in the chunk, row by row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn raster(&self, at: [u32; 3]) -> u32 {
        let [_, height, width] = self.chunk.extents;
        (at[0] * height + at[1]) * width + at[2]
    }

    /// The coordinates of an element by its number in the chunk, row by row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn of_raster(&self, number: u32) -> [u32; 3] {
        let [_, height, width] = self.chunk.extents.map(|extent| extent.max(1));
        let row = number / width;
        [row / height, row % height, number % width]
    }

    /// The slot of the element there.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn slot(&self, at: [u32; 3]) -> u32 {
        let edge = self.shape.extents();
        let [_, rows, columns] = self.blocks;
        let block = (at[0] / edge[0] * rows + at[1] / edge[1]) * columns + at[2] / edge[2];
        let position = (at[0] % edge[0] * edge[1] + at[1] % edge[1]) * edge[2] + at[2] % edge[2];
        block * self.shape.elements() as u32 + position
    }

    /// The coordinates of a slot of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn of_slot(&self, slot: u32) -> [u32; 3] {
        let elements = self.shape.elements() as u32;
        let position = slot % elements;
        let (row, slice) = (self.shape.row() as u32, self.shape.slice() as u32);
        let [z, y, x] = self.chunk.block(self.shape, slot / elements).origin;
        [
            z + position / slice,
            y + position % slice / row,
            x + position % row,
        ]
    }
}

const _: () = assert!(CHUNK_THREADS as usize * GROUP == CHUNK);
