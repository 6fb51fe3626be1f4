//! Decompression of regions: the chunks of the tiles that a region needs, into memory of their own, from which the region
//! is copied.

use crate::tile_ranges::{TileRanges, tile_ranges, with_far};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{self, TileGrid};
use ferrosz_gpu_kernels::pipeline::tiles::window::{MemoryBox, TileWindow};

/// The tiles of a region, and the memory that they are decoded into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TilePart {
    /// The tiles that are reconstructed, and along z the first of them and the first one behind.
    pub(super) tiles: TileWindow,
    pub(super) along_z: [u64; 2],
    /// The tiles whose codes are read.
    pub(super) decoded: TileWindow,
    /// The elements of the tiles, and the far faces behind them: a value there without a code is read.
    pub(super) memory: MemoryBox,
    /// The region's first element in this memory, the distance of its neighbours, and its extents.
    pub(super) first: u64,
    pub(super) strides: [u64; 3],
    pub(super) lengths: [u64; 3],
}

impl TilePart {
    /// What a region needs, which has elements.
    pub(super) fn new(layout: &TileLayout, region: &Region) -> Self {
        let grid = &layout.fine;
        let tiles = tile_ranges(grid, region);
        let has_far = layout.coarse.is_some();
        let decoded = match has_far {
            true => with_far(layout, &tiles),
            false => tiles.clone(),
        };
        let memory = memory_of(grid, &tiles, &decoded);
        let (first, strides) = match grid.shape() {
            // The region is a box of the field in other extents.
            Shape::Line => (region.span().0 - memory.origin[2], region.strides()),
            Shape::Plane | Shape::Cube => {
                (memory.element(region.from()).unwrap_or(0), memory.strides())
            }
        };
        Self {
            along_z: [tiles[0].start, tiles[0].end],
            tiles: TileWindow::new(&tiles),
            decoded: TileWindow::new(&decoded),
            memory,
            first,
            strides,
            lengths: region.extents(),
        }
    }

    /// Elements of the memory.
    pub(super) fn elements(&self) -> u64 {
        self.memory.lengths.iter().product()
    }

    /// The tiles that are in a slice of the field, by their numbers in it; none if no tile is.
    pub(super) fn in_slice(&self, grid: &TileGrid, slice: u64) -> Option<TileWindow> {
        let deep = grid.counts()[0] / grid.slices().max(1);
        let [from, to] = self.along_z;
        let own = from.max(slice * deep)..to.min((slice + 1) * deep);
        (!own.is_empty()).then(|| {
            self.tiles
                .with_z(own.start - slice * deep..own.end - slice * deep)
        })
    }
}

/// The elements of tiles, and the first ones of those behind them that are decoded, too.
fn memory_of(grid: &TileGrid, tiles: &TileRanges, decoded: &TileRanges) -> MemoryBox {
    let first = grid.tile_at(tiles.each_ref().map(|range| range.start));
    let last = grid.tile_at(tiles.each_ref().map(|range| range.end - 1));
    let extents = tile::extents(grid.shape());
    let lengths = std::array::from_fn(|i| {
        let of_last = last.left[i].min(extents[i]);
        let has_far = decoded[i].end > tiles[i].end;
        last.origin[i] + u64::from(of_last) + u64::from(has_far) - first.origin[i]
    });
    MemoryBox {
        origin: first.origin,
        lengths,
    }
}

/// Elements of the memory that the largest of some regions needs.
pub(crate) fn scratch_elements(layout: &TileLayout, regions: &[Region]) -> u64 {
    let own = regions.iter().filter(|region| region.elements() > 0);
    own.map(|region| TilePart::new(layout, region).elements())
        .max()
        .unwrap_or(0)
}
