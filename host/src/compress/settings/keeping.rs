//! Signs and zeros that a stream keeps, and conversions of values.

use crate::compress::Compressor;
use crate::error::Error;
use crate::gpu::mapping::conversion::converts;
use crate::keeping::{Keeping, census};
use ferrosz_codec::mapping::Keep;
use ferrosz_codec::mapping::conversion::{Conversion, Kind};
use ferrosz_codec::{BoundMode, Codec, Element, Value};

impl Compressor {
    /// Keeps the sign of every finite value. Codecs that do this by themselves do it at no cost; for the others the signs
    /// are coded apart. With [`Bound::pwrel`](ferrosz_codec::Bound::pwrel) all signs are kept without this call.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    ///
    /// let field: Vec<f32> = (0..9000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let compressor = Compressor::new(Codec::INTERP, Bound::abs(0.1)?).keep_signs().keep_zeros();
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&compressor.compress(&field)?)?;
    /// assert!(field.iter().zip(&decoded).all(|(x, y)| x * y >= 0.0));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn keep_signs(mut self) -> Self {
        self.keeping.always.signs = true;
        self
    }

    /// Keeps zeros: a zero comes back as a zero. Codecs that do this by themselves do it at no cost; for the others the
    /// zeros of both signs become classes of a mask, like fill values.
    #[must_use]
    pub fn keep_zeros(mut self) -> Self {
        self.keeping.always.zeros = true;
        self
    }

    /// Lets a preset choose the shortest stream within the bound, whatever becomes of zeros and signs.
    ///
    /// Without this call a field without negative values comes back without any from the stream of a preset, and zeros that
    /// are more than a hundredth of the values come back as zeros. A named codec keeps those that it keeps by itself.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let rain: Vec<f32> = (0..9000).map(|i| ((i as f32 * 0.01).sin() - 0.3).max(0.0)).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(1e-3)?);
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&compressor.compress(&rain)?)?;
    /// assert!(rain.iter().zip(&decoded).all(|(x, y)| *y >= 0.0 && (*x > 0.0 || *y == 0.0)));
    /// assert!(compressor.keep_none().compress(&rain)?.len() <= compressor.compress(&rain)?.len());
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn keep_none(self) -> Self {
        self.with_keeping(Keeping::NONE)
    }

    /// The values of a field with this conversion that a mask keeps exactly: none if all values come back exactly.
    ///
    /// # Errors
    ///
    /// [`Error::KeptOfLargeIntegers`] if a mask would be needed, and 0 is another number in the coded field.
    pub(crate) fn keeping_of(&self, conversion: &Conversion) -> Result<Keeping, Error> {
        let keeping = self.keeping.converted(conversion);
        let has_mask = self.with_keeping(keeping).keep() != Keep::default();
        match self.codec().filter(|_| has_mask) {
            Some(codec) if conversion.kind() == Kind::Shifted => {
                Err(Error::KeptOfLargeIntegers(codec))
            }
            _ => Ok(keeping),
        }
    }

    /// The same compressor, which keeps the zeros and the signs that a preset keeps of this field.
    pub(crate) fn keeping_of_field<T: Element>(self, field: &[T]) -> Self {
        let keep = self.keeping.of(census(field));
        self.with_keeping(Keeping::just(keep))
    }

    pub(super) fn with_keeping(self, keeping: Keeping) -> Self {
        Self { keeping, ..self }
    }

    /// The values that a mask keeps exactly with this codec; none if the codec keeps them itself or is not chosen.
    pub(crate) fn keep(&self) -> Keep {
        let keeps = |codec: Codec| codec.keeps_signs_and_zeros() && !self.has_wavelets();
        match self.codec().is_none_or(keeps) {
            true => Keep::default(),
            false => self.keeping.always,
        }
    }

    /// Checks that values of a type can be converted.
    ///
    /// # Errors
    ///
    /// [`Error::MappingOfType`].
    pub(crate) fn check_conversion<V: Value>(&self) -> Result<(), Error> {
        match self.bound.mode() == BoundMode::Pwrel && !V::TYPE.is_coded_as_is() {
            true => Err(Error::MappingOfType(V::TYPE)),
            false => Ok(()),
        }
    }

    /// Whether a machine that runs kernels converts values of a type: if it can, and neither classes of a mask nor bounds of
    /// levels depend on the conversion.
    ///
    /// # Errors
    ///
    /// [`Error::FillOfOtherType`].
    pub(crate) fn converts_on_machine<V: Value>(&self) -> Result<bool, Error> {
        let has_mask = self.keep() != Keep::default() || !self.missing::<V>()?.is_empty();
        // Kernels plan halves by the values of a field.
        let is_planned_apart = self.rewritable && V::TYPE.is_half();
        let needs_range = self.tightening().needs_range();
        Ok(converts(V::TYPE) && !has_mask && !is_planned_apart && !needs_range)
    }
}
