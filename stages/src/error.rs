//! The errors of the library.

use crate::container::PartName;
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
    /// A number that no mode of FZGPUModules' stage has.
    #[error("{0} is not the number of a mode, 0 to 5")]
    UnknownMode(u32),
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
    /// A stage cannot encode codes, or cannot decode bytes.
    #[error("stage {stage}: {reason}")]
    Stage {
        /// The name of the stage.
        stage: String,
        /// What is wrong.
        reason: String,
    },
    /// A name that no stage can have.
    #[error("'{0}' is not the name of a stage: it must have 1 to 32 bytes, none of them zero")]
    BadStageName(String),
    /// A container has codes of a stage that the reader does not know.
    #[error("the stage '{0}' is unknown here; give it to the reader")]
    UnknownStage(String),
    /// A part of a container is not as its writer left it.
    #[error("{part} of the container: {reason}")]
    DamagedPart {
        /// The part: header, codes, anchors or outliers.
        part: PartName,
        /// What is wrong.
        reason: &'static str,
    },
    /// A rule that must see the field on the host first.
    #[error("{0} needs the field in host memory; give the number itself for device memory")]
    NeedsHostField(&'static str),
    /// Extents, memory, a device, or a buffer is not as it must be.
    #[error(transparent)]
    Ferrosz(#[from] ferrosz_host::Error),
}

impl Error {
    /// The error of a stage of this name.
    pub fn stage(stage: &str, reason: impl Into<String>) -> Self {
        Self::Stage {
            stage: stage.to_owned(),
            reason: reason.into(),
        }
    }

    /// The same error, which bytes of a stage of this name have led to.
    pub(crate) fn of_stage(self, stage: &str) -> Self {
        match self {
            Self::BadDecomposition(_) | Self::Ferrosz(ferrosz_host::Error::Format(_)) => {
                Self::stage(stage, self.to_string())
            }
            error => error,
        }
    }

    /// Too few codes, or too many.
    pub(crate) const CODE_COUNT: Self =
        Self::BadDecomposition("the number of codes is not the number of the field's elements");

    /// A code that no radius allows, whichever machine finds it.
    pub(crate) const BAD_CODE: Self =
        Self::BadDecomposition("a code is not below twice the radius");

    /// Outliers that are too many, too few, or elsewhere.
    pub(crate) const BAD_OUTLIERS: Self =
        Self::BadDecomposition("the outliers are not at the positions whose code is 0");
}
