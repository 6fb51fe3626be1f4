//! From values of 16 bits to elements, for codecs that read a field more than once.

use crate::PACKAGE;
use crate::pipeline::cells;
use crate::primitives::map::Map;
use crate::primitives::shorts::{Shorts, UNIT, Widen};
use ferrosz_codec::mapping::short::Short;
use ferrosz_simt::{Kernel, Package, Thread, View};

/// Converts a field to elements. Launched with any number of blocks.
pub struct ConvertForward;

/// Parameters of [`ConvertForward`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ConvertForwardParams {
    /// The words of the values, 16-byte aligned.
    pub field: View<u32>,
    /// Values of the field.
    pub values: u64,
    /// The output: the elements, 16-byte aligned.
    pub elements: View<u32>,
    /// The number of the values' type.
    pub value_type: u32,
    /// The workspace: [`cells::CONVERSION`] is read.
    pub cells: View<u64>,
}

/// Threads in a block.
pub const THREADS: u32 = 256;

impl ConvertForwardParams {
    /// The conversion.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn conversion<T: Thread>(&self, t: T) -> Option<Short> {
        let kind = t.load_u64(self.cells, cells::CONVERSION) as u32;
        Short::from_ids(self.value_type, kind)
    }
}

impl Kernel for ConvertForward {
    type Params = ConvertForwardParams;
    const NAME: &'static str = "ferrosz_convert_forward";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ConvertForwardParams) {
        let Some(short) = params.conversion(t) else {
            return;
        };
        let field = Shorts(params.field);
        let short = Widen(short);
        let element = |bits: u32| short.element(f32::from_bits(bits)).to_bits();
        let threads = u64::from(t.block_count()) * u64::from(THREADS);
        let thread = u64::from(t.block_index()) * u64::from(THREADS) + u64::from(t.thread_index());
        let units = params.values / UNIT as u64;
        let mut unit = thread;
        while unit < units {
            let words = short.unit(t, field.unit(t, unit));
            t.store4(params.elements, unit, words);
            unit += threads;
        }
        let last = units * UNIT as u64 + thread;
        if last < params.values {
            t.store(params.elements, last, element(field.value(t, last)));
        }
    }
}
