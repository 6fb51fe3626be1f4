//! The one list of codecs: name, predictor and coder, and their numbers in the stream.

use crate::interp::geometry::Geometry;
use crate::predict::Predictor;
use crate::shape::Shape;
use crate::tile::TileOrder;
use core::fmt;

mod names;

pub use names::UnknownCodecName;

/// A codec of the ferrosz container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
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
    /// A predictor of tiles, and a coder with statistics of the whole field.
    Tiles(TileCodec),
}

/// What predicts the places of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TilePredictor {
    /// All neighbours that come before in the tile: cuSZ's.
    Lorenzo,
    /// Splines between anchors: cuSZ-i's and cuSZ-Hi's.
    Interp(Geometry),
}

/// What makes bits of a tile's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TileCoder {
    /// rANS on 32 lanes.
    Rans,
    /// Huffman on 32 lanes.
    Huffman,
    /// Bit planes without their zero words.
    BitPlane,
}

/// A predictor of tiles and a coder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TileCodec {
    /// The predictor.
    pub predictor: TilePredictor,
    /// The coder.
    pub coder: TileCoder,
}

/// The bytes of the stream that name predictor and coder: FORMAT.md, section 1. They never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CodecId {
    /// The predictor's number.
    pub predictor: u8,
    /// The coder's number.
    pub coder: u8,
}

/// Numbers of predictors in the stream. Those from 16 on are of tiles.
mod predictor_id {
    pub const NONE: u8 = 1;
    pub const DIFFERENCE: u8 = 2;
    pub const LORENZO: u8 = 3;
    pub const LAYER: u8 = 4;
    pub const TILE_LORENZO: u8 = 16;
    pub const INTERP_NARROW: u8 = 17;
    pub const INTERP_SQUARE: u8 = 18;
    pub const INTERP_WIDE: u8 = 19;
}

/// Numbers of coders in the stream. Those from 16 on are of tiles.
mod coder_id {
    pub const FIXED_LENGTH: u8 = 1;
    pub const FIXED_LENGTH_WITH_OUTLIERS: u8 = 2;
    pub const RANS: u8 = 16;
    pub const HUFFMAN: u8 = 17;
    pub const BIT_PLANE: u8 = 18;
}

impl TilePredictor {
    /// All of them, in the order of the names of their codecs.
    pub const ALL: [Self; 4] = [
        Self::Lorenzo,
        Self::Interp(Geometry::Wide),
        Self::Interp(Geometry::Square),
        Self::Interp(Geometry::Narrow),
    ];

    /// Its number in the stream.
    pub const fn id(self) -> u8 {
        match self {
            Self::Lorenzo => predictor_id::TILE_LORENZO,
            Self::Interp(Geometry::Narrow) => predictor_id::INTERP_NARROW,
            Self::Interp(Geometry::Square) => predictor_id::INTERP_SQUARE,
            Self::Interp(Geometry::Wide) => predictor_id::INTERP_WIDE,
        }
    }

    /// The windows of splines; none of another predictor.
    pub const fn geometry(self) -> Option<Geometry> {
        match self {
            Self::Lorenzo => None,
            Self::Interp(geometry) => Some(geometry),
        }
    }
}

impl TileCoder {
    /// All of them, in the order of the names of their codecs.
    pub const ALL: [Self; 3] = [Self::Rans, Self::Huffman, Self::BitPlane];

    /// Its number in the stream.
    pub const fn id(self) -> u8 {
        match self {
            Self::Rans => coder_id::RANS,
            Self::Huffman => coder_id::HUFFMAN,
            Self::BitPlane => coder_id::BIT_PLANE,
        }
    }

    /// Whether it has statistics, and so tables, of the whole field.
    pub const fn has_tables(self) -> bool {
        !matches!(self, Self::BitPlane)
    }
}

impl TileCodec {
    /// Which places are coded, and how they fall into groups.
    pub const fn order(self, shape: Shape) -> TileOrder {
        match self.predictor {
            TilePredictor::Lorenzo => TileOrder::flat(shape),
            TilePredictor::Interp(geometry) => TileOrder::levels(shape, geometry.spacing(shape)),
        }
    }
}

/// The names of the codecs of tiles, coder by coder for each predictor.
const TILE_NAMES: [&str; TilePredictor::ALL.len() * TileCoder::ALL.len()] = [
    "lorenzo+rans",
    "lorenzo+huffman",
    "lorenzo+bitplane",
    "interp",
    "interp+huffman",
    "interp+bitplane",
    "interp-square",
    "interp-square+huffman",
    "interp-square+bitplane",
    "interp-narrow",
    "interp-narrow+huffman",
    "interp-narrow+bitplane",
];

impl Codec {
    /// The codecs of blocks.
    pub const BLOCKS: [Self; 5] = [
        Self::Fixed,
        Self::Plain,
        Self::Outlier,
        Self::Lorenzo,
        Self::Layered,
    ];

    /// The codec of blocks at a place of [`Codec::BLOCKS`], for kernels: no table in memory.
    #[inline(always)]
    pub const fn of_blocks(place: u32) -> Option<Self> {
        Some(match place {
            0 => Self::Fixed,
            1 => Self::Plain,
            2 => Self::Outlier,
            3 => Self::Lorenzo,
            4 => Self::Layered,
            _ => return None,
        })
    }

    /// All codecs.
    pub const ALL: [Self; Self::BLOCKS.len() + TILE_NAMES.len()] = {
        let mut all = [Self::Fixed; Self::BLOCKS.len() + TILE_NAMES.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = if i < Self::BLOCKS.len() {
                Self::BLOCKS[i]
            } else {
                let number = i - Self::BLOCKS.len();
                Self::Tiles(TileCodec {
                    predictor: TilePredictor::ALL[number / TileCoder::ALL.len()],
                    coder: TileCoder::ALL[number % TileCoder::ALL.len()],
                })
            };
            i += 1;
        }
        all
    };

    /// The numbers of its predictor and its coder in the stream.
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
            Self::Tiles(codec) => (codec.predictor.id(), codec.coder.id()),
        };
        CodecId { predictor, coder }
    }

    /// The codec of these numbers in the stream.
    pub fn from_id(id: CodecId) -> Option<Self> {
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
            Self::Tiles(codec) => TILE_NAMES[codec.number()],
        }
    }

    /// Predictor and coder of a codec of tiles.
    pub const fn tiles(self) -> Option<TileCodec> {
        match self {
            Self::Tiles(codec) => Some(codec),
            _ => None,
        }
    }

    /// How codes are predicted in blocks.
    #[inline(always)]
    pub const fn predictor(self) -> Predictor {
        match self {
            Self::Fixed | Self::Tiles(_) => Predictor::Zero,
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

impl TileCodec {
    const fn number(self) -> usize {
        let predictor = match self.predictor {
            TilePredictor::Lorenzo => 0,
            TilePredictor::Interp(Geometry::Wide) => 1,
            TilePredictor::Interp(Geometry::Square) => 2,
            TilePredictor::Interp(Geometry::Narrow) => 3,
        };
        predictor * TileCoder::ALL.len() + self.coder as usize
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_those_of_one_codec() {
        for codec in Codec::ALL {
            assert_eq!(Codec::from_id(codec.id()), Some(codec));
            assert_eq!(Codec::from_name(codec.name()), Some(codec));
        }
        assert_eq!(Codec::INTERP.name(), "interp");
        let unknown = CodecId {
            predictor: 1,
            coder: 2,
        };
        assert_eq!(Codec::from_id(unknown), None);
        let of_blocks = [0, 1, 2, 3, 4].map(|place| Codec::of_blocks(place).unwrap());
        assert_eq!(of_blocks, Codec::BLOCKS);
    }

    /// The numbers of FORMAT.md, written out: streams have them for good.
    #[test]
    fn numbers_do_not_change() {
        let numbers = Codec::ALL.map(|codec| {
            let CodecId { predictor, coder } = codec.id();
            (codec.name(), predictor, coder)
        });
        assert_eq!(
            numbers,
            [
                ("fixed", 1, 1),
                ("plain", 2, 1),
                ("outlier", 2, 2),
                ("lorenzo", 3, 2),
                ("layered", 4, 1),
                ("lorenzo+rans", 16, 16),
                ("lorenzo+huffman", 16, 17),
                ("lorenzo+bitplane", 16, 18),
                ("interp", 19, 16),
                ("interp+huffman", 19, 17),
                ("interp+bitplane", 19, 18),
                ("interp-square", 18, 16),
                ("interp-square+huffman", 18, 17),
                ("interp-square+bitplane", 18, 18),
                ("interp-narrow", 17, 16),
                ("interp-narrow+huffman", 17, 17),
                ("interp-narrow+bitplane", 17, 18),
            ]
        );
    }
}
