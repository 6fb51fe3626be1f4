//! Bands: stretches of an array in C order that hold whole tiles, for threads to fill.

use ferrosz_codec::Shape;
use ferrosz_codec::tile::{self, TileBox, TileGrid};

/// Tiles side by side, and the stretch of an array that is theirs.
pub(super) struct Band<'a, T> {
    /// The position of its first tile among the tiles, and how many there are along each dimension.
    first: [u64; 3],
    counts: [u64; 3],
    /// The number of its first element.
    start: u64,
    /// Its elements.
    pub(super) values: &'a mut [T],
}

impl<'a, T> Band<'a, T> {
    /// The bands of an array of a field.
    pub(super) fn of(grid: &TileGrid, values: &'a mut [T]) -> Vec<Self> {
        let [_, height, width] = grid.lengths().map(|length| length as usize);
        let [_, tile_height, tile_width] =
            tile::extents(grid.shape()).map(|extent| extent as usize);
        let [_, rows, columns] = grid.counts();
        let (slab, band, counts) = match grid.shape() {
            Shape::Line => (tile_width, tile_width, [1, 1, 1]),
            Shape::Plane => (height * width, tile_height * width, [1, 1, columns]),
            Shape::Cube => {
                let slab = tile::extents(Shape::Cube)[0] as usize * height * width;
                (slab, slab, [1, rows, columns])
            }
        };
        let mut bands = Vec::new();
        let mut start = 0;
        for (number, slab) in (0..).zip(values.chunks_mut(slab.max(1))) {
            for (row, values) in (0..).zip(slab.chunks_mut(band.max(1))) {
                let first = match grid.shape() {
                    Shape::Line => [0, 0, number],
                    Shape::Plane => [number, row, 0],
                    Shape::Cube => [number, 0, 0],
                };
                let length = values.len() as u64;
                bands.push(Self {
                    first,
                    counts,
                    start,
                    values,
                });
                start += length;
            }
        }
        bands
    }

    /// The band's tiles.
    pub(super) fn tiles(&self, grid: &TileGrid) -> Vec<TileBox> {
        let [depth, height, width] = self.counts;
        let mut tiles = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let at = [self.first[0] + z, self.first[1] + y, self.first[2] + x];
                    tiles.push(grid.tile_at(at));
                }
            }
        }
        tiles
    }

    /// The index in the band of a position of the field.
    pub(super) fn index(&self, grid: &TileGrid, at: [u64; 3]) -> usize {
        (grid.flat(at) - self.start) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_hold_their_tiles() {
        for (shape, lengths) in [
            (Shape::Cube, [33, 18, 70]),
            (Shape::Plane, [3, 300, 70]),
            (Shape::Line, [1, 1, 40_000]),
            (Shape::Line, [1, 1, 0]),
        ] {
            let grid = TileGrid::new(shape, lengths);
            let mut values = vec![0; grid.elements() as usize];
            let mut tiles = 0;
            for band in Band::of(&grid, &mut values) {
                for tile in band.tiles(&grid) {
                    tiles += 1;
                    for at in 0..tile::STEPS * tile::LANES {
                        let position = tile::position(shape, at / tile::LANES, at % tile::LANES);
                        if tile.has(position) {
                            let at = band.index(&grid, tile.at(position));
                            band.values[at] += 1;
                        }
                    }
                }
            }
            assert_eq!(tiles, grid.tiles());
            assert!(values.iter().all(|count| *count == 1));
        }
    }
}
