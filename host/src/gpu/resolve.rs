//! A bound that needs the extremes of the field, resolved on a machine that runs kernels.

use crate::error::Error;
use crate::gpu::executor::{Executor, put};
use crate::gpu::job::CompressJob;
#[cfg(doc)]
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header_words::Draft;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::quantize::extremes::{ExtremesParams, FindExtremes};
use ferrosz_simt::View;

/// The least elements of a block of the extremes kernel: for `f32`, one batch of loads for each thread. With more
/// elements a block, small fields would have too few blocks.
const EXTREMES_SHARE: u64 = 1 << 12;

/// Asks for the quantiser of a bound that needs the extremes of a field of at least one element, and the identity of its
/// stream, `header_sum` being [`Draft::identity_sum`](ferrosz_codec::container::header_words::Draft::identity_sum); they will be in
/// the cells, all others of which will be clear. Those of [`OF_EXTREMES`](ferrosz_gpu_kernels::pipeline::cells::OF_EXTREMES)
/// must be before.
///
/// # Errors
///
/// The machine's own.
pub fn enqueue_resolve<T: Element, E: Executor>(
    executor: &E,
    bound: Bound,
    elements: u64,
    input: View<u32>,
    cells: View<u64>,
    header_sum: u64,
) -> Result<(), Error> {
    let shares = u32::try_from(elements.div_ceil(EXTREMES_SHARE)).unwrap_or(u32::MAX);
    let params = ExtremesParams {
        input,
        elements,
        cells,
        bound: bound.value(),
        mode: u32::from(bound.mode().id()),
        header_sum,
    };
    executor.launch_over::<FindExtremes<T>>(shares, &params)
}

/// A count of blocks that no launch reaches, as the words of its cell. The block that ends last resolves the bound and clears
/// the extremes: with [`EXTREMES_DONE`](cells::EXTREMES_DONE) counted from here, no block is the last one, and the extremes
/// stay in their cells.
pub(crate) const UNREACHED: [u32; 2] = [0, 1 << 31];

/// Enqueues the search for the extremes of a field of at least one element, whose bound follows from those of other fields,
/// too. They will be in the cells [`EXTREMES`](cells::EXTREMES), as [`Extremes::to_cells`] has them. Those are clear before,
/// and [`EXTREMES_DONE`](cells::EXTREMES_DONE) is [`UNREACHED`]; other cells may be cleared.
///
/// # Errors
///
/// The machine's own.
pub(crate) fn enqueue_extremes_from<T: Element, E: Executor>(
    executor: &E,
    elements: u64,
    input: View<u32>,
    cells: View<u64>,
) -> Result<(), Error> {
    enqueue_resolve::<T, E>(executor, Bound::default(), elements, input, cells, 0)
}

/// The extremes of a field of at least one element, as [`Extremes::to_cells`] has them. The cells
/// [`OF_EXTREMES`](cells::OF_EXTREMES) are clear before and after.
///
/// # Errors
///
/// The machine's own.
pub(crate) fn extremes<T: Element, E: Executor>(
    executor: &E,
    elements: u64,
    input: View<u32>,
    cells: View<u64>,
) -> Result<[u64; 2], Error> {
    let of_extremes = cells.from(cells::OF_EXTREMES.start);
    put(executor, &UNREACHED, of_extremes.words())?;
    enqueue_extremes_from::<T, E>(executor, elements, input, cells)?;
    let mut found = [[0; 8]; 2];
    executor.download(cells, 8 * cells::EXTREMES, found.as_flattened_mut())?;
    let own = cells::OF_EXTREMES.end - cells::OF_EXTREMES.start;
    executor.clear(of_extremes.first(own))?;
    Ok(found.map(u64::from_le_bytes))
}

/// Enqueues what is before all kernels of a codec: the cells of a compression of at least one element are cleared, and a
/// bound that needs the extremes of the field is resolved.
///
/// # Errors
///
/// The machine's own.
pub(crate) fn enqueue_bound<T: Element, E: Executor>(
    executor: &E,
    job: &CompressJob,
) -> Result<(), Error> {
    let cells = job.cells_of_chunks();
    if !job.bound.needs_extremes() {
        return executor.clear(cells);
    }
    enqueue_resolve::<T, E>(
        executor,
        job.bound,
        job.layout.extents.elements(),
        job.input,
        cells,
        Draft::new(&job.header::<T>()).identity_sum(),
    )
}
