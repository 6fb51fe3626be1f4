//! The ways to compress a field, and the settings that some of them cannot have: one table, by which calls refuse.

use std::fmt;

/// A way to compress that cannot have all settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// By members of a group: [`Compressor::compress_part`](crate::Compressor::compress_part).
    Members,
    /// In parts of a plan: [`Compressor::plan`](crate::Compressor::plan).
    Plan,
    /// In the memory of a GPU: `Gpu::compress`.
    Memory,
    /// In the memory of several GPUs: `cuda::Slabs`.
    Slabs,
    /// In windows that are copied from device memory: `cuda::Transfer`.
    Transfer,
    /// Many arrays in device memory: `Gpu::compress_batch`.
    Batch,
}

/// A setting of a [`Compressor`](crate::Compressor), or of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// Fill values, and zeros and signs that only a mask keeps.
    Mask,
    /// A bound relative to each value.
    Pwrel,
    /// A preset, or axes that are searched, of which nothing is chosen yet.
    Preset,
    /// Another order of axes.
    Axes,
    /// Values of 16 bits, and integers.
    Converted,
    /// Extents.
    Extents,
    /// A codec of tiles.
    Tiles,
    /// Safeguards.
    Safeguards,
    /// Statistics of the field.
    Statistics,
    /// Levels that are coded apart.
    Levels,
    /// Coefficients of wavelets.
    Wavelets,
}

const FILLED: &str = "holes of a mask are filled from all of the field, and nobody has all of it";
const OWN_VALUES: &str =
    "holes of a mask are filled from all of the field, of which a part reads its own values alone";
const LOGARITHMS: &str = "signs and zeros of logarithms are in a mask";
const AS_IT_IS: &str = "its parts are compressed from the field as it is";
const CHOOSE: &str = "nobody has all of the field to choose for; choose first";
const ROOM: &str = "its memory is for the streams of one codec; choose first";
const MASKS: &str = "its kernel makes no masks";
const CODEC: &str = "one kernel is for one codec; choose first";
const LINES: &str = "each of its arrays is a line, and all are compressed by one kernel";
const WHOLE: &str = "corrections follow from all decoded values, and nobody has all of them";
const WINDOWS: &str = "its windows are compressed and forgotten before their corrections are known";
const MENDS: &str =
    "its stream is finished before corrections are known; compress a field in host memory";
const BLOCKS: &str = "its kernel codes blocks of f32 and f64; compress each array alone";

const IN_PARTS: &str = "they are of the whole field, and nobody has all of it";
const ON_HOST: &str = "they are made of values in host memory";
const TRANSFORM: &str = "no kernel transforms coefficients; compress a field in host memory";
const LINES_OF_ALL: &str =
    "codes of a level are one line through the whole field, and nobody has all of it";

/// All that is refused, and why.
const REFUSALS: [(Way, &[Setting], &str); 36] = [
    (Way::Members, &[Setting::Mask], FILLED),
    (Way::Members, &[Setting::Pwrel], LOGARITHMS),
    (Way::Plan, &[Setting::Mask], OWN_VALUES),
    (Way::Plan, &[Setting::Pwrel], LOGARITHMS),
    (Way::Slabs, &[Setting::Mask], FILLED),
    (Way::Slabs, &[Setting::Pwrel], LOGARITHMS),
    (Way::Slabs, &[Setting::Axes, Setting::Converted], AS_IT_IS),
    (Way::Slabs, &[Setting::Preset], CHOOSE),
    (Way::Transfer, &[Setting::Preset], ROOM),
    (Way::Batch, &[Setting::Mask], MASKS),
    (Way::Batch, &[Setting::Pwrel], LOGARITHMS),
    (Way::Batch, &[Setting::Preset], CODEC),
    (Way::Batch, &[Setting::Axes, Setting::Extents], LINES),
    (
        Way::Batch,
        &[Setting::Tiles, Setting::Converted, Setting::Levels],
        BLOCKS,
    ),
    (Way::Members, &[Setting::Safeguards], WHOLE),
    (Way::Plan, &[Setting::Safeguards], WHOLE),
    (Way::Slabs, &[Setting::Safeguards], WHOLE),
    (Way::Transfer, &[Setting::Safeguards], WINDOWS),
    (Way::Batch, &[Setting::Safeguards], MENDS),
    (Way::Memory, &[Setting::Safeguards], MENDS),
    (Way::Members, &[Setting::Statistics], IN_PARTS),
    (Way::Plan, &[Setting::Statistics], IN_PARTS),
    (Way::Memory, &[Setting::Statistics], ON_HOST),
    (Way::Slabs, &[Setting::Statistics], ON_HOST),
    (Way::Transfer, &[Setting::Statistics], ON_HOST),
    (Way::Batch, &[Setting::Statistics], ON_HOST),
    (Way::Members, &[Setting::Levels], LINES_OF_ALL),
    (Way::Plan, &[Setting::Levels], LINES_OF_ALL),
    (Way::Slabs, &[Setting::Levels], LINES_OF_ALL),
    (Way::Transfer, &[Setting::Levels], LINES_OF_ALL),
    (Way::Members, &[Setting::Wavelets], WHOLE),
    (Way::Plan, &[Setting::Wavelets], WHOLE),
    (Way::Memory, &[Setting::Wavelets], TRANSFORM),
    (Way::Slabs, &[Setting::Wavelets], TRANSFORM),
    (Way::Transfer, &[Setting::Wavelets], TRANSFORM),
    (Way::Batch, &[Setting::Wavelets], TRANSFORM),
];

/// Why a way cannot have a setting; none if it can.
///
/// ```
/// use ferrosz_host::ways::{Setting, Way, refusal};
///
/// assert_eq!(refusal(Way::Members, Setting::Axes), None);
/// assert!(refusal(Way::Members, Setting::Mask).is_some());
/// ```
pub fn refusal(way: Way, setting: Setting) -> Option<&'static str> {
    let found = REFUSALS
        .iter()
        .find(|(of, settings, _)| *of == way && settings.contains(&setting));
    found.map(|(_, _, reason)| *reason)
}

impl Way {
    /// All ways that refuse a setting.
    pub const ALL: [Self; 6] = [
        Self::Members,
        Self::Plan,
        Self::Memory,
        Self::Slabs,
        Self::Transfer,
        Self::Batch,
    ];
}

impl Setting {
    /// All settings that a way refuses. Of several the first one is named.
    pub const ALL: [Self; 11] = [
        Self::Pwrel,
        Self::Mask,
        Self::Preset,
        Self::Axes,
        Self::Converted,
        Self::Extents,
        Self::Tiles,
        Self::Safeguards,
        Self::Statistics,
        Self::Levels,
        Self::Wavelets,
    ];
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Members => "a field that members of a group compress",
            Self::Plan => "a field in parts of a plan",
            Self::Memory => "a field in device memory",
            Self::Slabs => "a field in the memory of several GPUs",
            Self::Transfer => "a transfer from device memory",
            Self::Batch => "a batch in device memory",
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mask => "fill values, or zeros and signs that only a mask keeps",
            Self::Pwrel => "a bound relative to each value",
            Self::Preset => "a preset, or a search of the axes, before the choice",
            Self::Axes => "another order of axes",
            Self::Converted => "values of 16 bits or integers",
            Self::Extents => "extents",
            Self::Tiles => "a codec of tiles",
            Self::Safeguards => "safeguards",
            Self::Statistics => "statistics",
            Self::Levels => "levels that are coded apart",
            Self::Wavelets => "wavelets",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_refused_once() {
        for way in Way::ALL {
            for setting in Setting::ALL {
                let rows = REFUSALS
                    .iter()
                    .filter(|(of, settings, _)| *of == way && settings.contains(&setting));
                assert!(rows.count() <= 1, "{way}, {setting}");
            }
        }
    }
}
