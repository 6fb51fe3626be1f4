//! `ferrosz codecs --papers`: what each codec with the name of a paper's pipeline shares with it, and what not.
//! docs/book/codecs.md has the same in more words.

use ferrosz::Codec;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What an alias shares with its paper, and how it differs.
const SHARED: [(&str, &str, &str); 9] = [
    (
        "cuszp2-plain",
        "blocks of 32, differences, a rate byte, bit planes, zero blocks",
        "arrays of 2 and 3 dimensions have blocks of 8 x 8 and 4 x 4 x 4 (--rank 1: lines); the bound is kept exactly",
    ),
    (
        "cuszp2-outlier",
        "as cuszp2-plain, with the first difference of a block apart where that is shorter",
        "as cuszp2-plain",
    ),
    (
        "cuszp3-fixed",
        "codes of values themselves in blocks, a rate byte, bit planes",
        "as cuszp2-plain",
    ),
    (
        "aatrox",
        "differences through a whole layer of lines, one first value, rates, bit planes, zero blocks",
        "a layer has 8,192 values, not 32,768",
    ),
    (
        "cusz",
        "quantisation before prediction, Lorenzo, Huffman codes",
        "tiles of 16,384 values; up to 16 code books by the size of codes; no Zstd behind them",
    ),
    (
        "fz-gpu",
        "quantisation before prediction, Lorenzo, bit planes without their zero words",
        "tiles of 16,384 values",
    ),
    (
        "cusz-i",
        "anchors 8 apart, windows of 8 x 8 x 32, its splines, Huffman codes",
        "anchors are coded, too; bounds of levels by bytes (--prefer quality: by its Eq. 2, no less than a quarter of the bound); \
         a spline for each level, not each axis; 2 of 6 orders of axes (--axes auto: any); no Bitcomp behind Huffman",
    ),
    (
        "cusz-hi",
        "anchors 16 apart, windows of 16 x 16 x 16, its splines, Huffman codes",
        "anchors are coded, too; parameters by bytes (--prefer quality: alpha by the bound alone); no lossless stages behind Huffman",
    ),
    (
        "cusz-hi-tp",
        "the predictor of cusz-hi, bit planes without their zero words",
        "as cusz-hi; these bit planes are not its lossless stages",
    ),
];

/// The list as text.
pub fn to_text() -> String {
    let mut text =
        "Names of papers, their codecs here, and what these share with the papers\n\n".to_owned();
    for (alias, shares, differs) in SHARED {
        let codec = Codec::from_name(alias).map_or("", Codec::name);
        let _ = writeln!(
            text,
            "  {alias} is {codec}\n      shares: {shares}\n      differs: {differs}"
        );
    }
    text
}

/// The list as objects.
pub fn to_json() -> Vec<Value> {
    let objects = SHARED.iter().map(|(alias, shares, differs)| {
        let codec = Codec::from_name(alias).map_or("", Codec::name);
        json!({ "name": alias, "codec": codec, "shares": shares, "differs": differs })
    });
    objects.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_paper_is_explained() {
        let explained = SHARED.map(|(alias, ..)| alias);
        assert_eq!(explained, Codec::ALIASES.map(|(alias, _)| alias));
    }
}
