//! Where a choice finds a field: its elements, and what a machine with kernels measured of its tiles.

use crate::error::Error;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::TileGrid;

/// A coded field. It is used as a trait object: a type parameter would make a copy of the predictions for each source, and
/// add 0.46 MB to the command.
pub(crate) trait SampledField<T> {
    /// The elements of boxes, each row by row.
    ///
    /// # Errors
    ///
    /// Those of the machine that has the field.
    fn read(&mut self, grid: &Grid, places: &[ChunkBox]) -> Result<Vec<Vec<T>>, Error>;

    /// Measures of tiles, so that their elements need not be read; `None` where they must be.
    ///
    /// # Errors
    ///
    /// Those of the machine that has the field.
    fn measure(
        &mut self,
        _tiles: &TilesToMeasure<'_>,
        _quantizer: &Quantizer<T>,
    ) -> Result<Option<Vec<Option<Measures>>>, Error> {
        Ok(None)
    }
}

impl<T, F: FnMut(&Grid, &[ChunkBox]) -> Result<Vec<Vec<T>>, Error>> SampledField<T> for F {
    fn read(&mut self, grid: &Grid, places: &[ChunkBox]) -> Result<Vec<Vec<T>>, Error> {
        self(grid, places)
    }
}

/// Tiles of a field, which has no holes if sizes are asked for.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "only fields in device memory are measured")
)]
pub(crate) struct TilesToMeasure<'a> {
    /// The division of the field for the shape of the tiles.
    pub(crate) grid: &'a Grid,
    pub(crate) tiles: &'a TileGrid,
    /// The length of the field along x.
    pub(crate) row: u64,
    pub(crate) numbers: &'a [u64],
    /// The shapes of blocks that sizes are asked for.
    pub(crate) shapes: &'a [Shape],
}

/// What is known of a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measures {
    /// The bits of the differences between its neighbours along x.
    pub(crate) bits: u64,
    /// Its size as a field of its own with each codec in blocks of each shape.
    pub(crate) sizes: Sizes,
}

/// Sizes with codecs in blocks of a shape.
pub(crate) type Sizes = Vec<((BlockCodec, Shape), u64)>;
