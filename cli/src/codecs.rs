//! `ferrosz codecs`: presets and codecs, and what each is for.

use crate::args::Common;
use crate::failure::Failure;
use crate::output;
use ferrosz::{Codec, Preset};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A codec in words.
struct About {
    codec: Codec,
    predictor: &'static str,
    coder: &'static str,
    papers: &'static str,
    when: &'static str,
}

const fn about(codec: Codec, words: [&'static str; 4]) -> About {
    let [predictor, coder, papers, when] = words;
    About {
        codec,
        predictor,
        coder,
        papers,
        when,
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

/// All codecs, in the order of [`Codec::ALL`].
const ALL: [About; Codec::ALL.len()] = [
    about(
        Codec::Fixed,
        [
            NO_PREDICTOR,
            PLANES,
            "cuSZp3 fixed (SC'25)",
            "noise around zero",
        ],
    ),
    about(
        Codec::Plain,
        [
            NEIGHBOUR,
            PLANES,
            "cuSZp (SC'23), cuSZp2 plain (SC'24)",
            "slow changes around zero",
        ],
    ),
    about(
        Codec::Outlier,
        [
            NEIGHBOUR,
            PLANES_OUTLIERS,
            "cuSZp2 outlier (SC'24)",
            "values far from zero",
        ],
    ),
    about(
        Codec::Lorenzo,
        [
            BLOCK_LORENZO,
            PLANES_OUTLIERS,
            "cuSZp3's blocks (SC'25), cuSZ's predictor",
            "smooth planes and volumes, fast",
        ],
    ),
    about(
        Codec::Layered,
        [
            "differences through chunks of 8192",
            PLANES,
            "AATROX (ICS'25)",
            "long slopes, and lines, fast",
        ],
    ),
    about(
        Codec::LORENZO_RANS,
        [
            TILE_LORENZO,
            RANS,
            "cuSZ's predictor (PACT'20)",
            "rough fields and fine bounds; twice as fast as splines",
        ],
    ),
    about(
        Codec::LORENZO_HUFFMAN,
        [
            TILE_LORENZO,
            HUFFMAN,
            "cuSZ (PACT'20)",
            "arrays of some thousand values, where its tables are shorter",
        ],
    ),
    about(
        Codec::LORENZO_BITPLANE,
        [
            TILE_LORENZO,
            ZEROS,
            "FZ-GPU (HPDC'23)",
            "fields that are hardly there, and many NaNs",
        ],
    ),
    about(
        Codec::INTERP,
        [
            SPLINES,
            RANS,
            "after cuSZ-i (SC'24)",
            "smooth fields: mostly the shortest",
        ],
    ),
    about(
        Codec::INTERP_HUFFMAN,
        [
            SPLINES,
            HUFFMAN,
            "after cuSZ-i (SC'24)",
            "variants of interp, a little shorter at times",
        ],
    ),
    about(
        Codec::INTERP_BITPLANE,
        [
            SPLINES,
            ZEROS,
            "after cuSZ-i (SC'24)",
            "many NaNs, and bounds beyond the type",
        ],
    ),
    about(
        Codec::INTERP_SQUARE,
        [
            SQUARE,
            RANS,
            "cuSZ-Hi's predictor (SC'25)",
            "variants of interp, a little shorter at times",
        ],
    ),
    about(
        Codec::INTERP_SQUARE_HUFFMAN,
        [SQUARE, HUFFMAN, "cuSZ-Hi for ratio (SC'25)", "comparison"],
    ),
    about(
        Codec::INTERP_SQUARE_BITPLANE,
        [
            SQUARE,
            ZEROS,
            "cuSZ-Hi for throughput (SC'25)",
            "comparison",
        ],
    ),
    about(
        Codec::INTERP_NARROW,
        [
            NARROW,
            RANS,
            "cuSZ-i's predictor (SC'24)",
            "variants of interp, a little shorter at times",
        ],
    ),
    about(
        Codec::INTERP_NARROW_HUFFMAN,
        [NARROW, HUFFMAN, "cuSZ-i (SC'24)", "comparison"],
    ),
    about(
        Codec::INTERP_NARROW_BITPLANE,
        [NARROW, ZEROS, "cuSZ-i's predictor (SC'24)", "comparison"],
    ),
];

const PRESETS: [(Preset, &str); 3] = [
    (
        Preset::Small,
        "the shortest stream of all codecs; the default",
    ),
    (
        Preset::Balanced,
        "the shortest of all codecs without splines: about twice as fast",
    ),
    (
        Preset::Fast,
        "the shortest of the codecs of blocks, the fastest; only their streams can be updated",
    ),
];

impl About {
    fn aliases(&self) -> Vec<&'static str> {
        let aliases = Codec::ALIASES.into_iter();
        let own = aliases.filter(|(_, codec)| *codec == self.codec);
        own.map(|(alias, _)| alias).collect()
    }

    /// The presets that may choose it.
    fn presets(&self) -> Vec<&'static str> {
        let may = |preset: &Preset| preset.codecs().contains(&self.codec);
        let presets = Preset::ALL.into_iter().filter(may);
        presets.map(Preset::name).collect()
    }
}

/// Lists presets and codecs.
///
/// # Errors
///
/// If they cannot be printed.
pub fn run(common: &Common) -> Result<(), Failure> {
    output::print(&match common.json {
        true => format!("{}\n", to_json()),
        false => to_text(),
    })
}

fn to_text() -> String {
    let mut text = "Presets: codec and rank are chosen by a sample of the array\n\n".to_owned();
    for (preset, words) in PRESETS {
        let flag = format!("--{preset}");
        let _ = writeln!(text, "  {flag:<12}{words}");
    }
    text += "\nCodecs: --codec NAME; the presets that may choose one are in brackets\n\n";
    for about in &ALL {
        let _ = write!(text, "  {}", about.codec);
        for alias in about.aliases() {
            let _ = write!(text, ", {alias}");
        }
        let presets = about.presets();
        if !presets.is_empty() {
            let _ = write!(text, " [{}]", presets.join(", "));
        }
        let _ = writeln!(
            text,
            "\n      {}; {}\n      {}; for {}",
            about.predictor, about.coder, about.papers, about.when
        );
    }
    text += "\nNames of papers stand for predictor and coder of that kind, in streams of ferrosz's own. \
             Streams that cuSZp itself\nreads and writes: `ferrosz cuszp`; bare ones of AATROX: `ferrosz aatrox`.\n";
    text
}

fn to_json() -> Value {
    let presets: Vec<Value> = (PRESETS.into_iter())
        .map(|(preset, words)| json!({ "name": preset.name(), "about": words }))
        .collect();
    let codecs: Vec<Value> = (ALL.iter())
        .map(|about| {
            json!({
                "name": about.codec.name(),
                "aliases": about.aliases(),
                "presets": about.presets(),
                "predictor": about.predictor,
                "coder": about.coder,
                "papers": about.papers,
                "for": about.when,
            })
        })
        .collect();
    json!({ "presets": presets, "codecs": codecs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_is_explained() {
        assert_eq!(ALL.map(|about| about.codec), Codec::ALL);
    }
}
