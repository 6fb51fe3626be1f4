//! The codecs of tiles, a predictor of the positions of a tile and a coder of its codes, and the list of them.

use crate::pipeline::{Codec, CodecId, Preset, Registration};
use crate::predict::fitted::FittedKind;
use crate::predict::interp::geometry::Geometry;
use crate::predict::interp::tune::{TighteningChoice, Tuning};
use crate::shape::Shape;
use crate::tile::TileOrder;

/// The predictor of the positions of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TilePredictor {
    /// All preceding neighbours in the tile, as in cuSZ.
    Lorenzo,
    /// None: each value has a code of its own. For the coefficients of wavelets.
    Direct,
    /// Splines between anchors, as in cuSZ-i and cuSZ-Hi.
    Interp(Geometry),
    /// Stencils between anchors, with coefficients fitted to the field.
    Stencil,
    /// Stencils in the slices of cubes, with terms of the slices before.
    Slices,
    /// Splines, times a factor that is fitted to the field.
    #[cfg(feature = "toy")]
    ToyFitted,
}

/// A predictor of tiles and a coder. Not every pair is a codec: those of the list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TileCodec {
    /// The predictor.
    pub predictor: TilePredictor,
    /// The coder.
    pub coder: TileCoder,
}

impl TilePredictor {
    /// All predictors, in the order of the names of their codecs.
    pub const ALL: [Self; 7 + 2 * cfg!(feature = "toy") as usize] = [
        Self::Lorenzo,
        Self::Interp(Geometry::Wide),
        Self::Interp(Geometry::Square),
        Self::Interp(Geometry::Narrow),
        Self::Stencil,
        Self::Slices,
        Self::Direct,
        #[cfg(feature = "toy")]
        Self::Interp(Geometry::ToyGeometry),
        #[cfg(feature = "toy")]
        Self::ToyFitted,
    ];

    /// Its number in the stream (FORMAT.md, section 1), which never changes. The numbers of predictors of tiles are 16
    /// and above.
    pub const fn id(self) -> u8 {
        match self {
            Self::Lorenzo => 16,
            Self::Interp(Geometry::Narrow) => 17,
            Self::Interp(Geometry::Square) => 18,
            Self::Interp(Geometry::Wide) => 19,
            Self::Stencil => 20,
            Self::Slices => 21,
            Self::Direct => 22,
            #[cfg(feature = "toy")]
            Self::Interp(Geometry::ToyGeometry) => 254,
            #[cfg(feature = "toy")]
            Self::ToyFitted => 255,
        }
    }

    /// The geometry of anchors and levels; none without them.
    pub const fn geometry(self) -> Option<Geometry> {
        match self {
            Self::Lorenzo | Self::Direct => None,
            Self::Interp(geometry) => Some(geometry),
            fitted => Some(fitted.fitted().geometry()),
        }
    }

    /// The tuning of the parameters, with this choice of the levels' bounds; none without anchors.
    pub const fn tuning(self, tightening: TighteningChoice) -> Option<Tuning> {
        match self {
            Self::Lorenzo | Self::Direct => None,
            Self::Interp(geometry) => Some(Tuning::of_stream(geometry, tightening)),
            fitted => Some(Tuning::of_fitted(fitted.fitted(), tightening)),
        }
    }

    /// The coefficients that it fits to a field.
    pub const fn fitted(self) -> FittedKind {
        match self {
            Self::Lorenzo | Self::Direct | Self::Interp(_) => FittedKind::None,
            Self::Stencil => FittedKind::Stencils,
            Self::Slices => FittedKind::Slices,
            #[cfg(feature = "toy")]
            Self::ToyFitted => FittedKind::ToyFitted,
        }
    }

    /// Whether it predicts nothing.
    pub const fn is_direct(self) -> bool {
        matches!(self, Self::Direct)
    }

    /// Whether it has tiles of this shape.
    pub const fn takes(self, shape: Shape) -> bool {
        match self {
            Self::Lorenzo | Self::Interp(_) | Self::Stencil => true,
            Self::Slices => matches!(shape, Shape::Cube),
            Self::Direct => matches!(shape, Shape::Line),
            #[cfg(feature = "toy")]
            Self::ToyFitted => true,
        }
    }
}

impl TileCodec {
    /// The numbers of its predictor and its coder in the stream.
    pub const fn id(self) -> CodecId {
        CodecId {
            predictor: self.predictor.id(),
            coder: self.coder.id(),
        }
    }

    /// The positions that are coded, and their zones.
    pub const fn order(self, shape: Shape) -> TileOrder {
        match (self.predictor.geometry(), self.predictor) {
            (None, _) => TileOrder::flat(shape),
            (Some(geometry), TilePredictor::Slices) => {
                TileOrder::slices(geometry.spacing(Shape::Cube))
            }
            (Some(geometry), _) => TileOrder::levels(shape, geometry.spacing(shape)),
        }
    }

    /// The number of levels below that of the anchors, which can be coded apart; 0 without levels.
    pub const fn levels(self, shape: Shape) -> u8 {
        match self.predictor.geometry() {
            None => 0,
            Some(geometry) => geometry.levels(shape) as u8,
        }
    }

    /// Its entry in the list.
    pub(super) const fn registration(self) -> &'static Registration {
        let CodecId { predictor, coder } = self.id();
        let mut i = 0;
        while i < Self::LIST.len() {
            let id = Self::LIST[i].codec.id();
            if id.predictor == predictor && id.coder == coder {
                return &Self::LIST[i];
            }
            i += 1;
        }
        // Only the list makes codecs, and `Codec::in_shape`: a test checks that it makes those of the list.
        &Self::LIST[0]
    }
}

// Each registration makes the coder's type and its kernels. `$d` is a dollar sign, for the macros that this macro
// defines.
macro_rules! tile_coders {
    ($d:tt
        without statistics
        $(#[doc = $planes_doc:literal])+ $planes:ident, id $planes_id:literal;
        with statistics
        $($(#[doc = $doc:literal])+ $coder:ident, $name:literal, id $id:literal;)+
    ) => {
        /// The coder of a tile's codes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum TileCoder {
            $($(#[doc = $doc])+ $coder,)+
            $(#[doc = $planes_doc])+
            $planes,
        }

        impl TileCoder {
            /// All coders, in the order of the names of their codecs.
            pub const ALL: [Self; [$($id,)+ $planes_id].len()] = [$(Self::$coder,)+ Self::$planes];

            /// Its number in the stream (FORMAT.md, section 1), which never changes. The numbers of coders of tiles are
            /// 16 and above.
            pub const fn id(self) -> u8 {
                match self {
                    $(Self::$coder => $id,)+
                    Self::$planes => $planes_id,
                }
            }

            /// Whether it has statistics of the whole field, and so frequency tables.
            pub const fn has_tables(self) -> bool {
                match self {
                    $(Self::$coder => true,)+
                    Self::$planes => false,
                }
            }
        }

        /// An expression in which `C` is the type of a coder with statistics that is known only at run time, and
        /// another expression for the coder without statistics.
        #[macro_export]
        macro_rules! with_tile_coder {
            ($d coder:expr, $d C:ident => $d with_statistics:expr, $d bit_planes:expr) => {
                match $d coder {
                    $($crate::pipeline::TileCoder::$coder => {
                        type $d C = $crate::code::entropy::states::$coder;
                        $d with_statistics
                    })+
                    $crate::pipeline::TileCoder::$planes => $d bit_planes,
                }
            };
        }

        /// Calls a macro with its own arguments, followed by the name and the type of every coder that has statistics.
        #[macro_export]
        macro_rules! each_symbol_coder {
            ([$d ($d macro:tt)+] $d ($d arguments:tt)*) => {
                $d ($d macro)+! {
                    $d ($d arguments)* $(($name $crate::code::entropy::states::$coder))+
                }
            };
        }
    };
}

with_toys! { tile_coders! { $
    without statistics
    /// Bit planes without their zero words.
    BitPlane, id 18;
    with statistics
    /// rANS in 32 lanes.
    Rans, "rans", id 16;
    /// Huffman codes in 32 lanes.
    Huffman, "huffman", id 17;
}
    /// rANS with frequencies that are powers of two.
    ToyCoder, "toy_coder", id 19;
}

const LORENZO: TilePredictor = TilePredictor::Lorenzo;
const WIDE: TilePredictor = TilePredictor::Interp(Geometry::Wide);
const SQUARE: TilePredictor = TilePredictor::Interp(Geometry::Square);
const NARROW: TilePredictor = TilePredictor::Interp(Geometry::Narrow);
const STENCIL: TilePredictor = TilePredictor::Stencil;
const SLICES: TilePredictor = TilePredictor::Slices;
const DIRECT: TilePredictor = TilePredictor::Direct;
#[cfg(feature = "toy")]
const TOY: TilePredictor = TilePredictor::Interp(Geometry::ToyGeometry);
#[cfg(feature = "toy")]
const SCALED: TilePredictor = TilePredictor::ToyFitted;

impl TilePredictor {
    const fn words(self) -> &'static str {
        match self {
            Self::Lorenzo => "differences in all dimensions of a tile",
            Self::Direct => "no prediction",
            Self::Interp(Geometry::Wide) => "splines from coarse to fine in whole tiles",
            Self::Interp(Geometry::Square) => "splines in windows of 16",
            Self::Interp(Geometry::Narrow) => "splines between anchors 8 apart",
            #[cfg(feature = "toy")]
            Self::Interp(Geometry::ToyGeometry) => "splines in windows of 8 x 16 x 16",
            Self::Stencil => "stencils that are fitted to the field",
            Self::Slices => "fitted stencils in slices, with terms of the slices before",
            #[cfg(feature = "toy")]
            Self::ToyFitted => "splines, times a fitted factor",
        }
    }
}

impl TileCoder {
    const fn words(self) -> &'static str {
        match self {
            Self::Rans => "rANS",
            Self::Huffman => "Huffman",
            Self::BitPlane => "bit planes without zeros",
            #[cfg(feature = "toy")]
            Self::ToyCoder => "rANS by powers of two",
        }
    }
}

macro_rules! tile_codecs {
    ($(
        $constant:ident = $name:literal, $predictor:ident, $coder:ident, $papers:literal, $purpose:literal
        $(, in $preset:ident $(as variant of $leader:ident)?)?;
    )+) => {
        impl Codec {
            $(
                #[doc = concat!("`", $name, "`.")]
                pub const $constant: Self = Self::Tiles(TileCodec {
                    predictor: $predictor,
                    coder: TileCoder::$coder,
                });
            )+
        }

        impl TileCodec {
            /// All entries, predictor by predictor.
            pub(super) const LIST: [Registration; [$($name),+].len()] = [$(
                Registration::new(
                    Codec::$constant,
                    $name,
                    [$predictor.words(), TileCoder::$coder.words(), $papers, $purpose],
                )
                $(.in_preset(Preset::$preset) $(.variant_of(Codec::$leader))?)?
            ),+];
        }
    };
}

with_toys! { tile_codecs! {
    LORENZO_RANS = "lorenzo+rans", LORENZO, Rans,
        "cuSZ's predictor (PACT'20)", "rough fields and fine bounds; twice as fast as splines",
        in Balanced;
    LORENZO_HUFFMAN = "lorenzo+huffman", LORENZO, Huffman,
        "cuSZ (PACT'20)", "arrays of some thousand values, where its tables are shorter",
        in Balanced as variant of LORENZO_RANS;
    LORENZO_BITPLANE = "lorenzo+bitplane", LORENZO, BitPlane,
        "FZ-GPU (HPDC'23)", "fields that are hardly there, and many NaNs",
        in Balanced as variant of LORENZO_RANS;
    STENCIL = "stencil", STENCIL, Rans,
        "interp with fitted coefficients", "smooth fields: mostly the shortest",
        in Small;
    STENCIL_HUFFMAN = "stencil+huffman", STENCIL, Huffman,
        "interp with fitted coefficients", "variants of stencil, a little shorter at times",
        in Small as variant of STENCIL;
    STENCIL_BITPLANE = "stencil+bitplane", STENCIL, BitPlane,
        "interp with fitted coefficients", "smooth fields with many NaNs, and bounds beyond the type",
        in Small as variant of STENCIL;
    INTERP = "interp", WIDE, Rans,
        "after cuSZ-i (SC'24)", "comparison: stencil without fitted coefficients";
    INTERP_SQUARE = "interp-square", SQUARE, Rans,
        "cuSZ-Hi's predictor (SC'25)", "planes at coarse bounds, a little shorter at times",
        in Small as variant of STENCIL;
    INTERP_SQUARE_HUFFMAN = "interp-square+huffman", SQUARE, Huffman,
        "cuSZ-Hi for ratio (SC'25)", "comparison";
    INTERP_SQUARE_BITPLANE = "interp-square+bitplane", SQUARE, BitPlane,
        "cuSZ-Hi for throughput (SC'25)", "comparison";
    INTERP_NARROW_HUFFMAN = "interp-narrow+huffman", NARROW, Huffman,
        "cuSZ-i (SC'24)", "comparison";
    SLICES = "slices", SLICES, Rans,
        "stencil with terms of slices before", "axes of years, members or levels: the shortest",
        in Small;
    DIRECT_RANS = "direct+rans", DIRECT, Rans,
        "none", "values that nothing predicts, such as wavelets' coefficients";
}
    TOY_CODER = "lorenzo+toy-coder", LORENZO, ToyCoder,
        "none", "none: it shows how to add a coder";
    TOY_GEOMETRY = "toy-geometry", TOY, Rans,
        "none", "none: it shows how to add a geometry";
    TOY_FITTED = "toy-fitted", SCALED, Rans,
        "none", "none: it shows how to add a fitted predictor";
}
