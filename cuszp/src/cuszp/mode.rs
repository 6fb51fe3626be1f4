//! The modes: how differences are made and stored.

use ferrosz_codec::predict::Predictor;

/// The prediction and storage of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The codes themselves.
    Fixed,
    /// Differences of neighbours; in 1D this is cuSZp2-P.
    Plain,
    /// As plain, but a block's first difference is stored separately where that is shorter; in 1D this is cuSZp2-O.
    Outlier,
}

impl Mode {
    /// All modes, in the order of cuSZp's numbers for them since version 3.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Plain, Self::Outlier];

    /// The name on cuSZp's command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Plain => "plain",
            Self::Outlier => "outlier",
        }
    }

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// The predictor of the codes.
    #[inline(always)]
    pub const fn predictor(self) -> Predictor {
        match self {
            Self::Fixed => Predictor::Zero,
            Self::Plain | Self::Outlier => Predictor::Difference,
        }
    }
}
