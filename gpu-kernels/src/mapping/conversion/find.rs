//! The set of the values that a field of values of 16 bits has.
//!
//! A block collects a set in shared memory, and looks before it sets a bit: most values have been seen before, and lanes
//! that read one word do not wait for each other.

use crate::PACKAGE;
use crate::mapping::conversion::SET_WORDS;
use crate::pipeline::blocks::staged_chunk::UNIT_WORDS;
use ferrosz_simt::{Kernel, Layout, Package, Shared, Thread, View};

/// Finds the values of a field. Launched with any number of blocks.
pub struct FindValues;

/// Parameters of [`FindValues`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FindValuesParams {
    /// The words of the field, 16-byte aligned.
    pub field: View<u32>,
    /// Values of the field.
    pub values: u64,
    /// The output: the set, empty before.
    pub set: View<u32>,
}

/// Threads in a block.
pub const THREADS: u32 = 512;

/// 16-byte units that a thread reads before it looks at the first.
const IN_FLIGHT: usize = 4;

/// Values in a unit.
pub const UNIT_VALUES: u64 = 2 * UNIT_WORDS as u64;

const SHARED: (Shared<u32>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("set of a block", SET_WORDS), layout)
};

impl Kernel for FindValues {
    type Params = FindValuesParams;
    const NAME: &'static str = "ferrosz_find_values";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 4;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FindValuesParams) {
        let mut word = t.thread_index();
        while word < SET_WORDS {
            SHARED.0.store(t, word, 0);
            word += THREADS;
        }
        t.barrier();
        see_all(t, params);
        t.barrier();
        let mut word = t.thread_index();
        while word < SET_WORDS {
            let seen = SHARED.0.load(t, word);
            let known = t.atomic_load(params.set, u64::from(word));
            if seen & !known != 0 {
                t.atomic_or(params.set, u64::from(word), seen);
            }
            word += THREADS;
        }
    }
}

/// Collects this thread's share of the field.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn see_all<T: Thread>(t: T, params: &FindValuesParams) {
    let threads = u64::from(t.block_count()) * u64::from(THREADS);
    let thread = u64::from(t.block_index()) * u64::from(THREADS) + u64::from(t.thread_index());
    let units = params.values / UNIT_VALUES;
    let mut unit = thread;
    while unit < units {
        let batch: [[u32; 4]; IN_FLIGHT] = core::array::from_fn(|i| {
            // One of the units again, rather than none: so there is no branch.
            let later = unit + i as u64 * threads;
            t.load4(params.field, if later < units { later } else { unit })
        });
        for word in batch.as_flattened() {
            see(t, word & 0xffff);
            see(t, word >> 16);
        }
        unit += IN_FLIGHT as u64 * threads;
    }
    let last = units * UNIT_VALUES + thread;
    if last < params.values {
        see(t, t.load_half(params.field, last));
    }
}

/// Adds a value to the block's set.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn see<T: Thread>(t: T, value: u32) {
    let (word, bit) = (value / u32::BITS, 1 << (value % u32::BITS));
    if SHARED.0.atomic_load(t, word) & bit == 0 {
        SHARED.0.or(t, word, bit);
    }
}
