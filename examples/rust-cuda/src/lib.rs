#![doc = include_str!("../README.md")]
#![cfg_attr(target_os = "cuda", no_std)]

mod cuda_std_thread;
mod missing;
mod tree_sum;

pub use cuda_std_thread::CudaStdThread;
pub use tree_sum::{Params, TreeSum};

use ferrosz_simt::Kernel;

/// The code of a thread of [`TreeSum`], by cuda_std.
#[cfg_attr(not(target_os = "cuda"), allow(dead_code))]
fn run(params: &Params) {
    TreeSum::run(CudaStdThread, params);
}

/// The entry point on a GPU.
///
/// # Safety
///
/// As for every kernel: `params` must be valid for the launch, as [`View::new`](ferrosz_simt::View::new) says.
#[cfg(target_os = "cuda")]
#[cuda_std::kernel]
pub unsafe fn tree_sum(params: Params) {
    run(&params);
}
