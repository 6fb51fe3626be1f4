//! A kernel of barriers and shared memory alone, as cuda_std 0.2.2 has no shuffles.

use ferrosz_simt::{Kernel, Layout, Shared, Thread, View};

/// Sums of 256 numbers each.
pub struct TreeSum;

/// The parameters of [`TreeSum`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Params {
    /// The numbers.
    pub numbers: View<f32>,
    /// A sum for each block.
    pub sums: View<f32>,
}

/// The shared memory of a block: a partial sum of each thread.
const SHARED: (Shared<f32>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("partial sums", TreeSum::THREADS), layout)
};

impl Kernel for TreeSum {
    type Params = Params;
    const NAME: &'static str = "tree_sum";
    const THREADS: u32 = 256;
    const SHARED_WORDS: u32 = SHARED.1.words();

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &Params) {
        let (partial, thread) = (SHARED.0, t.thread_index());
        let index = u64::from(t.block_index() * Self::THREADS + thread);
        let number = if index < params.numbers.len() {
            t.load_f32(params.numbers, index)
        } else {
            0.0
        };
        partial.store(t, thread, number);
        // In each round half as many threads add the sums of the other half.
        let mut half = Self::THREADS / 2;
        while half > 0 {
            t.barrier();
            if thread < half {
                let sum = partial.load(t, thread) + partial.load(t, thread + half);
                partial.store(t, thread, sum);
            }
            half /= 2;
        }
        if thread == 0 {
            let sum = partial.load(t, 0);
            t.store_f32(params.sums, u64::from(t.block_index()), sum);
        }
    }
}
