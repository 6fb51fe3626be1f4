//! A bound that needs the extremes of the field, resolved on a machine that runs kernels.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::job::CompressJob;
use ferrosz_codec::container::header_words::Draft;
use ferrosz_codec::{Bound, Element};
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
