//! The census of a field: counts of its zeros and negative values, by which a preset keeps them.

use crate::PACKAGE;
use crate::primitives::scan::warp_sum_u64;
use crate::quantize::extremes::see_share;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::census::Census;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Counts the values of a field of `E`. Launched with any number of blocks.
pub struct TakeCensus<E>(PhantomData<E>);

/// Parameters of [`TakeCensus`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CensusParams {
    /// The field, 16-byte aligned.
    pub input: View<u32>,
    /// Elements of the field.
    pub elements: u64,
    /// The three counts of a [`Census`], in its order; 0 before the launch.
    pub counts: View<u64>,
}

/// Cells of the counts.
pub const CELLS: u64 = 3;

/// Threads in a block.
const THREADS: u32 = 256;

impl<E: Element> Kernel for TakeCensus<E> {
    type Params = CensusParams;
    const NAME: &'static str = const { &Name::of(&["ferrosz_census", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 4;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &CensusParams) {
        let threads = u64::from(t.block_count()) * u64::from(THREADS);
        let thread = u64::from(t.block_index()) * u64::from(THREADS) + u64::from(t.thread_index());
        let mut census = Census::default();
        see_share(
            t,
            params.input,
            params.elements,
            thread,
            threads,
            |value: E| {
                census.see(value);
            },
        );
        let counts = [census.present, census.zeros, census.negatives];
        for (cell, count) in (0..).zip(&counts) {
            let of_warp = warp_sum_u64(t, *count);
            if t.lane() == 0 && of_warp > 0 {
                t.atomic_add(params.counts, cell, of_warp);
            }
        }
    }
}
