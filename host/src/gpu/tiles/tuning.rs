//! Tuning on a machine that runs kernels: the order of the kernels.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::tiles::slab::Others;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::WORDS;
use ferrosz_codec::predict::interp::tune::search::{Round, Search};
use ferrosz_codec::predict::slices::fit::ROUNDS;
use ferrosz_codec::shape::Cube;
use ferrosz_codec::{Bound, Element, with_shape};
use ferrosz_gpu_kernels::pipeline::cells::Given;
use ferrosz_gpu_kernels::predict::interp::InterpParams;
use ferrosz_gpu_kernels::predict::interp::fit::{Fit, FitParams};
use ferrosz_gpu_kernels::predict::interp::method::{Slices, Stencils};
use ferrosz_gpu_kernels::predict::interp::prepare::{
    CLASS_CELLS, PARAMETER_WORDS, Prepare, PrepareParams, candidate_words,
};
use ferrosz_gpu_kernels::predict::interp::sampled::Sampled;
use ferrosz_gpu_kernels::predict::interp::scores::{SCORE_CELLS, Scores, ScoresParams};
use ferrosz_gpu_kernels::predict::interp::slice_fit::SliceFit;
use ferrosz_gpu_kernels::predict::interp::slice_sums::SliceSums;
use ferrosz_gpu_kernels::predict::interp::sums::{SHARES, Sums, SumsParams};
use ferrosz_simt::View;

/// The input and output of tuning.
pub struct TuneJob<'a> {
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
    /// The part of the field that the machine has.
    pub part: InterpParams,
    /// The tiles of the part, among those of the field: the samples that coefficients are fitted to ...
    pub sampled: Sampled,
    /// ... and those that candidates are scored on.
    pub scored: Sampled,
    /// The machines that have the rest of the field.
    pub others: Others<'a>,
    /// The cells of all kernels.
    pub workspace: View<u64>,
    /// The cells of tuning.
    pub cells: View<u64>,
    /// The output: the words of the parameters, and behind those of all candidates the coefficients, if there are any.
    pub parameters: View<u32>,
    /// The cells of the sums of a fit; nothing without coefficients.
    pub sums: View<u64>,
}

/// Asks for the parameters of a field. Nothing is allocated, and nothing waits, except for other machines.
///
/// # Errors
///
/// The machine's own.
pub fn enqueue_tune<T: Element, E: Executor>(executor: &E, job: &TuneJob<'_>) -> Result<(), Error> {
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
        sampled: job.scored,
        parameters: job.parameters.from(WORDS as u64),
        cells: job.cells,
        classes: View::empty(),
    };
    executor.launch::<Prepare<T>>(1, &params)?;
    match job.fitted() {
        FittedKind::None => {}
        FittedKind::Stencils => fit_stencils::<T, E>(executor, job)?,
        FittedKind::Slices => fit_slices::<T, E>(executor, job)?,
    }
    for round in Round::ALL {
        params.rounds += 1;
        let count = job.search.candidates(round);
        if count > 0 {
            score::<T, E>(executor, job, count, candidates)?;
            job.others.sum(executor, job.cells.first(SCORE_CELLS))?;
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
        job.others.sum(executor, decided.classes)?;
        executor.launch::<Prepare<T>>(1, &params)?;
    }
    Ok(())
}

fn score<T: Element, E: Executor>(
    executor: &E,
    job: &TuneJob<'_>,
    candidates: u32,
    params: ScoresParams,
) -> Result<(), Error> {
    match candidates * job.samples(&job.scored) {
        0 => Ok(()),
        blocks => match job.fitted() {
            FittedKind::None => {
                with_shape!(job.search.shape, S => executor.launch::<Scores<T, S>>(blocks, &params))
            }
            FittedKind::Stencils => with_shape!(job.search.shape, S => {
                executor.launch::<Scores<T, S, Stencils>>(blocks, &params)
            }),
            FittedKind::Slices => executor.launch::<Scores<T, Cube, Slices>>(blocks, &params),
        },
    }
}

/// Fits stencils to the samples, as the first round's candidates are ready.
fn fit_stencils<T: Element, E: Executor>(executor: &E, job: &TuneJob<'_>) -> Result<(), Error> {
    executor.clear(job.sums)?;
    let (sums, fit) = (job.sums_params(), job.fit_params());
    with_shape!(job.search.shape, S => {
        executor.launch::<Sums<T, S>>(SHARES * job.samples(&job.sampled), &sums)?;
        job.others.sum(executor, job.sums)?;
        executor.launch::<Fit<S>>(1, &fit)
    })
}

/// As [`fit_stencils`], for slices. At first samples are predicted with the coefficients of splines, which follow from sums of 0.
fn fit_slices<T: Element, E: Executor>(executor: &E, job: &TuneJob<'_>) -> Result<(), Error> {
    let (sums, fit) = (job.sums_params(), job.fit_params());
    executor.clear(job.sums)?;
    executor.launch::<SliceFit>(1, &fit)?;
    for _ in 0..ROUNDS {
        executor.clear(job.sums)?;
        executor.launch::<SliceSums<T>>(SHARES * job.samples(&job.sampled), &sums)?;
        job.others.sum(executor, job.sums)?;
        executor.launch::<SliceFit>(1, &fit)?;
    }
    Ok(())
}

impl TuneJob<'_> {
    fn fitted(&self) -> FittedKind {
        self.search.tuning.fitted()
    }

    fn sums_params(&self) -> SumsParams {
        let candidate = candidate_words(self.search.number_before_fit());
        SumsParams {
            part: self.part,
            sampled: self.sampled,
            parameters: self.parameters.from(candidate),
            sums: self.sums,
        }
    }

    fn fit_params(&self) -> FitParams {
        FitParams {
            sums: self.sums,
            coefficients: self.parameters.from(PARAMETER_WORDS),
        }
    }

    /// The number of sample tiles.
    fn samples(&self, sampled: &Sampled) -> u32 {
        let of_field = || self.search.tuning.samples(sampled.all()).count();
        sampled.count_given().unwrap_or_else(of_field)
    }
}
