//! The ferrosz GPU kernels: how a thread block does what `ferrosz_codec` defines.
//!
//! Read [`ferrosz_simt`] first, then a kernel in [`kernel`]; both are short.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features), feature(abi_ptx))]

#[cfg(test)]
extern crate std;

pub mod bare;
pub mod code;
pub mod list;
#[cfg(feature = "ptx")]
pub mod machine_code;
pub mod pipeline;
pub mod predict;
pub mod primitives;
#[cfg(feature = "ptx")]
pub mod ptx;
pub mod quantize;
pub mod stages;
