//! Reads a whole buffer and stores almost nothing. Its time is the shortest in which memory can be read; other kernels
//! are compared with it.

use crate::PACKAGE;
use crate::pipeline::blocks::staged_chunk::UNIT_WORDS;
use ferrosz_simt::{Kernel, Package, Thread, View};

/// Adds up the words of a buffer. Launched with any number of blocks.
pub struct ReadAll;

/// Parameters of [`ReadAll`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReadAllParams {
    /// The buffer, 16-byte aligned.
    pub input: View<u32>,
    /// One cell. Its lower half is raised by the sum of all words, modulo 2^32.
    pub sum: View<u64>,
}

/// Threads in a block.
pub const THREADS: u32 = 256;

/// Units that a thread reads before it looks at the first.
pub const IN_FLIGHT: usize = 4;

impl Kernel for ReadAll {
    type Params = ReadAllParams;
    const NAME: &'static str = "ferrosz_read_all";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 8;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ReadAllParams) {
        // The sum does not depend on the order of its summands, and no word that is read can be left out of it.
        let warp_sum = t.reduce_add(Self::share(t, params.input));
        if t.lane() == 0 {
            t.atomic_add(params.sum, 0, u64::from(warp_sum));
        }
    }
}

impl ReadAll {
    /// The sum of this thread's share.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn share<T: Thread>(t: T, input: View<u32>) -> u32 {
        let units = input.len() / u64::from(UNIT_WORDS);
        let threads = u64::from(t.block_count()) * u64::from(THREADS);
        let thread = u64::from(t.block_index()) * u64::from(THREADS) + u64::from(t.thread_index());
        let mut sum = 0u32;
        let mut unit = thread;
        while unit + (IN_FLIGHT as u64 - 1) * threads < units {
            let batch: [[u32; 4]; IN_FLIGHT] =
                core::array::from_fn(|i| t.load4(input, unit + i as u64 * threads));
            for words in &batch {
                sum = add(sum, *words);
            }
            unit += IN_FLIGHT as u64 * threads;
        }
        while unit < units {
            sum = add(sum, t.load4(input, unit));
            unit += threads;
        }
        let word = units * u64::from(UNIT_WORDS) + thread;
        if word < input.len() {
            sum = sum.wrapping_add(t.load(input, word));
        }
        sum
    }
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn add(sum: u32, [a, b, c, d]: [u32; 4]) -> u32 {
    sum.wrapping_add(a.wrapping_add(b))
        .wrapping_add(c.wrapping_add(d))
}
