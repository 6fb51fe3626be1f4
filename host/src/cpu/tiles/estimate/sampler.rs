//! Takes tiles of a field for a sample: weighed by the kernels of the machine that has the field, or else read.

use crate::choose::weights::TileWeights;
use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::cpu::tiles::estimate::weigh::Weighed;
use crate::error::Error;
use crate::parallel;
use crate::sampled_field::{Holes, SampledField, TilesToWeigh};
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::predict::interp::tune::TighteningChoice;
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
    /// The choice of the levels' bounds.
    pub(crate) tightening: TighteningChoice,
    /// Whether zeros are holes.
    pub(crate) are_holes: bool,
    /// The shapes of blocks that sizes may be asked for.
    pub(crate) block_shapes: &'a [Shape],
    /// The weights that are known.
    pub(crate) weights: &'a mut TileWeights,
    pub(crate) field: &'a mut dyn SampledField<T>,
}

impl<T: Element> Sampler<'_, T> {
    /// Weighs tiles with these numbers. Those that are weighed for the first time have elements, if threads have read them.
    pub(super) fn weigh(&mut self, numbers: Vec<u64>) -> Result<Weighed<T>, Error> {
        let (grid, row) = (self.tiles, self.row);
        let mut tiles: Vec<_> = (numbers.iter())
            .map(|number| SampleTile::new(grid, *number))
            .collect();
        let is_new = |tile: &&mut SampleTile<T>| self.weights.get(tile.number).is_none();
        let new: Vec<_> = tiles.iter_mut().filter(is_new).collect();
        self.weigh_tiles(new)?;
        let bits = tiles.iter().map(|tile| {
            let bits = self.weights.get(tile.number).unwrap_or(0);
            tile.as_of_all(bits, grid, row)
        });
        Ok(Weighed {
            bits: bits.collect(),
            numbers,
            tiles,
        })
    }

    /// Weighs tiles by kernels, if there are kernels, or else by threads, which read them.
    fn weigh_tiles(&mut self, mut tiles: Vec<&mut SampleTile<T>>) -> Result<(), Error> {
        if tiles.is_empty() {
            return Ok(());
        }
        let numbers: Vec<u64> = tiles.iter().map(|tile| tile.number).collect();
        let bits = match self.field.kernels() {
            Some(kernels) => {
                let wanted = TilesToWeigh {
                    tiles: *self.tiles,
                    row: self.row,
                    zeros_are_holes: self.are_holes,
                    numbers: numbers.clone(),
                };
                (kernels.weigh(&[wanted], self.quantizer)?).concat()
            }
            None => {
                self.read_tiles(&mut tiles)?;
                let (grid, row) = (self.tiles, self.row);
                let steps = steps_of(self.quantizer.error());
                parallel::map(tiles.iter(), |tile| tile.difference_bits(grid, row, steps))
            }
        };
        self.weights.extend(&numbers, &bits);
        Ok(())
    }

    /// Whether tiles are predicted where the field is, so that their elements are not needed for that.
    pub(super) fn has_kernels(&mut self) -> bool {
        self.field.kernels().is_some()
    }

    /// The holes that the tiles may have.
    pub(super) fn holes(&self) -> Holes {
        match (self.are_holes, self.quantizer.has_holes()) {
            (true, _) => Holes::WithZeros,
            (false, true) => Holes::Missing,
            (false, false) => Holes::None,
        }
    }

    /// Reads the elements of those tiles that need them and have none.
    pub(super) fn read(&mut self, tiles: &mut [SampleTile<T>]) -> Result<(), Error> {
        let has_kernels = self.has_kernels();
        let (grid, shapes) = (self.tiles, self.block_shapes);
        let is_known = |tile: &SampleTile<T>| {
            !tile.elements.is_empty() || (has_kernels && tile.can_be_sized(grid, shapes))
        };
        let unknown = tiles.iter_mut().filter(|tile| !is_known(tile));
        self.read_tiles(&mut unknown.collect::<Vec<_>>())
    }

    /// Reads tiles; holes stay holes.
    fn read_tiles(&mut self, tiles: &mut [&mut SampleTile<T>]) -> Result<(), Error> {
        if tiles.is_empty() {
            return Ok(());
        }
        let place = |tile: &&mut SampleTile<T>| tile.with_faces(self.tiles.shape());
        let places: Vec<ChunkBox> = tiles.iter().map(place).collect();
        let elements = self.field.read(self.grid, &places)?;
        for ((tile, place), mut elements) in tiles.iter_mut().zip(places).zip(elements) {
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
