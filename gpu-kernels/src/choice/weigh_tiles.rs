//! The weights of tiles: the bits of the differences between neighbours along x. A thread block a tile.

use crate::PACKAGE;
use crate::choice::fill_tiles::is_hole;
use crate::pipeline::cells::{self, Given};
use crate::primitives::element::load_element;
use crate::primitives::read_boxes::BoxToRead;
use crate::primitives::scan::block_sum;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::quantize::difference::{difference_bits, steps_of};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Threads in a block: with fewer, each would wait for many elements, one after the other.
const THREADS: u32 = 1024;
const WARPS: u32 = THREADS / WARP;

const SHARED: (Shared<u32>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("sums of warps", WARPS), layout)
};

/// Pairs that a thread reads before it looks at the first.
const IN_FLIGHT: usize = 4;

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
    /// The bits of the absolute error.
    pub error: Given<1>,
    /// The workspace, if the error is there: see [`cells`].
    pub cells: View<u64>,
    /// The output: the sum of the bits of each tile.
    pub bits: View<u32>,
    /// Not 0 if zeros are holes.
    pub zeros: u32,
}

impl<E: Element> Kernel for WeighTiles<E> {
    type Params = WeighTilesParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_weigh_tiles", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 1;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &WeighTilesParams) {
        let number = t.block_index();
        let BoxToRead { from, extents, .. } = BoxToRead::load(t, params.tiles, number);
        let [error] = params.error.find(t, params.cells, cells::QUANTIZER);
        let steps = steps_of(E::from_bits64(error));
        let elements: u32 = extents.iter().product();
        let rows = Rows::new(from, params.length);
        let mut sum = 0;
        let mut at = t.thread_index();
        while at < elements {
            let mut pairs = [(E::ZERO, E::ZERO); IN_FLIGHT];
            for (i, pair) in (0..).zip(&mut pairs) {
                *pair = load_pair(t, params, (from, extents), &rows, at + i * THREADS);
            }
            for (before, behind) in &pairs {
                sum += difference_bits(*before, *behind, steps);
            }
            at += IN_FLIGHT as u32 * THREADS;
        }
        let sum = block_sum::<T, { WARPS as usize }>(t, sum, SHARED.0).total;
        if t.thread_index() == 0 {
            t.store(params.bits, u64::from(number), sum);
        }
    }
}

/// Where rows of the field begin in a tile of a line.
struct Rows {
    /// The first position of the tile that begins one, if it is not the tile's first.
    first: u32,
    length: u32,
}

impl Rows {
    /// Those of a tile from an element on. A tile is shorter than 2^32, so that longer rows may as well have this length.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn new(from: u64, length: u64) -> Self {
        let short = |length: u64| length.min(u64::from(u32::MAX)) as u32;
        let length = length.max(1);
        Self {
            first: short(length - from % length),
            length: short(length),
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn begin_at(&self, x: u32) -> bool {
        x >= self.first && (x - self.first).is_multiple_of(self.length)
    }
}

/// A position of a tile and its neighbour along x. If there are no such, an element and itself, which weigh nothing.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn load_pair<T: Thread, E: Element>(
    t: T,
    params: &WeighTilesParams,
    (from, [depth, height, width]): (u64, [u32; 3]),
    rows: &Rows,
    at: u32,
) -> (E, E) {
    let (row, x) = (at / width.max(1), at % width.max(1));
    let (z, y) = (row / height.max(1), row % height.max(1));
    let own = from + u64::from(z) * params.slice + u64::from(y) * params.row + u64::from(x);
    let is_pair = z < depth && x + 1 < width && !rows.begin_at(x + 1);
    let load = |at| {
        let element: E = load_element(t, params.field, at);
        if is_hole(element, params.zeros) {
            E::HOLE
        } else {
            element
        }
    };
    let (before, behind) = if is_pair {
        (own, own + 1)
    } else {
        (from, from)
    };
    (load(before), load(behind))
}
