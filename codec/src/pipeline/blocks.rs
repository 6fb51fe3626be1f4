//! The codecs of blocks, fixed-length coding of blocks of 32 or 64 codes, and the list of them.

use crate::pipeline::{Codec, CodecId, Preset, Registration};
use crate::predict::Predictor;
use crate::shape::Shape;

const VALUES: &str = "values themselves";
const NEIGHBOUR: &str = "difference to the neighbour";
const BLOCK: &str = "differences in all dimensions of a block";
const CHUNK: &str = "differences through chunks of 8192";

const FIXED_LENGTH: &str = "fixed length in blocks";
const FIRST_APART: &str = "fixed length in blocks, first difference apart";

// Each registration makes the codec's constant, its type, and its arms in all functions below. `$d` is a dollar sign,
// for the macros that this macro defines.
macro_rules! block_codecs {
    ($d:tt $(
        $(#[doc = $doc:literal])+
        $codec:ident = $constant:ident, $name:literal, [$($shape:ident)+],
        ids $predictor_id:literal, $coder_id:literal,
        predictor $predictor:ident, outliers $outliers:literal, planes $planes:literal,
        $words:expr $(, in $preset:ident $(as variant of $leader:ident)?)?;
    )+) => {
        /// A codec of blocks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum BlockCodec {
            $($(#[doc = $doc])+ $codec,)+
        }

        $(
            #[doc = concat!("[`BlockCodec::", stringify!($codec), "`] as a type.")]
            pub struct $codec;

            impl StaticCodec for $codec {
                const CODEC: BlockCodec = BlockCodec::$codec;
            }
        )+

        impl Codec {
            $(
                #[doc = concat!("`", $name, "`: [`BlockCodec::", stringify!($codec), "`].")]
                pub const $constant: Self = Self::Blocks(BlockCodec::$codec);
            )+
        }

        impl BlockCodec {
            /// All codecs of blocks.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$codec),+];

            /// Their entries in the list.
            pub(super) const LIST: [Registration; Self::ALL.len()] =
                [$(
                    Registration::new(Codec::Blocks(Self::$codec), $name, $words)
                        $(.in_preset(Preset::$preset) $(.variant_of(Codec::$leader))?)?
                ),+];

            /// The codec at a position of [`BlockCodec::ALL`], without a table in memory, for kernels.
            #[inline(always)]
            pub const fn at(position: u32) -> Option<Self> {
                $(if position == Self::$codec.position() {
                    return Some(Self::$codec);
                })+
                None
            }

            /// Its name on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$codec => $name,)+
                }
            }

            /// The numbers of its predictor and its coder in the stream (FORMAT.md, section 1), which never change. The
            /// numbers of codecs of blocks are below 16.
            pub const fn id(self) -> CodecId {
                let (predictor, coder) = match self {
                    $(Self::$codec => ($predictor_id, $coder_id),)+
                };
                CodecId { predictor, coder }
            }

            /// The predictor of codes.
            #[inline(always)]
            pub const fn predictor(self) -> Predictor {
                match self {
                    $(Self::$codec => Predictor::$predictor,)+
                }
            }

            /// Whether blocks may take the outlier form of [`crate::code::fixed_length::rate::RateByte`].
            #[inline(always)]
            pub const fn stores_outliers(self) -> bool {
                match self {
                    $(Self::$codec => $outliers,)+
                }
            }

            /// The most planes that a block can need: codes have less than 31 bits, so one-neighbour differences have
            /// less than 32.
            #[inline(always)]
            pub const fn max_planes(self) -> u32 {
                match self {
                    $(Self::$codec => $planes,)+
                }
            }
        }

        /// An expression in which `C` is the type of a codec of blocks that is known only at run time.
        #[macro_export]
        macro_rules! with_block_codec {
            ($d codec:expr, $d C:ident => $d body:expr) => {
                match $d codec {
                    $($crate::pipeline::BlockCodec::$codec => {
                        type $d C = $crate::pipeline::blocks::$codec;
                        $d body
                    })+
                }
            };
        }

        /// Calls a macro with its own arguments, followed by the name, the type and the shapes with a kernel of every
        /// codec of blocks.
        #[macro_export]
        macro_rules! each_block_codec {
            ([$d ($d macro:tt)+] $d ($d arguments:tt)*) => {
                $d ($d macro)+! {
                    $d ($d arguments)* $(($name $crate::pipeline::blocks::$codec [$($shape)+]))+
                }
            };
        }
    };
}

with_toys! { block_codecs! { $
    /// Fixed-length coding of the codes themselves.
    Fixed = FIXED, "fixed", [line plane cube],
    ids 1, 1, predictor Zero, outliers false, planes 31,
    [VALUES, FIXED_LENGTH, "cuSZp3 fixed (SC'25)", "noise around zero"], in Fast as variant of OUTLIER;

    /// Fixed-length coding of one-neighbour differences.
    Plain = PLAIN, "plain", [line plane cube],
    ids 2, 1, predictor Difference, outliers false, planes 31,
    [NEIGHBOUR, FIXED_LENGTH, "cuSZp (SC'23), cuSZp2 plain (SC'24)", "slow changes around zero"], in Fast as variant of OUTLIER;

    /// As `Plain`, with a block's first difference stored separately where that is shorter.
    Outlier = OUTLIER, "outlier", [line plane cube],
    ids 2, 2, predictor Difference, outliers true, planes 31,
    [NEIGHBOUR, FIRST_APART, "cuSZp2 outlier (SC'24)", "values far from zero"], in Fast;

    /// Coded as `Outlier`, but predicted by all preceding neighbours.
    Lorenzo = LORENZO, "lorenzo", [plane cube],
    ids 3, 2, predictor Lorenzo, outliers true, planes 32,
    [BLOCK, FIRST_APART, "cuSZp3's blocks (SC'25), cuSZ's predictor", "smooth planes and volumes, fast"], in Fast as variant of OUTLIER;

    /// Fixed-length coding of differences that run through the whole chunk, whose first code is stored separately:
    /// AATROX (ICS'25). Blocks are lines.
    Layered = LAYERED, "layered", [line],
    ids 4, 1, predictor Difference, outliers false, planes 31,
    [CHUNK, FIXED_LENGTH, "AATROX (ICS'25)", "long slopes, and lines, fast"], in Fast as variant of OUTLIER;
}
    /// Coded as `Outlier`, but predicted by the first code of the group.
    ToyPredictor = TOY_PREDICTOR, "toy-predictor", [line plane cube],
    ids 5, 2, predictor ToyPredictor, outliers true, planes 31,
    ["difference to the group's first", FIRST_APART, "none", "none: it shows how to add a predictor"];
}

impl BlockCodec {
    /// Its position in [`BlockCodec::ALL`].
    pub const fn position(self) -> u32 {
        self as u32
    }

    /// Whether the prediction runs from block to block through the chunk.
    #[inline(always)]
    pub const fn is_layered(self) -> bool {
        matches!(self, Self::Layered)
    }

    /// Whether the codec has blocks of this shape.
    #[inline(always)]
    pub const fn takes(self, shape: Shape) -> bool {
        !self.is_layered() || matches!(shape, Shape::Line)
    }

    /// Whether there is a kernel of the codec for blocks of this shape; where not, another codec has the same bytes, or none.
    #[inline(always)]
    pub const fn has_kernel(self, shape: Shape) -> bool {
        self.takes(shape) && !matches!((self, shape), (Self::Lorenzo, Shape::Line))
    }

    /// The codec with the same bytes in blocks of this shape for which there is a kernel: in a line the Lorenzo
    /// predictor is the one-neighbour difference.
    pub const fn in_shape(self, shape: Shape) -> Self {
        match (self, shape) {
            (Self::Lorenzo, Shape::Line) => Self::Outlier,
            (codec, Shape::Line | Shape::Plane | Shape::Cube) => codec,
        }
    }
}

/// A codec of blocks as a type, for code that is compiled once for each.
pub trait StaticCodec: 'static {
    /// The codec.
    const CODEC: BlockCodec;
}
