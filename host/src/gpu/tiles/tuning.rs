//! Tuning on a machine that runs kernels: the order of the kernels.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::tiles::slab::Others;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::WORDS;
use ferrosz_codec::predict::interp::tune::search::{Round, Search};
use ferrosz_codec::{Bound, Element, with_shape};
use ferrosz_gpu_kernels::pipeline::cells::Given;
use ferrosz_gpu_kernels::predict::interp::InterpParams;
use ferrosz_gpu_kernels::predict::interp::fit::{Fit, FitParams};
#[cfg(feature = "toy")]
use ferrosz_gpu_kernels::predict::interp::method::toy_fitted::{ToyFit, ToySums};
use ferrosz_gpu_kernels::predict::interp::prepare::{
    CLASS_CELLS, PARAMETER_WORDS, Prepare, PrepareParams, candidate_words,
};
use ferrosz_gpu_kernels::predict::interp::sampled::Sampled;
use ferrosz_gpu_kernels::predict::interp::scores::{SCORE_CELLS, Scores, ScoresParams};
use ferrosz_gpu_kernels::predict::interp::slice_fit::SliceFit;
use ferrosz_gpu_kernels::predict::interp::slice_sums::SliceSums;
use ferrosz_gpu_kernels::predict::interp::sums::{Shares, Sums, SumsParams};
use ferrosz_gpu_kernels::with_method;
use ferrosz_simt::{Kernel, View};

/// The input and output of tuning.
pub struct TuneJob<'a> {
    /// The candidates that are tried.
    pub search: Search,
    /// The bound of the field: of one relative to the range of values, the ratio to it is the bound's number, of others it
    /// follows from the absolute error.
    pub bound: Bound,
    /// The bits of the absolute error; none if it is in the workspace.
    pub error: Option<u64>,
    /// None if it is to be found; then at most `max_radius`.
    pub radius: Option<u32>,
    /// The largest radius.
    pub max_radius: u32,
    /// The samples that coefficients are fitted to ...
    pub fitted: &'a [TuningSamples],
    /// ... and those that candidates are scored on.
    pub scored: &'a [TuningSamples],
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

/// Samples in memory of the machine.
#[derive(Clone, Copy)]
pub struct TuningSamples {
    /// A part of the field, or a field that has copies of tiles.
    pub part: InterpParams,
    /// The samples among its tiles.
    pub sampled: Sampled,
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
    executor.launch::<Prepare<T>>(1, &params)?;
    fit::<T, E>(executor, job)?;
    for round in Round::ALL {
        params.rounds += 1;
        let count = job.search.candidates(round);
        if count > 0 {
            let parameters = job.parameters.from(WORDS as u64);
            score::<T, E>(executor, job, count, parameters, View::empty())?;
            job.others.sum(executor, job.cells.first(SCORE_CELLS))?;
            executor.launch::<Prepare<T>>(1, &params)?;
        }
    }
    if job.radius.is_none() {
        params.rounds += 1;
        let classes = job.cells.from(CLASS_CELLS);
        score::<T, E>(executor, job, 1, job.parameters, classes)?;
        job.others.sum(executor, classes)?;
        executor.launch::<Prepare<T>>(1, &params)?;
    }
    Ok(())
}

fn score<T: Element, E: Executor>(
    executor: &E,
    job: &TuneJob<'_>,
    candidates: u32,
    parameters: View<u32>,
    classes: View<u64>,
) -> Result<(), Error> {
    for TuningSamples { part, sampled } in job.scored {
        let blocks = candidates * job.samples(sampled);
        if blocks == 0 {
            continue;
        }
        let params = ScoresParams {
            part: *part,
            sampled: *sampled,
            parameters,
            cells: job.cells,
            classes,
        };
        with_method!(job.search.tuning.fitted, job.search.shape, M, S => {
            executor.launch::<Scores<T, S, M>>(blocks, &params)
        })?;
    }
    Ok(())
}

/// Fits coefficients to the samples, as the first round's candidates are ready.
fn fit<T: Element, E: Executor>(executor: &E, job: &TuneJob<'_>) -> Result<(), Error> {
    let fitted = job.search.tuning.fitted;
    if fitted.has_first() {
        executor.clear(job.sums)?;
        solve(executor, job)?;
    }
    for _ in 0..fitted.rounds() {
        executor.clear(job.sums)?;
        match fitted {
            FittedKind::None => {}
            FittedKind::Stencils => with_shape!(job.search.shape, S => {
                job.enqueue_sums::<Sums<T, S>, _>(executor)?;
            }),
            FittedKind::Slices => job.enqueue_sums::<SliceSums<T>, _>(executor)?,
            #[cfg(feature = "toy")]
            FittedKind::ToyFitted => with_shape!(job.search.shape, S => {
                job.enqueue_sums::<ToySums<T, S>, _>(executor)?;
            }),
        }
        job.others.sum(executor, job.sums)?;
        solve(executor, job)?;
    }
    Ok(())
}

/// Enqueues the kernel that computes coefficients of sums.
fn solve<E: Executor>(executor: &E, job: &TuneJob<'_>) -> Result<(), Error> {
    let params = job.fit_params();
    match job.search.tuning.fitted {
        FittedKind::None => Ok(()),
        FittedKind::Stencils => with_shape!(job.search.shape, S => {
            executor.launch::<Fit<S>>(Fit::<S>::BLOCKS, &params)
        }),
        FittedKind::Slices => executor.launch::<SliceFit>(SliceFit::BLOCKS, &params),
        #[cfg(feature = "toy")]
        FittedKind::ToyFitted => executor.launch::<ToyFit>(1, &params),
    }
}

impl TuneJob<'_> {
    /// Enqueues a kernel that adds the sums of all samples.
    fn enqueue_sums<K, E>(&self, executor: &E) -> Result<(), Error>
    where
        K: Kernel<Params = SumsParams>,
        E: Executor,
    {
        let candidate = candidate_words(self.search.number_before_fit());
        let blocks_at_once = executor.blocks_at_once::<K>()?;
        for TuningSamples { part, sampled } in self.fitted {
            let samples = self.samples(sampled);
            let shares = Shares::of(samples, blocks_at_once);
            let params = SumsParams {
                part: *part,
                sampled: *sampled,
                parameters: self.parameters.from(candidate),
                sums: self.sums,
                shares,
            };
            executor.launch::<K>(shares.blocks(samples), &params)?;
        }
        Ok(())
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
