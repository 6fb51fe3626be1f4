//! Rows of a tile where a warp has them: lane i has the positions i and i + 32.

use crate::pipeline::tiles::codes;
use crate::predict::tile_lorenzo::LorenzoParams;
use crate::primitives::element::{load_element, store_element};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::{self, ROW, TileBox};
use ferrosz_simt::{Thread, WARP};

/// A lane's values of a row. It is a struct because LLVM passes arrays of this length as one number of twice the width,
/// and does not remove the instructions that pack and unpack it.
#[derive(Clone, Copy, Default)]
pub struct Pair<V> {
    /// Of the row's first half.
    pub low: V,
    /// Of its second half.
    pub high: V,
}

impl<V> Pair<V> {
    /// The results of `make` for both halves.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn of(make: impl Fn(u32) -> V) -> Self {
        Self {
            low: make(0),
            high: make(1),
        }
    }

    /// The results of `make` for both values.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn map<W>(self, make: impl Fn(V) -> W) -> Pair<W> {
        Pair {
            low: make(self.low),
            high: make(self.high),
        }
    }

    /// The results of `make` for both values and those of another row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn zip<U, W>(self, other: Pair<U>, make: impl Fn(V, U) -> W) -> Pair<W> {
        Pair {
            low: make(self.low, other.low),
            high: make(self.high, other.high),
        }
    }
}

impl Pair<i32> {
    /// The sums, modulo 2^32.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, i32::wrapping_add)
    }

    /// The differences, modulo 2^32.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn minus(self, other: Self) -> Self {
        self.zip(other, i32::wrapping_sub)
    }

    /// The value at the position before each; `carry` at the one before the first, of which lane 0's counts. In lane
    /// 0 also the row's last, the second of the results.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn before<T: Thread>(self, t: T, carry: i32) -> (Self, i32) {
        let Self { low, high } = self.map(|value| {
            t.shuffle(value.cast_unsigned(), t.lane() + WARP - 1)
                .cast_signed()
        });
        let is_first = t.lane() == 0;
        let before = Self {
            low: if is_first { carry } else { low },
            high: if is_first { low } else { high },
        };
        (before, high)
    }
}

/// Rows of a slice of a cube's tile.
pub const SLICE_ROWS: u32 = 16;

/// A tile and where its rows are. If it is `WHOLE`, all its positions are known to be in the field.
pub struct TileRows<'a, S, const WHOLE: bool> {
    /// The parameters.
    pub params: &'a LorenzoParams,
    left: [u32; 3],
    /// The field's element at the tile's first position.
    pub first_element: u64,
    /// The first of the tile's codes.
    pub first_code: u64,
    shape: PhantomData<S>,
}

/// A row, for a lane.
#[derive(Clone, Copy)]
pub struct Row {
    z: u32,
    y: u32,
    /// This lane's first element in the field.
    element: u64,
    /// This lane's first code.
    code: u64,
}

/// Whether all positions of a tile are in the field.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn is_whole(shape: Shape, tile: &TileBox) -> bool {
    let extents = tile::extents(shape);
    (0..3).all(|i| tile.left[i] >= extents[i])
}

impl<'a, S: StaticShape, const WHOLE: bool> TileRows<'a, S, WHOLE> {
    /// Those of a tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn new(params: &'a LorenzoParams, number: u64, tile: &TileBox) -> Self {
        let [z, y, x] = tile.origin;
        Self {
            params,
            left: tile.left,
            first_element: z * params.strides[0] + y * params.strides[1] + x,
            first_code: 2 * codes::first_word(params.first_run, number),
            shape: PhantomData,
        }
    }

    /// The same rows in memory that begins with element number `before` of these.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[must_use]
    pub const fn behind(mut self, before: u64) -> Self {
        self.first_element = self.first_element.wrapping_sub(before);
        self
    }

    /// The row of this number.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn row<T: Thread>(&self, t: T, number: u32) -> Row {
        let in_row = t.lane() % 2 * WARP + t.lane() / 2;
        let first = Row {
            z: 0,
            y: 0,
            element: self.first_element + u64::from(t.lane()),
            code: self.first_code + u64::from(in_row),
        };
        if matches!(S::SHAPE, Shape::Cube) {
            self.moved(first, number / SLICE_ROWS, number % SLICE_ROWS)
        } else {
            self.moved(first, 0, number)
        }
    }

    /// The row so many slices and rows on, modulo 2^32.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn moved(&self, row: Row, z: u32, y: u32) -> Row {
        let rows = if matches!(S::SHAPE, Shape::Line) {
            u64::from(ROW)
        } else {
            self.params.strides[1]
        };
        let signed = |by: u32| i64::from(by.cast_signed()).cast_unsigned();
        let along_z = signed(z).wrapping_mul(self.params.strides[0]);
        let along_y = signed(y).wrapping_mul(rows);
        let codes = signed(z)
            .wrapping_mul(u64::from(SLICE_ROWS))
            .wrapping_add(signed(y))
            .wrapping_mul(u64::from(ROW));
        Row {
            z: row.z.wrapping_add(z),
            y: row.y.wrapping_add(y),
            element: row.element.wrapping_add(along_z).wrapping_add(along_y),
            code: row.code.wrapping_add(codes),
        }
    }

    /// How many positions of a row are in the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn positions(&self, row: Row) -> u32 {
        if WHOLE {
            return ROW;
        }
        let [depth, height, width] = self.left;
        if matches!(S::SHAPE, Shape::Line) {
            width.saturating_sub(row.y * ROW)
        } else if row.z < depth && row.y < height {
            width
        } else {
            0
        }
    }

    /// Whether this lane's position in half a row is in the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn has<T: Thread>(&self, t: T, row: Row, half: u32) -> bool {
        WHOLE || position(t, half) < self.positions(row)
    }

    /// The value of half a row; outside the field the value of the tile's first position, which is not used. So no branch
    /// separates the loads.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load<T: Thread, E: Element>(&self, t: T, row: Row, half: u32) -> E {
        let at = if self.has(t, row, half) {
            row.element + u64::from(half * WARP)
        } else {
            self.first_element
        };
        load_element(t, self.params.field, at)
    }

    /// Writes a value of half a row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn store<T: Thread, E: Element>(&self, t: T, row: Row, half: u32, value: E) {
        let at = row.element + u64::from(half * WARP);
        store_element(t, self.params.field, at, value);
    }

    /// This lane's code of half a row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load_code<T: Thread>(&self, t: T, row: Row, half: u32) -> u32 {
        t.load_half(self.params.codes, row.code + u64::from(half * (WARP / 2)))
    }

    /// As [`TileRows::load_code`], of a code that this block has written.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load_own_code<T: Thread>(&self, t: T, row: Row, half: u32) -> u32 {
        t.load_own_half(self.params.codes, row.code + u64::from(half * (WARP / 2)))
    }

    /// Writes this lane's code of half a row.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn store_code<T: Thread>(&self, t: T, row: Row, half: u32, code: u32) {
        let at = row.code + u64::from(half * (WARP / 2));
        t.store_half(self.params.codes, at, code as u16);
    }
}

/// The position in its row of this lane's element of half a row.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn position<T: Thread>(t: T, half: u32) -> u32 {
    t.lane() + half * WARP
}
