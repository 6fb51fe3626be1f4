//! Tuning on a machine that runs kernels: the order of the kernels.

use crate::error::Error;
use crate::gpu::executor::Executor;
use ferrosz_codec::predict::interp::resolved::WORDS;
use ferrosz_codec::predict::interp::tune::sample::Samples;
use ferrosz_codec::predict::interp::tune::search::{Round, Search};
use ferrosz_codec::{Bound, Element, with_shape};
use ferrosz_gpu_kernels::pipeline::cells::Given;
use ferrosz_gpu_kernels::predict::interp::InterpParams;
use ferrosz_gpu_kernels::predict::interp::prepare::{CLASS_CELLS, Prepare, PrepareParams};
use ferrosz_gpu_kernels::predict::interp::scores::{Scores, ScoresParams};
use ferrosz_simt::View;

/// The input and output of tuning.
pub struct TuneJob {
    /// The candidates that are tried.
    pub search: Search,
    /// The bound of the field.
    pub bound: Bound,
    /// The bits of the absolute error; none if it is in the workspace.
    pub error: Option<u64>,
    /// None if it is to be found; then at most `max_radius`.
    pub radius: Option<u32>,
    /// The largest radius.
    pub max_radius: u32,
    /// The field.
    pub part: InterpParams,
    /// The cells of all kernels.
    pub workspace: View<u64>,
    /// The cells of tuning.
    pub cells: View<u64>,
    /// The output: the words of the parameters.
    pub parameters: View<u32>,
}

/// Asks for the parameters of a field. Nothing is allocated, and nothing waits.
///
/// # Errors
///
/// The machine's own.
pub fn enqueue_tune<T: Element, E: Executor>(executor: &E, job: &TuneJob) -> Result<(), Error> {
    executor.clear(job.cells)?;
    let mut params = PrepareParams {
        search: job.search,
        rounds: 0,
        radius: job.radius.unwrap_or(0),
        max_radius: job.max_radius,
        error: job
            .error
            .map_or(Given::in_cells(), |bits| Given::known([bits])),
        bound: job.bound.value(),
        mode: u32::from(job.bound.mode().id()),
        workspace: job.workspace,
        cells: job.cells,
        parameters: job.parameters,
    };
    let candidates = ScoresParams {
        part: job.part,
        parameters: job.parameters.from(WORDS as u64),
        cells: job.cells,
        classes: View::empty(),
    };
    executor.launch::<Prepare<T>>(1, &params)?;
    for round in Round::ALL {
        params.rounds += 1;
        let count = job.search.candidates(round);
        if count > 0 {
            score::<T, E>(executor, job, count, candidates)?;
            executor.launch::<Prepare<T>>(1, &params)?;
        }
    }
    if job.radius.is_none() {
        params.rounds += 1;
        let decided = ScoresParams {
            parameters: job.parameters,
            classes: job.cells.from(CLASS_CELLS),
            ..candidates
        };
        score::<T, E>(executor, job, 1, decided)?;
        executor.launch::<Prepare<T>>(1, &params)?;
    }
    Ok(())
}

fn score<T: Element, E: Executor>(
    executor: &E,
    job: &TuneJob,
    candidates: u32,
    params: ScoresParams,
) -> Result<(), Error> {
    let shape = job.search.shape;
    match candidates * Samples::new(job.part.grid(shape).tiles()).count() {
        0 => Ok(()),
        blocks => with_shape!(shape, S => executor.launch::<Scores<T, S>>(blocks, &params)),
    }
}
