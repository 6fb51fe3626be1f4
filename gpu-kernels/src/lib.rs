//! The ferrosz GPU kernels: how a thread block does what `ferrosz_codec` defines.
//!
//! Read [`ferrosz_simt`] first, then a kernel in [`kernel`]; both are short.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features), feature(abi_ptx))]

#[cfg(test)]
extern crate std;

pub mod bits;
pub mod kernel;
pub mod list;
pub mod look_back;
#[cfg(feature = "ptx")]
pub mod machine_code;
#[cfg(feature = "ptx")]
pub mod ptx;
pub mod scan;
pub mod wide;
