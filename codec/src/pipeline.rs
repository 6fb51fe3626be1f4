//! Codecs: two families, and the one list of them.

use crate::shape::Shape;
use core::fmt;

pub mod blocks;
mod names;
mod preset;
mod registration;
#[macro_use]
mod tiles;

pub use blocks::{BlockCodec, StaticCodec};
pub use names::UnknownCodecName;
pub use preset::{Preset, UnknownPresetName};
pub use registration::Registration;
pub use tiles::{TileCodec, TileCoder, TilePredictor};

/// The list of codecs: the codecs of blocks, then the codecs of tiles, predictor by predictor. Presets prefer the first of
/// several that make streams of one length.
pub const LIST: [Registration; BlockCodec::LIST.len() + TileCodec::LIST.len()] = {
    let mut list = [BlockCodec::LIST[0]; BlockCodec::LIST.len() + TileCodec::LIST.len()];
    let mut i = 0;
    while i < list.len() {
        list[i] = match i.checked_sub(BlockCodec::LIST.len()) {
            None => BlockCodec::LIST[i],
            Some(i) => TileCodec::LIST[i],
        };
        i += 1;
    }
    list
};

/// A codec of the ferrosz container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// Blocks, each coded with the number of bits a value that it needs.
    Blocks(BlockCodec),
    /// A predictor of tiles, and a coder of tiles.
    Tiles(TileCodec),
}

/// The bytes of the stream that identify predictor and coder: FORMAT.md, section 1. Their meaning never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CodecId {
    /// The predictor's number.
    pub predictor: u8,
    /// The coder's number.
    pub coder: u8,
}

impl Codec {
    /// All codecs, in the order of [`LIST`].
    pub const ALL: [Self; LIST.len()] = {
        let mut all = [LIST[0].codec; LIST.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = LIST[i].codec;
            i += 1;
        }
        all
    };

    /// The codecs of blocks.
    pub const BLOCKS: [Self; BlockCodec::ALL.len()] = {
        let mut blocks = [Self::ALL[0]; BlockCodec::ALL.len()];
        let mut i = 0;
        while i < blocks.len() {
            blocks[i] = Self::Blocks(BlockCodec::ALL[i]);
            i += 1;
        }
        blocks
    };

    /// The codec's entry in [`LIST`].
    pub const fn registration(self) -> &'static Registration {
        match self {
            Self::Blocks(codec) => &LIST[codec.position() as usize],
            Self::Tiles(codec) => codec.registration(),
        }
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        self.registration().name
    }

    /// The numbers of its predictor and its coder in the stream.
    pub const fn id(self) -> CodecId {
        match self {
            Self::Blocks(codec) => codec.id(),
            Self::Tiles(codec) => codec.id(),
        }
    }

    /// The codec with these numbers in the stream.
    pub fn from_id(id: CodecId) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.id() == id)
    }

    /// Predictor and coder of a codec of tiles.
    pub const fn tiles(self) -> Option<TileCodec> {
        match self {
            Self::Blocks(_) => None,
            Self::Tiles(codec) => Some(codec),
        }
    }

    /// Whether zeros come back as zeros and no sign is flipped, whatever the bound: with codes of each value by itself.
    pub const fn keeps_signs_and_zeros(self) -> bool {
        match self {
            Self::Blocks(_) => true,
            Self::Tiles(codec) => codec.predictor.geometry().is_none(),
        }
    }

    /// Whether values are predicted level by level, each level with a bound of its own.
    pub const fn has_levels(self) -> bool {
        match self {
            Self::Blocks(_) => false,
            Self::Tiles(codec) => codec.predictor.geometry().is_some(),
        }
    }

    /// Whether the codec has blocks or tiles of this shape.
    pub const fn takes(self, shape: Shape) -> bool {
        match self {
            Self::Blocks(codec) => codec.takes(shape),
            Self::Tiles(codec) => codec.predictor.takes(shape),
        }
    }
}

impl Codec {
    /// The codec that stands for this one in fields of a shape: for a codec of slices that of stencils, unless in cubes.
    pub(crate) const fn in_shape(self, shape: Shape) -> Self {
        match self {
            Self::Tiles(codec)
                if matches!(codec.predictor, TilePredictor::Slices)
                    && !codec.predictor.takes(shape) =>
            {
                Self::Tiles(TileCodec {
                    predictor: TilePredictor::Stencil,
                    ..codec
                })
            }
            Self::Blocks(_) | Self::Tiles(_) => self,
        }
    }

    /// Whether it is a codec of tiles that has lines alone.
    pub(crate) const fn is_of_lines(self) -> bool {
        match self {
            Self::Blocks(_) => false,
            Self::Tiles(codec) => codec.predictor.is_direct(),
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;
    use alloc::format;
    use alloc::vec::Vec;

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
        assert_eq!(
            Codec::ALL.map(|codec| codec.registration().codec),
            Codec::ALL
        );
        for codec in BlockCodec::ALL {
            assert_eq!(BlockCodec::at(codec.position()), Some(codec));
        }
        assert_eq!(BlockCodec::at(5), None);
        for codec in Codec::ALL {
            assert!(
                Shape::ALL
                    .map(|shape| codec.in_shape(shape))
                    .iter()
                    .all(|codec| Codec::ALL.contains(codec))
            );
        }
    }

    /// Every codec is in the table of FORMAT.md, with its numbers.
    #[test]
    fn the_table_of_the_format_is_that_of_the_list() {
        let format = include_str!("../FORMAT.md");
        let table = format
            .split("\n\n")
            .find(|part| part.starts_with("| codec | predictor"));
        let numbers = |cell: &str| -> Vec<u8> {
            let words = cell.split(|c: char| !c.is_ascii_digit());
            words.filter_map(|word| word.parse().ok()).collect()
        };
        let mut rows = Vec::new();
        for line in table.unwrap_or_default().lines().skip(2) {
            let [_, name, predictor, coders, _] = line.split('|').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            for coder in numbers(coders) {
                rows.push((
                    name.trim().trim_matches('`').to_owned(),
                    numbers(predictor)[0],
                    coder,
                ));
            }
        }
        let mut listed = LIST.map(|Registration { codec, name, .. }| {
            let CodecId { predictor, coder } = codec.id();
            let of_predictor = name.split('+').next().unwrap_or_default();
            match codec {
                Codec::Blocks(_) => (name.to_owned(), predictor, coder),
                Codec::Tiles(_) => (format!("{of_predictor}+..."), predictor, coder),
            }
        });
        listed.sort();
        rows.sort();
        assert_eq!(rows, listed);
    }

    /// The numbers of FORMAT.md, written out: they must never change.
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
                ("stencil", 20, 16),
                ("stencil+huffman", 20, 17),
                ("stencil+bitplane", 20, 18),
                ("interp", 19, 16),
                ("interp-square", 18, 16),
                ("interp-square+huffman", 18, 17),
                ("interp-square+bitplane", 18, 18),
                ("interp-narrow+huffman", 17, 17),
                ("slices", 21, 16),
                ("direct+rans", 22, 16),
            ]
        );
    }
}
