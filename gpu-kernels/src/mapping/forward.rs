//! From the user's field to the coded field and the planes of its mask: a thread block a part.
//!
//! Most parts of most fields have no elements of classes. So an element costs little more than its load, several of
//! which are on their way in each thread. A word of the planes has the elements of a warp, and stays in one of its lanes
//! until it is known that the part has any.

use crate::PACKAGE;
use crate::mapping::parts::{Parts, Planes, THREADS, position};
use crate::mapping::places::Places;
use crate::pipeline::blocks::staged_chunk::coordinates;
use crate::primitives::element::{load_element, store_element};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::chunk::CHUNK;
use ferrosz_codec::container::grid::ChunkBox;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::mapping::mask::part::{MOST_PLANES, PartBox, class_bit};
use ferrosz_simt::{Kernel, Name, Package, Thread, View, WARP};

/// Elements that a thread loads before it waits for the first.
const IN_FLIGHT: usize = 8;

const _: () = assert!(
    CHUNK as u32 <= THREADS * WARP,
    "a lane has a word of each plane"
);

/// Maps a field of `E`. Launched with any number of blocks.
pub struct Forward<E>(PhantomData<E>);

/// Parameters of [`Forward`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ForwardParams {
    /// The words of the user's field.
    pub field: View<u32>,
    /// The user's numbers of the coded field's elements.
    pub places: Places,
    /// The output: the words of the coded field, with holes for missing elements. Empty if it is not asked for.
    pub coded: View<u32>,
    /// The output: the planes of the parts that have elements of classes.
    pub planes: Planes,
    /// The output: a word for each part, 0 if it has no elements of classes. Empty if neither these nor planes are asked
    /// for.
    pub filled: View<u32>,
    /// The output: a number that is above 0 if the coded field has holes, and must be 0 before. Read if `needs_holes`. Empty
    /// without classes.
    pub holes: View<u64>,
    /// Not 0 if nothing is to be done for a field without holes.
    pub needs_holes: u32,
    /// The parts of the field.
    pub parts: Parts,
    /// What leads to the coded values.
    pub mapping: ValueMapping,
}

impl<E: Element> Kernel for Forward<E> {
    type Params = ForwardParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_map_forward", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ForwardParams) {
        if params.needs_holes != 0 && t.load_u64(params.holes, 0) == 0 {
            return;
        }
        let mut task = u64::from(t.block_index());
        while task < params.parts.count() {
            let (number, part) = params.parts.part(task);
            let of = PartBox::new(&part);
            let words = Self::map(t, params, &part, &of);
            if !params.filled.is_empty() {
                let is_filled = t.barrier_or(words[0] != 0);
                if t.thread_index() == 0 {
                    t.store(params.filled, number, u32::from(is_filled));
                }
                if is_filled {
                    Self::write_planes(t, &params.planes, number, &of, &words);
                }
            }
            task += u64::from(t.block_count());
        }
    }
}

impl<E: Element> Forward<E> {
    /// Maps the elements of a part. Returns a word of each plane: lane i has that of the elements that its warp has in
    /// round i. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn map<T: Thread>(
        t: T,
        params: &ForwardParams,
        part: &ChunkBox,
        of: &PartBox,
    ) -> [u32; MOST_PLANES] {
        let mut words = [0; MOST_PLANES];
        let mut has_holes = false;
        let numbers = Numbers::new(t, params, part, of);
        let classes = &params.mapping.classes;
        let mut first = 0;
        while first < of.elements {
            let round = |i: usize| first + i as u32 * THREADS;
            let is_inside = |i: usize| round(i) + t.thread_index() < of.elements;
            let values: [E; IN_FLIGHT] = core::array::from_fn(|i| {
                // One of the elements again, rather than none: so there is no branch.
                let round = if is_inside(i) { round(i) } else { first };
                match round + t.thread_index() < of.elements {
                    true => load_element(t, params.field, params.places.of(numbers.at(round))),
                    false => E::ZERO,
                }
            });
            for (i, value) in values.iter().enumerate() {
                let is_fill = is_inside(i) && classes.has_fill(*value);
                let is_of_class = is_fill || (is_inside(i) && classes.has_sign(*value));
                has_holes |= is_fill;
                if !params.filled.is_empty() && t.any(is_of_class) {
                    let class = if is_of_class { classes.of(*value) } else { 0 };
                    for (plane, word) in (0..).zip(&mut words) {
                        let bits = t.ballot(class_bit(class, plane) == 1);
                        if t.lane() == round(i) / THREADS {
                            *word = bits;
                        }
                    }
                }
                if !params.coded.is_empty() && is_inside(i) {
                    let coded = params.mapping.coded(*value, is_fill);
                    store_element(t, params.coded, numbers.at(round(i)), coded);
                }
            }
            first += IN_FLIGHT as u32 * THREADS;
        }
        if params.needs_holes == 0 && t.any(has_holes) && t.lane() == 0 {
            t.atomic_max(params.holes, 0, 1);
        }
        words
    }

    /// Writes the planes of a part.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write_planes<T: Thread>(
        t: T,
        planes: &Planes,
        number: u64,
        of: &PartBox,
        words: &[u32; MOST_PLANES],
    ) {
        let word = t.lane() * (THREADS / WARP) + t.warp();
        if word < of.words() {
            for (plane, bits) in (0..).zip(words) {
                if plane < planes.planes {
                    planes.store(t, number, plane, word, *bits);
                }
            }
        }
    }
}

/// The numbers in the coded field of a thread's elements of a part.
struct Numbers<'a> {
    params: &'a ForwardParams,
    part: &'a ChunkBox,
    of: &'a PartBox,
    /// The thread, and the number of its first element, if there is one.
    thread: u32,
    first: u64,
}

impl<'a> Numbers<'a> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn new<T: Thread>(
        t: T,
        params: &'a ForwardParams,
        part: &'a ChunkBox,
        of: &'a PartBox,
    ) -> Self {
        let mut numbers = Self {
            params,
            part,
            of,
            thread: t.thread_index(),
            first: 0,
        };
        if numbers.thread < of.elements {
            numbers.first = numbers.of_element(numbers.thread);
        }
        numbers
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn of_element(&self, element: u32) -> u64 {
        let grid = &self.params.parts.mask.grid;
        grid.flat(position(grid, self.part, self.of, element))
    }

    /// The number of the thread's element that has so many before it, a multiple of [`THREADS`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn at(&self, before: u32) -> u64 {
        let grid = &self.params.parts.mask.grid;
        match self.of.elements == CHUNK as u32 {
            // The edges of whole parts are powers of two, so that distances add up; this one is the same for all threads.
            true => self.first + grid.flat(coordinates(grid, before).map(u64::from)),
            false => self.of_element(before + self.thread),
        }
    }
}
