//! The order of the kernels of codecs of blocks, the same for all machines that run kernels.

use crate::error::Error;
use crate::gpu::executor::{Executor, blocks_of};
use crate::gpu::job::{Coded, CompressJob, DecompressJob, cells_to_clear};
use crate::gpu::tiles;
use crate::gpu::tiles::slab::{Others, TileSlab};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header_words::Draft;
use ferrosz_codec::container::layout::{BlockLayout, Family, Layout};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::error::{ChunkFault, TableFault};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Element, FormatError, with_block_codec, with_shape};
use ferrosz_gpu_kernels::pipeline::blocks::compress::logarithms::{
    CompressLogarithms, CompressLogarithmsParams,
};
use ferrosz_gpu_kernels::pipeline::blocks::compress::short::{CompressShort, CompressShortParams};
use ferrosz_gpu_kernels::pipeline::blocks::compress::{Compress, CompressParams};
use ferrosz_gpu_kernels::pipeline::blocks::decompress::list_entries::{
    ListEntries, ListEntriesParams,
};
use ferrosz_gpu_kernels::pipeline::blocks::decompress::short::{
    DecompressShort, DecompressShortParams,
};
use ferrosz_gpu_kernels::pipeline::blocks::decompress::{Decompress, DecompressParams};
use ferrosz_gpu_kernels::pipeline::blocks::staged_chunk::UnitSteps;
use ferrosz_gpu_kernels::pipeline::cells::{self, Fault};
use ferrosz_simt::Kernel;

/// Enqueues the coding of a field of at least one element, behind [`enqueue_bound`](crate::gpu::resolve::enqueue_bound).
/// Does not allocate and does not wait.
pub(crate) fn enqueue_compress<T: Element, E: Executor>(
    executor: &E,
    job: &CompressJob,
) -> Result<(), Error> {
    let elements = job.layout.extents.elements();
    let resolved: Quantizer<T> = job.bound.resolve(&Extremes::default());
    let header = job.header::<T>();
    let BlockLayout { codec, grid } = match job.layout.family() {
        Family::Blocks(layout) => layout,
        Family::Tiles(layout) => {
            return tiles::enqueue_compress::<T, E>(
                executor,
                job,
                &TileSlab::whole(&layout),
                Others::default(),
            );
        }
    };
    let params = CompressParams {
        input: job.input,
        grid,
        steps: UnitSteps::new::<T>(job.layout.shape, &grid, grid.lengths()),
        stream: job.stream,
        entries: job.layout.entries(),
        cells: job.cells,
        quantizer: job.given(resolved.to_bits()),
        header: Draft::new(&header),
        identity: job.identity::<T>(),
        holes: u32::from(job.has_holes),
    };
    let blocks = blocks_of::<T>(grid.chunk_count(), elements)?;
    let shape = job.layout.shape;
    with_block_codec!(codec.in_shape(shape), C => with_shape!(shape, S => match job.coded {
        Coded::Field => executor.launch::<Compress<T, C, S>>(blocks, &params),
        Coded::Logarithms { field, holes } => {
            let params = CompressLogarithmsParams {
                coded: params,
                field,
                holes,
            };
            executor.launch::<CompressLogarithms<T, C, S>>(blocks, &params)
        }
        Coded::Shorts { field } => {
            let params = CompressShortParams {
                coded: params,
                field,
                value_type: job.value_type.id().into(),
            };
            executor.launch::<CompressShort<C, S>>(blocks, &params)
        }
    }))
}

/// Enqueues a decompression. Does not allocate and does not wait; a fault will be in the fault cell.
pub(crate) fn enqueue_decompress<T: Element, E: Executor>(
    executor: &E,
    job: &DecompressJob<'_>,
) -> Result<(), Error> {
    let elements = job.layout.extents.elements();
    let layout = match job.layout.family() {
        Family::Tiles(layout) if elements > 0 => {
            return match job.is_whole() {
                true => tiles::decompress::enqueue_decompress::<T, E>(
                    executor,
                    job,
                    &TileSlab::whole(&layout),
                ),
                false => {
                    tiles::decompress::enqueue_decompress_regions::<T, E>(executor, job, &layout)
                }
            };
        }
        // Without elements, only the cells need to be cleared.
        Family::Tiles(_) => return executor.clear(cells_to_clear(job.cells)),
        Family::Blocks(layout) => layout,
    };
    executor.clear(cells_to_clear(job.cells))?;
    enqueue_list::<T, E>(executor, job)?;
    let mut first = 0;
    for region in job.regions.iter().filter(|region| region.elements() > 0) {
        enqueue_region::<T, E>(executor, job, &layout, region, first)?;
        first += region.elements();
    }
    Ok(())
}

/// Enqueues the list of the entries of a stream with updates.
fn enqueue_list<T: Element, E: Executor>(
    executor: &E,
    job: &DecompressJob<'_>,
) -> Result<(), Error> {
    if job.update_bytes == 0 {
        return Ok(());
    }
    let params = ListEntriesParams {
        header: job.header(),
        stream: job.behind_records(),
        entries: job.layout.entries(),
        update_bytes: job.update_bytes,
        list: job.list,
        cells: job.cells,
    };
    let tasks = params.entries.div_ceil(ListEntries::THREADS.into());
    let blocks = blocks_of::<T>(tasks, job.layout.extents.elements())?;
    executor.launch::<ListEntries>(blocks, &params)
}

/// Enqueues the decoding of a region into the output from element `first` on.
fn enqueue_region<T: Element, E: Executor>(
    executor: &E,
    job: &DecompressJob<'_>,
    layout: &BlockLayout,
    region: &Region,
    first: u64,
) -> Result<(), Error> {
    let BlockLayout { codec, grid } = *layout;
    let ranges = region.chunks(&grid);
    let chunks = ranges.each_ref().map(|range| range.end - range.start);
    let blocks = blocks_of::<T>(chunks.iter().product(), grid.elements())?;
    let params = DecompressParams {
        header: job.header(),
        stream: job.behind_records(),
        table: job.table(),
        entries: job.layout.entries(),
        output: job.output,
        cells: job.cells,
        grid,
        region: *region,
        steps: UnitSteps::new::<T>(job.layout.shape, &grid, region.extents()),
        output_first: first,
        first_chunk: ranges.map(|range| range.start),
        chunks,
        layout: job.layout_words(),
        codec: codec.position(),
        verify: u32::from(job.verify),
    };
    with_shape!(job.layout.shape, S => match job.is_short {
        false => executor.launch::<Decompress<T, S>>(blocks, &params),
        true => {
            let params = DecompressShortParams {
                coded: params,
                records: job.records(),
            };
            executor.launch::<DecompressShort<S>>(blocks, &params)
        }
    })
}

/// The number of cells of the workspace of a layout.
pub(crate) fn workspace_cells(layout: &Layout) -> u64 {
    match layout.family() {
        Family::Blocks(layout) => cells::count(layout.grid.chunk_count()),
        Family::Tiles(layout) => tiles::workspace::workspace_cells(&layout),
    }
}

/// The fault in a fault cell as an error.
///
/// # Errors
///
/// The fault, if there is one.
pub fn fault_in(cell: u64) -> Result<(), FormatError> {
    match Fault::from_cell(cell) {
        None => Ok(()),
        Some(Fault::Header) => Err(FormatError::InvalidHeader(
            "it is damaged, or it is not the header that the call expects",
        )),
        Some(Fault::Tables(code)) => Err(FormatError::InvalidTables(
            TableFault::from_code(code).unwrap_or(TableFault::Size),
        )),
        Some(Fault::Update(at)) => Err(FormatError::InvalidUpdate { at }),
        Some(Fault::Chunk(chunk, code)) => Err(ChunkFault::from_code(code)
            .unwrap_or(ChunkFault::Form)
            .in_chunk(chunk)),
    }
}
