//! The first of three launches: the length of each tile's bodies.

use crate::PACKAGE;
use crate::pass::access::OwnVectors;
use crate::pass::block_length::Of32;
use crate::pass::coded::CodedGroup;
use crate::pass::{PassParams, SHARED, TILE_THREADS};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_gpu_kernels::pipeline::blocks::CHUNK_WARPS;
use ferrosz_gpu_kernels::primitives::element::by_width;
use ferrosz_gpu_kernels::primitives::scan::block_sum;
use ferrosz_simt::{Kernel, Name, Package, Thread};

/// Measures tiles of elements of `E`. Launched with one block a tile.
pub struct Measure<E>(PhantomData<E>);

impl<E: Element> Kernel for Measure<E> {
    type Params = PassParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_pass_measure", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = TILE_THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 2);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &PassParams) {
        let tile = t.block_index();
        let coded = CodedGroup::read::<T, E, OwnVectors, Of32>(t, params, tile);
        let own = coded.own_bytes::<T, Of32>(t);
        let sums = block_sum::<T, CHUNK_WARPS>(t, own, SHARED.0.sums);
        if t.thread_index() == 0 {
            let at = params.lengths() + u64::from(tile);
            t.store_u64(params.cells, at, sums.total.into());
        }
    }
}
