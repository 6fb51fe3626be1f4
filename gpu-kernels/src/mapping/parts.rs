//! The parts of a mask, their elements, and their planes in the workspace.

use crate::pipeline::blocks::staged_chunk::coordinates;
use ferrosz_codec::container::chunk::CHUNK;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::divide::divide;
use ferrosz_codec::mapping::mask::MaskLayout;
use ferrosz_codec::mapping::mask::part::PartBox;
use ferrosz_simt::{Layout, Shared, Thread, View};

/// Threads of a block that goes through parts.
pub const THREADS: u32 = 256;

/// The bit of a part's word that is set if it has elements of classes with a value.
pub const CLASSES_FILLED: u32 = 1;

/// The bit that is set if it has negative elements, and these are a class.
pub const SIGNS_FILLED: u32 = 2;

/// The planes of all parts, plane by plane, that of signs last. Each plane of a part has as many words as those of the largest part.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Planes {
    /// The words of all planes.
    pub words: View<u32>,
    /// Words of a plane.
    pub plane_words: u32,
    /// Planes of a part.
    pub planes: u32,
}

impl Planes {
    /// Words of the planes of a part.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn part_words(&self) -> u32 {
        self.planes * self.plane_words
    }

    /// The planes of a part.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn of(&self, part: u64) -> View<u32> {
        let words = u64::from(self.part_words());
        self.words.from(part * words).first(words)
    }

    /// A word of a plane of a part, from an earlier launch.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load<T: Thread>(&self, t: T, part: u64, plane: u32, word: u32) -> u32 {
        t.load(self.of(part), u64::from(plane * self.plane_words + word))
    }

    /// As [`Planes::load`], of a part that this warp has alone, before it sets a word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load_own<T: Thread>(&self, t: T, part: u64, plane: u32, word: u32) -> u32 {
        let at = u64::from(plane * self.plane_words + word);
        t.load_own(self.of(part), at)
    }

    /// Sets a word of a plane of a part.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn store<T: Thread>(&self, t: T, part: u64, plane: u32, word: u32, bits: u32) {
        let at = u64::from(plane * self.plane_words + word);
        t.store(self.of(part), at, bits);
    }
}

/// The parts that a kernel goes through: a box of them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Parts {
    /// All parts of the field.
    pub mask: MaskLayout,
    /// The first one in each dimension.
    pub first: [u64; 3],
    /// How many in each dimension.
    pub counts: [u64; 3],
}

impl Parts {
    /// All parts.
    pub fn all(mask: MaskLayout) -> Self {
        Self {
            mask,
            first: [0; 3],
            counts: mask.grid.chunks(),
        }
    }

    /// The number of parts.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn count(&self) -> u64 {
        let [z, y, x] = self.counts;
        z * y * x
    }

    /// Part `task` of them: its number in the field, and its box.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn part(&self, task: u64) -> (u64, ChunkBox) {
        let [_, rows, columns] = self.counts;
        let (row, x) = divide(task, columns);
        let (z, y) = divide(row, rows);
        let at = [self.first[0] + z, self.first[1] + y, self.first[2] + x];
        let [_, rows, columns] = self.mask.grid.chunks();
        let number = (at[0] * rows + at[1]) * columns + at[2];
        (number, self.mask.grid.chunk_at(at))
    }
}

/// The shared memory of a block that goes through parts: for each round, in whole parts, the distance of its elements from
/// those of the first one. The edges of whole parts are powers of two, so that distances add up.
pub const DISTANCES: (Shared<u64>, Layout) = {
    let mut layout = Layout::new();
    let distances = layout.array("distances", CHUNK as u32 / THREADS);
    (distances, layout)
};

/// The numbers in the coded field of a thread's elements of a part: in each round of the block, it has one.
pub struct Numbers<'a> {
    grid: &'a Grid,
    part: &'a ChunkBox,
    of: PartBox,
    /// The thread, and the number of its first element, if there is one.
    thread: u32,
    first: u64,
}

impl<'a> Numbers<'a> {
    /// Sets the distances of a field. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn prepare<T: Thread>(t: T, grid: &Grid) {
        if t.thread_index() < DISTANCES.0.len() {
            let at = coordinates(grid, t.thread_index() * THREADS);
            let distance = grid.flat(at.map(u64::from));
            DISTANCES.0.store(t, t.thread_index(), distance);
        }
        t.barrier();
    }

    /// Those of a part, behind [`Numbers::prepare`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn new<T: Thread>(t: T, grid: &'a Grid, part: &'a ChunkBox) -> Self {
        let mut numbers = Self {
            grid,
            part,
            of: PartBox::new(part),
            thread: t.thread_index(),
            first: 0,
        };
        if numbers.thread < numbers.of.elements {
            numbers.first = numbers.of_element(numbers.thread);
        }
        numbers
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn of_element(&self, element: u32) -> u64 {
        (self.grid).flat(position(self.grid, self.part, &self.of, element))
    }

    /// The number of the thread's element that has so many before it, a multiple of [`THREADS`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn at<T: Thread>(&self, t: T, before: u32) -> u64 {
        match self.of.is_whole() {
            true => self.in_whole(t, before),
            false => self.of_element(before + self.thread),
        }
    }

    /// As [`Numbers::at`], of a whole part.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn in_whole<T: Thread>(&self, t: T, before: u32) -> u64 {
        self.first + DISTANCES.0.load(t, before / THREADS)
    }
}

/// The coordinates in the field of an element of a part.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn position(grid: &Grid, part: &ChunkBox, of: &PartBox, element: u32) -> [u64; 3] {
    // The edges of whole parts are powers of two, which saves divisions.
    let at = match of.is_whole() {
        true => coordinates(grid, element),
        false => of.position(element),
    };
    core::array::from_fn(|i| part.origin[i] + u64::from(at[i]))
}
