//! The fit of slices, second half: the coefficients that follow from the sums. From sums of 0 follow those of splines, with
//! which sample tiles are predicted before.

use crate::PACKAGE;
use crate::predict::interp::fit::FitParams;
use crate::predict::interp::systems::{InShared, system};
use ferrosz_codec::predict::slices::coefficients::{first, to_bits};
use ferrosz_codec::predict::slices::fit::{first_sum, solve_set};
use ferrosz_codec::predict::slices::terms::{MAX_TERMS, count};
use ferrosz_codec::predict::slices::{ROOT, SETS};
use ferrosz_codec::predict::stencil::fit::System;
use ferrosz_simt::{Kernel, Layout, Package, Shared, Thread, WARP};

/// Fits slices. Launched with [`SliceFit::BLOCKS`] blocks; coefficients are two a word.
pub struct SliceFit;

/// Sets of coefficients of a level, of first slices and of others.
const PER_LEVEL: u32 = 2 * SETS.len() as u32;

impl SliceFit {
    /// One for each set.
    pub const BLOCKS: u32 = ROOT * PER_LEVEL + 1;
}

impl Kernel for SliceFit {
    type Params = FitParams;
    const NAME: &'static str = "ferrosz_slices_fit";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = WARP;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 1;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FitParams) {
        let (level, number) = (t.block_index() / PER_LEVEL, t.block_index() % PER_LEVEL);
        let is_first = level < ROOT && number < SETS.len() as u32;
        let odd = match (level, number % SETS.len() as u32) {
            (ROOT.., _) => 0,
            (_, 0) => SETS[0],
            (_, 1) => SETS[1],
            _ => SETS[2],
        };
        let from = first_sum(level, odd, is_first) as u64;
        let sum = |i: usize| t.atomic_load(params.sums, from + i as u64).cast_signed();
        let system = InShared::<T, MAX_TERMS> {
            t,
            system: SHARED.0,
        };
        solve_set(level, odd, is_first, &system, sum);
        let (first, count) = (first(level, odd, is_first), count(level, odd, is_first));
        system.each(count, |i| {
            let bits = to_bits(system.get(i, count)).cast_unsigned();
            t.store_half(params.coefficients, (first + i) as u64, bits);
        });
    }
}

/// The system of the block.
const SHARED: (Shared<u64>, Layout) = system(MAX_TERMS);
