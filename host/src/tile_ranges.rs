//! The tiles that a region of a field needs.

use ferrosz_codec::Shape;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::tile::{self, TileGrid};
use std::ops::Range;

/// Tiles along each dimension.
pub(crate) type TileRanges = [Range<u64>; 3];

/// All tiles.
pub(crate) fn all_tiles(grid: &TileGrid) -> TileRanges {
    grid.counts().map(|count| 0..count)
}

/// The tiles that a region may touch.
pub(crate) fn tile_ranges(grid: &TileGrid, region: &Region) -> TileRanges {
    let extents = tile::extents(grid.shape()).map(u64::from);
    if grid.shape() == Shape::Line {
        let (first, last) = region.span();
        return [0..1, 0..1, first / extents[2]..last / extents[2] + 1];
    }
    let (from, lengths) = (region.from(), region.extents());
    std::array::from_fn(|i| match i {
        0 => grid.tiles_along_z(from[0], from[0] + lengths[0]),
        _ => from[i] / extents[i]..(from[i] + lengths[i]).div_ceil(extents[i]),
    })
}

/// These tiles and the tiles behind them along each dimension in which there are far faces.
pub(crate) fn with_far(layout: &TileLayout, ranges: &TileRanges) -> TileRanges {
    let grid = &layout.fine;
    let counts = grid.counts();
    let first = layout.codec.order(grid.shape()).first_axis();
    std::array::from_fn(|i| {
        let is_last = i < first || i == 0 && grid.ends_slice(ranges[0].end);
        ranges[i].start..(ranges[i].end + u64::from(!is_last)).min(counts[i])
    })
}

/// The numbers of these tiles.
pub(crate) fn numbers(grid: &TileGrid, ranges: &TileRanges) -> Vec<u64> {
    let [_, rows, columns] = grid.counts();
    let [z, y, x] = ranges;
    let mut numbers = Vec::new();
    for z in z.clone() {
        for y in y.clone() {
            numbers.extend(x.clone().map(|x| (z * rows + y) * columns + x));
        }
    }
    numbers
}
