//! The CPU backend: the codec's own functions, chunks in parallel.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod compress;
mod decompress;
mod extremes;
mod version;

pub(crate) use compress::{Sink, compress, extremes, resolve};
pub(crate) use decompress::{ChunkDecoder, Output, decompress};
pub use version::Version;

/// Told how many more elements are done.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64) + Sync);
