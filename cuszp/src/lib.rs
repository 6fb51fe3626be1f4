//! Streams of cuSZp and of AATROX: read and written to the byte, on CPUs and on NVIDIA GPUs.
//!
//! The streams have no header: both sides must be given the same parameters. They also have cuSZp's limits: the bound is
//! not guaranteed, and there are no checksums. Unless you need these streams, use the crate `ferrosz`.
//!
//! ```
//! use ferrosz_cuszp::Shape;
//! use ferrosz_cuszp::cuszp::{self, CuszpError, Mode, Params};
//!
//! # fn main() -> Result<(), CuszpError> {
//! let field: Vec<f32> = (0..20 * 30 * 40).map(|i| (i as f32 * 0.01).sin()).collect();
//! let params = Params::new(Shape::Cube, Mode::Outlier, [20, 30, 40], 1e-3);
//! let stream = cuszp::compress(&Params { strict: true, ..params }, &field)?;
//! let back: Vec<f32> = cuszp::decompress(&params, &stream)?;
//! assert!(field.iter().zip(&back).all(|(x, y)| (x - y).abs() <= 1.001e-3));
//! # Ok(())
//! # }
//! ```
//!
//! ```
//! use ferrosz_cuszp::aatrox::{self, AatroxError, Params};
//!
//! # fn main() -> Result<(), AatroxError> {
//! let field: Vec<f32> = (0..100_000).map(|i| (i as f32 * 0.001).sin()).collect();
//! let params = Params { elements: 100_000, error: 1e-3 };
//! let stream = aatrox::compress(&params, &field)?;
//! let back: Vec<f32> = aatrox::decompress(&params, &stream)?;
//! assert!(field.iter().zip(&back).all(|(x, y)| (x - y).abs() <= 1.001e-3));
//! # Ok(())
//! # }
//! ```
//!
//! Features: `cuda`, on by default, runs on NVIDIA GPUs; `emulator` runs the GPU kernels on the CPU. Each brings
//! `host`, the code that reads and writes streams. Without `host` there are the definitions of the formats and the
//! kernels, for targets without `std`.
#![cfg_attr(not(feature = "host"), no_std)]
#![cfg_attr(
    all(target_arch = "nvptx64", feature = "entries"),
    allow(internal_features),
    feature(abi_ptx)
)]
#![cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    allow(dead_code, reason = "no machine that runs kernels")
)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate alloc;

pub mod aatrox;
mod bare;
#[cfg(feature = "host")]
pub mod bound;
pub mod cuszp;
#[cfg(feature = "cuda")]
mod device_memory;
#[cfg(feature = "host")]
mod error;
pub mod kernels;
#[cfg(any(not(target_arch = "nvptx64"), feature = "entries"))]
pub mod list;
#[cfg(feature = "host")]
pub mod outline;
#[cfg(feature = "host")]
mod part;
#[cfg(feature = "host")]
mod stream;

pub use bare::Bare;
#[cfg(feature = "host")]
pub use error::Error;
#[cfg(feature = "host")]
pub use ferrosz_codec::{Bound, BoundMode};
pub use ferrosz_codec::{Dtype, Element, Shape};
#[cfg(feature = "host")]
pub use ferrosz_host::Device;
#[cfg(feature = "host")]
pub use part::{Part, PartError};

/// Device memory and CUDA streams of the caller: see [`Bare::compress`].
#[cfg(feature = "cuda")]
pub mod cuda {
    #[doc(no_inline)]
    pub use ferrosz_host::cuda::cudarc;
    pub use ferrosz_host::cuda::{Gpu, Workspace};
}

/// The compiled code of the kernels; nothing without the feature `cuda`.
pub const PACKAGE: ferrosz_simt::Package = {
    let package: ferrosz_simt::Package = include!(concat!(env!("OUT_DIR"), "/package.rs"));
    #[cfg(all(feature = "emulator", not(test)))]
    let package = package.with_emulated(list::emulated);
    package
};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
