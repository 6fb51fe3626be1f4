//! The order of kernels of the codecs of tiles.
//!
//! No step waits for the host: parameters, statistics and lengths stay on the machine. All of them are behind the cells
//! of the workspace, so that the caller allocates once. Only machines that share a field wait for each other ([`slab`]).

pub(crate) mod coded_part;
pub(crate) mod codes;
pub(crate) mod decompress;
pub(crate) mod lines;
pub(crate) mod part;
pub(crate) mod slab;
pub(crate) mod tuning;
pub(crate) mod workspace;

use crate::error::Error;
use crate::gpu::executor::{Executor, blocks_of};
use crate::gpu::job::CompressJob;
use crate::gpu::tiles::coded_part::CodedPart;
use crate::gpu::tiles::slab::{Others, TileSlab};
use crate::gpu::tiles::tuning::{TuneJob, TuningSamples, enqueue_tune};
use crate::gpu::tiles::workspace::Workspace;
use core::marker::PhantomData;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::code::entropy::states::SymbolCoder;
use ferrosz_codec::container::header_words::Draft;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::WORDS;
use ferrosz_codec::predict::interp::tune::Tuning;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::RADIUS;
use ferrosz_codec::tile::{ChunkLength, RUN_TILES, TileGrid};
use ferrosz_codec::{Bound, Element};
use ferrosz_codec::{with_order, with_shape, with_tile_coder};
use ferrosz_gpu_kernels::choice::taken_tiles::TakenTiles;
use ferrosz_gpu_kernels::code::bit_planes::measure::{Measure, MeasureParams};
use ferrosz_gpu_kernels::code::bit_planes::words::PlaneWords;
use ferrosz_gpu_kernels::code::entropy::encode::Encode;
use ferrosz_gpu_kernels::code::entropy::encode::EncodeParams;
use ferrosz_gpu_kernels::code::entropy::statistics::{Statistics, StatisticsParams, tiles_a_block};
use ferrosz_gpu_kernels::code::entropy::tables::MakeTables;
use ferrosz_gpu_kernels::code::entropy::tables::TablesParams;
use ferrosz_gpu_kernels::code::entropy::words::StateWords;
use ferrosz_gpu_kernels::pipeline::tiles::place::{CodedWords, Place, PlaceParams};
use ferrosz_gpu_kernels::pipeline::tiles::prologue::finish::{Finish, FinishParams};
use ferrosz_gpu_kernels::pipeline::tiles::prologue::gather::{Gather, GatherParams};
use ferrosz_gpu_kernels::pipeline::tiles::prologue::write::{WritePrologue, WritePrologueParams};
use ferrosz_gpu_kernels::pipeline::tiles::prologue::{Contents, THREADS as PROLOGUE_THREADS};
use ferrosz_gpu_kernels::pipeline::tiles::tiling::Tiling;
use ferrosz_gpu_kernels::predict::direct::Predict as DirectPredict;
use ferrosz_gpu_kernels::predict::interp::InterpParams;
use ferrosz_gpu_kernels::predict::interp::predict::Predict;
use ferrosz_gpu_kernels::predict::tile_lorenzo::predict::Predict as LorenzoPredict;
use ferrosz_gpu_kernels::predict::tile_lorenzo::{HOLES, LorenzoParams, QUANTIZER_IN_CELLS};
use ferrosz_gpu_kernels::with_method;
use ferrosz_simt::View;

/// Warps in a block of the entropy coder's kernels.
const WARPS: u64 = ferrosz_gpu_kernels::code::entropy::WARPS as u64;

/// The tiles of a layout in chunks of these lengths, those of the coarse field first.
fn tiling_in(layout: &TileLayout, [of_coarse, chunk]: [ChunkLength; 2]) -> Tiling {
    let none = TileGrid::new(layout.shape(), [0; 3]);
    Tiling::new(
        (layout.coarse.unwrap_or(none), of_coarse),
        (layout.fine, chunk),
        layout.codec.order(layout.shape()),
    )
}

fn contents<T: Element>(layout: &TileLayout) -> Contents {
    let anchors = layout.prologue_anchors().map_or(0, |grid| grid.elements());
    Contents {
        has_parameters: u32::from(layout.coarse.is_some()),
        has_frequencies: u32::from(layout.codec.coder.has_tables()),
        shape: layout.shape(),
        fitted: layout.codec.predictor.fitted(),
        anchor_words: anchors * T::WORDS as u64,
    }
}

/// The distance of neighbours along each dimension in the memory of a field, in elements.
pub fn strides(grid: &TileGrid) -> [u64; 3] {
    let [_, height, width] = grid.lengths();
    [height * width, width, 1]
}

/// The distance between every `spacing`th element along each dimension.
fn strides_of_anchors(grid: &TileGrid, spacing: u32) -> [u64; 3] {
    let first = 3 - usize::from(grid.shape().rank());
    let mut strides = strides(grid);
    for stride in &mut strides[first..] {
        *stride *= u64::from(spacing);
    }
    strides
}

/// A compression or a decompression.
struct Call<'a, T, E> {
    executor: &'a E,
    slab: &'a TileSlab,
    /// The chunks that are coded.
    layout: &'a TileLayout,
    workspace: Workspace,
    element: PhantomData<T>,
}

impl<'a, T: Element, E: Executor> Call<'a, T, E> {
    fn new(executor: &'a E, slab: &'a TileSlab, layout: &'a TileLayout, cells: View<u64>) -> Self {
        Self {
            executor,
            slab,
            layout,
            workspace: Workspace::new(layout, T::DTYPE, cells).0,
            element: PhantomData,
        }
    }

    /// The entries of the chunk table.
    fn entries(&self, layout: &Layout) -> u64 {
        self.layout.entries() + layout.mask().map_or(0, |mask| mask.chunks())
    }

    /// The Lorenzo predictor's parameters. Without a quantiser the kernel takes that in the cells.
    fn lorenzo(
        &self,
        field: View<u32>,
        quantizer: Option<Quantizer<T>>,
        has_holes: bool,
    ) -> LorenzoParams {
        let grid = &self.layout.fine;
        let flags = [
            (quantizer.is_none(), QUANTIZER_IN_CELLS),
            (has_holes, HOLES),
        ];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
        let flags = flags.map(|(_, flag)| flag).sum();
        LorenzoParams {
            field,
            strides: strides(grid),
            codes: self.workspace.regions,
            first_run: 0,
            lengths: grid.slice_lengths(),
            cells: self.workspace.cells,
            quantizer: quantizer.map_or([0; 3], |quantizer| quantizer.to_bits()),
            flags,
            first_tile: 0,
            taken: TakenTiles::all(),
            slices: 1,
        }
    }

    /// Calls `launch` with the blocks and parameters of each slice.
    fn for_slices(
        &self,
        whole: LorenzoParams,
        launch: impl Fn(u32, &LorenzoParams) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let grid = &self.layout.fine;
        let tiles = grid.tiles() / grid.slices().max(1);
        let words = grid.slice_lengths().iter().product::<u64>() * T::WORDS as u64;
        let blocks = self.blocks(tiles)?;
        for slice in 0..grid.slices() {
            let first_tile = self.blocks(slice * tiles)?;
            let field = whole.field.from(slice * words);
            launch(
                blocks,
                &LorenzoParams {
                    field,
                    first_tile,
                    ..whole
                },
            )?;
        }
        Ok(())
    }

    /// The interpolation's parameters for the field, whose anchors are `spacing` apart.
    fn fine(&self, field: View<u32>, spacing: u32) -> InterpParams {
        let (grid, workspace) = (self.slab.memory(), &self.workspace);
        let first_anchor = self.slab.own_anchors(spacing).start;
        InterpParams {
            field,
            strides: strides(grid),
            anchors: workspace.known.from(first_anchor * T::WORDS as u64),
            codes: workspace.regions,
            first_run: self.layout.coarse_runs(),
            known: View::empty(),
            parameters: workspace.parameters,
            slices: grid.slices(),
            lengths: grid.slice_lengths(),
            is_coarse: 0,
            first_tile: 0,
            taken: TakenTiles::all(),
        }
    }

    /// The interpolation's parameters for the coarse field, which has anchors of its own.
    fn coarse(&self, coarse: &TileGrid, anchors: View<u32>) -> InterpParams {
        let workspace = &self.workspace;
        InterpParams {
            field: workspace.coarse,
            strides: strides(coarse),
            anchors,
            codes: workspace.regions,
            first_run: 0,
            known: workspace.known,
            parameters: workspace.parameters,
            slices: coarse.slices(),
            lengths: coarse.slice_lengths(),
            is_coarse: 1,
            first_tile: 0,
            taken: TakenTiles::all(),
        }
    }

    fn gather(
        &self,
        from: View<u32>,
        grid: &TileGrid,
        spacing: u32,
        to: View<u32>,
    ) -> Result<(), Error> {
        let coarse = grid.coarse(spacing);
        let [fine, depth] = [*grid, coarse].map(|grid| grid.slice_lengths()[0]);
        let [of_plane, ..] = strides(grid);
        let params = GatherParams {
            from,
            strides: strides_of_anchors(grid, spacing),
            lengths: coarse.lengths(),
            to,
            depth,
            // Only cubes have slices.
            excess: match coarse.slices() {
                1 => 0,
                _ => (depth * u64::from(spacing) - fine) * of_plane,
            },
        };
        self.launch_gather(&params)
    }

    fn launch_gather(&self, params: &GatherParams) -> Result<(), Error> {
        let elements: u64 = params.lengths.iter().product();
        let tasks = elements.div_ceil(u64::from(PROLOGUE_THREADS));
        let blocks = u32::try_from(tasks).unwrap_or(u32::MAX).min(1 << 16);
        self.executor.launch::<Gather<T>>(blocks, params)
    }

    /// The parameters of the field; nothing without them.
    fn parameters(&self) -> View<u32> {
        match self.layout.codec.predictor.geometry() {
            Some(_) => self.workspace.parameters.first(WORDS as u64),
            None => View::empty(),
        }
    }

    fn blocks(&self, tasks: u64) -> Result<u32, Error> {
        blocks_of::<T>(tasks, self.layout.fine.elements())
    }
}

/// Enqueues the coding of a field that has elements, as [`blocks::enqueue_compress`](crate::gpu::blocks::enqueue_compress),
/// or of the part of it that the machine has. Does not allocate; waits only for others.
///
/// The stream of a part has the header of the whole field, with the length of its own payload. Its chunks are those of the
/// coarse field and those of the part.
pub(crate) fn enqueue_compress<T: Element, E: Executor>(
    executor: &E,
    job: &CompressJob,
    slab: &TileSlab,
    others: Others<'_>,
) -> Result<(), Error> {
    let layout = &slab.encoded();
    let call = Call::<T, E>::new(executor, slab, layout, job.cells);
    let resolved: Quantizer<T> = job.bound.resolve(&Extremes::default());
    let is_known = !job.is_resolved_on_machine();
    executor.clear(call.workspace.counts)?;
    match layout.codec.predictor.tuning(job.tightening) {
        None => {
            let known = is_known.then_some(resolved);
            let params = call.lorenzo(job.input, known, job.has_holes);
            call.for_slices(params, |blocks, params| {
                if layout.codec.predictor.is_direct() {
                    return executor.launch::<DirectPredict<T>>(blocks, params);
                }
                with_shape!(layout.shape(), S => {
                    executor.launch::<LorenzoPredict<T, S>>(blocks, params)
                })
            })?;
        }
        Some(tuning) => {
            call.interpolate(job, tuning, resolved.error().to_bits64(), others)?;
        }
    }
    if layout.levels > 0 {
        call.to_lines(job.input)?;
    }
    let mut parts = call.coded_parts(job.input, slab.counted());
    // A small field has lines without codes, and no launch is empty.
    parts.retain(|part| part.tiling.chunks_of_launch() > 0);
    with_tile_coder!(layout.codec.coder, C => call.encode::<C>(job, &parts, others), call.encode_planes(job, &parts))?;
    let params = FinishParams {
        header: Draft::new(&job.header::<T>()),
        identity: job.identity::<T>(),
        stream: job.stream,
        entries: call.entries(&job.layout),
        cells: call.workspace.cells,
        error: job.given([resolved.error().to_bits64()]),
    };
    executor.launch::<Finish>(1, &params)
}

/// Enqueues the prediction of tiles of a field, whose parameters and coefficients are on the machine.
pub(crate) fn enqueue_predict<T: Element, E: Executor>(
    executor: &E,
    shape: Shape,
    fitted: FittedKind,
    blocks: u32,
    params: &InterpParams,
) -> Result<(), Error> {
    with_method!(fitted, shape, M, S => executor.launch::<Predict<T, S, M>>(blocks, params))
}

impl<T: Element, E: Executor> Call<'_, T, E> {
    /// Tunes the parameters, and predicts the anchors and the field.
    fn interpolate(
        &self,
        job: &CompressJob,
        tuning: Tuning,
        error: u64,
        others: Others<'_>,
    ) -> Result<(), Error> {
        let (layout, workspace) = (self.layout, &self.workspace);
        let spacing = tuning.geometry.spacing(layout.shape());
        let coarse = layout.coarse.unwrap_or(layout.fine);
        let anchors = self.slab.own_anchors(spacing);
        let words = anchors.start * T::WORDS as u64..anchors.end * T::WORDS as u64;
        let of_own = workspace.coarse.from(words.start);
        self.gather(job.input, self.slab.own(), spacing, of_own)?;
        others.gather(self.executor, workspace.coarse, words)?;
        self.gather(workspace.coarse, &coarse, spacing, workspace.anchors)?;
        let fine = self.fine(job.input, spacing);
        self.tune(job, &fine, tuning, error, others)?;
        let of_anchors = self.coarse(&coarse, View::empty());
        let blocks = self.blocks(coarse.tiles())?;
        with_shape!(self.layout.shape(), S => self.executor.launch::<Predict<T, S>>(blocks, &of_anchors))?;
        let blocks = self.blocks(layout.fine.tiles())?;
        let fitted = layout.codec.predictor.fitted();
        enqueue_predict::<T, E>(self.executor, layout.shape(), fitted, blocks, &fine)
    }

    /// Writes the parameters to the workspace.
    fn tune(
        &self,
        job: &CompressJob,
        fine: &InterpParams,
        tuning: Tuning,
        error: u64,
        others: Others<'_>,
    ) -> Result<(), Error> {
        let workspace = &self.workspace;
        let samples = [TuningSamples {
            part: *fine,
            sampled: self.slab.sampled(),
        }];
        let tune = TuneJob {
            search: self.slab.search(tuning),
            fitted: &samples,
            scored: &samples,
            others,
            // Of an absolute bound, whatever the user's was: a choice may have resolved it.
            bound: Bound::default(),
            error: (!job.is_resolved_on_machine()).then_some(error),
            radius: Some(RADIUS),
            max_radius: RADIUS,
            workspace: workspace.cells,
            cells: workspace.costs,
            parameters: workspace.parameters,
            sums: workspace.sums,
        };
        enqueue_tune::<T, E>(self.executor, &tune)
    }

    /// Encodes the codes of parts to the stream, without its header. The symbols of some runs are counted.
    fn encode<C: SymbolCoder>(
        &self,
        job: &CompressJob,
        parts: &[CodedPart],
        others: Others<'_>,
    ) -> Result<(), Error> {
        let (executor, workspace) = (self.executor, &self.workspace);
        for part in parts {
            self.count_symbols(part)?;
        }
        others.sum(executor, workspace.counts)?;
        let tables = TablesParams {
            counts: workspace.counts,
            tables: workspace.tables,
            frequencies: workspace.frequencies,
            cells: workspace.cells,
            is_sample: u32::from(parts.iter().any(|part| part.counted.is_sample())),
        };
        executor.launch::<MakeTables<C>>(1, &tables)?;
        self.write_prologue(job)?;
        for part in parts {
            let encode = EncodeParams {
                tiling: part.tiling,
                regions: part.regions,
                tiles: part.tiles,
                tables: workspace.tables,
                parameters: part.parameters,
                records: workspace.records,
                cells: workspace.cells,
                element_words: T::WORDS as u32,
            };
            let blocks = self.blocks(part.tiling.chunks_of_launch().div_ceil(WARPS))?;
            with_order!(part.tiling.order, S => executor.launch::<Encode<C, S>>(blocks, &encode))?;
        }
        self.place::<StateWords>(job, parts)
    }

    /// Finds the classes of the tiles of a part, and counts the symbols of some.
    fn count_symbols(&self, part: &CodedPart) -> Result<(), Error> {
        let tiles = part.in_runs.runs() * u64::from(RUN_TILES);
        let tiles_a_block = tiles_a_block(tiles);
        let statistics = StatisticsParams {
            tiling: part.in_runs,
            regions: part.regions,
            tiles: part.tiles,
            parameters: part.parameters,
            counts: self.workspace.counts,
            counted: part.counted,
            tiles_a_block,
            taken: TakenTiles::all(),
        };
        let blocks = self.blocks(tiles.div_ceil(tiles_a_block.into()))?;
        with_order!(part.tiling.order, S => {
            self.executor.launch::<Statistics<S>>(blocks, &statistics)
        })
    }

    /// As [`Call::encode`], for the coder without tables.
    fn encode_planes(&self, job: &CompressJob, parts: &[CodedPart]) -> Result<(), Error> {
        let (executor, workspace) = (self.executor, &self.workspace);
        self.write_prologue(job)?;
        for part in parts {
            let measure = MeasureParams {
                tiling: part.tiling,
                regions: part.regions,
                tiles: part.tiles,
                records: workspace.records,
                cells: workspace.cells,
                element_words: T::WORDS as u32,
                taken: TakenTiles::all(),
            };
            let blocks = self.blocks(part.tiling.chunks_of_launch())?;
            executor.launch::<Measure>(blocks, &measure)?;
        }
        self.place::<PlaneWords>(job, parts)
    }

    fn write_prologue(&self, job: &CompressJob) -> Result<(), Error> {
        let (layout, workspace) = (self.layout, &self.workspace);
        let prologue = WritePrologueParams {
            contents: contents::<T>(layout),
            parameters: workspace.parameters,
            frequencies: workspace.frequencies,
            anchors: workspace.anchors,
            coefficients: workspace.coefficients,
            stream: job.stream,
            entries: self.entries(&job.layout),
            cells: workspace.cells,
            identity: job.identity::<T>(),
        };
        self.executor.launch::<WritePrologue>(1, &prologue)
    }

    /// Puts the chunks of all parts, whose lengths are known, into the stream.
    fn place<W: CodedWords>(&self, job: &CompressJob, parts: &[CodedPart]) -> Result<(), Error> {
        let workspace = &self.workspace;
        for part in parts {
            let place = PlaceParams {
                tiling: part.tiling,
                regions: part.regions,
                tiles: part.tiles,
                records: workspace.records,
                coarse: workspace.coarse,
                field: part.field,
                element_words: T::WORDS as u32,
                stream: job.stream,
                entries: self.entries(&job.layout),
                cells: workspace.cells,
                identity: job.identity::<T>(),
                split: job.layout.split(),
            };
            let blocks = self.blocks(part.tiling.chunks_of_launch())?;
            self.executor.launch::<Place<W>>(blocks, &place)?;
        }
        Ok(())
    }
}
