//! The choice of a codec: by a preset, or by name.

use ferrosz_codec::{Codec, Preset};

/// The choice of the codec of a [`Compressor`](crate::Compressor).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// A preset, which chooses a codec for each field.
    Preset(Preset),
    /// This codec.
    Codec(Codec),
}

impl From<Preset> for Choice {
    fn from(preset: Preset) -> Self {
        Self::Preset(preset)
    }
}

impl From<Codec> for Choice {
    fn from(codec: Codec) -> Self {
        Self::Codec(codec)
    }
}
