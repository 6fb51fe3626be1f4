//! Codes that are kept from the time when their symbols are counted until they are encoded.

use crate::error::Error;
use crate::memory;
use ferrosz_codec::code::entropy::counts::is_counted;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{RUN_TILES, TileGrid};
use std::ops::Range;

/// The number of a tile, and the place of its codes.
pub(crate) type TilePlace<'a> = (u64, &'a mut TileCodes);

/// The codes of some tiles.
#[derive(Default)]
pub(crate) struct Kept {
    /// The numbers of the tiles, in ascending order.
    pub(crate) numbers: Vec<u64>,
    pub(crate) codes: Vec<TileCodes>,
}

impl Kept {
    /// The numbers of the tiles of a grid whose symbols are counted.
    pub(crate) fn counted(grid: &TileGrid) -> Vec<u64> {
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
    pub(crate) fn new(
        numbers: Vec<u64>,
        predict: impl FnOnce(Vec<TilePlace<'_>>),
    ) -> Result<Self, Error> {
        let mut codes = memory::try_zeroed(numbers.len() as u64)?;
        predict(numbers.iter().copied().zip(&mut codes).collect());
        Ok(Self { numbers, codes })
    }

    /// The codes of the tiles of a grid whose numbers are in these ranges. If all tiles of the grid are kept, each range
    /// must begin where the one before it ends. Otherwise the codes are put together in `scratch`, where `predict` makes
    /// those that are not kept.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn of<'a>(
        &'a self,
        grid: &TileGrid,
        ranges: &[Range<u64>],
        predict: impl FnOnce(Vec<TilePlace<'_>>),
        scratch: &'a mut Vec<TileCodes>,
    ) -> Result<&'a [TileCodes], Error> {
        if self.codes.len() as u64 == grid.tiles() {
            let start = ranges.first().map_or(0, |range| range.start);
            let end = ranges.last().map_or(0, |range| range.end);
            return Ok(&self.codes[start as usize..end as usize]);
        }
        let tiles = ranges.iter().cloned().flatten();
        let count = tiles.clone().count();
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
