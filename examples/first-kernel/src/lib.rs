#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features), feature(abi_ptx))]

use ferrosz_simt::{Kernel, Layout, Shared, Thread, View, WARP};

/// Sums of 256 numbers each.
///
/// `HAS_BARRIER` is false only in the test that plants a race: without the barrier, warp 0 may read sums that other
/// warps have not written yet.
pub struct BlockSum<const HAS_BARRIER: bool = true>;

/// The parameters of [`BlockSum`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Params {
    /// The numbers.
    pub numbers: View<f32>,
    /// A sum for each block.
    pub sums: View<f32>,
}

/// Warps of a block.
const WARPS: u32 = BlockSum::<true>::THREADS / WARP;

/// The shared memory of a block: a sum of each warp.
const SHARED: (Shared<f32>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("sums of warps", WARPS), layout)
};

impl<const HAS_BARRIER: bool> Kernel for BlockSum<HAS_BARRIER> {
    type Params = Params;
    const NAME: &'static str = "block_sum";
    const THREADS: u32 = 256;
    const SHARED_WORDS: u32 = SHARED.1.words();

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &Params) {
        // 1. Each thread loads one number; beyond the last one, 0.
        let index = u64::from(t.block_index() * Self::THREADS + t.thread_index());
        let number = if index < params.numbers.len() {
            t.load_f32(params.numbers, index)
        } else {
            0.0
        };
        // 2. Each warp sums its 32 numbers, and stores the sum in shared memory.
        let sum = warp_sum(t, number);
        if t.lane() == 0 {
            SHARED.0.store(t, t.warp(), sum);
        }
        if HAS_BARRIER {
            t.barrier();
        }
        // 3. The first warp sums the sums of all warps.
        if t.warp() == 0 {
            let of_warp = if t.lane() < WARPS {
                SHARED.0.load(t, t.lane())
            } else {
                0.0
            };
            let sum = warp_sum(t, of_warp);
            if t.lane() == 0 {
                t.store_f32(params.sums, u64::from(t.block_index()), sum);
            }
        }
    }
}

/// The sum of a warp's numbers, in lane 0: halves of the warp are added until one lane is left.
#[inline(always)]
fn warp_sum<T: Thread>(t: T, number: f32) -> f32 {
    let mut sum = number;
    for distance in [16, 8, 4, 2, 1] {
        sum += f32::from_bits(t.shuffle_down(sum.to_bits(), distance));
    }
    sum
}

/// The entry point on a GPU.
///
/// # Safety
///
/// As for every kernel: `params` must be valid for the launch, as [`View::new`] says.
#[cfg(target_arch = "nvptx64")]
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn block_sum(params: Params) {
    BlockSum::<true>::run(ferrosz_simt::ptx::PtxThread, &params);
}
