//! The parts of a stream that coders know: all tiles together or, where levels are coded apart, those of the coarse field and
//! those of each line.

use crate::gpu::executor::Executor;
use crate::gpu::tiles::{Call, tiling_in};
use ferrosz_codec::Element;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::tile::{ChunkLength, Part, RUN_TILES, TileGrid};
use ferrosz_gpu_kernels::pipeline::tiles::layout::{TILE_WORDS, words_of_runs};
use ferrosz_gpu_kernels::pipeline::tiles::tiling::{Counted, Tiling};
use ferrosz_gpu_kernels::pipeline::tiles::window::MemoryBox;
use ferrosz_simt::View;

/// Tiles that are coded in launches of their own.
pub(super) struct CodedPart {
    /// The tiles in their chunks, and in chunks of a run.
    pub(super) tiling: Tiling,
    pub(super) in_runs: Tiling,
    /// The runs whose symbols are counted.
    pub(super) counted: Counted,
    /// The regions of the tiles, and what statistics keep of each.
    pub(super) regions: View<u32>,
    pub(super) tiles: View<u32>,
    /// The parameters whose shifts contexts have; nothing without them.
    pub(super) parameters: View<u32>,
    /// The words of the elements that the codes are of, without those of the coarse field.
    pub(super) field: View<u32>,
    /// Where these are.
    pub(super) memory: MemoryBox,
}

impl<T: Element, E: Executor> Call<'_, T, E> {
    /// The parts of the stream of a field, in the order of their chunks.
    pub(super) fn coded_parts(&self, field: View<u32>, counted: Counted) -> Vec<CodedPart> {
        match self.layout.levels {
            0 => vec![self.tiles_part(self.layout, field, counted)],
            _ => {
                let coarse = TileLayout {
                    fine: TileGrid::new(self.layout.shape(), [0; 3]),
                    levels: 0,
                    ..*self.layout
                };
                let counted = Counted::new(0, self.line_runs());
                let mut parts = vec![self.tiles_part(&coarse, View::empty(), counted)];
                parts.extend(self.lines());
                parts
            }
        }
    }

    /// All tiles of a layout without lines. Where it is the coarse field alone, its marks lie over the codes of the field's tiles,
    /// which are in the lines by then.
    fn tiles_part(&self, layout: &TileLayout, field: View<u32>, counted: Counted) -> CodedPart {
        let lengths = [Part::Coarse, Part::Fine].map(|part| layout.chunk_length(part));
        CodedPart {
            tiling: tiling_in(layout, lengths),
            in_runs: tiling_in(layout, [ChunkLength::Four; 2]),
            counted,
            regions: self.workspace.regions,
            tiles: self.workspace.tiles,
            parameters: self.parameters(),
            field,
            memory: MemoryBox::whole(&layout.fine),
        }
    }

    /// The lines.
    pub(super) fn lines(&self) -> Vec<CodedPart> {
        let (layout, memory) = (self.layout, &self.workspace.lines);
        let mut chunks_before = layout.coarse_chunks();
        let (mut runs, mut elements) = (0, 0);
        let lines = layout.lines().map(|level| {
            let grid = layout.line(level);
            let part = CodedPart {
                tiling: Tiling::of_line(grid, layout.chunk, chunks_before),
                in_runs: Tiling::of_line(grid, ChunkLength::Four, 0),
                counted: Counted::new(runs, self.line_runs()),
                regions: memory.regions.from(words_of_runs(runs)),
                tiles: memory.tiles.from(runs * u64::from(RUN_TILES) * TILE_WORDS),
                // Lines have no levels, and so no shifts.
                parameters: View::empty(),
                field: memory.values.from(elements * T::WORDS as u64),
                memory: MemoryBox::whole(&grid),
            };
            chunks_before += layout.chunk.count(&grid);
            runs += grid.runs();
            elements += grid.elements();
            part
        });
        lines.collect()
    }

    /// The runs of all lines.
    fn line_runs(&self) -> u64 {
        let layout = self.layout;
        layout.lines().map(|line| layout.line(line).runs()).sum()
    }
}
