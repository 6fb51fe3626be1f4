//! Gathers the anchors of a field.

use crate::PACKAGE;
use crate::pipeline::tiles::prologue::THREADS;
use crate::primitives::element::{by_width, load_element, store_element};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Copies the elements of a field of `E` that lie on a regular grid. Launched with any number of blocks.
pub struct Gather<E>(PhantomData<E>);

/// Parameters of [`Gather`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct GatherParams {
    /// The words of the field's elements.
    pub from: View<u32>,
    /// The distance of the copied elements along each dimension, in elements.
    pub strides: [u64; 3],
    /// The number of copied elements along each dimension.
    pub lengths: [u64; 3],
    /// The output, in C order.
    pub to: View<u32>,
    /// Copied elements of a slice along z.
    pub depth: u64,
    /// Elements that the strides count too much for each slice; 0 without slices.
    pub excess: u64,
}

impl<E: Element> Kernel for Gather<E> {
    type Params = GatherParams;
    const NAME: &'static str = const { &Name::of(&["ferrosz_gather", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &GatherParams) {
        let [depth, height, width] = params.lengths.map(|length| length.max(1));
        let threads = u64::from(t.block_count()) * u64::from(THREADS);
        let mut at = u64::from(t.block_index()) * u64::from(THREADS) + u64::from(t.thread_index());
        while at < depth * height * width {
            let [slice, row, step] = params.strides;
            let (z, y, x) = (at / width / height, at / width % height, at % width);
            let mut from = z * slice + y * row + x * step;
            // The branch saves a division.
            if params.excess != 0 {
                from -= z / params.depth.max(1) * params.excess;
            }
            let value: E = load_element(t, params.from, from);
            store_element(t, params.to, at, value);
            at += threads;
        }
    }
}
