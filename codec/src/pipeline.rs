//! The one list of codecs: name, number in the stream, predictor and coder.

use core::fmt;

/// A codec of the ferrosz container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Fixed-length coding of the codes themselves.
    Fixed,
    /// Fixed-length coding of one-neighbour differences.
    Plain,
    /// As `Plain`, with a block's first difference stored apart where that is shorter.
    Outlier,
}

impl Codec {
    /// All codecs.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Plain, Self::Outlier];

    /// Its number in the stream.
    pub const fn id(self) -> u8 {
        match self {
            Self::Fixed => 1,
            Self::Plain => 2,
            Self::Outlier => 3,
        }
    }

    /// The codec of this number in the stream.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.id() == id)
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Plain => "plain",
            Self::Outlier => "outlier",
        }
    }

    /// The codec of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }

    /// Whether codes are predicted by [`crate::predict::difference`].
    pub const fn predicts(self) -> bool {
        !matches!(self, Self::Fixed)
    }

    /// Whether blocks may take the outlier form of [`crate::encode::rate::RateByte`].
    pub const fn stores_outliers(self) -> bool {
        matches!(self, Self::Outlier)
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A codec as a type, for code that is compiled once for each.
pub trait StaticCodec: 'static {
    /// Which codec it is.
    const CODEC: Codec;
}

/// [`Codec::Fixed`] as a type.
pub struct Fixed;
/// [`Codec::Plain`] as a type.
pub struct Plain;
/// [`Codec::Outlier`] as a type.
pub struct Outlier;

impl StaticCodec for Fixed {
    const CODEC: Codec = Codec::Fixed;
}

impl StaticCodec for Plain {
    const CODEC: Codec = Codec::Plain;
}

impl StaticCodec for Outlier {
    const CODEC: Codec = Codec::Outlier;
}
