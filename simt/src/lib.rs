//! GPU kernels in Rust, written once for two machines.
//!
//! A kernel is the code of *one thread*, as in CUDA, generic over [`Thread`]. On an NVIDIA GPU (module `ptx`, when
//! compiled for `nvptx64-nvidia-cuda`) a thread is a zero-sized value, and each of its methods is one instruction. On
//! the CPU (module `emulator`, behind a feature) every thread is a coroutine, and each method checks rules that the
//! hardware does not check: collectives that only a part of a warp reaches, races, accesses out of bounds, endless
//! spins. The module `build`, behind a feature, compiles kernels to PTX.
//!
//! Shared memory is a [`Layout`] of typed arrays ([`Shared`]), global memory is seen through a [`View`]; both know their
//! lengths on the emulator.
#![no_std]
#![cfg_attr(
    all(target_arch = "nvptx64", not(feature = "foreign-thread")),
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
#[cfg(all(target_arch = "nvptx64", not(feature = "foreign-thread")))]
pub mod ptx;
mod shared;
mod shared_address;
pub mod thread;
mod view;

pub use kernel::Kernel;
pub use launch::Launch;
pub use name::Name;
pub use package::Package;
pub use shared::{Layout, Shared, SharedElement};
pub use shared_address::SharedAddress;
pub use thread::{
    Atomics, BitInstructions, Collectives, GlobalMemory, HalfInstructions, Ids, SharedMemory,
    Thread, Tune,
};
pub use view::View;

/// All traits of a thread, for code with a concrete thread type. Code that is generic over [`Thread`] needs no import.
pub mod prelude {
    pub use crate::thread::{
        Atomics, BitInstructions, Collectives, GlobalMemory, HalfInstructions, Ids, SharedMemory,
        Thread, Tune,
    };
}

/// Threads in a warp.
pub const WARP: u32 = 32;
