//! The codec's configuration in the metadata of an array.

use ferrosz::codec::bound::Extremes;
use ferrosz::{AxesSetting, Bound, BoundError, Choice, Codec, Compressor, Preference, Preset};
use serde::{Deserialize, Serialize};
use zarrs::metadata::ConfigurationSerialize;
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::{PluginConfigurationInvalidError, PluginCreateError};

/// The configuration of the codec `ferrosz` in the metadata of an array. The Python package has the same.
///
/// Each chunk is compressed alone, so the bound must not depend on the values of a chunk: it is `abs` or `pwrel`. Of the
/// others, those that are left away have the default of the library.
///
/// ```
/// use ferrosz_zarrs::FerroszCodecConfiguration;
///
/// let json = r#"{"abs":0.01,"preset":"fast"}"#;
/// let configuration: FerroszCodecConfiguration = serde_json::from_str(json)?;
/// assert_eq!(configuration.preset, Some(ferrosz::Preset::Fast));
/// assert_eq!(serde_json::to_string(&configuration)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FerroszCodecConfiguration {
    /// The error of each value at most. This or `pwrel` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abs: Option<f64>,
    /// The error of each value at most, relative to the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pwrel: Option<f64>,
    /// The preset, which chooses a codec for each chunk.
    #[serde(with = "by_name", skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// The codec, in place of a preset.
    #[serde(with = "by_name", skip_serializing_if = "Option::is_none")]
    pub codec: Option<Codec>,
    /// The dimensions of blocks or tiles, 1 to 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u8>,
    /// Which axes are coded together, such as `s,z,y,x`; or `auto`.
    #[serde(with = "by_name", skip_serializing_if = "Option::is_none")]
    pub axes: Option<AxesSetting>,
    /// The tiles of a chunk of a codec of tiles: 4, 16 or 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_tiles: Option<u32>,
    /// How many levels of each chunk are coded apart. It needs `written_once`.
    #[serde(skip_serializing_if = "is_zero")]
    pub levels: u8,
    /// Few bytes, or small errors of codecs with splines or stencils: then a higher PSNR at the same bound.
    #[serde(with = "by_name", skip_serializing_if = "Option::is_none")]
    pub prefer: Option<Preference>,
    /// Whether every value keeps its sign.
    #[serde(skip_serializing_if = "is_false")]
    pub keep_sign: bool,
    /// Whether zeros come back as zeros.
    #[serde(skip_serializing_if = "is_false")]
    pub keep_zero: bool,
    /// Whether each chunk is written once, and as a whole. zarrs decodes a chunk and encodes it again when a part of it is
    /// written. Without this setting only codecs without splines encode, whose bound holds however often that happens; with
    /// it streams are shorter.
    #[serde(skip_serializing_if = "is_false")]
    pub written_once: bool,
}

impl FerroszCodecConfiguration {
    /// With an absolute bound.
    pub fn abs(error: f64) -> Self {
        Self {
            abs: Some(error),
            ..Self::default()
        }
    }

    /// With a bound relative to each value.
    pub fn pwrel(bound: f64) -> Self {
        Self {
            pwrel: Some(bound),
            ..Self::default()
        }
    }

    /// With the absolute bound that is `range` times the range of these values: those of the whole array without its
    /// missing ones, or the least and the greatest of them. NaN and infinities do not count.
    ///
    /// ```
    /// use ferrosz_zarrs::FerroszCodecConfiguration;
    ///
    /// let configuration = FerroszCodecConfiguration::range(0.125, [250.0, 266.0, f64::NAN])?;
    /// assert_eq!(configuration, FerroszCodecConfiguration::abs(2.0));
    /// # Ok::<(), ferrosz::BoundError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BoundError`] if `range` is negative, NaN or infinite.
    pub fn range(range: f64, values: impl IntoIterator<Item = f64>) -> Result<Self, BoundError> {
        Ok(Self::absolute(Bound::range(range)?, values))
    }

    /// As [`FerroszCodecConfiguration::range`], with `max` times the largest magnitude of these values.
    ///
    /// # Errors
    ///
    /// [`BoundError`] if `max` is negative, NaN or infinite.
    pub fn max(max: f64, values: impl IntoIterator<Item = f64>) -> Result<Self, BoundError> {
        Ok(Self::absolute(Bound::max(max)?, values))
    }

    /// With the absolute bound that follows from a bound for these values, rounded down.
    fn absolute(bound: Bound, values: impl IntoIterator<Item = f64>) -> Self {
        let mut extremes = Extremes::default();
        for value in values {
            extremes.see(value);
        }
        Self::abs(bound.absolute(&extremes))
    }

    /// The configuration in the metadata of a codec.
    ///
    /// # Errors
    ///
    /// If it has other settings, or these with other types or names.
    pub(crate) fn of_metadata(metadata: &MetadataV3) -> Result<Self, PluginCreateError> {
        metadata.to_typed_configuration().map_err(invalid)
    }

    /// The compressor of chunks, without their extents and fill values.
    ///
    /// # Errors
    ///
    /// If the library cannot have these settings.
    pub(crate) fn compressor(&self) -> Result<Compressor, PluginCreateError> {
        let choice: Choice = match (self.preset, self.codec) {
            (Some(_), Some(_)) => return Err(invalid("give preset or codec, not both")),
            (Some(preset), None) => preset.into(),
            (None, Some(codec)) => codec.into(),
            (None, None) => Preset::default().into(),
        };
        let mut compressor = Compressor::new(choice, self.bound()?);
        if let Some(rank) = self.rank {
            compressor = compressor.with_rank(rank).map_err(invalid)?;
        }
        if let Some(axes) = self.axes {
            compressor = compressor.with_axes(axes);
        }
        if let Some(tiles) = self.chunk_tiles {
            compressor = compressor.with_chunk_tiles(tiles).map_err(invalid)?;
        }
        if self.levels > 0 {
            compressor = compressor.levels_apart(self.levels).map_err(invalid)?;
        }
        if let Some(preference) = self.prefer {
            compressor = compressor.prefer(preference).map_err(invalid)?;
        }
        if self.keep_sign {
            compressor = compressor.keep_signs();
        }
        if self.keep_zero {
            compressor = compressor.keep_zeros();
        }
        if !self.written_once && self.refusal().is_none() {
            compressor = compressor.rewritable().map_err(invalid)?;
        }
        Ok(compressor)
    }

    /// Why chunks are only decoded with this configuration, if they are: its codec has splines, whose errors would add each
    /// time that a part of a chunk is written, and nothing says that each chunk is written once.
    pub(crate) fn refusal(&self) -> Option<String> {
        let codec = self.codec.filter(|_| !self.written_once)?;
        let has_splines = (codec.tiles()).is_some_and(|it| it.predictor.geometry().is_some());
        has_splines.then(|| {
            format!(
                "codec ferrosz: {codec} has splines, whose errors add each time that a part of a chunk is written; set \
                 written_once if each chunk is written once"
            )
        })
    }

    fn bound(&self) -> Result<Bound, PluginCreateError> {
        match (self.abs, self.pwrel) {
            (Some(error), None) => Bound::abs(error).map_err(invalid),
            (None, Some(bound)) => Bound::pwrel(bound).map_err(invalid),
            (None, None) => Err(invalid("give a bound: abs or pwrel")),
            (Some(_), Some(_)) => Err(invalid("give only one of the bounds abs and pwrel")),
        }
    }
}

impl ConfigurationSerialize for FerroszCodecConfiguration {}

fn invalid(reason: impl std::fmt::Display) -> PluginCreateError {
    PluginConfigurationInvalidError::new(format!("codec ferrosz: {reason}")).into()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_zero(value: &u8) -> bool {
    *value == 0
}

/// Settings as their names.
mod by_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::fmt::Display;
    use std::str::FromStr;

    pub fn serialize<T: Display, S: Serializer>(
        setting: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match setting {
            Some(setting) => serializer.collect_str(setting),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let name = Option::<String>::deserialize(deserializer)?;
        let parse = |name: String| {
            let setting = name.parse();
            setting.map_err(|error| D::Error::custom(format_args!("'{name}': {error}")))
        };
        name.map(parse).transpose()
    }
}
