//! The weights of tiles: the bits of the differences between neighbours along x. A thread block a tile.

use crate::PACKAGE;
use crate::primitives::element::load_element;
use crate::primitives::read_boxes::BoxToRead;
use crate::primitives::scan::block_sum;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::quantize::difference::difference_bits;
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Threads in a block.
const THREADS: u32 = 256;
const WARPS: u32 = THREADS / WARP;

const SHARED: (Shared<u32>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("sums of warps", WARPS), layout)
};

/// Weighs tiles of a field of `E`. Launched with one block a tile.
pub struct WeighTiles<E>(PhantomData<E>);

/// Parameters of [`WeighTiles`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct WeighTilesParams {
    /// The words of the field's elements.
    pub field: View<u32>,
    /// Elements of a slice of the field.
    pub slice: u64,
    /// Elements of a row of the field, of all of it for lines.
    pub row: u64,
    /// The length of the field along x: a line has several such rows.
    pub length: u64,
    /// The tiles, as [`BoxToRead::to_list`] has them.
    pub tiles: View<u64>,
    /// The bits of the steps of a difference of 1: see [`difference_bits`].
    pub steps: u64,
    /// The output: the sum of the bits of each tile.
    pub bits: View<u32>,
}

impl<E: Element> Kernel for WeighTiles<E> {
    type Params = WeighTilesParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_weigh_tiles", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 4;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &WeighTilesParams) {
        let number = t.block_index();
        let BoxToRead { from, extents, .. } = BoxToRead::load(t, params.tiles, number);
        let steps = E::from_bits64(params.steps);
        let elements: u32 = extents.iter().product();
        let [_, height, width] = extents.map(|extent| extent.max(1));
        let mut sum = 0;
        let mut at = t.thread_index();
        while at < elements {
            let (row, x) = (at / width, at % width);
            let (z, y) = (row / height, row % height);
            let own = from + u64::from(z) * params.slice + u64::from(y) * params.row + u64::from(x);
            let has_next = x + 1 < width && !(own + 1).is_multiple_of(params.length);
            if has_next {
                let before: E = load_element(t, params.field, own);
                let behind: E = load_element(t, params.field, own + 1);
                sum += difference_bits(before, behind, steps);
            }
            at += THREADS;
        }
        let sum = block_sum::<T, { WARPS as usize }>(t, sum, SHARED.0).total;
        if t.thread_index() == 0 {
            t.store(params.bits, u64::from(number), sum);
        }
    }
}
