//! From the user's field to the coded field and the planes of its mask: a thread block a part.
//!
//! Most parts of most fields have no elements of classes. So a block first only looks whether its part has any, with
//! several loads of each thread on their way, and goes through a part that has any a second time, for its planes.

use crate::PACKAGE;
use crate::mapping::parts::{Parts, Planes, THREADS, position};
use crate::mapping::places::Places;
use crate::primitives::element::{load_element, store_element};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::ChunkBox;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::mapping::mask::part::{PartBox, WORD, class_bit};
use ferrosz_simt::{Kernel, Name, Package, Thread, View, WARP};

/// Elements that a thread loads before it waits for the first.
const IN_FLIGHT: usize = 8;

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

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &ForwardParams) {
        if params.needs_holes != 0 && t.load_u64(params.holes, 0) == 0 {
            return;
        }
        let mut task = u64::from(t.block_index());
        while task < params.parts.count() {
            let (number, part) = params.parts.part(task);
            let of = PartBox::new(&part);
            let is_filled = Self::map(t, params, &part, &of);
            if !params.filled.is_empty() {
                let is_filled = t.barrier_or(is_filled);
                if t.thread_index() == 0 {
                    t.store(params.filled, number, u32::from(is_filled));
                }
                if is_filled {
                    Self::write_planes(t, params, number, &part, &of);
                }
            }
            task += u64::from(t.block_count());
        }
    }
}

impl<E: Element> Forward<E> {
    /// Maps the elements of a part; whether any of this thread's belongs to a class.
    #[inline(always)]
    fn map<T: Thread>(t: T, params: &ForwardParams, part: &ChunkBox, of: &PartBox) -> bool {
        let mut is_filled = false;
        let mut has_holes = false;
        let mut first = t.thread_index();
        while first < of.elements {
            let element = |i: usize| first + i as u32 * THREADS;
            let values: [E; IN_FLIGHT] = core::array::from_fn(|i| {
                // One of the elements again, rather than none: so there is no branch.
                let inside = if element(i) < of.elements {
                    element(i)
                } else {
                    first
                };
                Self::load(t, params, part, of, inside)
            });
            for (i, value) in values.iter().enumerate() {
                if element(i) < of.elements {
                    let class = params.mapping.classes.of(*value);
                    is_filled |= class != 0;
                    has_holes |= params.mapping.classes.is_fill(class);
                    if !params.coded.is_empty() {
                        let number = Self::number(params, part, of, element(i));
                        let coded = params.mapping.coded(*value, class);
                        store_element(t, params.coded, number, coded);
                    }
                }
            }
            first += IN_FLIGHT as u32 * THREADS;
        }
        if params.needs_holes == 0 && t.any(has_holes) && t.lane() == 0 {
            t.atomic_max(params.holes, 0, 1);
        }
        is_filled
    }

    /// The number in the coded field of an element of a part.
    #[inline(always)]
    fn number(params: &ForwardParams, part: &ChunkBox, of: &PartBox, element: u32) -> u64 {
        let grid = &params.parts.mask.grid;
        grid.flat(position(grid, part, of, element))
    }

    /// The user's value of an element of a part.
    #[inline(always)]
    fn load<T: Thread>(
        t: T,
        params: &ForwardParams,
        part: &ChunkBox,
        of: &PartBox,
        element: u32,
    ) -> E {
        let number = Self::number(params, part, of, element);
        load_element(t, params.field, params.places.of(number))
    }

    /// Writes the planes of a part: a warp a word.
    #[inline(always)]
    fn write_planes<T: Thread>(
        t: T,
        params: &ForwardParams,
        number: u64,
        part: &ChunkBox,
        of: &PartBox,
    ) {
        let mut word = t.warp();
        while word < of.words() {
            let element = word * WORD + t.lane();
            let mut class = 0;
            if element < of.elements {
                let value = Self::load(t, params, part, of, element);
                class = params.mapping.classes.of(value);
            }
            for plane in 0..params.planes.planes {
                let bits = t.ballot(class_bit(class, plane) == 1);
                if t.lane() == 0 {
                    params.planes.store(t, number, plane, word, bits);
                }
            }
            word += THREADS / WARP;
        }
    }
}
