//! GPU kernels in Rust, written once for two machines.
//!
//! A kernel is the code of *one thread*, as in CUDA, generic over [`Thread`]. On an NVIDIA GPU (`ptx`, when compiled for
//! `nvptx64-nvidia-cuda`) a thread is a zero-sized value whose methods are one instruction each. On the CPU (`emulator`, a
//! feature) every thread is a coroutine, and each method checks what the hardware would not: collectives that only a
//! part of a warp reaches, races, accesses outside of their memory, endless spins. A program that compiles kernels to PTX
//! has the module `build`, a feature, for it.
//!
//! Shared memory is a [`Layout`] of typed arrays ([`Shared`]), global memory is seen through a [`View`]; both know their
//! lengths on the emulator.
#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    allow(internal_features),
    feature(asm_experimental_arch, link_llvm_intrinsics, stdarch_nvptx)
)]

#[cfg(any(feature = "emulator", feature = "build"))]
extern crate std;

#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "emulator")]
pub mod emulator;
mod kernel;
mod launch;
mod name;
mod package;
#[cfg(target_arch = "nvptx64")]
pub mod ptx;
mod shared;
pub mod thread;
mod view;

pub use kernel::Kernel;
pub use launch::Launch;
pub use name::Name;
pub use package::Package;
pub use shared::{Layout, Shared, SharedAddress, SharedElement};
pub use thread::{
    Atomics, BitInstructions, Collectives, GlobalMemory, Ids, SharedMemory, Thread, Tune,
};
pub use view::View;

/// All traits of a thread, for code that names its machine. What is generic over [`Thread`] needs none of them.
pub mod prelude {
    pub use crate::thread::{
        Atomics, BitInstructions, Collectives, GlobalMemory, Ids, SharedMemory, Thread, Tune,
    };
}

/// Threads in a warp.
pub const WARP: u32 = 32;
