//! The codecs of tiles: what predicts the positions of a tile, and what makes bits of the codes.

use crate::pipeline::CodecId;
use crate::predict::interp::geometry::Geometry;
use crate::shape::Shape;
use crate::tile::TileOrder;

/// What predicts the positions of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TilePredictor {
    /// All neighbours that come before in the tile: cuSZ's.
    Lorenzo,
    /// Splines between anchors: cuSZ-i's and cuSZ-Hi's.
    Interp(Geometry),
}

/// What makes bits of a tile's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

impl TilePredictor {
    /// All of them, in the order of the names of their codecs.
    pub const ALL: [Self; 4] = [
        Self::Lorenzo,
        Self::Interp(Geometry::Wide),
        Self::Interp(Geometry::Square),
        Self::Interp(Geometry::Narrow),
    ];

    /// Its number in the stream (FORMAT.md, section 1), which never changes. Those of tiles are 16 and above.
    pub const fn id(self) -> u8 {
        match self {
            Self::Lorenzo => 16,
            Self::Interp(Geometry::Narrow) => 17,
            Self::Interp(Geometry::Square) => 18,
            Self::Interp(Geometry::Wide) => 19,
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

    /// Its number in the stream (FORMAT.md, section 1), which never changes. Those of tiles are 16 and above.
    pub const fn id(self) -> u8 {
        match self {
            Self::Rans => 16,
            Self::Huffman => 17,
            Self::BitPlane => 18,
        }
    }

    /// Whether it has statistics, and so tables, of the whole field.
    pub const fn has_tables(self) -> bool {
        !matches!(self, Self::BitPlane)
    }
}

/// An expression in which `C` is the type of a coder with statistics that is known only when the program runs, and
/// another one for the coder without.
#[macro_export]
macro_rules! with_tile_coder {
    ($coder:expr, $C:ident => $with_statistics:expr, $bit_planes:expr) => {
        match $coder {
            $crate::pipeline::TileCoder::Rans => {
                type $C = $crate::code::entropy::states::Rans;
                $with_statistics
            }
            $crate::pipeline::TileCoder::Huffman => {
                type $C = $crate::code::entropy::states::Huffman;
                $with_statistics
            }
            $crate::pipeline::TileCoder::BitPlane => $bit_planes,
        }
    };
}

impl TileCodec {
    /// The numbers of its predictor and its coder in the stream.
    pub const fn id(self) -> CodecId {
        CodecId {
            predictor: self.predictor.id(),
            coder: self.coder.id(),
        }
    }

    /// Which positions are coded, and how they fall into zones.
    pub const fn order(self, shape: Shape) -> TileOrder {
        match self.predictor {
            TilePredictor::Lorenzo => TileOrder::flat(shape),
            TilePredictor::Interp(geometry) => TileOrder::levels(shape, geometry.spacing(shape)),
        }
    }

    /// Its position among all pairs of predictor and coder, coder by coder for each predictor.
    pub(super) const fn position(self) -> usize {
        let predictor = match self.predictor {
            TilePredictor::Lorenzo => 0,
            TilePredictor::Interp(Geometry::Wide) => 1,
            TilePredictor::Interp(Geometry::Square) => 2,
            TilePredictor::Interp(Geometry::Narrow) => 3,
        };
        predictor * TileCoder::ALL.len() + self.coder as usize
    }
}
