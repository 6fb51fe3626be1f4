//! The search for the error bound with which a stream reaches a target.
//!
//! The bounds that are tried are 0 and the numbers of three significant digits, so that the bound that is found is
//! short, and is the same on every machine: no step of the search uses a function that machines round differently.
//!
//! Large fields are searched in two stages. The first one compresses a sample of the field. The second one compresses
//! the whole field with the bound that was found. If the ratio of the whole misses the target, the goal of the sample
//! is corrected by the factor between the two figures, and the sample is searched again. For the other targets the sample
//! tells which levels' bounds give the shortest stream ([`levels`]), and the whole field is compressed at most three times.

mod levels;
mod sample;
mod steps;
mod wavelets;

use crate::compress::Compressor;
use crate::cpu::{self, Version};
use crate::decompress::Decompressor;
use crate::error::Error;
use crate::memory::try_zeroed;
use crate::parallel;
use crate::search::levels::{Slopes, Trial};
use crate::search::sample::Sample;
use crate::search::steps::{Effort, Limits, better, bound_of, seek, step_of};
use crate::target::{Errors, Figures, Goal, Place, Range, Target, TargetKind, errors, ratio};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::{Bound, Element, Value, with_value};
use std::borrow::Cow;

/// The stream that a search found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// The compressor that makes the stream: with the absolute bound that was found, with codec and rank, and with the bounds
    /// of levels, if others than the usual ones make the stream shorter.
    pub compressor: Compressor,
    /// The stream of the whole field.
    pub stream: Vec<u8>,
    /// What the stream reaches, measured on the whole field.
    pub figures: Figures,
}

impl Compressor {
    /// Compresses a field with an absolute bound for which the stream reaches a target. The bound of the compressor is
    /// not used: the bound that is found takes its place. For a mean error, codecs with levels may also have other bounds of
    /// levels, and steps with a dead zone: the stream is then shorter than that of any bound alone.
    ///
    /// * [`Target::psnr`]: the PSNR is at least the target, and at most half a decibel more.
    /// * [`Target::rmse`]: the RMSE is at most the target, and at most 5 % less.
    /// * [`Target::mae`]: the mean absolute error is at most the target, and at most 5 % less.
    /// * [`Target::ratio`]: the ratio is at least the target, and at most 5 % more.
    ///
    /// The first half of each sentence always holds; it is measured on the whole field. The second half holds if a
    /// bound of three digits within these limits was found, and if no stream of wavelets reaches more with fewer bytes.
    /// There may be no such bound: of a constant field, every stream may be exact. The stream is lossless (a bound of 0) if nothing else reaches a mean error. Only finite values that are no fill
    /// values count in mean errors. A field without finite values other than 0 reaches every mean error, with a bound of 0.
    ///
    /// The result depends only on the field, its extents, the target and the choice of codec and rank.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    /// use ferrosz::target::Target;
    ///
    /// let field: Vec<f32> = (0..6000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::default()).extents(&[60, 100])?;
    /// let found = compressor.search(Target::psnr(60.0)?, &field)?;
    /// assert!(found.figures.psnr >= 60.0 && found.figures.psnr < 60.5);
    /// assert_eq!(found.compressor.compress(&field)?, found.stream);
    /// let back: Vec<f32> = Decompressor::new().decompress(&found.stream)?;
    /// let bound = found.compressor.bound().value() as f32;
    /// assert!(field.iter().zip(&back).all(|(x, y)| (x - y).abs() <= bound));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::TargetNotReached`] if no bound reaches a ratio, and as [`Compressor::compress`].
    pub fn search<V: Value>(&self, target: Target, field: &[V]) -> Result<Found, Error> {
        with_value!(V::TYPE, W => {
            compiled_here!(search: fn(&Compressor, Target, &[W]) -> Result<Found, Error> = Compressor::search_of);
            search()(self, target, bytemuck::cast_slice(field))
        })
    }

    fn search_of<V: Value>(&self, target: Target, field: &[V]) -> Result<Found, Error> {
        Ok(self.counted(target, field)?.0)
    }

    /// As [`Compressor::search`], with the number of compressions of the whole field.
    fn counted<V: Value>(&self, target: Target, field: &[V]) -> Result<(Found, u32), Error> {
        let extents = self.extents_for(field.len() as u64)?;
        // Missing elements do not count.
        let valid = &numbers(&self.missing::<V>()?, field)?[..];
        let extremes = cpu::extremes(Version::best(), valid);
        let ends = extremes
            .values()
            .map(|ends| <[V::Coded; 2]>::from(ends).map(Element::to_f64));
        let largest = ends.map_or(0.0, |[min, max]| min.abs().max(max.abs()));
        let range = Range::new(&extremes);
        let goal = match largest > 0.0 || target.kind() == TargetKind::Ratio {
            true => Goal::new(target, range),
            false => Goal::new(Target::rmse(0.0)?, range),
        };
        // With bounds below this one the quantiser may be lossless.
        let least = 1.0 / V::Coded::MAX.to_f64();
        let limits = Limits::new(&goal, largest, least);
        let mut whole = Whole {
            compressor: *self,
            chosen: None,
            field,
            valid,
            goal,
            best: None,
            highest: 0.0,
            compressions: 0,
        };
        match goal.is_ratio() || goal.is_lossless() {
            true => whole.search(&limits, Sample::new(self, &extents, field)?.as_mut())?,
            false => whole.approach(&limits, &extents)?,
        }
        let found = whole.finish(target, range)?;
        Ok((found, whole.compressions))
    }

    /// The same compressor with the bound of a step, and with codec and rank chosen for a field.
    fn at_step<V: Value>(self, step: u32, field: &[V]) -> Result<Self, Error> {
        self.with_bound(Bound::abs(bound_of(step))?).choose(field)
    }
}

/// The whole field, and the best stream of it so far.
struct Whole<'a, V: Value> {
    compressor: Compressor,
    /// With codec and rank, if it is for a mean error: they are chosen once, so that its figures do not jump.
    chosen: Option<Compressor>,
    field: &'a [V],
    /// The numbers of the field, with holes in place of missing elements.
    valid: &'a [V::Coded],
    goal: Goal,
    best: Option<Candidate>,
    /// The highest figure so far.
    highest: f64,
    compressions: u32,
}

/// A stream of the whole field that meets the goal.
struct Candidate {
    step: u32,
    compressor: Compressor,
    stream: Vec<u8>,
    /// Its mean errors, if the goal is about them.
    errors: Option<Errors>,
}

impl<V: Value> Whole<'_, V> {
    /// A sample whose lossless ratio is this part of the target may belong to a field that reaches it.
    const NEAR: f64 = 0.9;

    fn search(&mut self, limits: &Limits, mut sample: Option<&mut Sample<V>>) -> Result<(), Error> {
        let goal = self.goal;
        if goal.is_ratio() {
            let is_near = match &mut sample {
                Some(sample) => goal.is_met(sample.figure(&goal, 0)? / Self::NEAR),
                None => true,
            };
            if is_near && goal.is_met(self.figure(0)?) {
                return Ok(());
            }
        }
        let (start, effort) = match &mut sample {
            Some(sample) => (sample.solve(&goal, limits)?, Effort::GUIDED),
            None => (limits.start, Effort::ALL),
        };
        let most = limits.most;
        seek(&goal, &Limits { start, most }, effort, |step| {
            let figure = self.figure(step)?;
            let wish = match &mut sample {
                Some(sample) if goal.place(figure) != Place::Within => {
                    sample.wish(&goal, limits, step, figure)?
                }
                _ => None,
            };
            Ok((figure, wish))
        })?;
        Ok(())
    }

    /// Searches a mean error with the help of a sample: with wavelets, and with the levels' bounds that have the fewest bytes.
    fn approach(&mut self, limits: &Limits, extents: &Extents) -> Result<(), Error> {
        let sample = Sample::new(&self.compressor, extents, self.field)?;
        let is_large = sample.is_some();
        let mut sample = match sample {
            Some(sample) => sample,
            None => Sample::of_all(&self.compressor, self.field)?,
        };
        let share = self.field.len() as f64 / sample.field.len().max(1) as f64;
        let usual = self.compressor.at_step(limits.start, self.field)?;
        let of_usual = sample.reach(usual, &self.goal, bound_of(limits.start), limits)?;
        let of_wavelets = self.approach_wavelets(limits, extents, &mut sample, of_usual.bytes)?;
        let bytes_of_wavelets = match &of_wavelets {
            Some(candidate) => candidate.stream.len() as f64,
            None => f64::INFINITY,
        };
        if bytes_of_wavelets > BY_FAR * of_usual.bytes * share {
            let found = self.choose_levels(limits, &mut sample, (usual, of_usual))?;
            if bytes_of_wavelets > CLEARLY[usize::from(is_large)] * found.bytes * share {
                let has_other = of_wavelets.is_some();
                self.approach_bound(limits, (found.bound, sample.slopes), (is_large, has_other))?;
            }
        }
        let best = self.best.as_ref().map(|best| best.stream.len() as f64);
        if bytes_of_wavelets <= best.unwrap_or(f64::INFINITY) {
            self.best = of_wavelets.or(self.best.take());
        }
        Ok(())
    }

    /// Searches the bound of the chosen compressor. `has_other` tells whether another stream meets the goal: then a large field is
    /// compressed no more than [`WHOLE_TRIALS`] allow.
    fn approach_bound(
        &mut self,
        limits: &Limits,
        (start, slopes): (f64, Slopes),
        (is_large, has_other): (bool, bool),
    ) -> Result<(), Error> {
        let trials = match is_large {
            true => WHOLE_TRIALS - self.compressions,
            false => WHOLE_TRIALS,
        };
        let Some(bound) = self.close_in(limits, start, slopes, trials)? else {
            return Ok(());
        };
        if is_large && (has_other || self.best.is_some()) {
            return Ok(());
        }
        let start = step_of(bound).min(limits.most);
        let most = limits.most;
        let effort = match is_large {
            true => Effort::GUIDED,
            false => Effort::ALL,
        };
        let goal = self.goal;
        seek(&goal, &Limits { start, most }, effort, |step| {
            Ok((self.figure(step)?, None))
        })?;
        Ok(())
    }

    /// Chooses codec, rank and levels' bounds by a sample. `usual` is the choice without bounds of levels, and `of_usual` the trial
    /// of it. Returns the trial of the chosen compressor: the bound and the bytes with which the sample meets the goal.
    fn choose_levels(
        &mut self,
        limits: &Limits,
        sample: &mut Sample<V>,
        (usual, of_usual): (Compressor, Trial),
    ) -> Result<Trial, Error> {
        let (best, found) = match self.compressor.with_levels(levels::first()) {
            None => (usual, of_usual),
            Some(with_levels) => {
                let with_levels = with_levels.at_step(limits.start, self.field)?;
                sample.best_levels((usual, of_usual), with_levels, &self.goal, limits)?
            }
        };
        self.chosen = Some(best);
        Ok(found)
    }

    /// Compresses the field so many times at most, from a bound on; the bound to go on with, if no figure is near to the goal.
    fn close_in(
        &mut self,
        limits: &Limits,
        start: f64,
        mut slopes: Slopes,
        trials: u32,
    ) -> Result<Option<f64>, Error> {
        let [least, aim] = NEAR.map(|part| part * self.goal.high());
        let (mut bound, mut before) = (start, None);
        for _ in 0..trials {
            let step = step_of(bound).clamp(1, limits.most);
            let figure = self.figure(step)?;
            if (least..=self.goal.high()).contains(&figure) {
                return Ok(None);
            }
            let trial = Trial {
                bound: bound_of(step),
                figure,
                bytes: 1.0,
            };
            if let Some(before) = before.replace(trial) {
                slopes.learn(&before, &trial);
            }
            bound = slopes.bound_for(aim, &trial);
        }
        Ok(Some(bound))
    }

    /// The compressor with the bound of a step.
    fn at_step(&mut self, step: u32) -> Result<Compressor, Error> {
        match self.chosen.filter(|_| step > 0) {
            Some(chosen) => Ok(chosen.with_bound(Bound::abs(bound_of(step))?)),
            None => self.compressor.at_step(step, self.field),
        }
    }

    /// The figure of a step. A stream that meets the goal better than all before is kept.
    fn figure(&mut self, step: u32) -> Result<f64, Error> {
        let goal = self.goal;
        let compressor = self.at_step(step)?;
        let stream = compressor.compress(self.field)?;
        self.compressions += 1;
        let errors = match goal.is_ratio() {
            true => None,
            false => Some(measure::<V>(&compressor, self.valid, &stream)?),
        };
        let bytes = [size_of_val(self.field), stream.len()].map(|bytes| bytes as u64);
        let figure = errors.map_or(ratio(bytes[0], bytes[1]), |errors| goal.of(errors));
        self.highest = self.highest.max(figure);
        let best = self.best.as_ref().map(|best| best.step);
        let is_best = best != Some(step) && better(&goal, best, step) == step;
        if goal.place(figure) == Place::Within || goal.is_met(figure) && is_best {
            self.best = Some(Candidate {
                step,
                compressor,
                stream,
                errors,
            });
        }
        Ok(figure)
    }

    /// The best stream. A lossless one reaches every mean error.
    fn finish(&mut self, target: Target, range: Range) -> Result<Found, Error> {
        if self.best.is_none() && !self.goal.is_ratio() {
            self.figure(0)?;
        }
        let Some(Candidate {
            compressor,
            stream,
            errors,
            ..
        }) = self.best.take()
        else {
            return Err(Error::TargetNotReached {
                target,
                best: self.highest,
            });
        };
        let errors = match errors {
            Some(errors) => errors,
            None => measure::<V>(&compressor, self.valid, &stream)?,
        };
        let sizes = [size_of_val(self.field), stream.len()].map(|bytes| bytes as u64);
        Ok(Found {
            compressor,
            figures: Figures::new(errors, range, sizes[0], sizes[1]),
            stream,
        })
    }
}

/// Wavelets with at most this part of the bytes that are expected of others are taken without a trial of these: the first part for a
/// field that is its own sample, the second one for a larger field, whose bytes the sample does not tell exactly.
const CLEARLY: [f64; 2] = [0.95, 0.8];

/// Wavelets with at most this part of the bytes that are expected of the usual levels' bounds are taken without a search of others.
const BY_FAR: f64 = 0.5;

/// Compressions of a large field at most.
const WHOLE_TRIALS: u32 = 3;

/// A mean error of at least the first part of the largest that the goal allows ends a search, which aims at the second part.
const NEAR: [f64; 2] = [0.985, 0.993];

/// Values of a task.
const BLOCK: usize = 1 << 16;

/// The numbers of a field, as elements, with holes in place of values with `missing` bits.
fn numbers<'a, V: Value>(missing: &[u64], field: &'a [V]) -> Result<Cow<'a, [V::Coded]>, Error> {
    if V::TYPE.is_coded_as_is() && missing.is_empty() {
        return Ok(Cow::Borrowed(bytemuck::cast_slice(field)));
    }
    let mut numbers = try_zeroed::<V::Coded>(field.len() as u64)?;
    let blocks = numbers.chunks_mut(BLOCK).zip(field.chunks(BLOCK));
    parallel::each(blocks, |(numbers, values)| {
        for (number, value) in numbers.iter_mut().zip(values) {
            *number = match missing.contains(&value.to_value_bits()) {
                true => V::Coded::HOLE,
                false => value.widened(),
            };
        }
    });
    Ok(Cow::Owned(numbers))
}

/// The mean errors of a stream, given the numbers of its field.
fn measure<V: Value>(
    compressor: &Compressor,
    field: &[V::Coded],
    stream: &[u8],
) -> Result<Errors, Error> {
    let decompressor = Decompressor::new().device(compressor.device_set());
    let decoded: Vec<V> = decompressor.decompress(stream)?;
    let decoded = numbers(&[], &decoded)?;
    Ok(errors(field, &decoded, compressor.bound().value()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::{Choice, Preset};
    use ferrosz_codec::Codec;

    /// A smooth field with a rougher part.
    fn large_field() -> Vec<f32> {
        let value = |i: u32| {
            let [z, y, x] = [i / 16_000, i / 160 % 100, i % 160].map(|at| at as f32);
            let rough = if z > 50.0 {
                (i.wrapping_mul(2_654_435_761) >> 16) as f32 * 2e-7
            } else {
                0.0
            };
            (0.05 * z + 0.11 * y).sin() + (0.07 * x - 0.03 * z).cos() + rough
        };
        (0..80 * 16_000).map(value).collect()
    }

    #[test]
    fn mean_errors_take_at_most_three_compressions_of_a_large_field() {
        let field = large_field();
        let targets = [
            Target::psnr(44.0),
            Target::psnr(63.0),
            Target::rmse(0.004),
            Target::mae(3e-4),
        ];
        for choice in [
            Choice::from(Preset::Small),
            Preset::Balanced.into(),
            Codec::INTERP.into(),
        ] {
            let compressor = Compressor::new(choice, Bound::default()).device(Device::Cpu);
            let compressor = compressor.extents(&[80, 100, 160]).unwrap();
            for target in &targets {
                let target = target.clone().unwrap();
                let (found, compressions) = compressor.counted(target, &field).unwrap();
                assert!(compressions <= 3, "{choice:?} {target}: {compressions}");
                let figure = found.figures.of(target.kind());
                let is_reached = match target.kind() {
                    TargetKind::Psnr => figure >= target.value(),
                    _ => figure <= target.value(),
                };
                assert!(is_reached, "{choice:?} {target}: {figure}");
            }
        }
    }
}
