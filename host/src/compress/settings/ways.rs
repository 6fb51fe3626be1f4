//! Checks of the settings that a way of compression cannot have.

use crate::compress::Compressor;
use crate::error::Error;
use crate::statistics::StatisticsPolicy;
use crate::ways::{Setting, Way, refusal};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::{BoundMode, Codec, Element, Value};

impl Compressor {
    /// The codec of a batch that kernels compress.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with settings that batches [cannot have](crate::ways).
    pub(crate) fn batch_codec<T: Value>(&self) -> Result<BlockCodec, Error> {
        self.check_way::<T>(Way::Batch)?;
        match self.codec().ok_or(Error::NotChosen)? {
            Codec::Blocks(codec) => Ok(codec),
            _ => Err(Error::Refused {
                way: Way::Batch,
                setting: Setting::Tiles,
            }),
        }
    }

    /// Checks that a way can have the settings of this compressor for values of a type.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]; [`Error::TooManyFills`].
    pub(crate) fn check_way<V: Value>(&self, way: Way) -> Result<(), Error> {
        for setting in Setting::ALL {
            if refusal(way, setting).is_some() && self.has_setting::<V>(setting)? {
                return Err(Error::Refused { way, setting });
            }
        }
        Ok(())
    }

    fn has_setting<V: Value>(&self, setting: Setting) -> Result<bool, Error> {
        let is_as_is = V::TYPE.is_coded_as_is();
        Ok(match setting {
            // Converted values may need no mask to keep zeros and signs: their conversion decides.
            Setting::Mask => {
                let of_fills = !self.missing::<V>()?.is_empty();
                of_fills
                    || is_as_is && self.value_mapping(V::Coded::DTYPE)?.classes.count().all() > 0
            }
            Setting::Pwrel => self.bound().mode() == BoundMode::Pwrel,
            Setting::Preset => self.codec().is_none(),
            Setting::Axes => self.turns_axes(),
            Setting::Converted => !is_as_is,
            Setting::Extents => self.elements().is_some(),
            Setting::Safeguards => self.has_safeguards(),
            Setting::Levels => self.levels() > 0,
            Setting::Wavelets => self.has_wavelets(),
            Setting::Tiles => self.codec().and_then(Codec::tiles).is_some(),
            Setting::Statistics => self.statistics_policy != StatisticsPolicy::Never,
        })
    }
}
