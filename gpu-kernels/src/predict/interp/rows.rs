//! Rows, in which a tile and its far faces are brought in and out.

use crate::predict::interp::THREADS;
use crate::predict::interp::values::Values;
use crate::primitives::element::{load_element, store_element};
use core::array::from_fn;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::{self, FAR, TileBox, TileGrid};
use ferrosz_simt::{SharedAddress, Thread, View, WARP};

/// Warps of a block, which take rows in turn.
pub const WARPS: u32 = THREADS / WARP;

/// From a position of a row in the store to that [`WARP`] further, in bytes.
const HALF_ROW: u32 = 4 * (WARP / 2);

/// Rows of a tile and its far faces: of 64 positions and, but for lines, one on the far face.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn count(shape: Shape) -> u32 {
    let [z, y, _] = store::extents(shape);
    match shape {
        // The last one has only its first position.
        Shape::Line => tile::ROWS + 1,
        Shape::Plane | Shape::Cube => z * y,
    }
}

/// The first position of a row.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn first_position(shape: Shape, row: u32) -> [u32; 3] {
    match shape {
        Shape::Line => [0, 0, tile::ROW * row],
        Shape::Plane => [0, row, 0],
        Shape::Cube => {
            let height = store::extents(shape)[1];
            [row / height, row % height, 0]
        }
    }
}

/// Rows on the far faces along z and y, or of a line along x.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn far_count(shape: Shape) -> u32 {
    count(shape) - tile::ROWS
}

/// Rows on the far faces along z and y that a warp takes at most.
pub const FAR_OF_WARP: usize = far_count(Shape::Cube).div_ceil(WARPS) as usize;

/// Rows that a thread takes at most if each has one.
pub const OF_THREAD: usize = count(Shape::Cube).div_ceil(THREADS) as usize;

const _: () = {
    let (plane, line) = (Shape::Plane, Shape::Line);
    assert!(far_count(plane) + far_count(line) <= FAR_OF_WARP as u32 * WARPS);
    assert!(count(plane) <= OF_THREAD as u32 * THREADS);
};

/// A row of a tile and its far faces, as far as it lies in the field.
#[derive(Clone, Copy)]
pub struct Row {
    /// Its first position.
    pub position: [u32; 3],
    /// Positions that the field has of it, the one on the far face along x among them.
    pub width: u32,
    /// The index of its first position in the store.
    at: u32,
}

impl Row {
    /// Row number `number`. Any number is allowed; rows from the count of rows on have no positions.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn of(shape: Shape, number: u32, tile: &TileBox) -> Self {
        let position = first_position(shape, number);
        let [z, y, x] = position;
        let end = store::extents(shape)[2];
        let end = if tile.left[2] < end {
            tile.left[2]
        } else {
            end
        };
        let is_inside = (number < count(shape)) & (z < tile.left[0]) & (y < tile.left[1]);
        Self {
            position,
            width: if is_inside { end.saturating_sub(x) } else { 0 },
            at: match shape {
                Shape::Line => number * (tile::ROW / 2),
                Shape::Plane | Shape::Cube => number * store::extents(shape)[2],
            },
        }
    }

    /// Own row number `number`, below [`tile::ROWS`], of a tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn own(shape: Shape, number: u32, tile: &TileBox) -> Self {
        Self::of(
            shape,
            match shape {
                Shape::Line | Shape::Plane => number,
                Shape::Cube => number / 16 * store::extents(shape)[1] + number % 16,
            },
            tile,
        )
    }

    /// Row number `number`, below [`far_count`], of those on the far faces along z and y.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn far(shape: Shape, number: u32, tile: &TileBox) -> Self {
        Self::of(
            shape,
            match shape {
                Shape::Line | Shape::Plane => tile::ROWS + number,
                Shape::Cube => {
                    let [depth, height, _] = tile::extents(shape);
                    if number < depth {
                        number * (height + 1) + height
                    } else {
                        depth * (height + 1) + (number - depth)
                    }
                }
            },
            tile,
        )
    }

    /// This warp's rows of those on the far faces along z and y.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn far_of_warp<T: Thread, S: StaticShape>(t: T, tile: &TileBox) -> [Self; FAR_OF_WARP] {
        from_fn(|i| Self::far(S::SHAPE, t.warp() + i as u32 * WARPS, tile))
    }

    /// This thread's rows, where each thread takes whole ones.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn of_thread<T: Thread, S: StaticShape>(t: T, tile: &TileBox) -> [Self; OF_THREAD] {
        from_fn(|i| Self::of(S::SHAPE, t.thread_index() + i as u32 * THREADS, tile))
    }

    /// Whether the row has a position on the far face along x; rows of lines have none.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn has_far(&self, shape: Shape) -> bool {
        !matches!(shape, Shape::Line) && self.width > tile::ROW
    }

    /// From an own row in the store to that [`WARPS`] further, and from there to the next, in bytes: see
    /// [`InField::steps`].
    const fn steps(shape: Shape) -> [u32; 2] {
        let everywhere = TileBox {
            origin: [0; 3],
            left: [FAR; 3],
        };
        let [first, second, third] = [
            Self::own(shape, 0, &everywhere).at,
            Self::own(shape, WARPS, &everywhere).at,
            Self::own(shape, 2 * WARPS, &everywhere).at,
        ];
        [4 * (second - first), 4 * (third - second)]
    }

    /// The offset of position `x` of the row in the store, in bytes from its address on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn offset(&self, shape: Shape, x: u32) -> u32 {
        4 * (self.at + store::in_row(shape, x))
    }
}

/// A tile in the memory of a field.
#[derive(Clone, Copy)]
pub struct InField {
    words: View<u32>,
    /// The number of the tile's first element.
    first: u64,
    strides: [u64; 3],
}

impl InField {
    /// The rows of a field whose neighbours have the distances `strides`, in elements.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn new(words: View<u32>, strides: [u64; 3], tile: &TileBox) -> Self {
        let [z, y, x] = tile.origin;
        let first = z * strides[0] + y * strides[1] + x * strides[2];
        Self::from_first(words, strides, first)
    }

    /// The same, given the number of the tile's first element.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn from_first(words: View<u32>, strides: [u64; 3], first: u64) -> Self {
        Self {
            words,
            first,
            strides,
        }
    }

    /// The same rows in memory that begins with element number `before` of these.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[must_use]
    pub const fn behind(mut self, before: u64) -> Self {
        self.first = self.first.wrapping_sub(before);
        self
    }

    /// The number of the tile's first element.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// Of a field in C order.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn in_order(words: View<u32>, grid: &TileGrid, tile: &TileBox) -> Self {
        let [_, height, width] = grid.lengths();
        Self::new(words, [height * width, width, 1], tile)
    }

    /// The number of the element at a position of the tile or its far faces.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn element(&self, [z, y, x]: [u32; 3]) -> u64 {
        self.first
            + u64::from(z) * self.strides[0]
            + u64::from(y) * self.strides[1]
            + u64::from(x) * self.strides[2]
    }

    /// From the first element of an own row of the tile to that of the row [`WARPS`] further, and from there to the
    /// next: in turn these. The first row's number is below [`WARPS`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn steps(&self, shape: Shape) -> [u64; 2] {
        const _: () = assert!(
            2 * WARPS == tile::extents(Shape::Cube)[1],
            "two steps a plane"
        );
        let rows = u64::from(WARPS);
        match shape {
            Shape::Line => [rows * u64::from(tile::ROW) * self.strides[2]; 2],
            Shape::Plane => [rows * self.strides[1]; 2],
            Shape::Cube => {
                let half = rows * self.strides[1];
                [half, self.strides[0].wrapping_sub(half)]
            }
        }
    }

    /// How many elements on position `x` of a row is from the row's first.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn aside(&self, x: u32) -> u64 {
        u64::from(x) * self.strides[2]
    }

    /// Reads an element, which no thread of this launch changes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load<T: Thread, E: Element>(&self, t: T, element: u64) -> E {
        load_element(t, self.words, element)
    }

    /// Begins to copy an element to an address in the store: see
    /// [`copy_async`](ferrosz_simt::GlobalMemory::copy_async).
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn copy<T: Thread, E: Element, S: StaticShape>(
        &self,
        t: T,
        address: SharedAddress,
        element: u64,
    ) {
        Values::<E, S>::copy_to(t, address, self.words, element);
    }

    /// Calls for this thread's share of the own positions of a tile that has them all, with where each lies in the
    /// store, whose address this is, and the number of its element.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn each_own<T: Thread, S: StaticShape>(
        &self,
        t: T,
        tile: &TileBox,
        store: SharedAddress,
        mut visit: impl FnMut(SharedAddress, u64),
    ) {
        let row = Row::own(S::SHAPE, t.warp(), tile);
        let mut address = store + row.offset(S::SHAPE, t.lane());
        let mut element = self.element(row.position) + self.aside(t.lane());
        let asides = [0, self.aside(WARP)];
        let steps = self.steps(S::SHAPE);
        let in_store = const { Row::steps(S::SHAPE) };
        for _ in 0..t.opaque(tile::ROWS / (2 * WARPS)) {
            for (step, in_store) in steps.iter().zip(&in_store) {
                for (half, aside) in (0..).zip(&asides) {
                    visit(address + half * HALF_ROW, element + aside);
                }
                element = element.wrapping_add(*step);
                address += *in_store;
            }
        }
    }

    /// Writes the store's values of the tile's own positions. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn leave<T: Thread, E: Element, S: StaticShape>(&self, t: T, tile: &TileBox) {
        if !tile.is_complete(S::SHAPE) {
            self.leave_but::<T, E, S>(t, tile, |_, _| false);
            return;
        }
        let store = Values::<E, S>::kept_address(t);
        self.each_own::<T, S>(t, tile, store, |address, element| {
            let value = Values::<E, S>::load_at(t, address);
            store_element::<T, E>(t, self.words, element, value);
        });
    }

    /// Writes the store's values of the tile's own positions but those for which `skip`, given the number of a row and
    /// the position in it, is true. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn leave_but<T: Thread, E: Element, S: StaticShape>(
        &self,
        t: T,
        tile: &TileBox,
        skip: impl Fn(u32, u32) -> bool,
    ) {
        let store = Values::<E, S>::kept_address(t);
        let aside = [t.lane(), t.lane() + WARP].map(|x| self.aside(x));
        let mut number = t.warp();
        let mut first = self.element(Row::own(S::SHAPE, number, tile).position);
        let steps = self.steps(S::SHAPE);
        while number < tile::ROWS {
            for step in &steps {
                let row = Row::own(S::SHAPE, number, tile);
                for (half, aside) in (0..).zip(&aside) {
                    let x = t.lane() + half * WARP;
                    if x < row.width && !skip(number, x) {
                        let address = store + row.offset(S::SHAPE, x);
                        let value = Values::<E, S>::load_at(t, address);
                        store_element::<T, E>(t, self.words, first + aside, value);
                    }
                }
                first = first.wrapping_add(*step);
                number += WARPS;
            }
        }
    }
}
