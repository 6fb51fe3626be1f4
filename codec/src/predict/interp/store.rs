//! The layout of the values of a tile and its far faces during prediction.
//!
//! The even positions of a row come first, then the odd ones. Neighbouring threads, and elements of a vector, access
//! every second position, and so access adjacent values.

use crate::shape::Shape;
use crate::tile::{self, TileBox};

/// The extents of a tile with its far faces, which are one position behind it, in the dimensions of its shape.
#[inline(always)]
pub const fn extents(shape: Shape) -> [u32; 3] {
    let [z, y, x] = tile::extents(shape);
    match shape {
        Shape::Line => [1, 1, x + 1],
        Shape::Plane => [1, y + 1, x + 1],
        Shape::Cube => [z + 1, y + 1, x + 1],
    }
}

/// The number of values of a tile with its far faces.
#[inline(always)]
pub const fn len(shape: Shape) -> u32 {
    let [z, y, x] = extents(shape);
    z * y * x
}

/// The index of a position.
#[inline(always)]
pub const fn index(shape: Shape, position: [u32; 3]) -> u32 {
    let [_, height, width] = extents(shape);
    let [z, y, x] = position;
    (z * height + y) * width + in_row(shape, x)
}

/// The index in its row of a position of a row.
#[inline(always)]
pub const fn in_row(shape: Shape, x: u32) -> u32 {
    let evens = extents(shape)[2].div_ceil(2);
    x / 2 + x % 2 * evens
}

/// The distance between the indices of neighbours along z and y.
#[inline(always)]
pub const fn stride(shape: Shape, axis: usize) -> u32 {
    let [_, height, width] = extents(shape);
    if axis == 0 { height * width } else { width }
}

/// Calls `call` with every position of a tile and its far faces that is in the field.
#[inline(always)]
pub fn each_position(shape: Shape, tile: &TileBox, mut call: impl FnMut([u32; 3])) {
    let ends: [u32; 3] = core::array::from_fn(|i| extents(shape)[i].min(tile.left[i]));
    for z in 0..ends[0] {
        for y in 0..ends[1] {
            for x in 0..ends[2] {
                call([z, y, x]);
            }
        }
    }
}

/// Whether a position is in the tile itself and not on a far face.
#[inline(always)]
pub const fn is_own(shape: Shape, position: [u32; 3]) -> bool {
    let extents = tile::extents(shape);
    position[0] < extents[0] && position[1] < extents[1] && position[2] < extents[2]
}
