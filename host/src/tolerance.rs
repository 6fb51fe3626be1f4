//! What the errors of a field are to be: its bound, and the bounds of its levels.

use crate::error::Error;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::predict::interp::tune::TighteningChoice;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, Element};

/// The error bound of a field, and the choice of the levels' bounds, which codecs without levels do not read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tolerance {
    pub(crate) bound: Bound,
    pub(crate) tightening: TighteningChoice,
}

impl Tolerance {
    /// Whether the extremes of the field must be known.
    pub(crate) fn needs_extremes(&self) -> bool {
        self.bound.needs_extremes() || self.tightening.needs_range()
    }

    /// The quantiser of a field with these extremes, and the choice of its levels' bounds. The extremes are not read unless
    /// [`Tolerance::needs_extremes`].
    pub(crate) fn resolve<T: Element>(
        &self,
        extremes: &Extremes<T>,
    ) -> (Quantizer<T>, TighteningChoice) {
        let quantizer: Quantizer<T> = self.bound.resolve(extremes);
        let error = quantizer.error().to_f64();
        let tightening = self.tightening.of_field(error, extremes.range_down());
        (quantizer, tightening)
    }

    /// What it is for a field with these extremes: an absolute bound, whose quantiser is the same.
    ///
    /// # Errors
    ///
    /// None: the error is finite and not negative.
    pub(crate) fn absolute<T: Element>(&self, extremes: &Extremes<T>) -> Result<Self, Error> {
        let (quantizer, tightening) = self.resolve(extremes);
        Ok(Self {
            bound: Bound::abs(quantizer.error().to_f64())?,
            tightening,
        })
    }
}
