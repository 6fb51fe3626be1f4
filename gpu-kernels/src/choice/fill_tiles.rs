//! Values in place of the holes of sampled tiles, as the CPU has them: holes between two values of a row lie on the line
//! between them, other holes of the row have the value of the nearest, and a row without values is as the one before. A thread
//! block a tile.

use crate::PACKAGE;
use crate::primitives::element::{load_element, store_element};
use crate::primitives::read_boxes::BoxToRead;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::shape::Shape;
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Threads in a block.
const THREADS: u32 = 256;

/// Warps in a block.
const WARPS: u32 = THREADS / WARP;

/// The most rows of a tile with its far faces, and the most words with a bit for each element of a row, of all rows.
const MOST: [u32; 2] = {
    let (mut rows, mut words) = (0, 0);
    let mut i = 0;
    while i < Shape::ALL.len() {
        let [depth, height, width] = store::extents(Shape::ALL[i]);
        let own = depth * height;
        rows = if own > rows { own } else { rows };
        let own = own * width.div_ceil(WARP);
        words = if own > words { own } else { words };
        i += 1;
    }
    [rows, words]
};

/// Instead of the number of a row: there is none.
const NONE: u32 = u32::MAX;

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    /// For each element, whether it is a value.
    values: Shared<u32>,
    /// For each row the last one up to it that has values.
    sources: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        values: layout.array("bits of values", MOST[1]),
        sources: layout.array("rows with values", MOST[0]),
    };
    (scratch, layout)
};

/// Fills the holes of tiles of a field of `E`. Launched with one block for each tile.
pub struct FillTiles<E>(PhantomData<E>);

/// Parameters of [`FillTiles`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FillTilesParams {
    /// The elements of the tiles and their far faces, each row by row.
    pub tiles: View<u32>,
    /// The places and extents of the tiles there, and in the output: see [`BoxToRead`].
    pub boxes: View<u64>,
    /// Not 0 if zeros are holes, too.
    pub zeros: u32,
    /// The output.
    pub filled: View<u32>,
}

/// Whether an element is a hole; `zeros` is not 0 if zeros are.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn is_hole<E: Element>(element: E, zeros: u32) -> bool {
    element.is_hole() || zeros != 0 && element == E::ZERO
}

impl<E: Element> Kernel for FillTiles<E> {
    type Params = FillTilesParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_fill_tiles", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 4;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FillTilesParams) {
        let BoxToRead { to, extents, .. } = BoxToRead::load(t, params.boxes, t.block_index());
        let [depth, height, width] = extents.map(|extent| extent.max(1));
        let tile = Tile {
            params,
            first: to,
            width,
            rows: depth * height,
        };
        tile.find_values::<T, E>(t);
        t.barrier();
        tile.find_sources(t);
        t.barrier();
        let mut at = t.thread_index();
        while at < tile.rows * width {
            let value: E = tile.filled(t, at / width, at % width);
            store_element(t, params.filled, to + u64::from(at), value);
            at += THREADS;
        }
    }
}

/// A tile with its far faces.
struct Tile<'a> {
    params: &'a FillTilesParams,
    first: u64,
    width: u32,
    rows: u32,
}

impl Tile<'_> {
    /// Words of the bits of a row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn words(&self) -> u32 {
        self.width.div_ceil(WARP)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn load<T: Thread, E: Element>(&self, t: T, row: u32, x: u32) -> E {
        load_element(
            t,
            self.params.tiles,
            self.first + u64::from(row * self.width + x),
        )
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn bits<T: Thread>(&self, t: T, row: u32, word: u32) -> u32 {
        SHARED.0.values.load(t, row * self.words() + word)
    }

    /// Finds which elements are values: a warp a word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find_values<T: Thread, E: Element>(&self, t: T) {
        let words = self.words();
        let mut word = t.warp();
        while word < self.rows * words {
            let (row, x) = (word / words, word % words * WARP + t.lane());
            let is_value =
                x < self.width && !is_hole(self.load::<T, E>(t, row, x), self.params.zeros);
            let bits = t.ballot(is_value);
            if t.lane() == 0 {
                SHARED.0.values.store(t, word, bits);
            }
            word += WARPS;
        }
    }

    /// Finds for each row the last one up to it that has values.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find_sources<T: Thread>(&self, t: T) {
        let mut row = t.thread_index();
        while row < self.rows {
            let mut source = row;
            while source != NONE && !self.has_values(t, source) {
                source = source.wrapping_sub(1);
            }
            SHARED.0.sources.store(t, row, source);
            row += THREADS;
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn has_values<T: Thread>(&self, t: T, row: u32) -> bool {
        let (mut all, mut word) = (0, 0);
        while word < self.words() {
            all |= self.bits(t, row, word);
            word += 1;
        }
        all != 0
    }

    /// The value of an element, or that in place of it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn filled<T: Thread, E: Element>(&self, t: T, row: u32, x: u32) -> E {
        let row = SHARED.0.sources.load(t, row);
        if row == NONE {
            return self.first_value(t);
        }
        let (left, right) = (self.up_to(t, row, x), self.from(t, row, x));
        let at = |x| self.load::<T, E>(t, row, x);
        if left == NONE {
            return at(right);
        }
        if right == NONE || left == right {
            return at(left);
        }
        let number = |steps: u32| E::from_i32(steps.cast_signed());
        let way = number(x - left) / number(right - left);
        at(left) + (at(right) - at(left)) * way
    }

    /// The first value of the tile, 0 if it has none.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn first_value<T: Thread, E: Element>(&self, t: T) -> E {
        // The first row that has values is the source of itself.
        let mut row = 0;
        while row < self.rows && SHARED.0.sources.load(t, row) == NONE {
            row += 1;
        }
        if row == self.rows {
            return E::ZERO;
        }
        self.load(t, row, self.from(t, row, 0))
    }

    /// The last position up to `x` of a row that has a value, or [`NONE`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn up_to<T: Thread>(&self, t: T, row: u32, x: u32) -> u32 {
        let mut word = x / WARP;
        let mut bits = self.bits(t, row, word) & (u32::MAX >> (WARP - 1 - x % WARP));
        while bits == 0 {
            if word == 0 {
                return NONE;
            }
            word -= 1;
            bits = self.bits(t, row, word);
        }
        word * WARP + (WARP - 1 - bits.leading_zeros())
    }

    /// The first position from `x` on of a row that has a value, or [`NONE`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn from<T: Thread>(&self, t: T, row: u32, x: u32) -> u32 {
        let mut word = x / WARP;
        let mut bits = self.bits(t, row, word) & (u32::MAX << (x % WARP));
        while bits == 0 {
            word += 1;
            if word >= self.words() {
                return NONE;
            }
            bits = self.bits(t, row, word);
        }
        word * WARP + bits.trailing_zeros()
    }
}
