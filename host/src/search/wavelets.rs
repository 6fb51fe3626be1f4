//! Streams of wavelets' coefficients for a mean error: another candidate for the shortest.
//!
//! What an error of coefficients does to the field is known without coding them, so the whole field is compressed once.

use crate::error::Error;
use crate::search::sample::Sample;
use crate::search::steps::{Effort, Limits, bound_of, seek, step_of};
use crate::search::{Candidate, Whole, measure};
use crate::target::errors;
use crate::wavelet::FieldCoefficients;
use crate::{Compressor, Preset, parallel};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::mapping::Keep;
use ferrosz_codec::{Bound, Element, Value};

/// The bound of values in a trial, in errors of coefficients. Hardly a value is off by so much.
const ROOM: f64 = 8.0;

/// A mean error of at least this part of the largest that the goal allows ends the trials.
const NEAR: f64 = 0.997;

/// Wavelets that take more than this part of the bytes that others take of a sample are not tried with the field.
const HARDLY_LONGER: f64 = 1.1;

/// Values of a task.
const TASK: usize = 1 << 16;

/// A compressor with an absolute bound; one that has wavelets gets an error of coefficients, and a bound that hardly ever needs a
/// correction.
pub(super) fn at_error(compressor: Compressor, error: f64) -> Result<Compressor, Error> {
    Ok(match compressor.has_wavelets() {
        true => (compressor.wavelets_within(error)?).with_bound(Bound::abs(ROOM * error)?),
        false => compressor.with_bound(Bound::abs(error)?),
    })
}

impl<V: Value> Whole<'_, V> {
    /// A stream of coefficients that meets the goal, which is a mean error; none if there is none, or if a sample has more bytes
    /// with wavelets than the bytes `others`. They are for the smallest streams, and bounds that are no promise yet.
    pub(super) fn approach_wavelets(
        &mut self,
        limits: &Limits,
        extents: &Extents,
        sample: &mut Sample<V>,
        others: f64,
    ) -> Result<Option<Candidate>, Error> {
        let is_wished = self.compressor.preset() == Some(Preset::Small);
        if !is_wished || !self.compressor.can_have_wavelets() {
            return Ok(None);
        }
        let of_sample = (sample.compressor.keeping_of_field(&sample.valid)).wavelets();
        let slopes = sample.slopes;
        let found = sample.reach_with(of_sample, &self.goal, bound_of(limits.start), limits)?;
        sample.slopes = slopes;
        if found.bytes > HARDLY_LONGER * others {
            return Ok(None);
        }
        let compressor = self.compressor.keeping_of_field(self.valid).wavelets();
        match self.errors_within_goal(&compressor, extents, limits, found.bound)? {
            Some([of_coefficients, bound]) => {
                self.candidate(compressor.wavelets_within(of_coefficients)?, bound)
            }
            None => Ok(None),
        }
    }

    /// The error of coefficients, from one to begin with on, that meets the goal just so, and the bound that no value exceeds then.
    fn errors_within_goal(
        &self,
        compressor: &Compressor,
        extents: &Extents,
        limits: &Limits,
        start: f64,
    ) -> Result<Option<[f64; 2]>, Error> {
        let has_holes = !self.compressor.missing::<V>()?.is_empty();
        let coefficients = FieldCoefficients::new(extents, self.valid, has_holes)?;
        let goal = self.goal.at_least(NEAR);
        let decoded = |error: f64| -> Result<_, Error> {
            let mut decoded = coefficients.decoded(error)?;
            make_values::<V>(self.valid, &mut decoded, compressor.keep());
            Ok(decoded)
        };
        let near = Limits {
            start: step_of(start).clamp(1, limits.most),
            most: limits.most,
        };
        let found = seek(&goal, &near, Effort::FEW, |step| {
            let error = bound_of(step);
            let figure = goal.of(errors(self.valid, &decoded(error)?, ROOM * error));
            let aim = 0.5 * (1.0 + NEAR) * goal.high();
            let wish = (figure > 0.0).then(|| step_of(error * (aim / figure)));
            Ok((figure, wish))
        })?;
        let Some(error) = found.filter(|step| *step > 0).map(bound_of) else {
            return Ok(None);
        };
        let bound = bound_above(largest_error(self.valid, &decoded(error)?));
        Ok((bound > 0.0).then_some([error, bound]))
    }

    /// The stream of the field; none if it does not meet the goal.
    fn candidate(
        &mut self,
        compressor: Compressor,
        bound: f64,
    ) -> Result<Option<Candidate>, Error> {
        let compressor = compressor.with_bound(Bound::abs(bound)?);
        let stream = compressor.compress(self.field)?;
        self.compressions += 1;
        let errors = measure::<V>(&compressor, self.valid, &stream)?;
        let candidate = Candidate {
            step: step_of(bound),
            compressor,
            stream,
            errors: Some(errors),
        };
        Ok(self.goal.is_met(self.goal.of(errors)).then_some(candidate))
    }
}

/// Makes the user's values of coded ones, with the zeros and the signs that are kept.
fn make_values<V: Value>(valid: &[V::Coded], decoded: &mut [V::Coded], keep: Keep) {
    let zero = V::Coded::ZERO;
    let tasks = decoded.chunks_mut(TASK).zip(valid.chunks(TASK));
    parallel::each(tasks, |(decoded, valid)| {
        for (decoded, value) in decoded.iter_mut().zip(valid) {
            let has_other_sign = keep.signs && (*value < zero) != (*decoded < zero);
            let kept = match has_other_sign {
                true => zero - *decoded,
                false => *decoded,
            };
            *decoded = match keep.zeros && *value == zero {
                true => zero,
                false => V::narrowed(kept, 0).widened(),
            };
        }
    });
}

/// The largest error of a finite value.
fn largest_error<T: Element>(valid: &[T], decoded: &[T]) -> f64 {
    let pairs = valid.iter().zip(decoded);
    let errors = pairs.filter(|(value, _)| value.is_finite());
    errors
        .map(|(value, decoded)| (value.to_f64() - decoded.to_f64()).abs())
        .fold(0.0, f64::max)
}

/// The least bound of three digits that is no less than an error.
fn bound_above(error: f64) -> f64 {
    let step = step_of(error);
    match bound_of(step) < error {
        true => bound_of(step + 1),
        false => bound_of(step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_has_the_zeros_and_the_signs_that_are_kept() {
        let valid = [0.0f32, 0.0, 1.0, -1.0, 2.0, -2.0];
        let decoded = [0.5f32, -0.5, -0.25, 0.25, 1.75, -1.75];
        let made = |signs: bool, zeros: bool| {
            let mut made = decoded;
            make_values::<f32>(&valid, &mut made, Keep { signs, zeros });
            made
        };
        assert_eq!(made(false, false), decoded);
        assert_eq!(made(false, true), [0.0, 0.0, -0.25, 0.25, 1.75, -1.75]);
        assert_eq!(made(true, false), [0.5, 0.5, 0.25, -0.25, 1.75, -1.75]);
        assert_eq!(made(true, true), [0.0, 0.0, 0.25, -0.25, 1.75, -1.75]);
    }
}
