//! The anchors of sampled tiles: what a decoder may know of them, and the classes of their codes. A thread block a tile.
//!
//! In a stream, anchors are decoded from the coarse field. A sample has too little of that, so that its anchors are rounded.

use crate::PACKAGE;
use crate::predict::interp::InterpParams;
use crate::primitives::element::load_element;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::geometry::{Geometry, MAX_LEVELS};
use ferrosz_codec::predict::interp::resolved::Words;
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::predict::interp::tune::anchor::class_of_anchor;
use ferrosz_codec::shape::StaticShape;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Threads in a block.
const THREADS: u32 = 128;

/// Finds the anchors of the tiles of shape `S` of a sample of a field of `E`. Launched with one block for each of them.
pub struct SampleAnchors<E, S>(PhantomData<(E, S)>);

/// Parameters of [`SampleAnchors`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SampleAnchorsParams {
    /// The field, its parameters, and the tiles that are taken. Its codes and anchors are not read.
    pub part: InterpParams,
    /// The output: the rounded anchors of the tiles and of their far faces, in the places that [`InterpParams::anchors`] has for
    /// those of the field. May be nothing.
    pub known: View<u32>,
    /// The output: a count for each class, to be raised by the tiles' own anchors.
    pub classes: View<u64>,
}

impl<E: Element, S: StaticShape> Kernel for SampleAnchors<E, S> {
    type Params = SampleAnchorsParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_sample_anchors", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 4;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &SampleAnchorsParams) {
        let SampleAnchorsParams {
            part,
            known,
            classes,
        } = params;
        let words = Words(|at| t.load(part.parameters, at as u64));
        let geometry = words.geometry().unwrap_or(Geometry::Wide);
        let spacing = geometry.spacing(S::SHAPE);
        let quantizer = words.quantizer::<E>(geometry.levels(S::SHAPE).min(MAX_LEVELS as u32));
        let grid = part.grid(S::SHAPE);
        let coarse = grid.coarse(spacing);
        let [number, _] = part.taken_tile(t);
        let tile = grid.tile(number);
        let own = tile.extents(S::SHAPE);
        let with_faces = store::extents(S::SHAPE);
        let ends: [u32; 3] = core::array::from_fn(|i| with_faces[i].min(tile.left[i]));
        let [depth, height, width] =
            ends.map(|end| (end.saturating_sub(1) >> spacing.trailing_zeros()) + 1);
        let first: [u64; 3] = tile.origin;
        let element = |at: [u32; 3]| {
            let flat = (0..3).map(|i| (first[i] + u64::from(at[i])) * part.strides[i]);
            load_element::<T, E>(t, part.field, flat.sum())
        };
        let of_tile = grid.to_coarse(&coarse, spacing, first);
        let mut anchor = t.thread_index();
        while anchor < depth * height * width {
            let in_coarse = [
                anchor / width / height,
                anchor / width % height,
                anchor % width,
            ];
            let at = in_coarse.map(|at| at * spacing);
            let value = element(at);
            if !known.is_empty() {
                let place = core::array::from_fn(|i| of_tile[i] + u64::from(in_coarse[i]));
                // Tiles share the anchors of their faces.
                let first = coarse.flat(place) * E::WORDS as u64;
                let rounded = quantizer.rounded(value, E::ZERO).to_words();
                for (at, word) in (first..).zip(&rounded[..E::WORDS]) {
                    t.atomic_store(*known, at, *word);
                }
            }
            let is_own = (0..3).all(|i| at[i] < own[i]);
            if is_own && at[2] >= spacing && at[2] + spacing < ends[2] {
                let [z, y, x] = at;
                let neighbours = [x - spacing, x + spacing].map(|x| element([z, y, x]));
                let class = class_of_anchor(quantizer.step, value, neighbours);
                t.atomic_add(*classes, class.into(), 1);
            }
            anchor += THREADS;
        }
    }
}
