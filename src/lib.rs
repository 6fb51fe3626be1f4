//! Error-bounded lossy compression of scientific arrays (`f32`, `f64`, half precision, and integers of 16 and 32 bits), on
//! NVIDIA GPUs and on CPUs with the same bytes. The bound is kept exactly for every finite value; NaNs and infinities come back bit for bit.
//!
//! ```
//! use ferrosz::{Bound, Codec, Compressor, Decompressor};
//!
//! // A wave, 60 x 100, slowest dimension first.
//! let field: Vec<f32> = (0..6000).map(|i| (i as f32 * 0.01).sin()).collect();
//! let compressor = Compressor::new(Codec::PLAIN, Bound::abs(1e-3)?).extents(&[60, 100])?;
//! let stream = compressor.compress(&field)?;
//! let back: Vec<f32> = Decompressor::new().decompress(&stream)?;
//! assert!(field.iter().zip(&back).all(|(x, y)| (x - y).abs() <= 1e-3));
//! # Ok::<(), ferrosz::Error>(())
//! ```
//!
//! * [`Compressor`] and [`Decompressor`] work on slices, wherever [`Device`] says.
//! * [`Part`] names a part of a field, to be decompressed or, by [`stream::Update`], to be replaced alone.
//! * [`stream`] has streams far away, damaged or updated, [`target`] what a stream is to reach, [`parts`] fields whose
//!   parts several processes have, and [`windows`] fields that travel.
//! * `cuda` (with the feature `cuda`) works on device memory and on CUDA streams of the caller.
//!
//! The crate `ferrosz-cuszp` reads and writes the streams of cuSZp and AATROX; `ferrosz-stages` has the interpolation
//! predictor alone, for your own pipelines.
//!
//! Features: `cuda`, on by default, runs on NVIDIA GPUs; the driver is loaded at run time, nothing of CUDA is needed to
//! build. `emulator` runs the GPU kernels on the CPU, for tests of GPU code without a GPU. Without either, the library
//! compiles for any target that has `std`.
//!
//! The [repository] describes its purpose, its speed and its tests.
//!
//! [repository]: https://github.com/ferrosz/ferrosz

pub use ferrosz_host::*;

/// Compression and decompression of device memory, on a stream of the caller's: see [`Gpu`](cuda::Gpu), and the
/// [example](https://github.com/ferrosz/ferrosz/blob/main/examples/device_memory.rs).
///
/// The names are listed, not taken by a glob, so that the pages of `cudarc` stay its own.
#[cfg(feature = "cuda")]
pub mod cuda {
    #[doc(no_inline)]
    pub use ferrosz_host::cuda::cudarc;
    pub use ferrosz_host::cuda::{
        AtAddress, BatchCompression, BatchDecompression, FieldChoice, Gpu, Packed, PinnedMemory,
        Slabs, Transfer, Workspace, batch_fault, release_memory,
    };
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Those of the book's page for Rust.
#[cfg(doctest)]
#[doc = include_str!("../docs/book/rust.md")]
struct BookRust;

/// Those of the page for authors of kernels, whose crate has no other name for this one.
#[cfg(doctest)]
#[doc = include_str!("../host/README.md")]
struct HostReadme;
