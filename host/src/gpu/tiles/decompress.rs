//! The order of kernels of a decompression by codecs of tiles.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::job::{DecompressJob, cells_to_clear};
use crate::gpu::tiles::coded_part::CodedPart;
use crate::gpu::tiles::lines::chunks_of_tiles;
use crate::gpu::tiles::part::TilePart;
use crate::gpu::tiles::slab::TileSlab;
use crate::gpu::tiles::{Call, WARPS, contents};
use ferrosz_codec::Element;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::tile::{LineLevel, TileGrid};
use ferrosz_codec::{with_order, with_shape, with_tile_coder};
use ferrosz_gpu_kernels::code::bit_planes::decode::DecodePlanes;
use ferrosz_gpu_kernels::code::entropy::decode::Decode;
use ferrosz_gpu_kernels::code::entropy::decode_tables::ReadTables;
use ferrosz_gpu_kernels::code::entropy::decode_tables::ReadTablesParams;
use ferrosz_gpu_kernels::pipeline::tiles::lines::LinesParams;
use ferrosz_gpu_kernels::pipeline::tiles::list_chunks::{ListChunks, ListChunksParams};
use ferrosz_gpu_kernels::pipeline::tiles::list_tiles::{ListTiles, ListTilesParams};
use ferrosz_gpu_kernels::pipeline::tiles::prologue::gather::GatherParams;
use ferrosz_gpu_kernels::pipeline::tiles::prologue::read::{ReadPrologue, ReadPrologueParams};
use ferrosz_gpu_kernels::pipeline::tiles::target::DecodeParams;
use ferrosz_gpu_kernels::pipeline::tiles::tiling::Tiling;
use ferrosz_gpu_kernels::pipeline::tiles::window::TileWindow;
use ferrosz_gpu_kernels::predict::direct::Reconstruct as DirectReconstruct;
use ferrosz_gpu_kernels::predict::interp::InterpParams;
use ferrosz_gpu_kernels::predict::interp::reconstruct::{Reconstruct, ReconstructParams};
use ferrosz_gpu_kernels::predict::tile_lorenzo::LorenzoParams;
use ferrosz_gpu_kernels::predict::tile_lorenzo::reconstruct::{
    Reconstruct as LorenzoReconstruct, ReconstructParams as LorenzoReconstructParams,
};
use ferrosz_gpu_kernels::with_method;
use ferrosz_simt::{Kernel, View};

/// Enqueues the decompression of a whole field that has elements, or of the slab of it that the machine has. Does not allocate
/// and does not wait; a fault will be in the fault cell.
pub(crate) fn enqueue_decompress<T: Element, E: Executor>(
    executor: &E,
    job: &DecompressJob<'_>,
    slab: &TileSlab,
) -> Result<(), Error> {
    let layout = &slab.decoded();
    let call = Call::<T, E>::new(executor, slab, layout, job.cells);
    executor.clear(cells_to_clear(call.workspace.cells))?;
    call.read_prologue(job)?;
    call.decode_parts(job, job.output, 0)?;
    match layout.codec.predictor.geometry() {
        None => call.unpredict(job),
        Some(geometry) => {
            call.reconstruct_anchors()?;
            let all =
                ReconstructParams::all(call.fine(job.output, geometry.spacing(layout.shape())));
            call.reconstruct(slab.own().tiles(), &all)
        }
    }
}

/// Enqueues the decompression of regions of a field, each to the output behind the one before, as
/// [`enqueue_decompress`]. Only the chunks are decoded that a region needs.
pub(crate) fn enqueue_decompress_regions<T: Element, E: Executor>(
    executor: &E,
    job: &DecompressJob<'_>,
    layout: &TileLayout,
) -> Result<(), Error> {
    let slab = TileSlab::whole(layout);
    let call = Call::<T, E>::new(executor, &slab, layout, job.cells);
    executor.clear(cells_to_clear(call.workspace.cells))?;
    call.read_prologue(job)?;
    let mut output = job.output;
    // With the first region's chunks, also those of the coarse field are decoded.
    let mut coarse_chunks = layout.coarse_chunks();
    for region in job.regions.iter().filter(|region| region.elements() > 0) {
        call.decompress_region(job, region, std::mem::take(&mut coarse_chunks), output)?;
        output = output.from(region.elements() * T::WORDS as u64);
    }
    Ok(())
}

/// Enqueues the decompression of the elements, of a field whose levels are coded apart, whose coordinates can all be divided by
/// 2^level, as [`enqueue_decompress`]. The scratch memory has room for the whole field.
pub(crate) fn enqueue_decompress_level<T: Element, E: Executor>(
    executor: &E,
    job: &DecompressJob<'_>,
    layout: &TileLayout,
    level: u32,
) -> Result<(), Error> {
    let slab = TileSlab::whole(layout);
    let call = Call::<T, E>::new(executor, &slab, layout, job.cells);
    executor.clear(cells_to_clear(call.workspace.cells))?;
    call.read_prologue(job)?;
    call.decode_parts(job, job.scratch, level)?;
    call.reconstruct_anchors()?;
    let geometry = layout.codec.predictor.geometry().unwrap_or_default();
    let fine = call.fine(job.scratch, geometry.spacing(layout.shape()));
    call.reconstruct(layout.fine.tiles(), &ReconstructParams::all(fine))?;
    call.gather(job.scratch, &layout.fine, 1 << level, job.output)
}

impl<T: Element, E: Executor> Call<'_, T, E> {
    /// Reads the coder's tables, if it has any.
    pub(super) fn read_tables(&self, job: &DecompressJob<'_>) -> Result<(), Error> {
        let tables = ReadTablesParams {
            header: job.header(),
            stream: job.behind_records(),
            entries: self.entries(&job.layout),
            frequencies_at: contents::<T>(self.layout).frequencies_at(),
            layout: job.layout_words(),
            tables: self.workspace.tables,
            cells: self.workspace.cells,
        };
        with_tile_coder!(self.layout.codec.coder, C => self.executor.launch::<ReadTables<C>>(1, &tables), Ok(()))
    }

    /// Reads the prologue: tables, then parameters and anchors.
    fn read_prologue(&self, job: &DecompressJob<'_>) -> Result<(), Error> {
        let (executor, layout, workspace) = (self.executor, self.layout, &self.workspace);
        let (contents, entries) = (contents::<T>(layout), self.entries(&job.layout));
        self.read_tables(job)?;
        let geometry = layout.codec.predictor.geometry().unwrap_or_default();
        let prologue = ReadPrologueParams {
            contents,
            parameters: self.parameters(),
            anchors: workspace.anchors,
            coefficients: workspace.coefficients,
            header: job.header(),
            stream: job.behind_records(),
            entries,
            layout: job.layout_words(),
            cells: workspace.cells,
            geometry: geometry.id(),
            verify: u32::from(job.verify),
            split: job.layout.split(),
        };
        executor.launch::<ReadPrologue<T>>(1, &prologue)
    }

    /// Decodes all chunks to the codes of tiles, and to values in the memory of the field. Where levels are coded apart, those
    /// below a level are left out: their codes are 0.
    pub(super) fn decode_parts(
        &self,
        job: &DecompressJob<'_>,
        field: View<u32>,
        lowest: u32,
    ) -> Result<(), Error> {
        let parts = self.coded_parts(field, self.slab.counted());
        let lines = self.layout.lines();
        let has_codes = |line: &LineLevel| line.is_last || line.level >= lowest;
        // Before the lines comes the coarse field.
        let wanted = 1 + lines.filter(has_codes).count();
        for part in parts.iter().take(wanted) {
            self.decode(&self.decoding(job, part))?;
        }
        if self.layout.levels > 0 {
            let params = LinesParams {
                lowest,
                ..self.lines_params(field)
            };
            self.of_lines(self.layout.fine.tiles(), &params)?;
        }
        Ok(())
    }

    /// The decoding of the chunks of a part.
    fn decoding(&self, job: &DecompressJob<'_>, part: &CodedPart) -> DecodeParams {
        let workspace = &self.workspace;
        DecodeParams {
            tiling: part.tiling,
            header: job.header(),
            stream: job.behind_records(),
            entries: self.entries(&job.layout),
            tables: workspace.tables,
            parameters: part.parameters,
            regions: part.regions,
            coarse: workspace.coarse,
            field: part.field,
            memory: part.memory,
            chunks: View::empty(),
            cells: workspace.cells,
            element_words: T::WORDS as u32,
            verify: u32::from(job.verify),
            split: job.layout.split(),
        }
    }

    /// Decodes chunks.
    pub(super) fn decode(&self, decode: &DecodeParams) -> Result<(), Error> {
        let chunks = match decode.chunks.len() {
            0 => decode.tiling.chunks_of_launch(),
            listed => listed,
        };
        if chunks == 0 {
            return Ok(());
        }
        with_tile_coder!(self.layout.codec.coder,
            C => with_order!(decode.tiling.order, S => {
                let blocks = self.blocks(chunks.div_ceil(WARPS))?;
                self.executor.launch::<Decode<C, S>>(blocks, decode)
            }),
            with_order!(decode.tiling.order, S => {
                self.executor.launch::<DecodePlanes<S>>(self.blocks(chunks)?, decode)
            })
        )
    }

    /// Lists the chunks of a part of the field, behind so many of the coarse field.
    fn list_chunks(
        &self,
        tiling: Tiling,
        part: &TilePart,
        coarse: u64,
    ) -> Result<View<u32>, Error> {
        let mut params = ListChunksParams {
            tiling,
            window: part.decoded,
            coarse,
            list: View::empty(),
        };
        let numbers = params.numbers(self.layout.chunk);
        // What only compression keeps of each tile has room for a number.
        params.list = self.workspace.tiles.first(numbers);
        let blocks = self.blocks(numbers.div_ceil(ListChunks::THREADS.into()))?;
        self.executor.launch::<ListChunks>(blocks, &params)?;
        Ok(params.list)
    }

    /// Lists tiles of a field. The list is where that of the chunks was, which are decoded.
    fn list_tiles(&self, grid: TileGrid, window: TileWindow) -> Result<View<u32>, Error> {
        let tiles = window.tiles();
        let params = ListTilesParams {
            grid,
            window,
            list: self.workspace.tiles.first(tiles),
        };
        let blocks = self.blocks(tiles.div_ceil(ListTiles::THREADS.into()))?;
        self.executor.launch::<ListTiles>(blocks, &params)?;
        Ok(params.list)
    }

    /// Decodes so many chunks of the coarse field, if any, and those of a region, reconstructs its tiles, and copies it.
    fn decompress_region(
        &self,
        job: &DecompressJob<'_>,
        region: &Region,
        coarse_chunks: u64,
        output: View<u32>,
    ) -> Result<(), Error> {
        let (part, scratch) = (TilePart::new(self.layout, region), job.scratch);
        self.decode_region(job, &part, coarse_chunks)?;
        if coarse_chunks > 0 {
            self.reconstruct_anchors()?;
        }
        match self.layout.codec.predictor.geometry() {
            None => self.unpredict_part(&part, scratch)?,
            Some(geometry) => {
                let fine = self.fine(scratch, geometry.spacing(self.layout.shape()));
                let params = ReconstructParams {
                    part: InterpParams {
                        strides: part.memory.strides(),
                        ..fine
                    },
                    tiles: self.list_tiles(self.layout.fine, part.tiles)?,
                    before: part.memory.before(),
                };
                self.reconstruct(part.tiles.tiles(), &params)?;
            }
        }
        let copy = GatherParams {
            from: scratch.from(part.first * T::WORDS as u64),
            strides: part.strides,
            lengths: part.lengths,
            to: output,
            depth: part.lengths[0],
            excess: 0,
        };
        self.launch_gather(&copy)
    }

    /// Decodes so many chunks of the coarse field, if any, and those of a region.
    fn decode_region(
        &self,
        job: &DecompressJob<'_>,
        region: &TilePart,
        coarse_chunks: u64,
    ) -> Result<(), Error> {
        let parts = self.coded_parts(job.scratch, self.slab.counted());
        if self.layout.levels == 0 {
            return parts.iter().try_for_each(|part| {
                self.decode(&DecodeParams {
                    memory: region.memory,
                    chunks: self.list_chunks(part.tiling, region, coarse_chunks)?,
                    ..self.decoding(job, part)
                })
            });
        }
        let (coarse, lines) = parts.split_at(1);
        for part in coarse.iter().filter(|_| coarse_chunks > 0) {
            self.decode(&self.decoding(job, part))?;
        }
        for (number, line) in lines.iter().enumerate() {
            let own = chunks_of_tiles(self.layout, (number, &line.tiling), &region.decoded);
            if let Some(tiling) = own {
                self.decode(&DecodeParams {
                    tiling,
                    ..self.decoding(job, line)
                })?;
            }
        }
        let params = LinesParams {
            memory: region.memory,
            tiles: self.list_tiles(self.layout.fine, region.decoded)?,
            ..self.lines_params(job.scratch)
        };
        self.of_lines(region.decoded.tiles(), &params)
    }

    fn unpredict(&self, job: &DecompressJob<'_>) -> Result<(), Error> {
        let params = self.lorenzo(job.output, None, false);
        self.for_slices(params, |blocks, params| {
            let all = LorenzoReconstructParams::all(*params);
            self.launch_unpredict(blocks, &all)
        })
    }

    /// Reconstructs the tiles of a part, slice by slice, in memory of the part.
    fn unpredict_part(&self, part: &TilePart, scratch: View<u32>) -> Result<(), Error> {
        let grid = &self.layout.fine;
        let whole = self.lorenzo(scratch, None, false);
        let tiles = grid.tiles() / grid.slices().max(1);
        let depth = grid.slice_lengths()[0];
        for slice in 0..grid.slices() {
            let Some(window) = part.in_slice(grid, slice) else {
                continue;
            };
            let [of_plane, ..] = part.memory.strides();
            let params = LorenzoReconstructParams {
                part: LorenzoParams {
                    strides: part.memory.strides(),
                    first_tile: self.blocks(slice * tiles)?,
                    ..whole
                },
                tiles: self
                    .list_tiles(TileGrid::new(grid.shape(), grid.slice_lengths()), window)?,
                before: part.memory.before().wrapping_sub(slice * depth * of_plane),
            };
            let blocks = self.blocks(window.tiles())?;
            self.launch_unpredict(blocks, &params)?;
        }
        Ok(())
    }

    /// Launches the reconstruction of tiles without levels.
    fn launch_unpredict(
        &self,
        blocks: u32,
        params: &LorenzoReconstructParams,
    ) -> Result<(), Error> {
        if self.layout.codec.predictor.is_direct() {
            return self.executor.launch::<DirectReconstruct<T>>(blocks, params);
        }
        with_shape!(self.layout.shape(), S => {
            self.executor.launch::<LorenzoReconstruct<T, S>>(blocks, params)
        })
    }

    /// Reconstructs the coarse field.
    fn reconstruct_anchors(&self) -> Result<(), Error> {
        let coarse = self.layout.coarse.unwrap_or(self.layout.fine);
        let params = ReconstructParams::all(self.coarse(&coarse, self.workspace.anchors));
        let blocks = self.blocks(coarse.tiles())?;
        with_shape!(self.layout.shape(), S => self.executor.launch::<Reconstruct<T, S>>(blocks, &params))
    }

    /// Reconstructs so many tiles.
    fn reconstruct(&self, tiles: u64, params: &ReconstructParams) -> Result<(), Error> {
        let shape = self.layout.shape();
        let fitted = self.layout.codec.predictor.fitted();
        let blocks = self.blocks(tiles)?;
        with_method!(fitted, shape, M, S => {
            self.executor.launch::<Reconstruct<T, S, M>>(blocks, params)
        })
    }
}
