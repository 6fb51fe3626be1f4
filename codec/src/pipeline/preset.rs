//! Presets: a choice between speed and size, instead of the name of a codec.

use crate::pipeline::{Codec, LIST};
use core::fmt;
use core::str::FromStr;

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

    /// The codecs that the preset chooses from, in the order of the list: those that name this preset there, or a faster
    /// one. Other codecs are seldom the shortest by more than a hundredth.
    pub const fn codecs(self) -> &'static [Codec] {
        const FAST: [Codec; Preset::Fast.count()] = Preset::Fast.listed();
        const BALANCED: [Codec; Preset::Balanced.count()] = Preset::Balanced.listed();
        const SMALL: [Codec; Preset::Small.count()] = Preset::Small.listed();
        match self {
            Self::Fast => &FAST,
            Self::Balanced => &BALANCED,
            Self::Small => &SMALL,
        }
    }

    /// Whether the preset chooses from the codec at an index of the list.
    const fn has(self, index: usize) -> bool {
        match LIST[index].preset {
            Some(fastest) => fastest as u8 <= self as u8,
            None => false,
        }
    }

    const fn count(self) -> usize {
        let (mut count, mut i) = (0, 0);
        while i < LIST.len() {
            count += self.has(i) as usize;
            i += 1;
        }
        count
    }

    const fn listed<const COUNT: usize>(self) -> [Codec; COUNT] {
        let mut codecs = [LIST[0].codec; COUNT];
        let (mut found, mut i) = (0, 0);
        while i < LIST.len() {
            if self.has(i) {
                codecs[found] = LIST[i].codec;
                found += 1;
            }
            i += 1;
        }
        codecs
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no preset has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownPresetName;

impl fmt::Display for UnknownPresetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no preset has this name; the presets are fast, balanced and small")
    }
}

impl core::error::Error for UnknownPresetName {}

impl FromStr for Preset {
    type Err = UnknownPresetName;

    fn from_str(name: &str) -> Result<Self, UnknownPresetName> {
        let found = Self::ALL.into_iter().find(|preset| preset.name() == name);
        found.ok_or(UnknownPresetName)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_presets_choose_from_more() {
        let [fast, balanced, small] = Preset::ALL.map(Preset::codecs);
        assert!(fast.iter().all(|codec| codec.tiles().is_none()));
        assert!(fast.iter().all(|codec| balanced.contains(codec)));
        assert!(balanced.iter().all(|codec| small.contains(codec)));
        let has_splines = |codec: &Codec| {
            let tiles = codec.tiles();
            tiles.is_some_and(|tiles| tiles.predictor.geometry().is_some())
        };
        assert!(!balanced.iter().any(has_splines));
        assert!(
            small
                .iter()
                .all(|codec| balanced.contains(codec) || has_splines(codec))
        );
    }

    /// The codecs of each preset, written out: another codec in the list must not change them.
    #[test]
    fn presets_do_not_change() {
        let names = |preset: Preset| preset.codecs().iter().map(|codec| codec.name());
        let fast = ["fixed", "plain", "outlier", "lorenzo", "layered"];
        let balanced = ["lorenzo+rans", "lorenzo+huffman", "lorenzo+bitplane"];
        let small = [
            "stencil",
            "stencil+huffman",
            "stencil+bitplane",
            "interp-square",
            "slices",
        ];
        assert!(names(Preset::Fast).eq(fast));
        let with_balanced = || fast.into_iter().chain(balanced);
        assert!(names(Preset::Balanced).eq(with_balanced()));
        assert!(names(Preset::Small).eq(with_balanced().chain(small)));
    }

    #[test]
    fn codecs_with_variants_are_no_variants_and_in_the_same_presets() {
        for codec in Preset::Small.codecs() {
            if let Some(leader) = codec.registration().variant_of {
                assert_eq!(leader.registration().variant_of, None);
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
        assert_eq!("smaller".parse::<Preset>(), Err(UnknownPresetName));
    }
}
