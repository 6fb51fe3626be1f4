//! Machines that run kernels: the order of the kernels, written once for all of them.

pub(crate) mod blocks;
#[cfg(feature = "cuda")]
pub(crate) mod driver;
pub(crate) mod executor;
pub(crate) mod job;
pub(crate) mod resolve;
pub(crate) mod tiles;
