//! The one list of codecs: a line for each.

use crate::pipeline::Codec;

/// A codec of the list: its name and its description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registration {
    /// The codec.
    pub codec: Codec,
    /// Its name on the command line.
    pub name: &'static str,
    /// How values are predicted.
    pub predictor: &'static str,
    /// How codes become bits.
    pub coder: &'static str,
    /// The papers that predictor and coder are from.
    pub papers: &'static str,
    /// The fields that it is for.
    pub purpose: &'static str,
}

const fn line(codec: Codec, name: &'static str, words: [&'static str; 4]) -> Registration {
    let [predictor, coder, papers, purpose] = words;
    Registration {
        codec,
        name,
        predictor,
        coder,
        papers,
        purpose,
    }
}

const NO_PREDICTOR: &str = "values themselves";
const NEIGHBOUR: &str = "difference to the neighbour";
const BLOCK_LORENZO: &str = "differences in all dimensions of a block";
const TILE_LORENZO: &str = "differences in all dimensions of a tile";
const SPLINES: &str = "splines from coarse to fine in whole tiles";
const SQUARE: &str = "splines in windows of 16";
const NARROW: &str = "splines between anchors 8 apart";

const PLANES: &str = "fixed length in blocks";
const PLANES_OUTLIERS: &str = "fixed length in blocks, first difference apart";
const RANS: &str = "rANS";
const HUFFMAN: &str = "Huffman";
const ZEROS: &str = "bit planes without zeros";

/// All codecs: those of blocks, then those of tiles, coder by coder for each predictor.
pub const LIST: [Registration; 17] = [
    line(
        Codec::FIXED,
        "fixed",
        [
            NO_PREDICTOR,
            PLANES,
            "cuSZp3 fixed (SC'25)",
            "noise around zero",
        ],
    ),
    line(
        Codec::PLAIN,
        "plain",
        [
            NEIGHBOUR,
            PLANES,
            "cuSZp (SC'23), cuSZp2 plain (SC'24)",
            "slow changes around zero",
        ],
    ),
    line(
        Codec::OUTLIER,
        "outlier",
        [
            NEIGHBOUR,
            PLANES_OUTLIERS,
            "cuSZp2 outlier (SC'24)",
            "values far from zero",
        ],
    ),
    line(
        Codec::LORENZO,
        "lorenzo",
        [
            BLOCK_LORENZO,
            PLANES_OUTLIERS,
            "cuSZp3's blocks (SC'25), cuSZ's predictor",
            "smooth planes and volumes, fast",
        ],
    ),
    line(
        Codec::LAYERED,
        "layered",
        [
            "differences through chunks of 8192",
            PLANES,
            "AATROX (ICS'25)",
            "long slopes, and lines, fast",
        ],
    ),
    line(
        Codec::LORENZO_RANS,
        "lorenzo+rans",
        [
            TILE_LORENZO,
            RANS,
            "cuSZ's predictor (PACT'20)",
            "rough fields and fine bounds; twice as fast as splines",
        ],
    ),
    line(
        Codec::LORENZO_HUFFMAN,
        "lorenzo+huffman",
        [
            TILE_LORENZO,
            HUFFMAN,
            "cuSZ (PACT'20)",
            "arrays of some thousand values, where its tables are shorter",
        ],
    ),
    line(
        Codec::LORENZO_BITPLANE,
        "lorenzo+bitplane",
        [
            TILE_LORENZO,
            ZEROS,
            "FZ-GPU (HPDC'23)",
            "fields that are hardly there, and many NaNs",
        ],
    ),
    line(
        Codec::INTERP,
        "interp",
        [
            SPLINES,
            RANS,
            "after cuSZ-i (SC'24)",
            "smooth fields: mostly the shortest",
        ],
    ),
    line(
        Codec::INTERP_HUFFMAN,
        "interp+huffman",
        [
            SPLINES,
            HUFFMAN,
            "after cuSZ-i (SC'24)",
            "variants of interp, a little shorter at times",
        ],
    ),
    line(
        Codec::INTERP_BITPLANE,
        "interp+bitplane",
        [
            SPLINES,
            ZEROS,
            "after cuSZ-i (SC'24)",
            "many NaNs, and bounds beyond the type",
        ],
    ),
    line(
        Codec::INTERP_SQUARE,
        "interp-square",
        [
            SQUARE,
            RANS,
            "cuSZ-Hi's predictor (SC'25)",
            "variants of interp, a little shorter at times",
        ],
    ),
    line(
        Codec::INTERP_SQUARE_HUFFMAN,
        "interp-square+huffman",
        [SQUARE, HUFFMAN, "cuSZ-Hi for ratio (SC'25)", "comparison"],
    ),
    line(
        Codec::INTERP_SQUARE_BITPLANE,
        "interp-square+bitplane",
        [
            SQUARE,
            ZEROS,
            "cuSZ-Hi for throughput (SC'25)",
            "comparison",
        ],
    ),
    line(
        Codec::INTERP_NARROW,
        "interp-narrow",
        [
            NARROW,
            RANS,
            "cuSZ-i's predictor (SC'24)",
            "variants of interp, a little shorter at times",
        ],
    ),
    line(
        Codec::INTERP_NARROW_HUFFMAN,
        "interp-narrow+huffman",
        [NARROW, HUFFMAN, "cuSZ-i (SC'24)", "comparison"],
    ),
    line(
        Codec::INTERP_NARROW_BITPLANE,
        "interp-narrow+bitplane",
        [NARROW, ZEROS, "cuSZ-i's predictor (SC'24)", "comparison"],
    ),
];
