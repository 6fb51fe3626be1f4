//! The fit of stencils, second half: the coefficients that follow from the sums.

use crate::PACKAGE;
use core::marker::PhantomData;
use ferrosz_codec::predict::stencil::coefficients::{GEOMETRY, first};
use ferrosz_codec::predict::stencil::fit::{first_sum, solve};
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

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
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 1;

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &FitParams) {
        const {
            assert!(8 * GEOMETRY.levels(S::SHAPE) <= THREADS);
        }
        let (level, odd) = (t.thread_index() / 8, t.thread_index() % 8);
        let beyond = (1 << (3 - S::SHAPE.rank())) - 1;
        if odd == 0 || odd & beyond != 0 || level >= GEOMETRY.levels(S::SHAPE) {
            return;
        }
        match (S::SHAPE, odd.count_ones()) {
            (Shape::Line, _) => Self::fit::<T, 1>(t, params, level, odd),
            (Shape::Plane, 1) => Self::fit::<T, 2>(t, params, level, odd),
            (Shape::Cube, 1) => Self::fit::<T, 3>(t, params, level, odd),
            (Shape::Plane | Shape::Cube, 2) => Self::fit::<T, 4>(t, params, level, odd),
            (Shape::Plane | Shape::Cube, _) => Self::fit::<T, 6>(t, params, level, odd),
        }
    }
}

impl<S: StaticShape> Fit<S> {
    #[inline(always)]
    fn fit<T: Thread, const N: usize>(t: T, params: &FitParams, level: u32, odd: u32) {
        let from = first_sum(S::SHAPE, level, odd) as u64;
        let sum = |i: usize| t.atomic_load(params.sums, from + i as u64).cast_signed();
        let coefficients: [f32; N] = solve(odd, sum);
        let first = first(S::SHAPE, level, odd) as u64;
        for (at, coefficient) in (first..).zip(&coefficients) {
            t.store(params.coefficients, at, coefficient.to_bits());
        }
    }
}
