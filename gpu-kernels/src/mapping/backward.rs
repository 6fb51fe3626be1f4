//! From the coded field and the planes of its mask back to the user's field: a thread block a part, a warp a word.

use crate::PACKAGE;
use crate::mapping::parts::{Parts, Planes, THREADS, position};
use crate::mapping::places::Places;
use crate::primitives::element::{load_element, load_own_element, store_element};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::header_words;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::mapping::mask::part::{PartBox, WORD, class_of};
use ferrosz_codec::mapping::mask::{NEGATIVE, kind_word, value_word};
use ferrosz_codec::mapping::{Back, Scale};
use ferrosz_simt::{Kernel, Name, Package, Thread, View, WARP};

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
    /// A word for each part of the mask, which is 0 if none of its elements has a class.
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
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &BackwardParams) {
        let back = params.back(t);
        let touches_all = !params.is_in_place() || !params.is_done(&back);
        let mut task = u64::from(t.block_index());
        while task < params.parts.count() {
            let (number, part) = params.parts.part(task);
            let is_masked = params.parts.mask.classes > 0 && t.load(params.filled, number) != 0;
            let of = PartBox::new(&part);
            let mut word = t.warp();
            while word < of.words() && (is_masked || touches_all) {
                let element = word * WORD + t.lane();
                let class = match is_masked {
                    true => Self::class(t, params, number, word),
                    false => 0,
                };
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
        let classes = self.parts.mask.classes;
        let has_signs = classes > 0 && t.load(self.record, kind_word(classes)) == NEGATIVE;
        Back { scale, has_signs }
    }
}

impl<E: Element> Backward<E> {
    /// The class of this lane's element of a word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn class<T: Thread>(t: T, params: &BackwardParams, part: u64, word: u32) -> u32 {
        class_of(params.planes.planes, |plane| {
            params.planes.load(t, part, plane, word) >> t.lane() & 1
        })
    }

    /// Maps decoded element `number`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn map<T: Thread>(t: T, params: &BackwardParams, back: &Back, number: u64, class: u32) {
        let is_done = params.is_done(back);
        if class == 0 && params.is_in_place() && is_done {
            return;
        }
        // A damaged mask may have classes that there are not.
        let class = class.min(params.parts.mask.classes);
        let is_negative = back.has_signs && class == params.parts.mask.classes;
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

    /// The value of a class that has one.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn fill<T: Thread>(t: T, params: &BackwardParams, class: u32) -> E {
        let first = value_word(class);
        let [low, high] = [first, first + 1].map(|at| t.load(params.record, at));
        E::from_bits64(u64::from(low) | u64::from(high) << 32)
    }
}
