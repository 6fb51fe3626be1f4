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

/// Threads in a block: with fewer, each would wait for many elements, one after the other.
const THREADS: u32 = 1024;

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

/// Instead of the number of a row or of a position in it: there is none.
const NONE: u32 = u32::MAX;

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    /// For each element, whether it is a value.
    values: Shared<u32>,
    /// For each word of these the last position of a value up to its end, and the first one from its beginning on, in its row.
    last: Shared<u32>,
    next: Shared<u32>,
    /// For each row the last one up to it that has values.
    sources: Shared<u32>,
    /// The number of the first value of the tile.
    first: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        values: layout.array("bits of values", MOST[1]),
        last: layout.array("values before", MOST[1]),
        next: layout.array("values behind", MOST[1]),
        sources: layout.array("rows with values", MOST[0]),
        first: layout.array("first value", 1),
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
    const RESIDENT_BLOCKS: u32 = 1;

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
        tile.find_neighbours(t);
        t.barrier();
        tile.find_sources(t);
        t.barrier();
        tile.find_first(t);
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

    /// Finds the values nearest to each word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find_neighbours<T: Thread>(&self, t: T) {
        let words = self.words();
        let mut number = t.thread_index();
        while number < self.rows * words {
            let (row, own) = (number / words, number % words);
            let (mut last, mut word) = (NONE, own);
            while word != NONE && last == NONE {
                let bits = self.bits(t, row, word);
                if bits != 0 {
                    last = word * WARP + (WARP - 1 - bits.leading_zeros());
                }
                word = word.wrapping_sub(1);
            }
            let (mut next, mut word) = (NONE, own);
            while word < words && next == NONE {
                let bits = self.bits(t, row, word);
                if bits != 0 {
                    next = word * WARP + bits.trailing_zeros();
                }
                word += 1;
            }
            SHARED.0.last.store(t, number, last);
            SHARED.0.next.store(t, number, next);
            number += THREADS;
        }
    }

    /// Finds for each row the last one up to it that has values.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find_sources<T: Thread>(&self, t: T) {
        let mut row = t.thread_index();
        while row < self.rows {
            let mut source = row;
            while source != NONE && self.next(t, source, 0) == NONE {
                source = source.wrapping_sub(1);
            }
            SHARED.0.sources.store(t, row, source);
            row += THREADS;
        }
        if t.thread_index() == 0 {
            SHARED.0.first.store(t, 0, NONE);
        }
    }

    /// Finds the first value: in a row that has some, where the row before has no source.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find_first<T: Thread>(&self, t: T) {
        let source = |row| SHARED.0.sources.load(t, row);
        let mut row = t.thread_index();
        while row < self.rows {
            if source(row) == row && (row == 0 || source(row - 1) == NONE) {
                let first = row * self.width + self.next(t, row, 0);
                SHARED.0.first.store(t, 0, first);
            }
            row += THREADS;
        }
    }

    /// The first position of a value from the beginning of a word of a row on, or [`NONE`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn next<T: Thread>(&self, t: T, row: u32, word: u32) -> u32 {
        SHARED.0.next.load(t, row * self.words() + word)
    }

    /// The value of an element, or that in place of it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn filled<T: Thread, E: Element>(&self, t: T, row: u32, x: u32) -> E {
        let row = SHARED.0.sources.load(t, row);
        if row == NONE {
            let first = SHARED.0.first.load(t, 0);
            return if first == NONE {
                E::ZERO
            } else {
                self.load(t, first / self.width, first % self.width)
            };
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

    /// The last position up to `x` of a row that has a value, or [`NONE`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn up_to<T: Thread>(&self, t: T, row: u32, x: u32) -> u32 {
        let word = x / WARP;
        let bits = self.bits(t, row, word) & (u32::MAX >> (WARP - 1 - x % WARP));
        if bits != 0 {
            word * WARP + (WARP - 1 - bits.leading_zeros())
        } else if word == 0 {
            NONE
        } else {
            SHARED.0.last.load(t, row * self.words() + word - 1)
        }
    }

    /// The first position from `x` on of a row that has a value, or [`NONE`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn from<T: Thread>(&self, t: T, row: u32, x: u32) -> u32 {
        let word = x / WARP;
        let bits = self.bits(t, row, word) & (u32::MAX << (x % WARP));
        if bits != 0 {
            word * WARP + bits.trailing_zeros()
        } else if word + 1 == self.words() {
            NONE
        } else {
            self.next(t, row, word + 1)
        }
    }
}
