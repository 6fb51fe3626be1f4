//! All that can go wrong on a device.

use crate::aatrox::error::AatroxError;
use crate::cuszp::error::CuszpError;
use thiserror::Error;

/// Why a stream is not read or written.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A stream of cuSZp's cannot be read or written.
    #[error(transparent)]
    Cuszp(#[from] CuszpError),
    /// A bare stream of AATROX's cannot be read or written.
    #[error(transparent)]
    Aatrox(#[from] AatroxError),
    /// No kernel makes the checks of the strict encoder of cuSZp's streams.
    #[error("a strict encoder works on host slices, not on device memory")]
    StrictOnDevice,
    /// Memory, a device, or a buffer is not as it must be.
    #[error(transparent)]
    Ferrosz(#[from] ferrosz_host::Error),
}
