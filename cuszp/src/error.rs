//! The errors of calls on a device.

use crate::aatrox::error::AatroxError;
use crate::bound::ErrorFault;
use crate::cuszp::error::CuszpError;
use crate::part::PartError;
use core::ops::Range;
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
    /// Values that are not as many as the positions of some blocks or layers.
    #[error("{found} values for blocks or layers of {needed} positions")]
    ElementCount {
        /// Positions.
        needed: u64,
        /// Values.
        found: u64,
    },
    /// Blocks, or layers of AATROX, that the stream does not have.
    #[error("{}..{} are not blocks or layers of a stream that has {all}", units.start, units.end)]
    NoUnits {
        /// The range.
        units: Range<u32>,
        /// Blocks of the stream, of AATROX's layers.
        all: u32,
    },
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
