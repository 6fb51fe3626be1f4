//! The tiles of a part of a field that is decoded alone, their chunks, and where their elements are.

use core::ops::Range;
use ferrosz_codec::tile::{ChunkLength, TileGrid};

/// A box of tiles.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileWindow {
    /// The number of the first tile along each dimension.
    first: [u32; 3],
    /// Tiles along each dimension.
    counts: [u32; 3],
}

impl TileWindow {
    /// The tiles with these numbers along each dimension: at least one, and all of them in a field whose tiles are fewer
    /// than 2^32.
    pub fn new(tiles: &[Range<u64>; 3]) -> Self {
        Self {
            first: tiles.each_ref().map(|range| range.start as u32),
            counts: tiles
                .each_ref()
                .map(|range| (range.end - range.start) as u32),
        }
    }

    /// The same along y and x, and these along z.
    #[must_use]
    pub fn with_z(mut self, tiles: Range<u64>) -> Self {
        self.first[0] = tiles.start as u32;
        self.counts[0] = (tiles.end - tiles.start) as u32;
        self
    }

    /// Tiles of the box.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn tiles(&self) -> u64 {
        self.counts.map(u64::from).iter().product()
    }

    /// The number in the field of tile number `at` of these.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn tile(&self, grid: &TileGrid, at: u32) -> u64 {
        let width = self.counts[2].max(1);
        self.row(grid, at / width) + u64::from(at % width)
    }

    /// The number in the field of the first tile of a row of these.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn row(&self, grid: &TileGrid, row: u32) -> u64 {
        let [_, height, width] = grid.counts();
        let rows = self.counts[1].max(1);
        let z = u64::from(self.first[0] + row / rows);
        let y = u64::from(self.first[1] + row % rows);
        (z * height + y) * width + u64::from(self.first[2])
    }

    /// How many numbers [`TileWindow::chunk`] takes.
    pub fn chunks(&self, length: ChunkLength) -> u64 {
        let rows = u64::from(self.counts[0]) * u64::from(self.counts[1]);
        rows * u64::from(self.chunks_of_row(length.tiles()))
    }

    /// The most chunks that a row of tiles is in.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn chunks_of_row(&self, tiles_of_chunk: u32) -> u32 {
        // One more than whole chunks, as the first tile may be the last one of its chunk.
        (self.counts[2] + tiles_of_chunk - 2) / tiles_of_chunk + 1
    }

    /// A chunk of these tiles. The numbers below [`TileWindow::chunks`] have each of them once; other numbers have none.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn chunk(&self, grid: &TileGrid, tiles_of_chunk: u32, at: u64) -> Option<u64> {
        let length = u64::from(tiles_of_chunk.max(1));
        let of_row = u64::from(self.chunks_of_row(tiles_of_chunk.max(1)));
        let row = (at / of_row.max(1)) as u32;
        if row >= self.counts[0] * self.counts[1] {
            return None;
        }
        let last = u64::from(self.counts[2].max(1) - 1);
        let first_tile = self.row(grid, row);
        let chunk = first_tile / length + at % of_row.max(1);
        // The row before may end in the chunk in which this one begins.
        let is_taken = row > 0 && (self.row(grid, row - 1) + last) / length >= chunk;
        let is_behind = (first_tile + last) / length < chunk;
        (!is_taken && !is_behind).then_some(chunk)
    }
}

/// A box of a field whose elements are in memory, in C order.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBox {
    /// Its first position in the field.
    pub origin: [u64; 3],
    /// Its extents.
    pub lengths: [u64; 3],
}

impl MemoryBox {
    /// All of a field.
    pub const fn whole(grid: &TileGrid) -> Self {
        Self {
            origin: [0; 3],
            lengths: grid.lengths(),
        }
    }

    /// The distance of neighbours along each dimension, in elements.
    pub const fn strides(&self) -> [u64; 3] {
        [self.lengths[1] * self.lengths[2], self.lengths[2], 1]
    }

    /// The number that the first element would have if the field began at its position 0. Of the sum of a position times
    /// the strides so much is subtracted, modulo 2^64.
    pub const fn before(&self) -> u64 {
        let [z, y, x] = self.origin;
        (z * self.lengths[1] + y) * self.lengths[2] + x
    }

    /// The number of the element at a position of the field; none outside of the box.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn element(&self, at: [u64; 3]) -> Option<u64> {
        let within = |i: usize| at[i].wrapping_sub(self.origin[i]);
        let [z, y, x] = [within(0), within(1), within(2)];
        let [depth, height, width] = self.lengths;
        let is_inside = z < depth && y < height && x < width;
        is_inside.then_some(
            (z.wrapping_mul(height).wrapping_add(y))
                .wrapping_mul(width)
                .wrapping_add(x),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::Shape;
    use ferrosz_codec::tile::extents;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// All boxes of tiles of small fields, in all lengths of chunks.
    #[test]
    fn every_tile_and_every_chunk_of_a_box_comes_once() {
        for counts in [[1, 1, 9], [1, 3, 5], [3, 2, 7], [2, 5, 1], [4, 4, 4]] {
            let tile = extents(Shape::Cube).map(u64::from);
            let lengths = core::array::from_fn(|i| counts[i] * tile[i] - 3);
            let grid = TileGrid::new(Shape::Cube, lengths);
            assert_eq!(grid.counts(), counts);
            let ranges =
                |count: u64| (0..count).flat_map(move |a| (a + 1..=count).map(move |b| a..b));
            for z in ranges(counts[0]) {
                for y in ranges(counts[1]) {
                    for x in ranges(counts[2]) {
                        check(&grid, &[z.clone(), y.clone(), x]);
                    }
                }
            }
        }
    }

    fn check(grid: &TileGrid, box_of_tiles: &[Range<u64>; 3]) {
        let window = TileWindow::new(box_of_tiles);
        let [_, height, width] = grid.counts();
        let [z, y, x] = box_of_tiles.clone();
        let mut wanted = Vec::new();
        for z in z {
            for y in y.clone() {
                wanted.extend(x.clone().map(|x| (z * height + y) * width + x));
            }
        }
        let tiles = 0..window.tiles() as u32;
        let found: Vec<u64> = tiles.map(|at| window.tile(grid, at)).collect();
        assert_eq!(found, wanted);
        for length in ChunkLength::ALL {
            let of_chunks: BTreeSet<u64> =
                wanted.iter().map(|tile| length.chunk_of(*tile)).collect();
            let numbers = 0..window.chunks(length) + 5;
            let found: Vec<u64> = numbers
                .filter_map(|at| window.chunk(grid, length.tiles(), at))
                .collect();
            assert!(
                found.iter().copied().eq(of_chunks),
                "{box_of_tiles:?} {length:?}"
            );
        }
    }

    #[test]
    fn elements_of_a_box_are_in_c_order() {
        let memory = MemoryBox {
            origin: [2, 0, 5],
            lengths: [2, 3, 4],
        };
        let mut number = 0;
        for z in 2..4 {
            for y in 0..3 {
                for x in 5..9 {
                    assert_eq!(memory.element([z, y, x]), Some(number));
                    let [by_z, by_y, by_x] = memory.strides();
                    let sum = z * by_z + y * by_y + x * by_x;
                    assert_eq!(sum.wrapping_sub(memory.before()), number);
                    number += 1;
                }
            }
        }
        for outside in [[1, 0, 5], [4, 0, 5], [2, 3, 5], [2, 0, 4], [2, 0, 9]] {
            assert_eq!(memory.element(outside), None);
        }
    }
}
