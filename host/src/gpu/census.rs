//! The census of a field on a machine that runs kernels.

use crate::error::Error;
use crate::gpu::executor::Executor;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::census::Census;
use ferrosz_gpu_kernels::quantize::census::{CELLS, CensusParams, TakeCensus};
use ferrosz_simt::View;

/// The least elements of a block: for `f32`, one batch of loads for each thread.
const SHARE: u64 = 1 << 12;

/// The census of a coded field. Allocates, and waits for the kernel.
///
/// # Errors
///
/// The machine's own.
pub(crate) fn census<T: Element, E: Executor>(
    executor: &E,
    elements: u64,
    input: View<u32>,
) -> Result<Census, Error> {
    let memory = executor.allocate(8 * CELLS)?;
    let counts = executor.view(&memory);
    executor.clear(counts)?;
    let params = CensusParams {
        input,
        elements,
        counts,
    };
    let shares = u32::try_from(elements.div_ceil(SHARE)).unwrap_or(u32::MAX);
    executor.launch_over::<TakeCensus<T>>(shares, &params)?;
    let mut found = [[0; 8]; CELLS as usize];
    executor.download(counts, 0, found.as_flattened_mut())?;
    let [present, zeros, negatives] = found.map(u64::from_le_bytes);
    Ok(Census {
        present,
        zeros,
        negatives,
    })
}
