//! Codecs as the command line has them.

use crate::report;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ferrosz::codec::pipeline::{TileCodec, TilePredictor};
use ferrosz::codec::tile;
use ferrosz::{Codec, Shape};

/// The name that leaves codec and rank to be chosen.
const AUTO: &str = "auto";

/// A codec, or that one is to be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodecChoice {
    /// Codec and rank by the sizes that a sample predicts.
    Auto,
    /// This one.
    Named(Codec),
}

/// Parses names of codecs.
pub fn named() -> impl TypedValueParser<Value = Codec> {
    PossibleValuesParser::new(possible())
        .try_map(|name| Codec::from_name(&name).ok_or("unknown codec"))
}

/// Parses names of codecs and `auto`, with a line of help for each.
pub fn parser() -> impl TypedValueParser<Value = CodecChoice> {
    let codecs = possible();
    let auto = PossibleValue::new(AUTO)
        .help("what a sample of the array predicts to be shortest, --rank included");
    PossibleValuesParser::new(codecs.into_iter().chain([auto])).try_map(|name| match &name[..] {
        AUTO => Ok(CodecChoice::Auto),
        name => Codec::from_name(name)
            .map(CodecChoice::Named)
            .ok_or("unknown codec"),
    })
}

fn possible() -> [PossibleValue; Codec::ALL.len()] {
    Codec::ALL.map(|codec| PossibleValue::new(codec.name()).help(help(codec)))
}

fn help(codec: Codec) -> &'static str {
    match codec {
        Codec::Fixed => "the values themselves: for noise around zero",
        Codec::Plain => "differences of neighbours: for what varies slowly around zero",
        Codec::Outlier => "as plain, a block's first difference apart: for what is far from zero",
        Codec::Lorenzo => "differences in all dimensions of a block: for smooth planes and volumes",
        Codec::Layered => "differences through whole chunks of 8192, in lines: for long slopes",
        Codec::Tiles(codec) => help_of_tiles(codec),
    }
}

fn help_of_tiles(codec: TileCodec) -> &'static str {
    let predictors = TilePredictor::ALL.iter();
    let number = predictors.take_while(|predictor| **predictor != codec.predictor);
    const TEXTS: [[&str; 3]; 4] = [
        [
            "differences in all dimensions of a tile, rANS",
            "differences in all dimensions of a tile, Huffman: cuSZ's",
            "differences in all dimensions of a tile, bit planes: FZ-GPU's",
        ],
        [
            "splines from coarse to fine, rANS: the shortest streams of smooth fields",
            "splines from coarse to fine, Huffman",
            "splines from coarse to fine, bit planes",
        ],
        [
            "splines in windows of 16, as cuSZ-Hi, rANS",
            "splines in windows of 16, as cuSZ-Hi, Huffman",
            "splines in windows of 16, as cuSZ-Hi, bit planes",
        ],
        [
            "splines with anchors 8 apart, as cuSZ-i, rANS",
            "splines with anchors 8 apart, as cuSZ-i, Huffman",
            "splines with anchors 8 apart, as cuSZ-i, bit planes",
        ],
    ];
    TEXTS[number.count()][codec.coder as usize]
}

/// A codec and its blocks or tiles: `plain, blocks of 4 x 4 x 4`.
pub fn describe(codec: Codec, rank: u8) -> String {
    format!("{codec}, {} of {}", pieces(codec), extents(codec, rank))
}

/// What a codec cuts a field into.
pub fn pieces(codec: Codec) -> &'static str {
    match codec.tiles() {
        Some(_) => "tiles",
        None => "blocks",
    }
}

/// The extents of a codec's blocks or tiles of a rank, without those that are 1.
pub fn extents(codec: Codec, rank: u8) -> String {
    let of_shape = match codec.tiles() {
        Some(_) => tile::extents,
        None => Shape::extents,
    };
    let extents = Shape::of_rank(rank).map_or([1; 3], of_shape);
    let longer: Vec<u64> = (extents.into_iter().map(u64::from))
        .filter(|length| *length > 1)
        .collect();
    report::lengths(&longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_dimensions_of_their_rank() {
        let of = |codec| [1, 2, 3].map(|rank| extents(codec, rank));
        assert_eq!(of(Codec::Plain), ["32", "8 x 8", "4 x 4 x 4"]);
        assert_eq!(of(Codec::INTERP), ["16384", "256 x 64", "16 x 16 x 64"]);
        assert_eq!(describe(Codec::INTERP, 3), "interp, tiles of 16 x 16 x 64");
        assert_eq!(describe(Codec::Plain, 1), "plain, blocks of 32");
    }
}
