//! Codes that are kept from the time when their symbols are counted until they are encoded.

use crate::error::Error;
use crate::memory;
use ferrosz_codec::code::entropy::counts::is_counted;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{RUN_TILES, TileGrid};
use std::ops::Range;

/// The number of a tile, and the place of its codes.
pub(super) type TilePlace<'a> = (u64, &'a mut TileCodes);

/// The codes of some tiles.
#[derive(Default)]
pub(super) struct Kept {
    /// The numbers of the tiles, in ascending order.
    pub(super) numbers: Vec<u64>,
    pub(super) codes: Vec<TileCodes>,
}

impl Kept {
    /// The numbers of the tiles of a grid whose symbols are counted.
    pub(super) fn counted(grid: &TileGrid) -> Vec<u64> {
        let runs = grid.runs();
        let counted = (0..runs).filter(|run| is_counted(*run, runs));
        let tiles = counted.flat_map(|run| {
            let first = run * u64::from(RUN_TILES);
            first..grid.tiles().min(first + u64::from(RUN_TILES))
        });
        tiles.collect()
    }

    /// The codes of the tiles with these numbers, which `predict` makes.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(super) fn new(
        numbers: Vec<u64>,
        predict: impl FnOnce(Vec<TilePlace<'_>>),
    ) -> Result<Self, Error> {
        let mut codes = memory::try_zeroed(numbers.len() as u64)?;
        predict(numbers.iter().copied().zip(&mut codes).collect());
        Ok(Self { numbers, codes })
    }

    /// The codes of consecutive tiles of a grid. If not all tiles are kept, they are put together in `scratch`, where
    /// `predict` makes those that are not kept.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(super) fn of<'a>(
        &'a self,
        grid: &TileGrid,
        tiles: Range<u64>,
        predict: impl FnOnce(Vec<TilePlace<'_>>),
        scratch: &'a mut Vec<TileCodes>,
    ) -> Result<&'a [TileCodes], Error> {
        if self.codes.len() as u64 == grid.tiles() {
            return Ok(&self.codes[tiles.start as usize..tiles.end as usize]);
        }
        let count = (tiles.end - tiles.start) as usize;
        if scratch.len() < count {
            *scratch = memory::try_zeroed(count as u64)?;
        }
        let mut missing = Vec::new();
        for (number, codes) in tiles.zip(scratch.iter_mut()) {
            match self.numbers.binary_search(&number) {
                Ok(at) => codes.copy_from_slice(&self.codes[at]),
                Err(_) => missing.push((number, codes)),
            }
        }
        predict(missing);
        Ok(&scratch[..count])
    }
}
