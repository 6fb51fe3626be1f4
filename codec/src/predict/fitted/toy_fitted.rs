//! The toy among the fitted predictors of tiles: predictions of splines times a factor, which is fitted to the field.

use crate::element::Element;
use crate::predict::stencil::fit::integers;

/// The sums of a fit: of the squares of predictions, and of the products of predictions and values.
pub const SUMS: usize = 2;

/// The products of a position, of its prediction and value as integers; zeros for outliers.
#[inline(always)]
pub fn products<T: Element>(prediction: T, value: T, inverse: T) -> [u64; SUMS] {
    let [p, v] = integers(&[prediction, value], inverse).unwrap_or([0; 2]);
    [p, v].map(|of| (i64::from(p) * i64::from(of)).cast_unsigned())
}

/// The factor that fits best.
#[inline(always)]
pub fn of_sums([squares, products]: [u64; SUMS]) -> f32 {
    let [squares, products] = [squares, products].map(|sum| sum.cast_signed() as f64 + 1.0);
    (products / squares) as f32
}

/// A prediction times the factor.
#[inline(always)]
pub fn scaled<T: Element>(prediction: T, factor: f32) -> T {
    prediction * T::from_f64(f64::from(factor))
}
