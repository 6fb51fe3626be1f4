//! The second of three launches: lengths become positions.

use crate::PACKAGE;
use crate::pass::PassParams;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::primitives::scan::block_sum;
use ferrosz_simt::{Kernel, Layout, Package, Shared, Thread};

/// Adds up the lengths that [`measure`](crate::pass::measure) has left. Launched with one block.
pub struct ScanLengths;

const THREADS: u32 = 1024;
const WARPS: usize = THREADS as usize / 32;

/// Lengths of a thread in a round.
const EACH: u32 = 4;

const SHARED: (Shared<u32>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("sums", WARPS as u32), layout)
};

impl Kernel for ScanLengths {
    type Params = PassParams;
    const NAME: &'static str = "ferrosz_pass_scan_lengths";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 1;

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &PassParams) {
        let mut base = 0;
        let mut first = 0;
        // A tile's bodies are below 2^16 bytes, so that a round's sum has 32 bits.
        while first < params.tiles {
            let own = first + t.thread_index() * EACH;
            let lengths = [0, 1, 2, 3].map(|i| length(t, params, own + i));
            let [a, b, c, d] = lengths;
            let sums = block_sum::<T, WARPS>(t, a + b + c + d, SHARED.0);
            let start = base + u64::from(sums.before);
            let starts = [0, a, a + b, a + b + c];
            for i in 0..EACH {
                if own + i < params.tiles {
                    let at = cells::STATES + u64::from(own + i);
                    t.store_u64(params.cells, at, start + u64::from(starts[i as usize]));
                }
            }
            base += u64::from(sums.total);
            first += THREADS * EACH;
            t.barrier();
        }
    }
}

/// The length of a tile's bodies; none if there is no such tile.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn length<T: Thread>(t: T, params: &PassParams, tile: u32) -> u32 {
    if tile < params.tiles {
        t.load_u64(params.cells, params.lengths() + u64::from(tile)) as u32
    } else {
        0
    }
}
