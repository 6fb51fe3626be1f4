//! Takes tiles of a field for a sample: measured, as far as the machine that has the field can do that, and else read.

use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::cpu::tiles::estimate::weigh::Weighed;
use crate::error::Error;
use crate::parallel;
use crate::sampled_field::{SampledField, TilesToMeasure};
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::quantize::difference::steps_of;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::{Element, Shape};

/// Takes tiles of a field.
pub(crate) struct Sampler<'a, T> {
    /// The division of the field for the shape of the tiles, into chunks and into tiles.
    pub(crate) grid: &'a Grid,
    pub(crate) tiles: &'a TileGrid,
    /// The length of the field along x.
    pub(crate) row: u64,
    /// The quantiser; it has holes if zeros are.
    pub(crate) quantizer: &'a Quantizer<T>,
    /// Whether zeros are holes.
    pub(crate) are_holes: bool,
    /// The shapes of blocks that sizes may be asked for.
    pub(crate) block_shapes: &'a [Shape],
    /// Whether sizes in blocks are all that will be asked for.
    pub(crate) is_in_blocks: bool,
    pub(crate) field: &'a mut dyn SampledField<T>,
}

impl<T: Element> Sampler<'_, T> {
    /// Weighs tiles with these numbers. Those that were measured have no elements.
    pub(super) fn weigh(&mut self, numbers: Vec<u64>) -> Result<Weighed<T>, Error> {
        let wanted = TilesToMeasure {
            grid: self.grid,
            tiles: self.tiles,
            row: self.row,
            numbers: &numbers,
            // In place of holes blocks have other values.
            shapes: match self.quantizer.has_holes() {
                true => &[],
                false => self.block_shapes,
            },
        };
        let measured = match self.are_holes {
            true => None,
            false => self.field.measure(&wanted, self.quantizer)?,
        };
        let measured = measured.unwrap_or_else(|| vec![None; numbers.len()]);
        let tiles = numbers.iter().map(|number| self.tiles.tile(*number));
        let mut tiles: Vec<_> = tiles.map(SampleTile::new).collect();
        let pairs = tiles.iter_mut().zip(&measured);
        let unknown = pairs.filter(|(_, measured)| measured.is_none());
        self.read_tiles(unknown.map(|(tile, _)| tile).collect())?;
        let (grid, row) = (self.tiles, self.row);
        let steps = steps_of(self.quantizer.error());
        let weigh = |(tile, measured): (&mut SampleTile<T>, _)| {
            let bits = match measured {
                None => tile.difference_bits(grid, row, steps),
                Some(measures) => tile.take_measures(measures),
            };
            tile.as_of_all(bits, grid, row)
        };
        // Other threads take longer to begin than this one needs for measures.
        let are_measured = measured.iter().all(Option::is_some);
        let pairs = tiles.iter_mut().zip(measured);
        let bits = match are_measured {
            true => pairs.map(weigh).collect(),
            false => parallel::map(pairs, weigh),
        };
        Ok(Weighed {
            numbers,
            tiles,
            bits,
        })
    }

    /// Reads the elements of those tiles that need them and have none.
    pub(super) fn read(&mut self, tiles: &mut [SampleTile<T>]) -> Result<(), Error> {
        let is_known = |tile: &SampleTile<T>| {
            !tile.elements.is_empty() || (self.is_in_blocks && tile.has_measures())
        };
        let unknown = tiles.iter_mut().filter(|tile| !is_known(tile));
        self.read_tiles(unknown.collect())
    }

    /// Reads tiles; holes stay holes.
    fn read_tiles(&mut self, tiles: Vec<&mut SampleTile<T>>) -> Result<(), Error> {
        if tiles.is_empty() {
            return Ok(());
        }
        let place = |tile: &&mut SampleTile<T>| tile.with_faces(self.tiles.shape());
        let places: Vec<ChunkBox> = tiles.iter().map(place).collect();
        let elements = self.field.read(self.grid, &places)?;
        for ((tile, place), mut elements) in tiles.into_iter().zip(places).zip(elements) {
            if self.are_holes {
                zeros_to_holes(&mut elements);
            }
            (tile.extents, tile.elements) = (place.extents, elements);
        }
        Ok(())
    }
}

/// Makes holes of zeros.
pub(crate) fn zeros_to_holes<T: Element>(values: &mut [T]) {
    for value in values.iter_mut().filter(|value| **value == T::ZERO) {
        *value = T::HOLE;
    }
}
