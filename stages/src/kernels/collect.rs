//! Codes from their tiles to an array.

use crate::PACKAGE;
use crate::kernels::arrays::{CodeArray, half_of};
use crate::kernels::import::{CODE, THREADS, first, raise, step};
use core::marker::PhantomData;
use ferrosz_codec::code::entropy::token::{RAW, unzigzag};
use ferrosz_codec::shape::StaticShape;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Brings the codes of tiles of shape `S` to an array. Launched with any number of blocks.
pub struct CollectCodes<S>(PhantomData<S>);

/// Parameters of [`CollectCodes`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CollectCodesParams {
    /// The output: the codes.
    pub array: CodeArray,
    /// The codes in their tiles, as a coder leaves them.
    pub predicted: View<u32>,
    /// The codes of positions that have [`RAW`], as words in the order of the field.
    pub values: View<u32>,
    /// The workspace. [`FAULT`](ferrosz_gpu_kernels::pipeline::cells::FAULT) is raised if a code is not below twice the radius.
    pub cells: View<u64>,
}

impl<S: StaticShape> Kernel for CollectCodes<S> {
    type Params = CollectCodesParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_collect_codes", S::SHAPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &CollectCodesParams) {
        let array = &params.array;
        let (grid, layout, radius) = (array.grid::<S>(), array.layout::<S>(), array.radius(t));
        let mut element = first(t);
        while element < grid.elements() {
            let at = array.position(element as u32);
            let predicted = t.load_half(params.predicted, half_of(&grid, at));
            let code = if predicted == RAW {
                t.load(params.values, element)
            } else {
                radius.wrapping_add_signed(unzigzag(predicted))
            };
            if code >= 2 * radius {
                raise(t, params.cells, CODE);
            }
            array.store(t, layout.position(at), code);
            element += step(t);
        }
    }
}
