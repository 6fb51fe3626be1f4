//! An entry in the list of codecs.

use crate::pipeline::{Codec, Preset};

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
    /// The fastest preset that chooses from it; slower ones do, too. None if no preset does.
    pub preset: Option<Preset>,
    /// Another codec, if this one is a variant of it. The choice tries a variant only where the prediction for the other codec
    /// is among the shortest, and only in its rank.
    pub variant_of: Option<Codec>,
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
            preset: None,
            variant_of: None,
        }
    }

    /// The entry of a codec that a preset and all slower ones choose from.
    pub(super) const fn in_preset(self, preset: Preset) -> Self {
        Self {
            preset: Some(preset),
            ..self
        }
    }

    /// The entry of a variant of another codec.
    pub(super) const fn variant_of(self, codec: Codec) -> Self {
        Self {
            variant_of: Some(codec),
            ..self
        }
    }
}
