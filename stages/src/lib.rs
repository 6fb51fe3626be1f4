//! The interpolation predictor of ferrosz alone, for your own pipelines. It turns a field into codes, anchors and
//! outliers, and back, on CPUs and on NVIDIA GPUs. Its model is the stage of FZGPUModules, but its results are
//! deterministic and within the bound.
//!
//! ```
//! use ferrosz_stages::{Bound, CodeOrder, Decomposition, Interpolator, Recipe};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let field: Vec<f32> = (0..40 * 50 * 60).map(|i| (i as f32 * 0.01).sin()).collect();
//! let interpolator = Interpolator::new(Bound::range(1e-3)?)
//!     .extents(&[40, 50, 60])?
//!     .order(CodeOrder::Level);
//! let parts: Decomposition<f32, u16> = interpolator.decompose(&field)?;
//! // To be compressed by whatever you like.
//! let radius = parts.recipe.resolved.radius as u16;
//! assert!(parts.codes.iter().filter(|code| **code == radius).count() > field.len() / 2);
//! assert_eq!(parts.anchors.len(), 3 * 4 * 4);
//! let recipe = parts.recipe.to_bytes();
//!
//! let parts = Decomposition {
//!     recipe: Recipe::from_bytes(&recipe)?,
//!     ..parts
//! };
//! let decoded = parts.compose()?;
//! assert!(field.iter().zip(&decoded).all(|(x, y)| (x - y).abs() <= 2e-3));
//! # Ok(())
//! # }
//! ```
//!
//! Features: `cuda`, on by default, runs on NVIDIA GPUs; `emulator` runs the GPU kernels on the CPU. Each brings
//! `host`, the code that decomposes and composes fields. Without `host` there are the recipe and the kernels, for
//! targets without `std`.
#![cfg_attr(not(feature = "host"), no_std)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features), feature(abi_ptx))]
#![cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    allow(dead_code, reason = "no machine that runs kernels")
)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate alloc;

#[cfg(feature = "host")]
mod bands;
#[cfg(feature = "host")]
mod code;
#[cfg(feature = "host")]
pub mod container;
#[cfg(feature = "host")]
mod cpu;
#[cfg(feature = "host")]
mod decomposition;
#[cfg(feature = "cuda")]
mod device_memory;
#[cfg(feature = "cuda")]
mod device_pipeline;
#[cfg(feature = "host")]
mod devices;
#[cfg(feature = "host")]
mod error;
#[cfg(feature = "host")]
mod gpu;
#[cfg(feature = "host")]
mod interpolator;
pub mod kernels;
pub mod list;
mod order;
#[cfg(feature = "host")]
mod pipeline;
mod recipe;
#[cfg(feature = "host")]
mod rules;
#[cfg(feature = "host")]
pub mod stage;

#[cfg(feature = "host")]
pub use code::Code;
#[cfg(feature = "host")]
pub use decomposition::Decomposition;
#[cfg(feature = "host")]
pub use error::Error;
pub use ferrosz_codec::predict::interp::geometry::Geometry;
pub use ferrosz_codec::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
pub use ferrosz_codec::predict::interp::resolved::Resolved;
pub use ferrosz_codec::predict::interp::spline::Spline;
pub use ferrosz_codec::predict::interp::tune::{FlagChoice, Preference, TighteningChoice, Tuning};
pub use ferrosz_codec::{Bound, Dtype, Element, FormatError};
#[cfg(feature = "host")]
pub use ferrosz_host::Device;
#[cfg(feature = "host")]
pub use interpolator::Interpolator;
pub use order::{CodeLayout, CodeOrder};
#[cfg(feature = "host")]
pub use pipeline::{Pipeline, decompress};
pub use recipe::{CodeWidth, RECIPE_BYTES, Recipe};
#[cfg(feature = "host")]
pub use rules::{RadiusRule, TighteningRule};
#[cfg(feature = "host")]
pub use stage::{CodeFormat, Codes, MachineStage, Stage};

/// Device memory and CUDA streams of the caller: see [`PartsWorkspace`](cuda::PartsWorkspace) and
/// [`Pipeline::compress_device`].
#[cfg(feature = "cuda")]
pub mod cuda {
    pub use crate::device_memory::{DeviceParts, PartsWorkspace};
    pub use ferrosz_host::cuda::Gpu;
    #[doc(no_inline)]
    pub use ferrosz_host::cuda::cudarc;
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
