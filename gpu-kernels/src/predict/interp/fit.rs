//! The fit of stencils, second half: the coefficients that follow from the sums.

use crate::PACKAGE;
use crate::predict::interp::systems::{InShared, system};
use core::marker::PhantomData;
use ferrosz_codec::predict::stencil::coefficients::{GEOMETRY, first};
use ferrosz_codec::predict::stencil::fit::{System, first_sum, solve_stencil};
use ferrosz_codec::predict::stencil::terms::{MAX_TERMS, count};
use ferrosz_codec::shape::StaticShape;
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Fits the stencils of shape `S`. Launched with [`Fit::BLOCKS`] blocks.
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

impl<S: StaticShape> Fit<S> {
    /// One for each level and set of axes.
    pub const BLOCKS: u32 = 8 * GEOMETRY.levels(S::SHAPE);
}

impl<S: StaticShape> Kernel for Fit<S> {
    type Params = FitParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_stencil_fit", S::SHAPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = WARP;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 1;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FitParams) {
        let (level, odd) = (t.block_index() / 8, t.block_index() % 8);
        let beyond = (1 << (3 - S::SHAPE.rank())) - 1;
        if odd == 0 || odd & beyond != 0 {
            return;
        }
        let from = first_sum(S::SHAPE, level, odd) as u64;
        let sum = |i: usize| t.atomic_load(params.sums, from + i as u64).cast_signed();
        let system = InShared::<T, MAX_TERMS> {
            t,
            system: SHARED.0,
        };
        let count = count(S::SHAPE, odd);
        solve_stencil(odd, count, &system, sum);
        let first = first(S::SHAPE, level, odd);
        system.each(count, |i| {
            let coefficient = system.get(i, count) as f32;
            t.store(
                params.coefficients,
                (first + i) as u64,
                coefficient.to_bits(),
            );
        });
    }
}

/// The system of the block.
const SHARED: (Shared<u64>, Layout) = system(MAX_TERMS);
