//! Codecs by name, including the names of pipelines in papers and programs.

use crate::pipeline::Codec;
use core::fmt;
use core::str::FromStr;

impl Codec {
    /// Names of pipelines in papers and programs, and the codec with the same kind of predictor and coder. The streams
    /// are ferrosz's own.
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

    /// The codec with this name, or with this alias in [`Codec::ALIASES`].
    pub fn from_name(name: &str) -> Option<Self> {
        let own = Self::ALL.into_iter().find(|codec| codec.name() == name);
        let alias = || Self::ALIASES.into_iter().find(|(alias, _)| *alias == name);
        own.or_else(|| alias().map(|(_, codec)| codec))
    }
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
            (Codec::INTERP_SQUARE, "interp-square"),
            (Codec::INTERP_SQUARE_HUFFMAN, "interp-square+huffman"),
            (Codec::INTERP_SQUARE_BITPLANE, "interp-square+bitplane"),
            (Codec::INTERP_NARROW_HUFFMAN, "interp-narrow+huffman"),
            (Codec::STENCIL, "stencil"),
            (Codec::STENCIL_HUFFMAN, "stencil+huffman"),
            (Codec::STENCIL_BITPLANE, "stencil+bitplane"),
            (Codec::SLICES, "slices"),
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
