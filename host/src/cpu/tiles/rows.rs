//! The values of a field or of a region of it, which are assembled from rows of tiles.

use crate::cpu::output::Output;
use crate::cpu::predict::interp::TileStore;
use ferrosz_codec::Element;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::tile::{self, TileBox, TileGrid};

/// The values of a field or of a region of it, into which all threads write.
pub(super) struct Rows<'a, T> {
    /// None for the whole field.
    region: Option<&'a Region>,
    grid: &'a TileGrid,
    output: Output<'a, T>,
}

impl<'a, T: Element> Rows<'a, T> {
    /// All values of a field of this grid.
    pub(super) fn whole(grid: &'a TileGrid, values: &'a mut [T]) -> Self {
        Self {
            region: None,
            grid,
            output: Output::new(values),
        }
    }

    /// The values of a region of a field of this grid.
    pub(super) fn of(region: &'a Region, grid: &'a TileGrid, values: &'a mut [T]) -> Self {
        Self {
            region: (region.elements() != grid.elements()).then_some(region),
            ..Self::whole(grid, values)
        }
    }

    /// Writes the values of a tile's row, from a position of the field on, to their positions; returns their number.
    /// Every row must be written by one thread only.
    #[inline(always)]
    pub(super) fn put(&self, at: [u64; 3], values: &[T]) -> u64 {
        let first = self.grid.flat(at);
        let mut count = 0;
        let mut put = |at, values: &[T]| {
            // SAFETY: these are positions of one row of one tile, which no other row has, and one thread writes it.
            let part = unsafe { self.output.part(at, values.len() as u64) };
            part.copy_from_slice(values);
            count += values.len() as u64;
        };
        match self.region {
            None => put(first, values),
            Some(region) => region.cut(first, values.len() as u64, |run, at| {
                put(at, &values[run.start as usize..run.end as usize]);
            }),
        }
        count
    }

    /// Writes all rows of a tile; returns the number of values.
    pub(super) fn put_tile(&self, tile: &TileBox, store: &TileStore<T>) -> u64 {
        let shape = self.grid.shape();
        let mut values = [T::ZERO; tile::ROW as usize];
        let mut count = 0;
        for row in 0..tile::ROWS {
            let first = tile::position(shape, 2 * row, 0);
            if tile.has(first) {
                let values = &mut values[..(tile.left[2] - first[2]).min(tile::ROW) as usize];
                store.read_row(first, values);
                count += self.put(tile.at(first), values);
            }
        }
        count
    }
}
