//! Machines that run kernels, and the order of the kernels, which is the same for all machines.

pub(crate) mod batch;
#[cfg(feature = "cuda")]
mod block_sizes;
pub(crate) mod blocks;
#[cfg(any(feature = "cuda", all(test, feature = "emulator")))]
pub(crate) mod boxes;
#[cfg(feature = "cuda")]
#[cfg(feature = "cuda")]
pub(crate) mod driver;
pub(crate) mod executor;
#[cfg(feature = "cuda")]
mod groups;
pub(crate) mod host_slices;
pub(crate) mod in_memory;
pub(crate) mod job;
#[cfg(feature = "cuda")]
mod leavings;
pub(crate) mod level;
pub(crate) mod mapping;
pub(crate) mod resolve;
pub(crate) mod safeguards;
#[cfg(feature = "cuda")]
pub(crate) mod sample;
pub(crate) mod tiles;
#[cfg(any(feature = "cuda", all(test, feature = "emulator")))]
pub(crate) mod update;
#[cfg(feature = "cuda")]
pub(crate) mod weights;
