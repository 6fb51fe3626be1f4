//! Values in place of missing elements for codecs that predict from codes: those of blocks and of Lorenzo tiles (FORMAT.md,
//! section 23).
//!
//! To such a codec a missing element costs nothing where it remains a *hole*: its code is 0. But what follows is then
//! predicted over it. So a missing element among valid ones has their mean, and a block or tile that begins with a missing
//! element begins with its first valid one.

use crate::container::grid::Grid;
use crate::container::layout::{Family, Layout};
use crate::divide::divide;
use crate::tile;

/// A missing element with at least this many valid neighbours gets their mean. At a flat edge of the missing region an
/// element has one valid neighbour, and remains a hole.
pub const LEAST: u32 = 2;

/// The blocks or tiles of a codec, in the dimensions of its grid.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Units {
    /// The logarithms of their extents.
    unit: [u32; 3],
    /// The field's.
    lengths: [u64; 3],
    /// The extent of a slice along z: chunks and tiles begin anew in each slice.
    depth: u64,
}

impl Units {
    /// Those of the codec of a layout; none if it needs values in place of all missing elements.
    pub fn of(layout: &Layout) -> Option<Self> {
        match layout.family() {
            Family::Blocks(layout) => Some(Self::of_blocks(&layout.grid)),
            Family::Tiles(tiles) if tiles.coarse.is_some() => None,
            Family::Tiles(tiles) => Some(Self::new(&layout.grid(), tile::extents(tiles.shape()))),
        }
    }

    /// Those of blocks in a grid.
    pub fn of_blocks(grid: &Grid) -> Self {
        Self::new(grid, grid.shape().extents())
    }

    fn new(grid: &Grid, extents: [u32; 3]) -> Self {
        Self {
            unit: extents.map(u32::ilog2),
            lengths: grid.lengths(),
            depth: grid.slice_lengths()[0].max(1),
        }
    }

    /// Whether a position is the first one of its block or tile.
    #[inline(always)]
    pub fn begin_at(&self, at: [u64; 3]) -> bool {
        let at = [divide(at[0], self.depth).1, at[1], at[2]];
        (0..3).all(|axis| at[axis] as u32 & low_bits(self.unit[axis]) == 0)
    }

    /// The positions of a row, from this one on and at most 64, at which a block or tile begins: a bit for each.
    #[inline(always)]
    pub fn begins(&self, at: [u64; 3], count: u32) -> u64 {
        let [z, y, x] = at;
        let mut bits = 0;
        if self.begin_at([z, y, 0]) {
            let mut bit = (x.wrapping_neg() as u32) & low_bits(self.unit[2]);
            while bit < count {
                bits |= 1 << bit;
                bit += 1 << self.unit[2];
            }
        }
        bits
    }

    /// Positions of a block or tile, those outside of the field included.
    #[inline(always)]
    pub const fn positions(&self) -> u32 {
        1 << (self.unit[0] + self.unit[1] + self.unit[2])
    }

    /// A position of the block or tile that begins at `first`, in C order; none if it is outside of the field.
    #[inline(always)]
    pub fn position(&self, first: [u64; 3], number: u32) -> Option<[u64; 3]> {
        let [_, y, x] = self.unit;
        let steps = [
            number >> (x + y),
            number >> x & low_bits(y),
            number & low_bits(x),
        ];
        let in_slice = divide(first[0], self.depth).1 + u64::from(steps[0]);
        let at: [u64; 3] = core::array::from_fn(|axis| first[axis] + u64::from(steps[axis]));
        let is_inside = in_slice < self.depth && (0..3).all(|axis| at[axis] < self.lengths[axis]);
        is_inside.then_some(at)
    }
}

#[inline(always)]
const fn low_bits(count: u32) -> u32 {
    (1 << count) - 1
}
