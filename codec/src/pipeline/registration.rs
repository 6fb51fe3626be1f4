//! A line of the list of codecs.

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

impl Registration {
    pub(super) const fn new(codec: Codec, name: &'static str, words: [&'static str; 4]) -> Self {
        let [predictor, coder, papers, purpose] = words;
        Self {
            codec,
            name,
            predictor,
            coder,
            papers,
            purpose,
        }
    }
}
