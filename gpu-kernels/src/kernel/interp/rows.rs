//! Rows in which a tile and its far faces are brought in and out.

use super::THREADS;
use crate::simt::{Thread, WARP};
use ferrosz_codec::interp::store;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile;

/// Rows of a tile and its far faces: of 64 places and, but for lines, one on the far face.
#[inline(always)]
pub const fn count(shape: Shape) -> u32 {
    let [z, y, _] = store::extents(shape);
    match shape {
        // The last one has only its first place.
        Shape::Line => tile::ROWS + 1,
        Shape::Plane | Shape::Cube => z * y,
    }
}

/// The place at `x` of a row; x is up to 64.
#[inline(always)]
pub const fn place(shape: Shape, row: u32, x: u32) -> [u32; 3] {
    match shape {
        Shape::Line => [0, 0, tile::ROW * row + x],
        Shape::Plane => [0, row, x],
        Shape::Cube => {
            let height = store::extents(shape)[1];
            [row / height, row % height, x]
        }
    }
}

/// Whether a row has a place on the far face along x.
#[inline(always)]
pub const fn has_far(shape: Shape) -> bool {
    !matches!(shape, Shape::Line)
}

/// Calls for this warp's share of `rows` rows, [`BATCH`] at a time; the last numbers may be too large.
#[inline(always)]
pub fn share<T: Thread>(t: T, rows: u32, mut visit: impl FnMut([u32; BATCH])) {
    const WARPS: u32 = THREADS / WARP;
    let mut row = t.warp();
    while row < rows {
        visit(core::array::from_fn(|i| row + i as u32 * WARPS));
        row += BATCH as u32 * WARPS;
    }
}

/// Rows that a warp asks for before it waits for the first.
pub const BATCH: usize = 4;

/// The own rows of a tile of this shape.
#[inline(always)]
pub fn own_place<S: StaticShape>(row: u32, x: u32) -> [u32; 3] {
    tile::place(S::SHAPE, 2 * row + x % 2, x / 2)
}
