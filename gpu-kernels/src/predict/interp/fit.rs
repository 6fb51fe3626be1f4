//! The fit of stencils, second half: the coefficients that follow from the sums.

use crate::PACKAGE;
use crate::predict::interp::systems::{InShared, systems};
use core::marker::PhantomData;
use ferrosz_codec::predict::stencil::coefficients::{GEOMETRY, first};
use ferrosz_codec::predict::stencil::fit::{System, first_sum, solve_stencil};
use ferrosz_codec::predict::stencil::terms::{MAX_TERMS, count};
use ferrosz_codec::shape::StaticShape;
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View};

/// Fits the stencils of shape `S`. Launched with one block.
pub struct Fit<S>(PhantomData<S>);

/// Parameters of [`Fit`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FitParams {
    /// The sums of all levels.
    pub sums: View<u64>,
    /// The output: the coefficients of all levels.
    pub coefficients: View<u32>,
}

/// Threads in the block: one for each level and set of axes, of which each level has up to 7.
const THREADS: u32 = 96;

impl<S: StaticShape> Kernel for Fit<S> {
    type Params = FitParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_stencil_fit", S::SHAPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 1;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FitParams) {
        const {
            assert!(8 * GEOMETRY.levels(S::SHAPE) <= THREADS);
        }
        let (level, odd) = (t.thread_index() / 8, t.thread_index() % 8);
        let beyond = (1 << (3 - S::SHAPE.rank())) - 1;
        if odd == 0 || odd & beyond != 0 || level >= GEOMETRY.levels(S::SHAPE) {
            return;
        }
        let from = first_sum(S::SHAPE, level, odd) as u64;
        let sum = |i: usize| t.atomic_load(params.sums, from + i as u64).cast_signed();
        let systems = SHARED.0;
        let mut system = InShared::<T, MAX_TERMS, THREADS> { t, systems };
        let count = count(S::SHAPE, odd);
        solve_stencil(odd, count, &mut system, sum);
        let first = first(S::SHAPE, level, odd);
        for i in 0..count {
            let coefficient = system.get(i, count) as f32;
            t.store(
                params.coefficients,
                (first + i) as u64,
                coefficient.to_bits(),
            );
        }
    }
}

/// The systems of all threads.
const SHARED: (Shared<u64>, Layout) = systems(MAX_TERMS, THREADS);
