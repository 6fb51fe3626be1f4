//! Where a choice finds a field: its elements, and what a machine with kernels finds out about its tiles.

use crate::choose::weights::TileWeights;
use crate::error::Error;
use ferrosz_codec::code::entropy::class::CONTEXTS;
use ferrosz_codec::code::entropy::token::TOKENS;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::cost::CLASSES;
use ferrosz_codec::predict::interp::tune::search::Search;
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

    /// The kernels of the machine that has the field, which spare the reading of tiles; `None` if it has none.
    fn kernels(&mut self) -> Option<&mut dyn SampleKernels<T>> {
        None
    }
}

impl<T, F: FnMut(&Grid, &[ChunkBox]) -> Result<Vec<Vec<T>>, Error>> SampledField<T> for F {
    fn read(&mut self, grid: &Grid, places: &[ChunkBox]) -> Result<Vec<Vec<T>>, Error> {
        self(grid, places)
    }
}

/// A machine with kernels that has a field.
pub(crate) trait SampleKernels<T> {
    /// The weights that were found before anybody asked; they are given once.
    fn weighed(&mut self) -> Vec<(TileGrid, TileWeights)>;

    /// The bits of the differences between neighbours along x, of each tile.
    ///
    /// # Errors
    ///
    /// Those of the machine.
    fn weigh(
        &mut self,
        wanted: &[TilesToWeigh],
        quantizer: &Quantizer<T>,
    ) -> Result<Vec<Vec<u64>>, Error>;

    /// What kernels find out about samples.
    ///
    /// # Errors
    ///
    /// Those of the machine.
    fn measure(
        &mut self,
        wanted: &[SampleToMeasure<T>],
        quantizer: &Quantizer<T>,
    ) -> Result<Vec<SampleMeasures<T>>, Error>;
}

/// Tiles of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TilesToWeigh {
    pub(crate) tiles: TileGrid,
    /// The length of the field along x.
    pub(crate) row: u64,
    pub(crate) zeros_are_holes: bool,
    pub(crate) numbers: Vec<u64>,
}

/// The elements of a sample in whose place there are other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holes {
    None,
    /// Those that are missing.
    Missing,
    /// These, and zeros.
    WithZeros,
}

/// Tiles of a field: those that are sized in blocks, and those that are predicted.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "only fields in device memory are measured")
)]
#[derive(Debug, Clone)]
pub(crate) struct SampleToMeasure<T> {
    /// The division of the field for the shape of the tiles.
    pub(crate) grid: Grid,
    pub(crate) tiles: TileGrid,
    pub(crate) holes: Holes,
    /// The numbers of the tiles that are sized, and the shapes of blocks: kernels [can](can_be_sized) size them.
    pub(crate) sized: Vec<u64>,
    pub(crate) shapes: Vec<Shape>,
    /// The number of each tile that is predicted, in ascending order, and how many tiles it stands for.
    pub(crate) taken: Vec<[u64; 2]>,
    pub(crate) predictions: Vec<(TileLayout, PredictBy<T>)>,
}

/// What kernels have found out about a sample, in the order of what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SampleMeasures<T> {
    pub(crate) sizes: Vec<Sizes>,
    pub(crate) leavings: Vec<Leavings<T>>,
}

/// The size of a tile as a field of its own, with each codec in blocks of each shape.
pub(crate) type Sizes = Vec<((BlockCodec, Shape), u64)>;

/// Whether kernels can size a tile in blocks of a shape: blocks of the tile as a field of its own have this shape, and its
/// dimensions are those of the field.
pub(crate) fn can_be_sized(tile: &ChunkBox, shape: Shape) -> bool {
    let grid = grid_of(tile, shape);
    grid.shape() == shape && grid.lengths() == tile.extents.map(u64::from)
}

/// The division of a tile as a field of its own.
pub(crate) fn grid_of(tile: &ChunkBox, shape: Shape) -> Grid {
    let own = tile.extents.map(u64::from);
    let line = Extents::line(own.iter().product());
    Grid::new(shape, &Extents::new(&own).unwrap_or(line))
}

/// The parameters of a prediction.
#[derive(Debug, Clone)]
pub(crate) enum PredictBy<T> {
    /// Lorenzo's prediction has none.
    Lorenzo,
    /// These, without coefficients.
    Given(Resolved<T>),
    /// Those that a search finds on some tiles.
    Tuned(TuningOnTiles),
}

/// A search for parameters.
#[derive(Debug, Clone)]
pub(crate) struct TuningOnTiles {
    pub(crate) search: Search,
    /// The numbers of the tiles that coefficients are fitted to, and of those that candidates are scored on.
    pub(crate) fitted: Vec<u64>,
    pub(crate) scored: Vec<u64>,
}

/// What a prediction leaves of tiles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leavings<T> {
    /// The parameters; none with Lorenzo's prediction.
    pub(crate) resolved: Option<Resolved<T>>,
    /// How often each symbol occurs in the tiles, each with its weight.
    pub(crate) counts: Box<SymbolCounts>,
    /// The weights of the tiles that have codes.
    pub(crate) coded: u64,
    /// How many anchors have a code of each class.
    pub(crate) anchors: AnchorClasses,
    /// The bytes of each tile in bit planes, as a chunk of its own.
    pub(crate) planes: Vec<u64>,
}

/// How often each symbol occurs, by context.
pub(crate) type SymbolCounts = [[u64; TOKENS as usize]; CONTEXTS as usize];

/// How many anchors have a code of each class.
pub(crate) type AnchorClasses = [u32; CLASSES];
