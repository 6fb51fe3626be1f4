//! Codecs by name: a constant for each, and the names that papers and programs give to pipelines.

use crate::pipeline::{BlockCodec, Codec, TileCodec, TileCoder, TilePredictor};
use crate::predict::interp::geometry::Geometry;
use core::fmt;
use core::str::FromStr;

const LORENZO: TilePredictor = TilePredictor::Lorenzo;
const WIDE: TilePredictor = TilePredictor::Interp(Geometry::Wide);
const SQUARE: TilePredictor = TilePredictor::Interp(Geometry::Square);
const NARROW: TilePredictor = TilePredictor::Interp(Geometry::Narrow);

impl Codec {
    /// `fixed`: [`BlockCodec::Fixed`].
    pub const FIXED: Self = Self::Blocks(BlockCodec::Fixed);
    /// `plain`: [`BlockCodec::Plain`].
    pub const PLAIN: Self = Self::Blocks(BlockCodec::Plain);
    /// `outlier`: [`BlockCodec::Outlier`].
    pub const OUTLIER: Self = Self::Blocks(BlockCodec::Outlier);
    /// `lorenzo`: [`BlockCodec::Lorenzo`].
    pub const LORENZO: Self = Self::Blocks(BlockCodec::Lorenzo);
    /// `layered`: [`BlockCodec::Layered`].
    pub const LAYERED: Self = Self::Blocks(BlockCodec::Layered);
    /// `lorenzo+rans`: all neighbours that come before in a tile, rANS.
    pub const LORENZO_RANS: Self = tiles(LORENZO, TileCoder::Rans);
    /// `lorenzo+huffman`: as [`Codec::LORENZO_RANS`], Huffman.
    pub const LORENZO_HUFFMAN: Self = tiles(LORENZO, TileCoder::Huffman);
    /// `lorenzo+bitplane`: as [`Codec::LORENZO_RANS`], bit planes.
    pub const LORENZO_BITPLANE: Self = tiles(LORENZO, TileCoder::BitPlane);
    /// `interp`: splines between anchors, rANS.
    pub const INTERP: Self = tiles(WIDE, TileCoder::Rans);
    /// `interp+huffman`: as [`Codec::INTERP`], Huffman.
    pub const INTERP_HUFFMAN: Self = tiles(WIDE, TileCoder::Huffman);
    /// `interp+bitplane`: as [`Codec::INTERP`], bit planes.
    pub const INTERP_BITPLANE: Self = tiles(WIDE, TileCoder::BitPlane);
    /// `interp-square`: splines in windows of 16, rANS.
    pub const INTERP_SQUARE: Self = tiles(SQUARE, TileCoder::Rans);
    /// `interp-square+huffman`: as [`Codec::INTERP_SQUARE`], Huffman.
    pub const INTERP_SQUARE_HUFFMAN: Self = tiles(SQUARE, TileCoder::Huffman);
    /// `interp-square+bitplane`: as [`Codec::INTERP_SQUARE`], bit planes.
    pub const INTERP_SQUARE_BITPLANE: Self = tiles(SQUARE, TileCoder::BitPlane);
    /// `interp-narrow`: splines with anchors 8 apart, rANS.
    pub const INTERP_NARROW: Self = tiles(NARROW, TileCoder::Rans);
    /// `interp-narrow+huffman`: as [`Codec::INTERP_NARROW`], Huffman.
    pub const INTERP_NARROW_HUFFMAN: Self = tiles(NARROW, TileCoder::Huffman);
    /// `interp-narrow+bitplane`: as [`Codec::INTERP_NARROW`], bit planes.
    pub const INTERP_NARROW_BITPLANE: Self = tiles(NARROW, TileCoder::BitPlane);

    /// Names that papers and programs give to pipelines, and the codec with predictor and coder of that kind. The
    /// streams are ferrosz's own.
    pub const ALIASES: [(&'static str, Self); 9] = [
        ("cuszp2-plain", Self::PLAIN),
        ("cuszp2-outlier", Self::OUTLIER),
        ("cuszp3-fixed", Self::FIXED),
        ("aatrox", Self::LAYERED),
        ("cusz", Self::LORENZO_HUFFMAN),
        ("fz-gpu", Self::LORENZO_BITPLANE),
        ("cusz-i", Self::INTERP_NARROW_HUFFMAN),
        ("cusz-hi", Self::INTERP_SQUARE_HUFFMAN),
        ("cusz-hi-tp", Self::INTERP_SQUARE_BITPLANE),
    ];

    /// The codec of this name, or of one of [`Codec::ALIASES`].
    pub fn from_name(name: &str) -> Option<Self> {
        let own = Self::ALL.into_iter().find(|codec| codec.name() == name);
        let alias = || Self::ALIASES.into_iter().find(|(alias, _)| *alias == name);
        own.or_else(|| alias().map(|(_, codec)| codec))
    }
}

const fn tiles(predictor: TilePredictor, coder: TileCoder) -> Codec {
    Codec::Tiles(TileCodec { predictor, coder })
}

/// A name that no codec has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownCodecName;

impl fmt::Display for UnknownCodecName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no codec has this name; the codecs are")?;
        for (i, codec) in Codec::ALL.into_iter().enumerate() {
            let separator = if i == 0 { " " } else { ", " };
            write!(f, "{separator}{codec}")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownCodecName {}

impl FromStr for Codec {
    type Err = UnknownCodecName;

    fn from_str(name: &str) -> Result<Self, UnknownCodecName> {
        Self::from_name(name).ok_or(UnknownCodecName)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_the_codecs_of_their_names() {
        for (codec, name) in [
            (Codec::FIXED, "fixed"),
            (Codec::PLAIN, "plain"),
            (Codec::OUTLIER, "outlier"),
            (Codec::LORENZO, "lorenzo"),
            (Codec::LAYERED, "layered"),
            (Codec::LORENZO_RANS, "lorenzo+rans"),
            (Codec::LORENZO_HUFFMAN, "lorenzo+huffman"),
            (Codec::LORENZO_BITPLANE, "lorenzo+bitplane"),
            (Codec::INTERP, "interp"),
            (Codec::INTERP_HUFFMAN, "interp+huffman"),
            (Codec::INTERP_BITPLANE, "interp+bitplane"),
            (Codec::INTERP_SQUARE, "interp-square"),
            (Codec::INTERP_SQUARE_HUFFMAN, "interp-square+huffman"),
            (Codec::INTERP_SQUARE_BITPLANE, "interp-square+bitplane"),
            (Codec::INTERP_NARROW, "interp-narrow"),
            (Codec::INTERP_NARROW_HUFFMAN, "interp-narrow+huffman"),
            (Codec::INTERP_NARROW_BITPLANE, "interp-narrow+bitplane"),
        ] {
            assert_eq!(name.parse(), Ok(codec));
            assert_eq!(codec.name(), name);
        }
    }

    #[test]
    fn aliases_are_names_of_no_other_codec() {
        for (alias, codec) in Codec::ALIASES {
            assert_eq!(alias.parse(), Ok(codec));
            assert!(Codec::ALL.iter().all(|codec| codec.name() != alias));
        }
        assert_eq!("cusz-x".parse::<Codec>(), Err(UnknownCodecName));
    }
}
