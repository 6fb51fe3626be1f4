//! The workspace of the codecs of tiles.

use crate::gpu::tiles::lines::LineMemory;
use ferrosz_codec::Dtype;
use ferrosz_codec::code::entropy::frequency_tables::MAX_WORDS;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::tile::{RUN_TILES, TileGrid};
use ferrosz_gpu_kernels::code::entropy::decode_tables::DECODE_WORDS;
use ferrosz_gpu_kernels::code::entropy::statistics::COUNTERS;
use ferrosz_gpu_kernels::code::entropy::tables::ENCODE_WORDS;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::pipeline::tiles::layout::{TILE_WORDS, words_of_runs};
use ferrosz_gpu_kernels::pipeline::tiles::record::RECORD_WORDS;
use ferrosz_gpu_kernels::predict::interp::prepare::{CELLS, PARAMETER_WORDS};
use ferrosz_simt::View;

/// Sections of the workspace begin at multiples of this many cells: 128 bytes.
pub(crate) const ALIGNMENT: u64 = 16;

/// The workspace of a call.
pub(super) struct Workspace {
    /// The cells of all kernels.
    pub(super) cells: View<u64>,
    /// Counts of symbols.
    pub(super) counts: View<u64>,
    /// Costs of tuning.
    pub(super) costs: View<u64>,
    /// The parameters of all candidates, and behind them the coefficients, if there are any.
    pub(super) parameters: View<u32>,
    pub(super) coefficients: View<u32>,
    /// The sums of the fit of coefficients.
    pub(super) sums: View<u64>,
    pub(super) tables: View<u32>,
    pub(super) frequencies: View<u32>,
    /// The elements of the coarse field, its decoded values, and its anchors.
    pub(super) coarse: View<u32>,
    pub(super) known: View<u32>,
    pub(super) anchors: View<u32>,
    pub(super) tiles: View<u32>,
    pub(super) records: View<u32>,
    pub(super) regions: View<u32>,
    /// The lines of levels that are coded apart.
    pub(super) lines: LineMemory,
}

/// Takes sections of a workspace one after the other.
pub struct Sections {
    all: View<u64>,
    at: u64,
}

impl Sections {
    /// Of these cells.
    pub fn of(all: View<u64>) -> Self {
        Self { all, at: 0 }
    }

    /// How many cells have been taken.
    pub fn end(&self) -> u64 {
        self.at
    }

    /// Takes cells.
    pub fn cells(&mut self, count: u64) -> View<u64> {
        let first = self.at.next_multiple_of(ALIGNMENT);
        self.at = first + count;
        self.all.from(first).first(count)
    }

    /// Takes words.
    pub fn words(&mut self, count: u64) -> View<u32> {
        self.cells(count.div_ceil(2)).words().first(count)
    }
}

impl Workspace {
    /// Divides the cells of a workspace into sections. If there are too few cells, sections are too short.
    pub(super) fn new(layout: &TileLayout, dtype: Dtype, all: View<u64>) -> (Self, u64) {
        let words = dtype.bytes() as u64 / 4;
        let elements = |grid: Option<TileGrid>| grid.map_or(0, |grid| grid.elements());
        let coarse = words * elements(layout.coarse);
        let anchors = words * elements(layout.prologue_anchors());
        let (chunks, runs) = (layout.chunks(), layout.runs());
        let [coefficients, sums] = coefficients_and_sums(layout);
        let mut sections = Sections::of(all);
        let workspace = Self {
            cells: sections.cells(cells::count(chunks)),
            counts: sections.cells(u64::from(COUNTERS)),
            costs: sections.cells(CELLS),
            parameters: sections.words(PARAMETER_WORDS + coefficients),
            coefficients: View::empty(),
            sums: sections.cells(sums),
            tables: sections.words(u64::from(ENCODE_WORDS.max(DECODE_WORDS))),
            frequencies: sections.words(MAX_WORDS as u64),
            coarse: sections.words(coarse),
            known: sections.words(coarse),
            anchors: sections.words(anchors),
            tiles: sections.words(u64::from(RUN_TILES) * runs * TILE_WORDS),
            records: sections.words(chunks * RECORD_WORDS),
            regions: sections.words(words_of_runs(runs)),
            lines: LineMemory::new(layout, words, &mut sections),
        };
        let coefficients = workspace.parameters.from(PARAMETER_WORDS);
        let workspace = Self {
            coefficients,
            ..workspace
        };
        (workspace, sections.end())
    }
}

/// Words of the coefficients that are fitted to a field, and cells of the sums that they follow from.
pub(crate) fn coefficients_and_sums(layout: &TileLayout) -> [u64; 2] {
    let (fitted, shape) = (layout.codec.predictor.fitted(), layout.shape());
    [fitted.words(shape), fitted.sums(shape)].map(|count| count as u64)
}

/// The number of cells of the workspace of a layout, for elements of either type.
pub(crate) fn workspace_cells(layout: &TileLayout) -> u64 {
    Workspace::new(layout, Dtype::F64, View::empty()).1
}
