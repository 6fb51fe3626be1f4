//! The toy among the fitted predictors, in plain loops: the factor that predictions of splines are multiplied by.

use super::{Parameters, RADIUS, Sample, all_fitted, resolved, samples, tune_all_fitted};
use crate::element::Element;
use crate::oracle::interp::{Method, quantized, spacing, visit};
use crate::oracle::order::{Field, tile_extents};
use crate::oracle::stencil::integers;

/// The parameters and the factor for a field of these values.
pub(in crate::oracle) fn tune<T: Element>(
    field: &Field,
    values: &[T],
    error: T,
) -> (Parameters, f32) {
    let samples = samples(field.tiles().len() as u64, 1);
    let before = resolved(&all_fitted(1.0, 0), error);
    let spacing = spacing(before.parameters.geometry, field.shape);
    let extents = tile_extents(field.shape);
    let (mut squares, mut products) = (0, 0);
    for number in &samples {
        let sample = Sample::new(field, field.tiles()[*number as usize].origin, values);
        let anchors = sample.field.anchors(spacing, &sample.values);
        let decide = |level: usize, flat: usize, prediction: T| {
            let (at, value) = (sample.field.position(flat), sample.values[flat]);
            if !sample.is_evaluated(level, at, samples.len() == 64) {
                return value;
            }
            let quantizer = &before.quantizers[level];
            if (0..3).all(|axis| at[axis] < extents[axis])
                && let Some(of) = integers(&[prediction, value], quantizer.inverse)
            {
                squares += of[0] * of[0];
                products += of[0] * of[1];
            }
            quantized(quantizer, before.error, RADIUS, value, prediction).1
        };
        let parameters = &before.parameters;
        visit(&sample.field, parameters, Method::Splines, &anchors, decide);
    }
    let factor = ((products as f64 + 1.0) / (squares as f64 + 1.0)) as f32;
    let method = Method::ToyFitted(factor);
    let parameters = tune_all_fitted(field, values, error, method, &samples);
    (parameters, factor)
}
