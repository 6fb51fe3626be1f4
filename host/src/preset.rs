//! Presets: a choice between speed and size, instead of the name of a codec.

use ferrosz_codec::Codec;
use std::fmt;
use std::str::FromStr;

/// A preset chooses codec and rank by a sample of each field, among the codecs that are fast enough.
///
/// `docs/measurements/presets.md` has measurements of the three presets: medians and extremes over fields and bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Preset {
    /// The shortest stream of the codecs of blocks, which are the fastest codecs, and the only ones whose streams can
    /// be updated.
    Fast,
    /// The shortest stream of all codecs without splines. Splines take about twice the time of the slowest other
    /// codecs.
    Balanced,
    /// The shortest stream of all codecs, with splines, stencils and slices.
    #[default]
    Small,
}

impl Preset {
    /// All presets, the fastest first.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Balanced, Self::Small];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Balanced => "balanced",
            Self::Small => "small",
        }
    }

    /// The codecs that the preset chooses from, the preferred first. Other codecs are seldom the shortest by more than a
    /// hundredth.
    pub const fn codecs(self) -> &'static [Codec] {
        const CODECS: [Codec; CHOSEN.len()] = {
            let mut codecs = [Codec::PLAIN; CHOSEN.len()];
            let mut i = 0;
            while i < CHOSEN.len() {
                codecs[i] = CHOSEN[i].0;
                i += 1;
            }
            codecs
        };
        let mut count = 0;
        while count < CHOSEN.len() && CHOSEN[count].1 as u8 <= self as u8 {
            count += 1;
        }
        CODECS.split_at(count).0
    }
}

/// The codecs that presets choose from, the preferred first, each with the fastest preset that has it. Slower presets have
/// it, too.
const CHOSEN: [(Codec, Preset); 13] = [
    (Codec::FIXED, Preset::Fast),
    (Codec::PLAIN, Preset::Fast),
    (Codec::OUTLIER, Preset::Fast),
    (Codec::LORENZO, Preset::Fast),
    (Codec::LAYERED, Preset::Fast),
    (Codec::LORENZO_RANS, Preset::Balanced),
    (Codec::LORENZO_HUFFMAN, Preset::Balanced),
    (Codec::LORENZO_BITPLANE, Preset::Balanced),
    (Codec::STENCIL, Preset::Small),
    (Codec::STENCIL_HUFFMAN, Preset::Small),
    (Codec::STENCIL_BITPLANE, Preset::Small),
    (Codec::INTERP_SQUARE, Preset::Small),
    (Codec::SLICES, Preset::Small),
];

/// The codec of which `codec` is a variant. The choice tries variants only where the prediction for that codec is among
/// the shortest, and only in its rank.
pub(crate) fn is_variant_of(codec: Codec) -> Option<Codec> {
    const VARIANTS: [(Codec, &[Codec]); 3] = [
        (
            Codec::OUTLIER,
            &[Codec::FIXED, Codec::PLAIN, Codec::LORENZO, Codec::LAYERED],
        ),
        (
            Codec::LORENZO_RANS,
            &[Codec::LORENZO_HUFFMAN, Codec::LORENZO_BITPLANE],
        ),
        (
            Codec::STENCIL,
            &[
                Codec::STENCIL_HUFFMAN,
                Codec::STENCIL_BITPLANE,
                Codec::INTERP_SQUARE,
            ],
        ),
    ];
    let found = VARIANTS
        .iter()
        .find(|(_, of_leader)| of_leader.contains(&codec));
    found.map(|(leader, _)| *leader)
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|preset| preset.name() == name);
        found.ok_or_else(|| format!("'{name}' is not a preset: fast, balanced or small"))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_presets_choose_from_more() {
        let [fast, balanced, small] = Preset::ALL.map(Preset::codecs);
        assert_eq!(fast, Codec::BLOCKS);
        assert!(CHOSEN.is_sorted_by_key(|(_, preset)| *preset as u8));
        assert!(balanced.starts_with(fast) && small.starts_with(balanced));
        let has_splines = |codec: &Codec| {
            let tiles = codec.tiles();
            tiles.is_some_and(|tiles| tiles.predictor.geometry().is_some())
        };
        assert!(!balanced.iter().any(has_splines));
        assert!(small[balanced.len()..].iter().all(has_splines));
    }

    #[test]
    fn leaders_come_before_their_variants_and_are_none() {
        for codec in Preset::Small.codecs() {
            if let Some(leader) = is_variant_of(*codec) {
                assert_eq!(is_variant_of(leader), None);
                assert!(Preset::ALL.iter().all(|preset| {
                    !preset.codecs().contains(codec) || preset.codecs().contains(&leader)
                }));
            }
        }
    }

    #[test]
    fn presets_have_names() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
        }
        assert!("smaller".parse::<Preset>().is_err());
    }
}
