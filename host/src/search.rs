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

use crate::choose::{natural_shape, read_box};
use crate::compress::Compressor;
use crate::cpu::{self, Version};
use crate::decompress::Decompressor;
use crate::device::Device;
use crate::error::Error;
use crate::memory::try_zeroed;
use crate::parallel;
use crate::sample::spread;
use crate::search::levels::{Slopes, Trial};
use crate::target::{Errors, Figures, Goal, Place, Range, Target, TargetKind, errors, ratio};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::{Bound, Codec, Element, Value, with_value};
use std::borrow::Cow;
use std::collections::HashMap;

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
    /// bound of three digits within these limits was found. There may be none: of a constant field, every stream may be
    /// exact. The stream is lossless (a bound of 0) if nothing else reaches a mean error. Only finite values that are no fill
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

    /// What a search finds, and the number of compressions of the whole field.
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

/// The exponent of the smallest bounds above 0: the first one is 100e-310.
const FIRST_EXPONENT: i32 = -310;

/// Bounds of three digits for each power of ten.
const DECADE: u32 = 900;

/// The step of 179e306, the largest bound.
const LAST: u32 = (306 - FIRST_EXPONENT) as u32 * DECADE + 80;

/// The bound of a step: 0, 100e-310, 101e-310 and so on.
fn bound_of(step: u32) -> f64 {
    if step == 0 {
        return 0.0;
    }
    let step = step.min(LAST) - 1;
    let exponent = (step / DECADE).cast_signed() + FIRST_EXPONENT;
    // The text is always a number. Its value is the nearest f64, on every machine.
    let text = format!("{}e{exponent}", 100 + step % DECADE);
    text.parse().unwrap_or(0.0)
}

/// The step of the largest bound that is at most `value`.
fn step_of(value: f64) -> u32 {
    let (mut low, mut high) = (0, LAST);
    while low < high {
        let middle = high - (high - low) / 2;
        if bound_of(middle) <= value {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// The steps of a search.
struct Limits {
    /// The first one that is tried.
    start: u32,
    /// The last one: beyond it, every code is 0.
    most: u32,
}

impl Limits {
    /// Limits for a field whose largest magnitude is `largest`. The last step has at least the bound `least`.
    fn new(goal: &Goal, largest: f64, least: f64) -> Self {
        let largest = if largest > 0.0 { largest } else { 1.0 };
        let most = (step_of((2.0 * largest).max(least)) + 1).min(LAST);
        let start = match goal {
            goal if goal.is_lossless() => 0,
            goal if goal.is_ratio() => step_of(largest / 1000.0),
            // The root mean square of errors that are equally distributed up to the bound is the bound / sqrt(3).
            goal => step_of(goal.high() * 1.7),
        };
        Self {
            start: start.min(most),
            most,
        }
    }
}

/// The step that a search has reached: between a step whose figure is too low, and one whose figure is too high.
struct Bracket {
    low: Option<u32>,
    high: Option<u32>,
    most: u32,
    /// The length of the next stride beyond an end that is open.
    stride: u32,
}

impl Bracket {
    fn new(most: u32) -> Self {
        Self {
            low: None,
            high: None,
            most,
            stride: 64,
        }
    }

    /// The next step after a step with this place: the one that is wished for, if it is inside; none if none is left.
    fn next(&mut self, step: u32, place: Place, wish: Option<u32>) -> Option<u32> {
        match place {
            Place::Within => return None,
            Place::Below => self.low = Some(step),
            Place::Above => self.high = Some(step),
        }
        let first = self.low.map_or(0, |low| low + 1);
        let last = match self.high {
            Some(high) => high.checked_sub(1)?,
            None => self.most,
        };
        if first > last {
            return None;
        }
        if let Some(wish) = wish.filter(|wish| (first..=last).contains(wish)) {
            return Some(wish);
        }
        let stride = self.stride;
        Some(match (self.low, self.high) {
            (Some(_), Some(_)) => first + (last - first) / 2,
            (low, _) => {
                self.stride = stride.saturating_mul(2);
                match low {
                    Some(low) => low.saturating_add(stride).min(last),
                    None => last.saturating_sub(stride - 1),
                }
            }
        })
    }
}

/// The number of trials of a search.
#[derive(Clone, Copy)]
struct Effort {
    /// Steps that are tried until the bracket is closed.
    tries: u32,
    /// Steps that are tried beyond a closed bracket.
    probes: u32,
}

impl Effort {
    /// For a field or a sample of at most a million elements.
    const ALL: Self = Self {
        tries: 64,
        probes: 16,
    };

    /// For a large field with a sample, which makes the probes.
    const GUIDED: Self = Self {
        tries: 12,
        probes: 0,
    };
}

/// Tries steps until the figure of one is within the goal, or none is left; `try_step` gives the figure of a step, and
/// the next step that it wishes for. Returns the best step that meets the goal.
fn seek(
    goal: &Goal,
    limits: &Limits,
    effort: Effort,
    mut try_step: impl FnMut(u32) -> Result<(f64, Option<u32>), Error>,
) -> Result<Option<u32>, Error> {
    let mut bracket = Bracket::new(limits.most);
    let mut best = None;
    let mut step = limits.start;
    for _ in 0..effort.tries {
        let (figure, wish) = try_step(step)?;
        let place = goal.place(figure);
        if goal.is_met(figure) {
            best = Some(better(goal, best, step));
        }
        match bracket.next(step, place, wish) {
            Some(next) => step = next,
            None if place == Place::Within => return Ok(Some(step)),
            None => break,
        }
    }
    // The figure jumps over the goal, as where a preset takes another codec. Beyond the jump it may be in the goal again.
    let mut bound = bound_of(best.unwrap_or(0));
    for _ in 0..effort.probes {
        bound *= if goal.is_ratio() { 0.9 } else { 1.05 };
        let probe = step_of(bound);
        if probe == 0 || probe > limits.most {
            break;
        }
        let (figure, _) = try_step(probe)?;
        if goal.is_met(figure) {
            best = Some(better(goal, best, probe));
        }
        if goal.place(figure) == Place::Within {
            break;
        }
    }
    Ok(best)
}

/// Of two steps that meet a goal, the one with the smaller ratio, or the larger error.
fn better(goal: &Goal, best: Option<u32>, step: u32) -> u32 {
    match best {
        None => step,
        Some(best) if goal.is_ratio() => best.min(step),
        Some(best) => best.max(step),
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

    /// Searches a mean error with the levels' bounds of a sample.
    fn approach(&mut self, limits: &Limits, extents: &Extents) -> Result<(), Error> {
        let sample = Sample::new(&self.compressor, extents, self.field)?;
        let is_large = sample.is_some();
        let sample = match sample {
            Some(sample) => sample,
            None => Sample::of_all(&self.compressor, self.field)?,
        };
        let (start, slopes) = self.choose_levels(limits, sample)?;
        let Some(bound) = self.close_in(limits, start, slopes)? else {
            return Ok(());
        };
        if is_large && self.best.is_some() {
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

    /// Chooses codec, rank and levels' bounds by a sample; returns the bound to begin with, and how figures change with it.
    fn choose_levels(
        &mut self,
        limits: &Limits,
        mut sample: Sample<V>,
    ) -> Result<(f64, Slopes), Error> {
        let start = bound_of(limits.start);
        let chosen = |it: Compressor| it.at_step(limits.start, self.field);
        let usual = chosen(self.compressor)?;
        let (best, start) = match self.compressor.with_levels(levels::first()) {
            None => (usual, sample.reach(usual, &self.goal, start, limits)?.bound),
            Some(with_levels) => {
                let both = [usual, chosen(with_levels)?];
                sample.best_levels(both, start, &self.goal, limits)?
            }
        };
        self.chosen = Some(best);
        Ok((start, sample.slopes))
    }

    /// Compresses the field at most [`WHOLE_TRIALS`] times, from a bound on; the bound to go on with, if no figure is near to the
    /// goal.
    fn close_in(
        &mut self,
        limits: &Limits,
        start: f64,
        mut slopes: Slopes,
    ) -> Result<Option<f64>, Error> {
        let [least, aim] = NEAR.map(|part| part * self.goal.high());
        let (mut bound, mut before) = (start, None);
        for _ in 0..WHOLE_TRIALS {
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
        let figure = match goal.is_ratio() {
            true => ratio(size_of_val(self.field) as u64, stream.len() as u64),
            false => goal.of(measure::<V>(&compressor, self.valid, &stream)?),
        };
        self.highest = self.highest.max(figure);
        let best = self.best.as_ref().map(|best| best.step);
        let is_best = best != Some(step) && better(&goal, best, step) == step;
        if goal.place(figure) == Place::Within || goal.is_met(figure) && is_best {
            self.best = Some(Candidate {
                step,
                compressor,
                stream,
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
            compressor, stream, ..
        }) = self.best.take()
        else {
            return Err(Error::TargetNotReached {
                target,
                best: self.highest,
            });
        };
        let errors = measure::<V>(&compressor, self.valid, &stream)?;
        let sizes = [size_of_val(self.field), stream.len()].map(|bytes| bytes as u64);
        Ok(Found {
            compressor,
            figures: Figures::new(errors, range, sizes[0], sizes[1]),
            stream,
        })
    }
}

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

/// Boxes of a field, stacked to a smaller field, and its figures.
struct Sample<V: Value> {
    compressor: Compressor,
    field: Vec<V>,
    /// Its numbers, with holes in place of missing elements.
    valid: Vec<V::Coded>,
    figures: HashMap<u32, f64>,
    slopes: Slopes,
}

/// Elements of a sample at least. A field of at most twice as many is searched itself.
const SAMPLE: u64 = 1 << 19;

/// Of so many elements of a large field, one is in the sample, which has at most twice the least.
const SAMPLED: u64 = 16;

/// The extents of a sample's box: a few tiles of the shape, so that most neighbours are those of the field.
fn box_of(shape: Shape) -> [u64; 3] {
    match shape {
        Shape::Line => [1, 1, 1 << 16],
        Shape::Plane => [1, 512, 256],
        Shape::Cube => [64, 64, 64],
    }
}

impl<V: Value> Sample<V> {
    /// The sample of a field; none if the field is not larger.
    fn new(compressor: &Compressor, extents: &Extents, field: &[V]) -> Result<Option<Self>, Error> {
        if extents.elements() <= 2 * SAMPLE {
            return Ok(None);
        }
        let codec = compressor.named().unwrap_or(Codec::INTERP);
        let shape = compressor
            .shape()
            .unwrap_or_else(|| natural_shape(codec, extents));
        let grid = Grid::new(shape, extents);
        let (shape, lengths) = (grid.shape(), grid.lengths());
        let box_sides = box_of(shape);
        let sides: [u64; 3] = std::array::from_fn(|i| box_sides[i].min(lengths[i]).max(1));
        let counts: [u64; 3] = std::array::from_fn(|i| lengths[i] / sides[i]);
        let of_box = sides.iter().product::<u64>();
        let all = counts.iter().product::<u64>();
        let wanted = (extents.elements() / SAMPLED).clamp(SAMPLE, 2 * SAMPLE);
        let taken = (wanted / of_box).clamp(1, all);
        let mut elements = Vec::with_capacity((taken * of_box) as usize);
        for number in spread(all, taken) {
            let at = [
                number / (counts[1] * counts[2]),
                number / counts[2] % counts[1],
                number % counts[2],
            ];
            let place = ChunkBox {
                origin: std::array::from_fn(|i| at[i] * sides[i]),
                extents: sides.map(|side| side as u32),
            };
            elements.extend(read_box(&grid, &place, field));
        }
        let mut stacked = sides;
        let slowest = 3 - usize::from(shape.rank());
        stacked[slowest] *= taken;
        let Some(extents) = Extents::new(&stacked[slowest..]) else {
            return Ok(None);
        };
        // The boxes of a sample have no axis of parts.
        let compressor = compressor.with_complex(false).with_extents(extents);
        Self::of_all(&compressor, &elements).map(Some)
    }

    /// A field as its own sample.
    fn of_all(compressor: &Compressor, field: &[V]) -> Result<Self, Error> {
        Ok(Self {
            compressor: compressor.device(Device::Cpu),
            field: field.to_vec(),
            valid: numbers(&compressor.missing::<V>()?, field)?.into_owned(),
            figures: HashMap::new(),
            slopes: Slopes::default(),
        })
    }

    /// The figure of a step.
    fn figure(&mut self, goal: &Goal, step: u32) -> Result<f64, Error> {
        if let Some(figure) = self.figures.get(&step) {
            return Ok(*figure);
        }
        let compressor = self.compressor.at_step(step, &self.field)?;
        let stream = compressor.compress(&self.field)?;
        let figure = match goal.is_ratio() {
            true => ratio(size_of_val(&self.field[..]) as u64, stream.len() as u64),
            false => goal.of(measure::<V>(&compressor, &self.valid, &stream)?),
        };
        self.figures.insert(step, figure);
        Ok(figure)
    }

    /// The best step for a goal; if none meets it, the end of the steps that is nearest to it.
    fn solve(&mut self, goal: &Goal, limits: &Limits) -> Result<u32, Error> {
        let found = seek(goal, limits, Effort::ALL, |step| {
            Ok((self.figure(goal, step)?, None))
        })?;
        Ok(found.unwrap_or(if goal.is_ratio() { limits.most } else { 0 }))
    }

    /// The step to try next, if the whole field has this figure at a step: the sample's figure is taken to be off by the
    /// same factor at other steps.
    fn wish(
        &mut self,
        goal: &Goal,
        limits: &Limits,
        step: u32,
        figure: f64,
    ) -> Result<Option<u32>, Error> {
        let factor = self.figure(goal, step)? / figure;
        if !(factor.is_finite() && factor > 0.0) {
            return Ok(None);
        }
        let near = Limits {
            start: step,
            most: limits.most,
        };
        self.solve(&goal.times(factor), &near).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Choice, Preset};

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

    #[test]
    fn steps_are_bounds_in_ascending_order() {
        assert_eq!(bound_of(0), 0.0);
        assert_eq!(bound_of(1), 1e-308);
        assert_eq!(bound_of(LAST), 1.79e308);
        assert_eq!(bound_of(u32::MAX), 1.79e308);
        for step in 0..LAST {
            assert!(bound_of(step) < bound_of(step + 1), "{step}");
            if step % 97 == 0 {
                let bound = bound_of(step);
                assert_eq!(step_of(bound), step);
                assert_eq!(step_of(bound.next_up()), step);
            }
        }
        assert_eq!(step_of(f64::INFINITY), LAST);
        assert_eq!(step_of(0.0), 0);
        assert_eq!(step_of(1e-320), 0);
        assert!(format!("{:e}", bound_of(step_of(0.001_234_5))).len() <= 7);
    }

    /// Seeks in a made-up function of the bound.
    fn sought(goal: &Goal, start: f64, figure: impl Fn(f64) -> f64) -> (Option<f64>, u32) {
        let mut tries = 0;
        let limits = Limits {
            start: step_of(start),
            most: step_of(1e6),
        };
        let found = seek(goal, &limits, Effort::ALL, |step| {
            tries += 1;
            Ok((figure(bound_of(step)), None))
        });
        (found.unwrap().map(bound_of), tries)
    }

    #[test]
    fn goals_are_found_from_any_start() {
        let range = Range::new(&cpu::extremes(Version::best(), &[0.0f32, 100.0]));
        let rmse = Goal::new(Target::rmse(0.01).unwrap(), range);
        let psnr = Goal::new(Target::psnr(80.0).unwrap(), range);
        let ratio = Goal::new(Target::ratio(7.0).unwrap(), range);
        for start in [1e-300, 1e-9, 0.0173, 1.0, 1e6] {
            for goal in [rmse, psnr] {
                let (found, tries) = sought(&goal, start, |bound| bound / 3f64.sqrt());
                let figure = found.unwrap() / 3f64.sqrt();
                assert!((0.0094..=0.01).contains(&figure), "{start}: {figure}");
                assert!(tries < 60, "{tries}");
            }
            let of = |bound: f64| 32.0 / (2.0 + (20.0 - bound.max(1e-6).log2()).max(0.0));
            let (found, tries) = sought(&ratio, start, of);
            let figure = of(found.unwrap());
            assert!((7.0..=7.35).contains(&figure), "{start}: {figure}");
            assert!(tries < 60, "{tries}");
        }
    }

    #[test]
    fn jumps_are_met_on_the_right_side() {
        let range = Range::new(&cpu::extremes(Version::best(), &[0.0f32, 100.0]));
        let rmse = Goal::new(Target::rmse(0.5).unwrap(), range);
        let ratio = Goal::new(Target::ratio(4.0).unwrap(), range);
        let jump = |low: f64, high: f64| move |bound: f64| if bound < 0.25 { low } else { high };
        assert_eq!(sought(&rmse, 0.86, jump(0.1, 0.7)).0, Some(0.249));
        assert_eq!(sought(&ratio, 0.1, jump(2.0, 9.0)).0, Some(0.25));
        assert_eq!(sought(&rmse, 0.86, jump(0.6, 0.7)).0, None);
        assert_eq!(sought(&ratio, 0.1, jump(2.0, 3.0)).0, None);
        assert_eq!(sought(&rmse, 0.86, jump(0.1, 0.2)).0, Some(1e6));
    }
}
