//! The CPU backend: chunks and tiles in parallel. Each file has the name of its definition in `ferrosz_codec`.

#[cfg(target_arch = "x86_64")]
mod avx2;
pub(crate) mod blocks;
pub mod code;
mod extremes;
mod families;
pub mod lanes;
pub(crate) mod mapping;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(crate) mod numbers;
pub(crate) mod output;
pub(crate) mod pool;
pub mod predict;
pub(crate) mod sink;
pub(crate) mod tiles;
mod version;
pub(crate) mod writer;

pub use families::extremes;
pub(crate) use families::{
    Read, ReadLevel, compress, resolve, take_back, with_level_reader, with_reader,
};
pub use version::Version;

/// Called with the number of elements done since the last call.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64) + Sync);
