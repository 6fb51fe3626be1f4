//! An entry in the list of codecs.

use crate::pipeline::Codec;

/// A codec of the list with its name and description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registration {
    /// The codec.
    pub codec: Codec,
    /// Its name on the command line.
    pub name: &'static str,
    /// The method of prediction.
    pub predictor: &'static str,
    /// The method of coding.
    pub coder: &'static str,
    /// The papers that describe predictor and coder.
    pub papers: &'static str,
    /// The fields that the codec is for.
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
