//! From the user's field to the coded field and the planes of its mask: a thread block a part.
//!
//! Most parts of most fields have no elements of classes. So an element costs little more than its load, several of
//! which are on their way in each thread. A word of the planes has the elements of a warp, and stays in one of its lanes
//! until it is known that the part has any.

use crate::PACKAGE;
use crate::mapping::parts::{
    CLASSES_FILLED, DISTANCES, Numbers, Parts, Planes, SIGNS_FILLED, THREADS,
};
use crate::mapping::places::Places;
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
    /// The output: a word for each part, with a bit for each kind of class of its elements. Empty if neither these nor planes
    /// are asked for.
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
    const SHARED_WORDS: u32 = DISTANCES.1.words();
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ForwardParams) {
        if params.needs_holes != 0 && t.load_u64(params.holes, 0) == 0 {
            return;
        }
        Numbers::prepare(t, &params.parts.mask.grid);
        let mut task = u64::from(t.block_index());
        while task < params.parts.count() {
            let (number, part) = params.parts.part(task);
            let of = PartBox::new(&part);
            let words = Self::map(t, params, &part, &of);
            if !params.filled.is_empty() {
                let has_classes = t.barrier_or(words.classes[0] != 0);
                let has_signs = t.barrier_or(words.signs != 0);
                let filled =
                    CLASSES_FILLED * u32::from(has_classes) + SIGNS_FILLED * u32::from(has_signs);
                if t.thread_index() == 0 {
                    t.store(params.filled, number, filled);
                }
                Self::write_planes(t, params, (number, filled), &of, &words);
            }
            task += u64::from(t.block_count());
        }
    }
}

impl<E: Element> Forward<E> {
    /// Maps the elements of a part. Returns a word of each plane: lane i has that of the elements that its warp has in
    /// round i. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn map<T: Thread>(t: T, params: &ForwardParams, part: &ChunkBox, of: &PartBox) -> LaneWords {
        let mut words = LaneWords {
            classes: [0; MOST_PLANES],
            signs: 0,
        };
        let mut has_holes = false;
        let numbers = Numbers::new(t, &params.parts.mask.grid, part);
        let classes = &params.mapping.classes;
        let mut first = 0;
        while first < of.elements {
            let round = |i: usize| first + i as u32 * THREADS;
            let is_inside = |i: usize| round(i) + t.thread_index() < of.elements;
            let values: [E; IN_FLIGHT] = core::array::from_fn(|i| {
                // One of the elements again, rather than none: so there is no branch.
                let round = if is_inside(i) { round(i) } else { first };
                match round + t.thread_index() < of.elements {
                    true => load_element(t, params.field, params.places.of(numbers.at(t, round))),
                    false => E::ZERO,
                }
            });
            for (i, value) in values.iter().enumerate() {
                let is_fill = is_inside(i) && classes.has_fill(*value);
                has_holes |= is_fill;
                let is_own = t.lane() == round(i) / THREADS;
                if !params.filled.is_empty() && t.any(is_fill) {
                    let class = if is_fill { classes.of(*value) } else { 0 };
                    for (plane, word) in (0..).zip(&mut words.classes) {
                        let bits = t.ballot(class_bit(class, plane) == 1);
                        *word = if is_own { bits } else { *word };
                    }
                }
                if !params.filled.is_empty() && params.parts.mask.has_signs {
                    let is_negative = is_inside(i) && !is_fill && classes.has_sign(*value);
                    let bits = t.ballot(is_negative);
                    words.signs = if is_own { bits } else { words.signs };
                }
                if !params.coded.is_empty() && is_inside(i) {
                    let coded = params.mapping.coded(*value, is_fill);
                    store_element(t, params.coded, numbers.at(t, round(i)), coded);
                }
            }
            first += IN_FLIGHT as u32 * THREADS;
        }
        if params.needs_holes == 0 && t.any(has_holes) && t.lane() == 0 {
            t.atomic_max(params.holes, 0, 1);
        }
        words
    }

    /// Writes the planes of a part that has classes of these kinds.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write_planes<T: Thread>(
        t: T,
        params: &ForwardParams,
        (number, filled): (u64, u32),
        of: &PartBox,
        words: &LaneWords,
    ) {
        let word = t.lane() * (THREADS / WARP) + t.warp();
        if word >= of.words() {
            return;
        }
        let planes = params.parts.mask.class_planes();
        for (plane, bits) in (0..).zip(&words.classes) {
            if filled & CLASSES_FILLED != 0 && plane < planes {
                (params.planes).store(t, number, plane, word, *bits);
            }
        }
        if filled & SIGNS_FILLED != 0 {
            (params.planes).store(t, number, planes, word, words.signs);
        }
    }
}

/// A lane's word of each plane of a part.
struct LaneWords {
    /// The planes of classes with a value.
    classes: [u32; MOST_PLANES],
    signs: u32,
}
