//! From the coded field and the planes of its mask back to the user's field: a thread block a part, a warp a word.

use crate::PACKAGE;
use crate::mapping::parts::{
    CLASSES_FILLED, DISTANCES, Numbers, Parts, Planes, SIGNS_FILLED, THREADS, position,
};
use crate::mapping::places::Places;
use crate::primitives::element::{load_element, load_own_element, store_element};
use core::array::from_fn;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::ChunkBox;
use ferrosz_codec::container::header_words;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::mapping::mask::part::{PartBox, WORD, class_of};
use ferrosz_codec::mapping::mask::value_word;
use ferrosz_codec::mapping::{Back, Scale};
use ferrosz_simt::{Kernel, Name, Package, Thread, View, WARP};

/// Elements that a thread loads before it waits for the first.
const IN_FLIGHT: usize = 8;

/// Maps a region of the coded field back to elements of `E` of the user. Launched with any number of blocks.
pub struct Backward<E>(PhantomData<E>);

/// Parameters of [`Backward`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BackwardParams {
    /// The words of the decoded elements, those of one region after the other. Empty if they are in `field` already.
    pub coded: View<u32>,
    /// The output: the words of the user's elements.
    pub field: View<u32>,
    /// The user's numbers of the decoded elements.
    pub places: Places,
    /// The planes of the mask.
    pub planes: Planes,
    /// A word for each part of the mask, with a bit for each kind of class of its elements.
    pub filled: View<u32>,
    /// The words of the stream's header.
    pub header: View<u32>,
    /// The record of the classes.
    pub record: View<u32>,
    /// The parts that the region touches.
    pub parts: Parts,
    /// The region, in the dimensions of the mask.
    pub region: Region,
    /// Decoded elements before those of the region.
    pub first: u64,
    /// Not 0 if decoded logarithms are elements already.
    pub scaled: u32,
}

impl<E: Element> Kernel for Backward<E> {
    type Params = BackwardParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_map_backward", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = DISTANCES.1.words();
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &BackwardParams) {
        let back = params.back(t);
        let touches_all = !params.is_in_place() || !params.is_done(&back);
        let (own, all) = (params.region.extents(), params.parts.mask.grid.lengths());
        // One by one: a comparison of arrays would be one of memory.
        let is_whole = own[0] == all[0] && own[1] == all[1] && own[2] == all[2];
        Numbers::prepare(t, &params.parts.mask.grid);
        let mut task = u64::from(t.block_index());
        while task < params.parts.count() {
            let (number, part) = params.parts.part(task);
            let filled = match params.filled.is_empty() {
                true => 0,
                false => t.load(params.filled, number),
            };
            let of = PartBox::new(&part);
            if filled == SIGNS_FILLED && of.is_whole() && is_whole && !touches_all {
                Self::set_signs(t, params, number, &part);
                task += u64::from(t.block_count());
                continue;
            }
            let mut word = t.warp();
            while word < of.words() && (filled != 0 || touches_all) {
                let element = word * WORD + t.lane();
                let class = Self::class(t, params, (number, filled), word);
                if element < of.elements
                    && let Some(at) = params.region.position(position(
                        &params.parts.mask.grid,
                        &part,
                        &of,
                        element,
                    ))
                {
                    Self::map(t, params, &back, params.first + at, class);
                }
                word += THREADS / WARP;
            }
            task += u64::from(t.block_count());
        }
    }
}

impl BackwardParams {
    /// Whether the decoded elements are where the user wants them, so that only those of classes change.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_in_place(&self) -> bool {
        self.coded.is_empty()
    }

    /// Whether decoded elements without a class are those of the user. Those of logarithms have no sign.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_done(&self, back: &Back) -> bool {
        back.is_identity() || (self.scaled != 0 && back.scale == Scale::Logarithm)
    }

    /// How decoded values become elements, by the stream.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn back<T: Thread>(&self, t: T) -> Back {
        let scale = header_words::scale(|word| t.load(self.header, word as u64));
        Back {
            scale,
            has_signs: self.parts.mask.has_signs,
        }
    }
}

impl<E: Element> Backward<E> {
    /// The class of this lane's element of a word of a part that has these kinds of classes; one more than there are with a
    /// value if it is negative.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn class<T: Thread>(
        t: T,
        params: &BackwardParams,
        (part, filled): (u64, u32),
        word: u32,
    ) -> u32 {
        let mask = &params.parts.mask;
        let bit = |plane| params.planes.load(t, part, plane, word) >> t.lane() & 1;
        let mut class = 0;
        if filled & CLASSES_FILLED != 0 {
            // A damaged mask may have classes that there are not.
            class = class_of(mask.class_planes(), bit).min(mask.classes);
        }
        if filled & SIGNS_FILLED != 0 && class == 0 {
            class = bit(mask.class_planes()) * (mask.classes + 1);
        }
        class
    }

    /// Maps decoded element `number`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn map<T: Thread>(t: T, params: &BackwardParams, back: &Back, number: u64, class: u32) {
        let is_done = params.is_done(back);
        if class == 0 && params.is_in_place() && is_done {
            return;
        }
        let is_negative = class > params.parts.mask.classes;
        let value: E = match class {
            class if class > 0 && !is_negative => Self::fill(t, params, class),
            _ => {
                let coded: E = match params.is_in_place() {
                    true => load_own_element(t, params.field, number),
                    false => load_element(t, params.coded, number),
                };
                let value = if is_done { coded } else { back.element(coded) };
                match is_negative {
                    true => E::from_bits64(value.to_bits64() | E::SIGN_BIT),
                    false => value,
                }
            }
        };
        store_element(t, params.field, params.places.of(number), value);
    }

    /// Sets the signs of a whole part whose elements belong to no other class and are where the user wants them. For the whole
    /// block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set_signs<T: Thread>(t: T, params: &BackwardParams, number: u64, part: &ChunkBox) {
        let numbers = Numbers::new(t, &params.parts.mask.grid, part);
        let plane = params.parts.mask.class_planes();
        let mut first = 0;
        while first < part.elements() {
            let before = |i: usize| first + i as u32 * THREADS;
            // The last word of an element has its sign.
            let at = |i| {
                let element = params.first + numbers.in_whole(t, before(i));
                (element + 1) * E::WORDS as u64 - 1
            };
            let is_negative: [bool; IN_FLIGHT] = from_fn(|i| {
                let word = (before(i) + t.thread_index()) / WORD;
                params.planes.load(t, number, plane, word) >> t.lane() & 1 == 1
            });
            let words: [u32; IN_FLIGHT] = from_fn(|i| match is_negative[i] {
                true => t.load_own(params.field, at(i)),
                false => 0,
            });
            for (i, word) in words.iter().enumerate() {
                if is_negative[i] {
                    t.store(params.field, at(i), word | 1 << 31);
                }
            }
            first += IN_FLIGHT as u32 * THREADS;
        }
    }

    /// The value of a class that has one.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn fill<T: Thread>(t: T, params: &BackwardParams, class: u32) -> E {
        let first = value_word(class);
        let [low, high] = [first, first + 1].map(|at| t.load(params.record, at));
        E::from_bits64(u64::from(low) | u64::from(high) << 32)
    }
}
