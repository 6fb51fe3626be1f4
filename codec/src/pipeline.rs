//! The one list of codecs: name, number in the stream, predictor and coder.

use crate::predict::Predictor;
use crate::shape::Shape;
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
    /// Coded as `Outlier`, but predicted by all neighbours that come before.
    Lorenzo,
    /// Fixed-length coding of differences that run through the whole chunk, whose first code is
    /// stored apart: AATROX (ICS'25). Blocks are lines.
    Layered,
}

impl Codec {
    /// All codecs.
    pub const ALL: [Self; 5] = [
        Self::Fixed,
        Self::Plain,
        Self::Outlier,
        Self::Lorenzo,
        Self::Layered,
    ];

    /// Its number in the stream.
    pub const fn id(self) -> u8 {
        match self {
            Self::Fixed => 1,
            Self::Plain => 2,
            Self::Outlier => 3,
            Self::Lorenzo => 4,
            Self::Layered => 5,
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
            Self::Lorenzo => "lorenzo",
            Self::Layered => "layered",
        }
    }

    /// The codec of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }

    /// How codes are predicted.
    #[inline(always)]
    pub const fn predictor(self) -> Predictor {
        match self {
            Self::Fixed => Predictor::Zero,
            Self::Plain | Self::Outlier | Self::Layered => Predictor::Difference,
            Self::Lorenzo => Predictor::Lorenzo,
        }
    }

    /// Whether blocks may take the outlier form of [`crate::encode::rate::RateByte`].
    #[inline(always)]
    pub const fn stores_outliers(self) -> bool {
        matches!(self, Self::Outlier | Self::Lorenzo)
    }

    /// Whether the prediction runs from block to block through the chunk.
    #[inline(always)]
    pub const fn is_layered(self) -> bool {
        matches!(self, Self::Layered)
    }

    /// The most planes that a block can need.
    #[inline(always)]
    pub const fn max_planes(self) -> u32 {
        // Codes have less than 31 bits, so one-neighbour differences have less than 32.
        if matches!(self, Self::Lorenzo) {
            32
        } else {
            31
        }
    }

    /// Whether the codec takes blocks of this shape.
    pub const fn takes(self, shape: Shape) -> bool {
        !self.is_layered() || matches!(shape, Shape::Line)
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
/// [`Codec::Lorenzo`] as a type.
pub struct Lorenzo;
/// [`Codec::Layered`] as a type.
pub struct Layered;

impl StaticCodec for Fixed {
    const CODEC: Codec = Codec::Fixed;
}

impl StaticCodec for Plain {
    const CODEC: Codec = Codec::Plain;
}

impl StaticCodec for Outlier {
    const CODEC: Codec = Codec::Outlier;
}

impl StaticCodec for Lorenzo {
    const CODEC: Codec = Codec::Lorenzo;
}

impl StaticCodec for Layered {
    const CODEC: Codec = Codec::Layered;
}
