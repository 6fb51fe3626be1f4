//! The order of kernels of the codecs of tiles, and what they share in a workspace.
//!
//! Nothing waits for the host: parameters, statistics and lengths stay on the machine. All of it lies behind the cells of
//! the workspace, so that a caller's one allocation serves.

use crate::error::Error;
use crate::executor::Executor;
use crate::interp::tuning::{TuneJob, enqueue_tune};
use crate::plan::{CompressJob, DecompressJob, enqueue_resolve, identity};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::entropy::shares::MAX_WORDS;
use ferrosz_codec::entropy::stack::{Huffman, Rans, SymbolCoder};
use ferrosz_codec::interp::geometry::Geometry;
use ferrosz_codec::interp::quantize::RADIUS;
use ferrosz_codec::interp::resolved::WORDS;
use ferrosz_codec::interp::tune::Tuning;
use ferrosz_codec::interp::tune::search::Search;
use ferrosz_codec::pipeline::{TileCoder, TilePredictor};
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::shape::{Cube, Line, Plane, StaticShape};
use ferrosz_codec::stream::container::to_words;
use ferrosz_codec::stream::tiles::TileLayout;
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::{Dtype, Element, Shape};
use ferrosz_gpu_kernels::kernel::cells;
use ferrosz_gpu_kernels::kernel::entropy::decode::Decode;
use ferrosz_gpu_kernels::kernel::entropy::decode_tables::{
    DECODE_WORDS, ReadTables, ReadTablesParams,
};
use ferrosz_gpu_kernels::kernel::entropy::encode::{Encode, EncodeParams};
use ferrosz_gpu_kernels::kernel::entropy::layout::TILE_WORDS;
use ferrosz_gpu_kernels::kernel::entropy::place::stacks::StackWords;
use ferrosz_gpu_kernels::kernel::entropy::place::{Place, PlaceParams};
use ferrosz_gpu_kernels::kernel::entropy::planes::decode::DecodePlanes;
use ferrosz_gpu_kernels::kernel::entropy::planes::measure::{Measure, MeasureParams};
use ferrosz_gpu_kernels::kernel::entropy::planes::place::PlaneWords;
use ferrosz_gpu_kernels::kernel::entropy::record::RECORD_WORDS;
use ferrosz_gpu_kernels::kernel::entropy::statistics::{COUNTERS, Statistics, StatisticsParams};
use ferrosz_gpu_kernels::kernel::entropy::tables::{ENCODE_WORDS, MakeTables, TablesParams};
use ferrosz_gpu_kernels::kernel::entropy::target::DecodeParams;
use ferrosz_gpu_kernels::kernel::entropy::tiling::Tiling;
use ferrosz_gpu_kernels::kernel::interp::InterpParams;
use ferrosz_gpu_kernels::kernel::interp::codes::REGION_WORDS;
use ferrosz_gpu_kernels::kernel::interp::export::{Export, ExportParams};
use ferrosz_gpu_kernels::kernel::interp::import::{
    ImportCodes, ImportCodesParams, ImportOutliers, ImportOutliersParams,
};
use ferrosz_gpu_kernels::kernel::interp::predict::Predict;
use ferrosz_gpu_kernels::kernel::interp::prepare::{CELLS, PARAMETER_WORDS};
use ferrosz_gpu_kernels::kernel::interp::reconstruct::Reconstruct;
use ferrosz_gpu_kernels::kernel::interp::scores::{Scores, ScoresParams};
use ferrosz_gpu_kernels::kernel::lorenzo::LorenzoParams;
use ferrosz_gpu_kernels::kernel::lorenzo::predict::Predict as LorenzoPredict;
use ferrosz_gpu_kernels::kernel::lorenzo::reconstruct::Reconstruct as LorenzoReconstruct;
use ferrosz_gpu_kernels::kernel::prologue::finish::{Finish, FinishParams};
use ferrosz_gpu_kernels::kernel::prologue::gather::{Gather, GatherParams};
use ferrosz_gpu_kernels::kernel::prologue::read::{ReadPrologue, ReadPrologueParams};
use ferrosz_gpu_kernels::kernel::prologue::write::{WritePrologue, WritePrologueParams};
use ferrosz_gpu_kernels::kernel::prologue::{Contents, THREADS as PROLOGUE_THREADS};
use ferrosz_gpu_kernels::simt::{Kernel, View};

/// Cells that sections of the workspace begin at multiples of: 128 bytes.
const ALIGNMENT: u64 = 16;

/// Warps in a block of the entropy coder's kernels.
const WARPS: u64 = ferrosz_gpu_kernels::kernel::entropy::WARPS as u64;

/// The workspace of a call.
struct Room {
    /// The cells of all kernels.
    cells: View<u64>,
    /// Counts of symbols.
    counts: View<u64>,
    /// Costs of tuning.
    costs: View<u64>,
    parameters: View<u32>,
    tables: View<u32>,
    shares: View<u32>,
    /// Elements of the coarse field, what is known of them, and their anchors.
    coarse: View<u32>,
    known: View<u32>,
    anchors: View<u32>,
    tiles: View<u32>,
    records: View<u32>,
    regions: View<u32>,
}

/// Takes sections of a workspace one after the other.
pub(crate) struct Sections {
    all: View<u64>,
    at: u64,
}

impl Sections {
    /// Of these cells.
    pub(crate) fn of(all: View<u64>) -> Self {
        Self { all, at: 0 }
    }

    /// How many cells have been taken.
    pub(crate) fn end(&self) -> u64 {
        self.at
    }

    /// Takes cells.
    pub(crate) fn cells(&mut self, count: u64) -> View<u64> {
        let first = self.at.next_multiple_of(ALIGNMENT);
        self.at = first + count;
        self.all.from(first).first(count)
    }

    /// Takes words.
    pub(crate) fn words(&mut self, count: u64) -> View<u32> {
        self.cells(count.div_ceil(2)).words().first(count)
    }
}

impl Room {
    /// Shares out the cells of a workspace. Of too few, sections come out short.
    fn new(layout: &TileLayout, dtype: Dtype, all: View<u64>) -> (Self, u64) {
        let words = dtype.bytes() as u64 / 4;
        let elements = |grid: Option<TileGrid>| grid.map_or(0, |grid| grid.elements());
        let coarse = words * elements(layout.coarse);
        let anchors = words * elements(layout.prologue_anchors());
        let chunks = layout.chunks();
        let mut sections = Sections::of(all);
        let room = Self {
            cells: sections.cells(cells::count(chunks)),
            counts: sections.cells(u64::from(COUNTERS)),
            costs: sections.cells(CELLS),
            parameters: sections.words(PARAMETER_WORDS),
            tables: sections.words(u64::from(ENCODE_WORDS.max(DECODE_WORDS))),
            shares: sections.words(MAX_WORDS as u64),
            coarse: sections.words(coarse),
            known: sections.words(coarse),
            anchors: sections.words(anchors),
            tiles: sections.words(4 * chunks * TILE_WORDS),
            records: sections.words(chunks * RECORD_WORDS),
            regions: sections.words(chunks * REGION_WORDS),
        };
        (room, sections.end())
    }
}

/// Cells of the workspace of a layout, for elements of either type.
pub(crate) fn workspace_cells(layout: &TileLayout) -> u64 {
    Room::new(layout, Dtype::F64, View::empty()).1
}

fn tiling(layout: &TileLayout) -> Tiling {
    let none = TileGrid::new(layout.shape(), [0; 3]);
    Tiling::new(
        layout.coarse.unwrap_or(none),
        layout.fine,
        layout.codec.order(layout.shape()),
    )
}

fn contents<T: Element>(layout: &TileLayout) -> Contents {
    let anchors = layout.prologue_anchors().map_or(0, |grid| grid.elements());
    Contents {
        has_parameters: u32::from(layout.coarse.is_some()),
        has_shares: u32::from(layout.codec.coder.has_tables()),
        anchor_words: anchors * T::WORDS as u64,
    }
}

fn blocks(tasks: u64, elements: u64, dtype: Dtype) -> Result<u32, Error> {
    i32::try_from(tasks)
        .map(i32::cast_unsigned)
        .map_err(|_| Error::TooLarge { elements, dtype })
}

/// How far apart neighbours are in the memory of a field.
pub(crate) fn strides(grid: &TileGrid) -> [u64; 3] {
    let [_, height, width] = grid.lengths();
    [height * width, width, 1]
}

/// How far apart every `spacing`th element is.
fn strides_of_anchors(grid: &TileGrid, spacing: u32) -> [u64; 3] {
    let first = 3 - usize::from(grid.shape().rank());
    let mut strides = strides(grid);
    for stride in &mut strides[first..] {
        *stride *= u64::from(spacing);
    }
    strides
}

/// One call of either direction.
struct Call<'a, E> {
    executor: &'a E,
    layout: &'a TileLayout,
    room: Room,
    dtype: Dtype,
}

// The kernels are generic over type and shape, but an executor finds them by name, and only those of the list have
// one: here the one becomes the other.

/// A kernel of a predictor, with its parameters.
pub(crate) enum OfTiles {
    Predict(InterpParams),
    Reconstruct(InterpParams),
    Scores(ScoresParams),
    Export(ExportParams),
    ImportCodes(ImportCodesParams),
    ImportOutliers(ImportOutliersParams),
    LorenzoPredict(LorenzoParams),
    LorenzoReconstruct(LorenzoParams),
}

impl OfTiles {
    /// Launches it for an element type and a shape.
    fn launch<E: Executor, T: Element, S: StaticShape>(
        &self,
        executor: &E,
        blocks: u32,
    ) -> Result<(), Error>
    where
        Predict<T, S>: Kernel<Params = InterpParams>,
        Reconstruct<T, S>: Kernel<Params = InterpParams>,
        Scores<T, S>: Kernel<Params = ScoresParams>,
        Export<T, S>: Kernel<Params = ExportParams>,
        ImportCodes<S>: Kernel<Params = ImportCodesParams>,
        ImportOutliers<T, S>: Kernel<Params = ImportOutliersParams>,
        LorenzoPredict<T, S>: Kernel<Params = LorenzoParams>,
        LorenzoReconstruct<T, S>: Kernel<Params = LorenzoParams>,
    {
        match self {
            Self::Predict(params) => executor.launch::<Predict<T, S>>(blocks, params),
            Self::Reconstruct(params) => executor.launch::<Reconstruct<T, S>>(blocks, params),
            Self::Scores(params) => executor.launch::<Scores<T, S>>(blocks, params),
            Self::Export(params) => executor.launch::<Export<T, S>>(blocks, params),
            Self::ImportCodes(params) => executor.launch::<ImportCodes<S>>(blocks, params),
            Self::ImportOutliers(params) => executor.launch::<ImportOutliers<T, S>>(blocks, params),
            Self::LorenzoPredict(params) => executor.launch::<LorenzoPredict<T, S>>(blocks, params),
            Self::LorenzoReconstruct(params) => {
                executor.launch::<LorenzoReconstruct<T, S>>(blocks, params)
            }
        }
    }
}

/// A kernel of a coder, with its parameters.
enum OfCoder {
    Tables(TablesParams),
    Encode(EncodeParams),
    ReadTables(ReadTablesParams),
    Decode(DecodeParams),
}

/// Launches a kernel of a predictor.
pub(crate) fn launch_of_tiles<E: Executor>(
    executor: &E,
    dtype: Dtype,
    shape: Shape,
    blocks: u32,
    kernel: &OfTiles,
) -> Result<(), Error> {
    match (dtype, shape) {
        (Dtype::F32, Shape::Line) => kernel.launch::<E, f32, Line>(executor, blocks),
        (Dtype::F32, Shape::Plane) => kernel.launch::<E, f32, Plane>(executor, blocks),
        (Dtype::F32, Shape::Cube) => kernel.launch::<E, f32, Cube>(executor, blocks),
        (Dtype::F64, Shape::Line) => kernel.launch::<E, f64, Line>(executor, blocks),
        (Dtype::F64, Shape::Plane) => kernel.launch::<E, f64, Plane>(executor, blocks),
        (Dtype::F64, Shape::Cube) => kernel.launch::<E, f64, Cube>(executor, blocks),
    }
}

impl<E: Executor> Call<'_, E> {
    fn of_tiles(&self, blocks: u32, kernel: &OfTiles) -> Result<(), Error> {
        launch_of_tiles(
            self.executor,
            self.dtype,
            self.layout.shape(),
            blocks,
            kernel,
        )
    }

    fn of_coder(&self, blocks: u32, kernel: &OfCoder) -> Result<(), Error> {
        match (self.layout.codec.coder, self.layout.shape()) {
            (TileCoder::Rans, Shape::Line) => self.of_stacks::<Rans, Line>(blocks, kernel),
            (TileCoder::Rans, Shape::Plane) => self.of_stacks::<Rans, Plane>(blocks, kernel),
            (TileCoder::Rans, Shape::Cube) => self.of_stacks::<Rans, Cube>(blocks, kernel),
            (_, Shape::Line) => self.of_stacks::<Huffman, Line>(blocks, kernel),
            (_, Shape::Plane) => self.of_stacks::<Huffman, Plane>(blocks, kernel),
            (_, Shape::Cube) => self.of_stacks::<Huffman, Cube>(blocks, kernel),
        }
    }

    fn of_stacks<C: SymbolCoder, S: StaticShape>(
        &self,
        blocks: u32,
        kernel: &OfCoder,
    ) -> Result<(), Error>
    where
        MakeTables<C>: Kernel<Params = TablesParams>,
        ReadTables<C>: Kernel<Params = ReadTablesParams>,
        Encode<C, S>: Kernel<Params = EncodeParams>,
        Decode<C, S>: Kernel<Params = DecodeParams>,
    {
        let executor = self.executor;
        match kernel {
            OfCoder::Tables(params) => executor.launch::<MakeTables<C>>(blocks, params),
            OfCoder::Encode(params) => executor.launch::<Encode<C, S>>(blocks, params),
            OfCoder::ReadTables(params) => executor.launch::<ReadTables<C>>(blocks, params),
            OfCoder::Decode(params) => executor.launch::<Decode<C, S>>(blocks, params),
        }
    }

    fn statistics(&self, blocks: u32, params: &StatisticsParams) -> Result<(), Error> {
        match self.layout.shape() {
            Shape::Line => self.executor.launch::<Statistics<Line>>(blocks, params),
            Shape::Plane => self.executor.launch::<Statistics<Plane>>(blocks, params),
            Shape::Cube => self.executor.launch::<Statistics<Cube>>(blocks, params),
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
        let params = GatherParams {
            from,
            strides: strides_of_anchors(grid, spacing),
            lengths: coarse.lengths(),
            to,
        };
        let tasks = coarse.elements().div_ceil(u64::from(PROLOGUE_THREADS));
        let blocks = u32::try_from(tasks).unwrap_or(u32::MAX).min(1 << 16);
        match self.dtype {
            Dtype::F32 => self.executor.launch::<Gather<f32>>(blocks, &params),
            Dtype::F64 => self.executor.launch::<Gather<f64>>(blocks, &params),
        }
    }

    fn blocks(&self, tasks: u64) -> Result<u32, Error> {
        blocks(tasks, self.layout.fine.elements(), self.dtype)
    }
}

/// Asks for a compression of a field that has elements. Nothing is allocated, and nothing waits.
pub(crate) fn enqueue_compress<T: Element, E: Executor>(
    executor: &E,
    job: &CompressJob,
    layout: &TileLayout,
) -> Result<(), Error> {
    let (room, _) = Room::new(layout, T::DTYPE, job.cells);
    let call = Call {
        executor,
        layout,
        room,
        dtype: T::DTYPE,
    };
    let resolved: Quantizer<T> = job.bound.resolve(&Extremes::default());
    let is_relative = job.bound.needs_extremes();
    if is_relative {
        let elements = layout.fine.elements();
        enqueue_resolve::<T, E>(executor, job.bound, elements, job.input, call.room.cells)?;
    } else {
        executor.clear(call.room.cells)?;
    }
    executor.clear(call.room.counts)?;
    match layout.codec.predictor {
        TilePredictor::Lorenzo => {
            let params = LorenzoParams {
                field: job.input,
                strides: strides(&layout.fine),
                codes: call.room.regions,
                first_chunk: 0,
                lengths: layout.fine.lengths(),
                cells: call.room.cells,
                quantizer: resolved.to_bits(),
                quantizer_in_cells: u32::from(is_relative),
                first_tile: 0,
            };
            let blocks = call.blocks(layout.fine.tiles())?;
            call.of_tiles(blocks, &OfTiles::LorenzoPredict(params))?;
        }
        TilePredictor::Interp(geometry) => {
            call.interpolate(job, geometry, resolved.error().to_bits64())?;
        }
    }
    call.encode::<T>(job)?;
    let header = job
        .layout
        .header(T::DTYPE, job.bound, resolved.error().to_bits64());
    let params = FinishParams {
        header: to_words(&header.to_bytes()),
        stream: job.stream,
        chunks: layout.chunks(),
        cells: call.room.cells,
        error: resolved.error().to_bits64(),
        error_in_cells: u32::from(is_relative),
    };
    executor.launch::<Finish>(1, &params)
}

impl<E: Executor> Call<'_, E> {
    /// Tunes, and predicts the anchors and the field.
    fn interpolate(&self, job: &CompressJob, geometry: Geometry, error: u64) -> Result<(), Error> {
        let (layout, room) = (self.layout, &self.room);
        let spacing = geometry.spacing(layout.shape());
        let coarse = layout.fine.coarse(spacing);
        self.gather(job.input, &layout.fine, spacing, room.coarse)?;
        self.gather(room.coarse, &coarse, spacing, room.anchors)?;
        let fine = InterpParams {
            field: job.input,
            strides: strides(&layout.fine),
            anchors: room.known,
            codes: room.regions,
            first_chunk: layout.coarse_chunks(),
            known: View::empty(),
            parameters: room.parameters,
            lengths: layout.fine.lengths(),
            is_coarse: 0,
            first_tile: 0,
        };
        self.tune(job, &fine, geometry, error)?;
        let of_anchors = InterpParams {
            field: room.coarse,
            strides: strides(&coarse),
            anchors: View::empty(),
            first_chunk: 0,
            known: room.known,
            lengths: coarse.lengths(),
            is_coarse: 1,
            ..fine
        };
        self.of_tiles(self.blocks(coarse.tiles())?, &OfTiles::Predict(of_anchors))?;
        let blocks = self.blocks(layout.fine.tiles())?;
        self.of_tiles(blocks, &OfTiles::Predict(fine))
    }

    /// Leaves the parameters in the room.
    fn tune(
        &self,
        job: &CompressJob,
        fine: &InterpParams,
        geometry: Geometry,
        error: u64,
    ) -> Result<(), Error> {
        let room = &self.room;
        let tune = TuneJob {
            search: Search {
                tuning: Tuning::of_stream(geometry),
                shape: self.layout.shape(),
            },
            dtype: self.dtype,
            bound: job.bound,
            error: (!job.bound.needs_extremes()).then_some(error),
            radius: Some(RADIUS),
            max_radius: RADIUS,
            part: *fine,
            workspace: room.cells,
            cells: room.costs,
            parameters: room.parameters,
        };
        enqueue_tune(self.executor, &tune)
    }

    /// Codes to the stream, but for its header.
    fn encode<T: Element>(&self, job: &CompressJob) -> Result<(), Error> {
        let (executor, layout, room) = (self.executor, self.layout, &self.room);
        let tiling = tiling(layout);
        let chunks = layout.chunks();
        if layout.codec.coder == TileCoder::BitPlane {
            return self.encode_planes::<T>(job);
        }
        let warps = self.blocks((4 * chunks).div_ceil(WARPS))?;
        self.statistics(
            warps,
            &StatisticsParams {
                tiling,
                regions: room.regions,
                tiles: room.tiles,
                counts: room.counts,
            },
        )?;
        let tables = TablesParams {
            counts: room.counts,
            tables: room.tables,
            shares: room.shares,
            cells: room.cells,
            is_sample: u32::from(tiling.is_sample()),
        };
        self.of_coder(1, &OfCoder::Tables(tables))?;
        self.write_prologue::<T>(job)?;
        let encode = EncodeParams {
            tiling,
            regions: room.regions,
            tiles: room.tiles,
            tables: room.tables,
            records: room.records,
            cells: room.cells,
            element_words: T::WORDS as u32,
        };
        let blocks = self.blocks(chunks.div_ceil(WARPS))?;
        self.of_coder(blocks, &OfCoder::Encode(encode))?;
        executor.launch::<Place<StackWords>>(self.blocks(chunks)?, &self.place::<T>(job))
    }

    /// As [`Call::encode`], of the coder without tables.
    fn encode_planes<T: Element>(&self, job: &CompressJob) -> Result<(), Error> {
        let (executor, room) = (self.executor, &self.room);
        let blocks = self.blocks(self.layout.chunks())?;
        self.write_prologue::<T>(job)?;
        let measure = MeasureParams {
            tiling: tiling(self.layout),
            regions: room.regions,
            tiles: room.tiles,
            records: room.records,
            cells: room.cells,
            element_words: T::WORDS as u32,
        };
        executor.launch::<Measure>(blocks, &measure)?;
        executor.launch::<Place<PlaneWords>>(blocks, &self.place::<T>(job))
    }

    fn write_prologue<T: Element>(&self, job: &CompressJob) -> Result<(), Error> {
        let (layout, room) = (self.layout, &self.room);
        let prologue = WritePrologueParams {
            contents: contents::<T>(layout),
            parameters: room.parameters,
            shares: room.shares,
            anchors: room.anchors,
            stream: job.stream,
            chunks: layout.chunks(),
            cells: room.cells,
        };
        self.executor.launch::<WritePrologue>(1, &prologue)
    }

    fn place<T: Element>(&self, job: &CompressJob) -> PlaceParams {
        let room = &self.room;
        PlaceParams {
            tiling: tiling(self.layout),
            regions: room.regions,
            tiles: room.tiles,
            records: room.records,
            coarse: room.coarse,
            field: job.input,
            element_words: T::WORDS as u32,
            stream: job.stream,
            cells: room.cells,
        }
    }
}

/// Asks for the decompression of a whole field that has elements. Nothing is allocated, and nothing waits; what is
/// wrong will be in the fault cell.
pub(crate) fn enqueue_decompress<T: Element, E: Executor>(
    executor: &E,
    job: &DecompressJob<'_>,
    layout: &TileLayout,
) -> Result<(), Error> {
    let (room, _) = Room::new(layout, T::DTYPE, job.cells);
    let call = Call {
        executor,
        layout,
        room,
        dtype: T::DTYPE,
    };
    let room = &call.room;
    executor.clear(room.cells)?;
    let chunks = layout.chunks();
    let contents = contents::<T>(layout);
    let identity = identity::<T>(job.layout);
    let has_tables = layout.codec.coder.has_tables();
    let tables = ReadTablesParams {
        stream: job.stream,
        chunks,
        shares_at: contents.shares_at(),
        identity,
        tables: room.tables,
        cells: room.cells,
    };
    if has_tables {
        call.of_coder(1, &OfCoder::ReadTables(tables))?;
    }
    let geometry = match layout.codec.predictor {
        TilePredictor::Lorenzo => Geometry::default(),
        TilePredictor::Interp(geometry) => geometry,
    };
    let prologue = ReadPrologueParams {
        contents,
        parameters: room.parameters.first(WORDS as u64),
        anchors: room.anchors,
        stream: job.stream,
        chunks,
        identity,
        cells: room.cells,
        geometry: geometry.id(),
        verify: u32::from(job.verify),
    };
    match T::DTYPE {
        Dtype::F32 => executor.launch::<ReadPrologue<f32>>(1, &prologue)?,
        Dtype::F64 => executor.launch::<ReadPrologue<f64>>(1, &prologue)?,
    }
    let decode = DecodeParams {
        tiling: tiling(layout),
        stream: job.stream,
        tables: room.tables,
        regions: room.regions,
        coarse: room.coarse,
        field: job.output,
        cells: room.cells,
        element_words: T::WORDS as u32,
        verify: u32::from(job.verify),
    };
    if has_tables {
        let blocks = call.blocks(chunks.div_ceil(WARPS))?;
        call.of_coder(blocks, &OfCoder::Decode(decode))?;
    } else {
        call.decode_planes(&decode)?;
    }
    match layout.codec.predictor {
        TilePredictor::Lorenzo => call.unpredict(job),
        TilePredictor::Interp(geometry) => call.reconstruct(job, geometry),
    }
}

impl<E: Executor> Call<'_, E> {
    fn decode_planes(&self, params: &DecodeParams) -> Result<(), Error> {
        let (executor, blocks) = (self.executor, self.blocks(self.layout.chunks())?);
        match self.layout.shape() {
            Shape::Line => executor.launch::<DecodePlanes<Line>>(blocks, params),
            Shape::Plane => executor.launch::<DecodePlanes<Plane>>(blocks, params),
            Shape::Cube => executor.launch::<DecodePlanes<Cube>>(blocks, params),
        }
    }

    fn unpredict(&self, job: &DecompressJob<'_>) -> Result<(), Error> {
        let layout = self.layout;
        let params = LorenzoParams {
            field: job.output,
            strides: strides(&layout.fine),
            codes: self.room.regions,
            first_chunk: 0,
            lengths: layout.fine.lengths(),
            cells: self.room.cells,
            quantizer: [0; 3],
            quantizer_in_cells: 1,
            first_tile: 0,
        };
        let blocks = self.blocks(layout.fine.tiles())?;
        self.of_tiles(blocks, &OfTiles::LorenzoReconstruct(params))
    }

    fn reconstruct(&self, job: &DecompressJob<'_>, geometry: Geometry) -> Result<(), Error> {
        let (layout, room) = (self.layout, &self.room);
        let coarse = layout.fine.coarse(geometry.spacing(layout.shape()));
        let fine = InterpParams {
            field: job.output,
            strides: strides(&layout.fine),
            anchors: room.known,
            codes: room.regions,
            first_chunk: layout.coarse_chunks(),
            known: View::empty(),
            parameters: room.parameters,
            lengths: layout.fine.lengths(),
            is_coarse: 0,
            first_tile: 0,
        };
        let of_anchors = InterpParams {
            field: room.coarse,
            strides: strides(&coarse),
            anchors: room.anchors,
            first_chunk: 0,
            known: room.known,
            lengths: coarse.lengths(),
            is_coarse: 1,
            ..fine
        };
        let blocks = self.blocks(coarse.tiles())?;
        self.of_tiles(blocks, &OfTiles::Reconstruct(of_anchors))?;
        let blocks = self.blocks(layout.fine.tiles())?;
        self.of_tiles(blocks, &OfTiles::Reconstruct(fine))
    }
}
