//! All that can go wrong.

use thiserror::Error;

/// Why a field is not taken apart, or not put together.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The parts of a decomposition do not fit each other.
    #[error("the parts of a field do not fit each other: {0}")]
    BadDecomposition(&'static str),
    /// A radius that codes of the type asked for cannot have.
    #[error("the radius {radius} is not from 1 to {most}, as codes of this type have it")]
    BadRadius {
        /// The radius.
        radius: u32,
        /// The largest.
        most: u32,
    },
    /// A tuning that nothing can come of.
    #[error("the tuning chooses from nothing, or levels' bounds are divided by less than 1")]
    BadTuning,
    /// A value base that is negative or not finite.
    #[error("a bound cannot be relative to {0}: it must be finite and not negative")]
    BadValueBase(f64),
    /// A workspace belongs to a field of other extents.
    #[error("the workspace was made for a field of other extents")]
    WorkspaceGrid,
    /// Extents, memory, a device, or a buffer is not as it must be.
    #[error(transparent)]
    Ferrosz(#[from] ferrosz_host::Error),
}

impl Error {
    /// A code that no radius allows, whichever machine finds it.
    pub(crate) const BAD_CODE: Self =
        Self::BadDecomposition("a code is not below twice the radius");

    /// Outliers that are too many, too few, or elsewhere.
    pub(crate) const BAD_OUTLIERS: Self =
        Self::BadDecomposition("the outliers are not those that codes of 0 ask for");
}
