//! Codes between the tiles of a field and its lines: see
//! [`lines`](ferrosz_gpu_kernels::pipeline::tiles::lines).

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::tiles::Call;
use crate::gpu::tiles::workspace::Sections;
use ferrosz_codec::Element;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::tile::{RUN_TILES, TILE};
use ferrosz_gpu_kernels::pipeline::tiles::codes::{REGION_WORDS, TILE_WORDS as CODE_WORDS};
use ferrosz_gpu_kernels::pipeline::tiles::layout::{TILE_WORDS, region, words_of_runs};
use ferrosz_gpu_kernels::pipeline::tiles::lines::{
    LinePlace, LinesParams, MAX_LINES, OfLines, ToLines,
};
use ferrosz_gpu_kernels::pipeline::tiles::tiling::Tiling;
use ferrosz_gpu_kernels::pipeline::tiles::window::{MemoryBox, TileWindow};
use ferrosz_simt::View;

/// The memory of all lines, one behind the other in the order of their chunks.
pub(super) struct LineMemory {
    /// The regions of their runs.
    pub(super) regions: View<u32>,
    /// What statistics keep of each tile.
    pub(super) tiles: View<u32>,
    /// The words of their elements.
    pub(super) values: View<u32>,
}

impl LineMemory {
    /// Takes the memory for the lines of a layout whose elements have so many words.
    pub(super) fn new(layout: &TileLayout, element_words: u64, sections: &mut Sections) -> Self {
        let (mut runs, mut elements) = (0, 0);
        for line in layout.lines().map(|line| layout.line(line)) {
            runs += line.runs();
            elements += line.elements();
        }
        Self {
            regions: sections.words(words_of_runs(runs)),
            tiles: sections.words(u64::from(RUN_TILES) * runs * TILE_WORDS),
            values: sections.words(element_words * elements),
        }
    }
}

impl<T: Element, E: Executor> Call<'_, T, E> {
    /// Copies the codes and the elements of the field to the lines.
    pub(super) fn to_lines(&self, field: View<u32>) -> Result<(), Error> {
        for part in self.lines() {
            let elements = part.memory.lengths[2];
            if elements > 0 {
                // Codes behind the end of a line are 0.
                let last = region(part.regions, (elements - 1) / TILE as u64);
                self.executor.clear(last.first(CODE_WORDS).pairs())?;
            }
        }
        let params = self.lines_params(field);
        let blocks = self.blocks(self.layout.fine.tiles())?;
        self.executor.launch::<ToLines<T>>(blocks, &params)
    }

    /// Copies the codes of lines from level `lowest` on, and the elements whose code has no value, back to so many tiles.
    pub(super) fn of_lines(&self, tiles: u64, params: &LinesParams) -> Result<(), Error> {
        self.executor
            .launch::<OfLines<T>>(self.blocks(tiles)?, params)
    }

    /// All lines, and all of the field.
    pub(super) fn lines_params(&self, field: View<u32>) -> LinesParams {
        let (layout, workspace) = (self.layout, &self.workspace);
        let mut lines = [LinePlace::default(); MAX_LINES];
        let (mut runs, mut value) = (0, 0);
        for line in layout.lines() {
            let grid = layout.line(line);
            if let Some(place) = lines.get_mut(line.level as usize) {
                *place = LinePlace {
                    word: words_of_runs(runs),
                    value,
                };
            }
            runs += grid.runs();
            value += grid.elements();
        }
        let of_coarse = layout.coarse_runs() * u64::from(RUN_TILES) * REGION_WORDS;
        LinesParams {
            grid: layout.fine,
            order: layout.codec.order(layout.shape()),
            regions: workspace.regions.from(of_coarse),
            field,
            memory: MemoryBox::whole(&layout.fine),
            of_lines: workspace.lines.regions,
            values: workspace.lines.values,
            lines,
            count: u32::from(layout.levels) + 1,
            lowest: 0,
            tiles: View::empty(),
        }
    }
}

/// The chunks of a line that have codes of some tiles of the field, and of those between them: none if there are no such chunks.
pub(super) fn chunks_of_tiles(
    layout: &TileLayout,
    (number, tiling): (usize, &Tiling),
    window: &TileWindow,
) -> Option<Tiling> {
    let line = layout.lines().nth(number)?;
    let order = layout.codec.order(layout.shape());
    let grid = &layout.fine;
    let last = u32::try_from(window.tiles()).ok()?.checked_sub(1)?;
    let [first, end] = [window.tile(grid, 0), window.tile(grid, last) + 1]
        .map(|tile| order.start_in_line(grid, tile, line));
    let of_chunk = u64::from(layout.chunk.elements());
    let before = tiling.chunk_of_launch(0);
    let chunks = first / of_chunk..end.div_ceil(of_chunk);
    (first < end).then(|| tiling.with_chunks(before + chunks.start..before + chunks.end))
}
