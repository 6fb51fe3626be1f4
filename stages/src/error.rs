//! The errors of the library.

use thiserror::Error;

/// An error of the decomposition of a field into parts, or of its composition from them.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The parts of a decomposition do not fit each other.
    #[error("the parts of a field do not fit each other: {0}")]
    BadDecomposition(&'static str),
    /// A radius that the requested type of codes cannot have.
    #[error("the radius {radius} is not from 1 to {most}, the largest for codes of this type")]
    BadRadius {
        /// The radius.
        radius: u32,
        /// The largest.
        most: u32,
    },
    /// A tuning without candidates, or with a factor below 1.
    #[error("the tuning has no candidates, or divides the bound of a level by less than 1")]
    BadTuning,
    /// A bound relative to each value, which needs logarithms.
    #[error(
        "the bound is relative to each value; interpolate logarithms within an absolute bound instead"
    )]
    PointwiseBound,
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
        Self::BadDecomposition("the outliers are not at the positions whose code is 0");
}
