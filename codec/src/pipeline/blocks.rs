//! The codecs of blocks: fixed-length coding of blocks of 32 or 64 codes.

use crate::pipeline::{Codec, CodecId};
use crate::predict::block::Predictor;
use crate::shape::Shape;

/// A codec of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockCodec {
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

/// Numbers of predictors in the stream; those of blocks are below 16.
mod predictor_id {
    pub const NONE: u8 = 1;
    pub const DIFFERENCE: u8 = 2;
    pub const LORENZO: u8 = 3;
    pub const LAYER: u8 = 4;
}

/// Numbers of coders in the stream; those of blocks are below 16.
mod coder_id {
    pub const FIXED_LENGTH: u8 = 1;
    pub const FIXED_LENGTH_WITH_OUTLIERS: u8 = 2;
}

impl BlockCodec {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Fixed,
        Self::Plain,
        Self::Outlier,
        Self::Lorenzo,
        Self::Layered,
    ];

    /// The codec at a position of [`BlockCodec::ALL`], for kernels: no table in memory.
    #[inline(always)]
    pub const fn at(position: u32) -> Option<Self> {
        Some(match position {
            0 => Self::Fixed,
            1 => Self::Plain,
            2 => Self::Outlier,
            3 => Self::Lorenzo,
            4 => Self::Layered,
            _ => return None,
        })
    }

    /// Its position in [`BlockCodec::ALL`].
    pub const fn position(self) -> u32 {
        self as u32
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        Codec::Blocks(self).name()
    }

    /// The numbers of its predictor and its coder in the stream (FORMAT.md, section 1), which never change.
    pub const fn id(self) -> CodecId {
        let (predictor, coder) = match self {
            Self::Fixed => (predictor_id::NONE, coder_id::FIXED_LENGTH),
            Self::Plain => (predictor_id::DIFFERENCE, coder_id::FIXED_LENGTH),
            Self::Outlier => (
                predictor_id::DIFFERENCE,
                coder_id::FIXED_LENGTH_WITH_OUTLIERS,
            ),
            Self::Lorenzo => (predictor_id::LORENZO, coder_id::FIXED_LENGTH_WITH_OUTLIERS),
            Self::Layered => (predictor_id::LAYER, coder_id::FIXED_LENGTH),
        };
        CodecId { predictor, coder }
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

    /// Whether blocks may take the outlier form of [`crate::code::fixed_length::rate::RateByte`].
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

    /// The codec of which the bytes are the same in blocks of this shape, and whose kernels there are: in a line the
    /// Lorenzo predictor is the one-neighbour difference.
    pub const fn in_shape(self, shape: Shape) -> Self {
        match (self, shape) {
            (Self::Lorenzo, Shape::Line) => Self::Outlier,
            (codec, _) => codec,
        }
    }

    /// Whether the codec takes blocks of this shape.
    pub const fn takes(self, shape: Shape) -> bool {
        !self.is_layered() || matches!(shape, Shape::Line)
    }
}

/// An expression in which `C` is the type of a codec of blocks that is known only when the program runs.
#[macro_export]
macro_rules! with_block_codec {
    ($codec:expr, $C:ident => $body:expr) => {
        match $codec {
            $crate::pipeline::BlockCodec::Fixed => {
                type $C = $crate::pipeline::Fixed;
                $body
            }
            $crate::pipeline::BlockCodec::Plain => {
                type $C = $crate::pipeline::Plain;
                $body
            }
            $crate::pipeline::BlockCodec::Outlier => {
                type $C = $crate::pipeline::Outlier;
                $body
            }
            $crate::pipeline::BlockCodec::Lorenzo => {
                type $C = $crate::pipeline::Lorenzo;
                $body
            }
            $crate::pipeline::BlockCodec::Layered => {
                type $C = $crate::pipeline::Layered;
                $body
            }
        }
    };
}

/// A codec of blocks as a type, for code that is compiled once for each.
pub trait StaticCodec: 'static {
    /// Which codec it is.
    const CODEC: BlockCodec;
}

/// [`BlockCodec::Fixed`] as a type.
pub struct Fixed;
/// [`BlockCodec::Plain`] as a type.
pub struct Plain;
/// [`BlockCodec::Outlier`] as a type.
pub struct Outlier;
/// [`BlockCodec::Lorenzo`] as a type.
pub struct Lorenzo;
/// [`BlockCodec::Layered`] as a type.
pub struct Layered;

impl StaticCodec for Fixed {
    const CODEC: BlockCodec = BlockCodec::Fixed;
}

impl StaticCodec for Plain {
    const CODEC: BlockCodec = BlockCodec::Plain;
}

impl StaticCodec for Outlier {
    const CODEC: BlockCodec = BlockCodec::Outlier;
}

impl StaticCodec for Lorenzo {
    const CODEC: BlockCodec = BlockCodec::Lorenzo;
}

impl StaticCodec for Layered {
    const CODEC: BlockCodec = BlockCodec::Layered;
}
