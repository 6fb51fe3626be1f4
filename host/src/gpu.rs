//! Machines that run kernels, and the order of the kernels, which is the same for all machines.

pub(crate) mod batch;
pub(crate) mod blocks;
#[cfg(any(feature = "cuda", all(test, feature = "emulator")))]
pub(crate) mod boxes;
#[cfg(feature = "cuda")]
pub(crate) mod census;
#[cfg(feature = "cuda")]
pub(crate) mod driver;
pub(crate) mod executor;
pub(crate) mod host_slices;
pub(crate) mod job;
pub(crate) mod mapping;
#[cfg(feature = "cuda")]
pub(crate) mod measures;
pub(crate) mod resolve;
pub(crate) mod tiles;
