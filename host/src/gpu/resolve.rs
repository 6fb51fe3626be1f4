//! A bound that needs the extremes of the field, resolved on a machine that runs kernels.

use crate::error::Error;
use crate::gpu::executor::{Executor, put};
use crate::gpu::job::CompressJob;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header_words::{Draft, error_term};
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::quantize::extremes::{ExtremesParams, FindExtremes, NO_BOUND};
use ferrosz_simt::View;

/// The least elements of a block of the extremes kernel: for `f32`, one batch of loads for each thread. With more
/// elements a block, small fields would have too few blocks.
const EXTREMES_SHARE: u64 = 1 << 12;

/// What a search for the extremes of a field finds besides them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Search {
    /// The quantiser of a bound, and the identity of the stream, of which this is the
    /// [`identity_sum`](Draft::identity_sum) of the header. They will be in the cells from [`cells::QUANTIZER`] on.
    pub(crate) bound: Option<(Bound, u64)>,
    /// The census, which will be in the cells [`cells::SEEN_CENSUS`].
    pub(crate) census: bool,
}

impl Search {
    /// Enqueues the search in a field of at least one element. The extremes will be in the cells [`cells::SEEN_EXTREMES`], as
    /// [`Extremes::to_cells`] has them. All other cells will be clear. Those of [`cells::OF_EXTREMES`] and
    /// [`cells::OF_CENSUS`] must be before.
    ///
    /// # Errors
    ///
    /// The machine's own.
    pub(crate) fn enqueue<T: Element, E: Executor>(
        self,
        executor: &E,
        elements: u64,
        input: View<u32>,
        cells: View<u64>,
    ) -> Result<(), Error> {
        let shares = u32::try_from(elements.div_ceil(EXTREMES_SHARE)).unwrap_or(u32::MAX);
        let (bound, header_sum) = self.bound.unwrap_or_default();
        let params = ExtremesParams {
            input,
            elements,
            cells,
            bound: bound.value(),
            mode: match self.bound {
                Some(_) => bound.mode().id().into(),
                None => NO_BOUND,
            },
            header_sum,
            census: self.census.into(),
        };
        executor.launch_over::<FindExtremes<T>>(shares, &params)
    }
}

/// Asks for the quantiser of a bound on a field of at least one element whose extremes are searched, its range, and the
/// identity of its stream, `header_sum` being [`Draft::identity_sum`]. They will be in the cells from [`cells::QUANTIZER`] on,
/// and all others will be clear. Those of [`cells::OF_EXTREMES`] and [`cells::OF_CENSUS`] must be before.
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
    let search = Search {
        bound: Some((bound, header_sum)),
        census: false,
    };
    search.enqueue::<T, E>(executor, elements, input, cells)
}

/// The extremes of a field of at least one element, as [`Extremes::to_cells`] has them. Waits for the work so far.
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
    Search::default().enqueue::<T, E>(executor, elements, input, cells)?;
    let mut found = [[0; 8]; 2];
    executor.download(cells, 8 * cells::SEEN_EXTREMES, found.as_flattened_mut())?;
    Ok(found.map(u64::from_le_bytes))
}

/// As [`enqueue_resolve`], for a field whose extremes are known: without a search.
fn enqueue_known<T: Element, E: Executor>(
    executor: &E,
    bound: Bound,
    extremes: &Extremes<T>,
    cells: View<u64>,
    header_sum: u64,
) -> Result<(), Error> {
    let [error, rest @ ..] = bound.resolve(extremes).to_bits();
    let identity = Identity::of_sum(header_sum.wrapping_add(error_term(error)));
    let [first, second] = rest;
    let range = extremes.range_down().to_bits();
    let found = [error, first, second, range, identity.0];
    executor.clear(cells)?;
    put(
        executor,
        bytemuck::cast_slice(&found),
        cells.from(cells::QUANTIZER).words(),
    )
}

/// Enqueues what is before all kernels of a codec: the cells of a compression of at least one element are cleared, and if
/// its bound or its tightening needs the extremes of the field, the bound is resolved and the range is left in its cell.
///
/// # Errors
///
/// The machine's own.
pub(crate) fn enqueue_bound<T: Element, E: Executor>(
    executor: &E,
    job: &CompressJob,
) -> Result<(), Error> {
    let cells = job.cells_of_chunks();
    if !job.needs_extremes() {
        return executor.clear(cells);
    }
    let header_sum = Draft::new(&job.header::<T>()).identity_sum();
    if let Some(extremes) = job.extremes {
        let extremes = Extremes::<T>::from_cells(extremes);
        return enqueue_known(executor, job.bound, &extremes, cells, header_sum);
    }
    let elements = job.layout.extents.elements();
    enqueue_resolve::<T, E>(executor, job.bound, elements, job.input, cells, header_sum)
}
