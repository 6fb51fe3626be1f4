//! Takes tiles of a field for a sample: weighed by the kernels of the machine that has the field, or else read.

use crate::choose::weights::TileWeights;
use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::cpu::tiles::estimate::weigh::Weighed;
use crate::error::Error;
use crate::parallel;
use crate::sampled_field::{Holes, SampledField, TilesToWeigh};
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
    /// The weights of tiles that kernels have weighed.
    pub(crate) weights: &'a mut TileWeights,
    pub(crate) field: &'a mut dyn SampledField<T>,
}

impl<T: Element> Sampler<'_, T> {
    /// Weighs tiles with these numbers. Those that kernels have weighed have no elements.
    pub(super) fn weigh(&mut self, numbers: Vec<u64>) -> Result<Weighed<T>, Error> {
        let known = self.known_weights(&numbers)?;
        let (grid, row) = (self.tiles, self.row);
        let mut tiles: Vec<_> = (numbers.iter())
            .map(|number| SampleTile::new(grid, *number))
            .collect();
        let bits = match known {
            Some(bits) => (tiles.iter().zip(bits))
                .map(|(tile, bits)| tile.as_of_all(bits, grid, row))
                .collect(),
            None => {
                self.read_tiles(tiles.iter_mut().collect())?;
                let steps = steps_of(self.quantizer.error());
                parallel::map(tiles.iter(), |tile| {
                    tile.as_of_all(tile.difference_bits(grid, row, steps), grid, row)
                })
            }
        };
        Ok(Weighed {
            numbers,
            tiles,
            bits,
        })
    }

    /// The bits of tiles that kernels weigh, if there are kernels.
    fn known_weights(&mut self, numbers: &[u64]) -> Result<Option<Vec<u64>>, Error> {
        let Some(kernels) = self.field.kernels() else {
            return Ok(None);
        };
        let new = |number: &&u64| self.weights.get(**number).is_none();
        let wanted = TilesToWeigh {
            tiles: *self.tiles,
            row: self.row,
            zeros_are_holes: self.are_holes,
            numbers: numbers.iter().filter(new).copied().collect(),
        };
        if !wanted.numbers.is_empty() {
            let found = kernels.weigh(std::slice::from_ref(&wanted), self.quantizer)?;
            self.weights.extend(&wanted.numbers, &found.concat());
        }
        let bits = numbers.iter().map(|number| self.weights.get(*number));
        Ok(bits.collect())
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
