//! Whether the coefficients of wavelets are coded in place of values.

use crate::compress::{CoefficientError, Compressor};
use crate::error::Error;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_codec::{Bound, Codec};

impl Compressor {
    /// Codes the coefficients of wavelets in place of values, by [`Codec::DIRECT_RANS`]. At the same mean error, smooth fields then
    /// take fewer bytes; at the same bound, most take more. A value that coefficients leave outside of the bound is corrected.
    ///
    /// A value depends on all coefficients around it, so a part of the field takes as long to decode as all of it. The transform
    /// runs on the CPU, whatever the device. A chunk has 64 tiles, if [`Compressor::chunk_length`] has set no others.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    ///
    /// let field: Vec<f32> = (0..96 * 96).map(|i| (i as f32 * 1e-3).sin()).collect();
    /// let compressor = Compressor::new(Codec::DIRECT_RANS, Bound::abs(0.01)?).extents(&[96, 96])?;
    /// let stream = compressor.wavelets().compress(&field)?;
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
    /// assert!(field.iter().zip(&decoded).all(|(x, y)| (x - y).abs() <= 0.01));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn wavelets(mut self) -> Self {
        self.choice = Codec::DIRECT_RANS.into();
        self.axes = None;
        self.wavelets = Some(CoefficientError::OfBound);
        // All chunks are decoded anyway.
        self.chunk.get_or_insert(ChunkLength::SixtyFour);
        self
    }

    /// As [`Compressor::wavelets`], with this absolute error of coefficients, which is a share of the bound otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::Bound`] if it is negative, or no number.
    pub fn wavelets_within(self, error: f64) -> Result<Self, Error> {
        Bound::abs(error)?;
        let mut within = self.wavelets();
        within.wavelets = Some(CoefficientError::Absolute(error));
        Ok(within)
    }

    /// Whether the coefficients of wavelets are coded.
    pub fn has_wavelets(&self) -> bool {
        self.wavelets.is_some()
    }

    /// The absolute error of coefficients, if it was set.
    pub(crate) fn coefficient_error(&self) -> Option<f64> {
        match self.wavelets {
            Some(CoefficientError::Absolute(error)) => Some(error),
            Some(CoefficientError::OfBound) | None => None,
        }
    }

    /// Whether wavelets may take the place of the codec that a preset chooses.
    pub(crate) fn can_have_wavelets(&self) -> bool {
        let has_levels = self.levels() > 0;
        !(self.rewritable || has_levels || self.is_complex || self.given_axes().is_some())
    }
}
