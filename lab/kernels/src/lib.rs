//! Kernels for the ablations of papers, which `ferrosz-lab ablations` times: a pass of cuSZp2 with one part of its design
//! replaced at a time ([`pass`]), and AATROX's layers, each by one warp ([`layer`]). All make streams that the CPU
//! makes, too. No library of ferrosz has them.
//!
//! A field has whole [layers](ferrosz_cuszp::aatrox::LAYER) of 32,768 elements, so that no kernel knows an end.
#![cfg_attr(not(feature = "host"), no_std)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features), feature(abi_ptx))]
#![cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    allow(dead_code, reason = "no machine that runs kernels")
)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate alloc;

mod elements;
#[cfg(feature = "host")]
pub mod job;
pub mod layer;
pub mod list;
#[cfg(feature = "host")]
pub mod long_blocks;
pub mod pass;

/// The compiled code of the kernels; nothing without the feature `cuda`.
pub const PACKAGE: ferrosz_simt::Package = {
    let package: ferrosz_simt::Package = include!(concat!(env!("OUT_DIR"), "/package.rs"));
    #[cfg(all(feature = "emulator", not(test)))]
    let package = package.with_emulated(list::emulated);
    package
};
