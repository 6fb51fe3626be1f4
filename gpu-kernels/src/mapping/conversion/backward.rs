//! From decoded elements to values of 16 bits, for codecs that write a field more than once.

use crate::PACKAGE;
use crate::mapping::records;
use crate::pipeline::cells::{self, Fault};
use crate::primitives::map::Map;
use crate::primitives::shorts::{Narrow, Shorts, UNIT, conversion_of};
use ferrosz_simt::{Kernel, Package, Thread, View};

/// Converts decoded elements to values. Launched with any number of blocks.
pub struct ConvertBackward;

/// Parameters of [`ConvertBackward`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ConvertBackwardParams {
    /// The elements, 16-byte aligned.
    pub elements: View<u32>,
    /// How many there are.
    pub count: u64,
    /// The output: the words of the values, 16-byte aligned.
    pub field: View<u32>,
    /// The words of the stream's header.
    pub header: View<u32>,
    /// The words of its records.
    pub records: View<u32>,
    /// The workspace.
    pub cells: View<u64>,
}

/// Threads in a block.
pub const THREADS: u32 = 256;

impl Kernel for ConvertBackward {
    type Params = ConvertBackwardParams;
    const NAME: &'static str = "ferrosz_convert_backward";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ConvertBackwardParams) {
        let short = conversion_of(t, params.header);
        if t.block_index() == 0 && t.warp() == 0 {
            let is_sound = records::are_sound(t, params.header, params.records) && short.is_some();
            if !is_sound && t.lane() == 0 {
                t.atomic_max(params.cells, cells::FAULT, Fault::Header.to_cell());
            }
        }
        let Some(short) = short else { return };
        let field = Shorts(params.field);
        let short = Narrow(short);
        let bits = |word: u32| short.element(f32::from_bits(word)).to_bits();
        let threads = u64::from(t.block_count()) * u64::from(THREADS);
        let thread = u64::from(t.block_index()) * u64::from(THREADS) + u64::from(t.thread_index());
        let units = params.count / UNIT as u64;
        let mut unit = thread;
        while unit < units {
            let words = short.unit(t, t.load4(params.elements, unit));
            field.set_unit(t, unit, words);
            unit += threads;
        }
        let last = units * UNIT as u64 + thread;
        if last < params.count {
            field.set_value(t, last, bits(t.load(params.elements, last)));
        }
    }
}
