//! The errors of calls on a device.

use crate::aatrox::error::AatroxError;
use crate::bound::ErrorFault;
use crate::cuszp::error::CuszpError;
use crate::part::PartError;
use thiserror::Error;

/// An error that prevents the reading or writing of a stream.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A stream of cuSZp's cannot be read or written.
    #[error(transparent)]
    Cuszp(#[from] CuszpError),
    /// A bare stream of AATROX's cannot be read or written.
    #[error(transparent)]
    Aatrox(#[from] AatroxError),
    /// The strict encoder of cuSZp's streams was called on device memory. No kernel makes its checks.
    #[error("the strict encoder works on host slices, not on device memory")]
    StrictOnDevice,
    /// Ranges that are no part of an array.
    #[error(transparent)]
    Part(#[from] PartError),
    /// A bound that gives an array no error.
    #[error(transparent)]
    Bound(#[from] ErrorFault),
    /// An error of memory, a device or a buffer.
    #[error(transparent)]
    Ferrosz(#[from] ferrosz_host::Error),
}
