//! The ferrosz GPU kernels: a thread block carries out the steps that `ferrosz_codec` defines.
//!
//! Read [`ferrosz_simt`] first, then a kernel, such as [`predict::tile_lorenzo`]; both are short.
#![no_std]
#![cfg_attr(
    all(target_arch = "nvptx64", feature = "entries"),
    allow(internal_features),
    feature(abi_ptx)
)]

#[cfg(any(test, not(target_arch = "nvptx64")))]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod choice;
pub mod code;
pub mod entries;
#[cfg(any(not(target_arch = "nvptx64"), feature = "entries"))]
pub mod list;
pub mod mapping;
mod package;
pub mod pipeline;
pub mod predict;
pub mod primitives;
pub mod quantize;
pub mod safeguard;

pub use package::PACKAGE;
