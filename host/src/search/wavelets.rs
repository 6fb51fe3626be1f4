//! Streams of wavelets' coefficients for a mean error: another candidate for the shortest.
//!
//! The transform nearly keeps sums of squares. So the mean error that an error of coefficients leads to is known without a
//! compression, but for some per cent, which two more compressions correct at most.

use crate::error::Error;
use crate::search::steps::{Limits, bound_of, step_of};
use crate::search::{Candidate, NEAR, Whole, measure, numbers};
use crate::target::TargetKind;
use crate::{Compressor, Decompressor, Preset, wavelet};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::{Bound, Element, Value};

/// The bound of values in a trial, in errors of coefficients. Hardly a value is off by so much.
const ROOM: f64 = 8.0;

/// Trials at most.
const TRIALS: u32 = 3;

/// The root mean square of errors whose mean magnitude is 1, if they are normal ones.
const OF_MEAN: f64 = 1.2533;

/// Wavelets that are longer than this part of what is predicted without them are not tried again.
const HARDLY_LONGER: f64 = 1.02;

impl<V: Value> Whole<'_, V> {
    /// A stream of coefficients that meets the goal, which is a mean error; none if there is none, or if it is clearly longer than
    /// `others`. They are for the smallest streams, and bounds that are no promise yet.
    pub(super) fn approach_wavelets(
        &mut self,
        limits: &Limits,
        extents: &Extents,
        others: f64,
    ) -> Result<Option<Candidate>, Error> {
        let is_wished = self.compressor.preset() == Some(Preset::Small);
        if !is_wished || !self.compressor.can_have_wavelets() {
            return Ok(None);
        }
        let compressor = self.compressor.keeping_of_field(self.valid);
        let sample = wavelet::CoefficientSample::new(extents, self.valid)?;
        let mut aim = NEAR[1] * self.rmse_of_goal();
        let mut best: Option<(Compressor, Vec<u8>)> = None;
        for _ in 0..TRIALS {
            let error = largest_within(&sample, aim, limits);
            let trial = compressor.wavelets_within(error)?;
            let trial = trial.with_bound(Bound::abs(bound_of(step_of(ROOM * error)))?);
            let stream = trial.compress(self.field)?;
            self.compressions += 1;
            if stream.len() as f64 > others * HARDLY_LONGER {
                break;
            }
            let figure = self.goal.of(measure::<V>(&trial, self.valid, &stream)?);
            let is_shorter = |(_, best): &(_, Vec<u8>)| stream.len() < best.len();
            if figure <= self.goal.high() && best.as_ref().is_none_or(is_shorter) {
                best = Some((trial, stream));
            }
            if (NEAR[0]..=1.0).contains(&(figure / self.goal.high())) {
                break;
            }
            aim *= NEAR[1] * self.goal.high() / figure;
        }
        best.map(|(trial, stream)| self.within_its_errors(trial, &stream))
            .transpose()
    }

    /// The stream of a trial with the bound that its values keep anyway.
    fn within_its_errors(&mut self, trial: Compressor, stream: &[u8]) -> Result<Candidate, Error> {
        let bound = self.largest_error(stream)?;
        let compressor = trial.with_bound(Bound::abs(bound)?);
        self.compressions += 1;
        Ok(Candidate {
            step: step_of(bound),
            compressor,
            stream: compressor.compress(self.field)?,
        })
    }

    /// The root mean square of the errors that the goal allows.
    fn rmse_of_goal(&self) -> f64 {
        match self.goal.kind() {
            TargetKind::Mae => OF_MEAN * self.goal.high(),
            TargetKind::Psnr | TargetKind::Rmse | TargetKind::Ratio => self.goal.high(),
        }
    }

    /// The least bound of three digits that no value's error exceeds.
    fn largest_error(&self, stream: &[u8]) -> Result<f64, Error> {
        let decoded: Vec<V> = Decompressor::new().decompress(stream)?;
        let decoded = numbers(&[], &decoded)?;
        let errors = self.valid.iter().zip(decoded.iter());
        let errors = errors.filter(|(value, _)| value.is_finite());
        let largest = errors
            .map(|(value, decoded)| (value.to_f64() - decoded.to_f64()).abs())
            .fold(0.0, f64::max);
        let step = step_of(largest);
        Ok(match bound_of(step) < largest {
            true => bound_of(step + 1),
            false => bound_of(step),
        })
    }
}

/// The largest error of three digits for which coefficients lead to at most this root mean square of errors.
fn largest_within(sample: &wavelet::CoefficientSample, rmse: f64, limits: &Limits) -> f64 {
    let [mut low, mut high] = [1, limits.most];
    while low < high {
        let step = low + (high - low).div_ceil(2);
        match sample.rmse(bound_of(step)) <= rmse {
            true => low = step,
            false => high = step - 1,
        }
    }
    bound_of(low)
}
