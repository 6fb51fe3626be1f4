//! The errors of this crate.

use ferrosz::cuda::cudarc::driver::DriverError;

/// An error of a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// ferrosz refuses the call, or a kernel failed.
    #[error(transparent)]
    Ferrosz(#[from] ferrosz::Error),
    /// The driver refuses a call that asks for the stream's context.
    #[error("the stream's context is not known: {0}")]
    Driver(#[from] DriverError),
    /// The stream belongs to another context than the primary one of the GPU.
    #[error(
        "the stream is not of the primary context of GPU {ordinal}: make the context with `cust::quick_init` or \
         `cust::context::Context::new`, not with `cust::context::legacy`"
    )]
    OtherContext {
        /// The number of the GPU.
        ordinal: usize,
    },
}
