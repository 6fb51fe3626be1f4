//! What an error of coefficients does to the field, before it is compressed.

use crate::error::Error;
use crate::wavelet::encode::{DEAD_ZONE, finite};
use crate::wavelet::transform;
use ferrosz_codec::Element;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::mapping::wavelet::FieldBoxes;

/// Coefficients of a sample at most.
const MOST: usize = 1 << 20;

/// Some of the coefficients of a field.
pub(crate) struct CoefficientSample(Vec<f64>);

impl CoefficientSample {
    /// A sample of a field's coefficients, with its last number before each that is not finite in place of it.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn new<T: Element>(extents: &Extents, field: &[T]) -> Result<Self, Error> {
        let all = transform::coefficients(&FieldBoxes::new(extents), &finite(field))?;
        let step = all.len().div_ceil(MOST).max(1);
        let some = all.iter().step_by(step);
        Ok(Self(some.map(|value| value.to_f64().abs()).collect()))
    }

    /// The root mean square of the errors that coefficients with this absolute error have. That of the field is about the same.
    pub(crate) fn rmse(&self, error: f64) -> f64 {
        let step = 2.0 * error;
        let square = |magnitude: &f64| {
            let code = (magnitude / step - DEAD_ZONE).max(0.0).round_ties_even();
            (magnitude - code * step).powi(2)
        };
        let sum: f64 = self.0.iter().map(square).sum();
        (sum / self.0.len().max(1) as f64).sqrt()
    }
}
