//! The census of a field on a machine that runs kernels.

use crate::error::Error;
use crate::gpu::executor::Executor;
use ferrosz_codec::Element;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::quantize::census::{CELLS, CensusParams, TakeCensus};
use ferrosz_simt::View;

/// The least elements of a block: for `f32`, one batch of loads for each thread.
const SHARE: u64 = 1 << 12;

/// Enqueues the census of a coded field of at least one element. It will be in the cells [`CENSUS`](cells::CENSUS).
///
/// # Errors
///
/// The machine's own.
pub(crate) fn enqueue_census<T: Element, E: Executor>(
    executor: &E,
    elements: u64,
    input: View<u32>,
    cells: View<u64>,
) -> Result<(), Error> {
    let counts = cells.from(cells::CENSUS).first(CELLS);
    executor.clear(counts)?;
    let params = CensusParams {
        input,
        elements,
        counts,
    };
    let shares = u32::try_from(elements.div_ceil(SHARE)).unwrap_or(u32::MAX);
    executor.launch_over::<TakeCensus<T>>(shares, &params)
}
