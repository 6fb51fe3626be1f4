//! A sample of a large field, on which a search makes most of its trials.

use crate::choose::{natural_shape, read_box};
use crate::compress::Compressor;
use crate::device::Device;
use crate::error::Error;
use crate::sample::spread;
use crate::search::levels::Slopes;
use crate::search::steps::{Effort, Limits, seek};
use crate::search::{measure, numbers};
use crate::target::{Goal, ratio};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::{Codec, Value};
use std::collections::HashMap;

/// Boxes of a field, stacked to a smaller field, and its figures.
pub(super) struct Sample<V: Value> {
    pub(super) compressor: Compressor,
    pub(super) field: Vec<V>,
    /// Its numbers, with holes in place of missing elements.
    pub(super) valid: Vec<V::Coded>,
    figures: HashMap<u32, f64>,
    pub(super) slopes: Slopes,
}

/// Elements of a sample at least. A field of at most twice as many is searched itself.
const SAMPLE: u64 = 1 << 19;

/// Of so many elements of a large field, one is in the sample, which has at most twice the least.
const SAMPLED: u64 = 16;

/// The extents of a sample's box: a few tiles of the shape, so that most neighbours are those of the field.
pub(super) fn box_of(shape: Shape) -> [u64; 3] {
    match shape {
        Shape::Line => [1, 1, 1 << 16],
        Shape::Plane => [1, 512, 256],
        Shape::Cube => [64, 64, 64],
    }
}

impl<V: Value> Sample<V> {
    /// The sample of a field; none if the field is not larger.
    pub(super) fn new(
        compressor: &Compressor,
        extents: &Extents,
        field: &[V],
    ) -> Result<Option<Self>, Error> {
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
    pub(super) fn of_all(compressor: &Compressor, field: &[V]) -> Result<Self, Error> {
        Ok(Self {
            compressor: compressor.device(Device::Cpu),
            field: field.to_vec(),
            valid: numbers(&compressor.missing::<V>()?, field)?.into_owned(),
            figures: HashMap::new(),
            slopes: Slopes::default(),
        })
    }

    /// The figure of a step.
    pub(super) fn figure(&mut self, goal: &Goal, step: u32) -> Result<f64, Error> {
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
    pub(super) fn solve(&mut self, goal: &Goal, limits: &Limits) -> Result<u32, Error> {
        let found = seek(goal, limits, Effort::ALL, |step| {
            Ok((self.figure(goal, step)?, None))
        })?;
        Ok(found.unwrap_or(if goal.is_ratio() { limits.most } else { 0 }))
    }

    /// The step to try next, if the whole field has this figure at a step: the sample's figure is taken to be off by the
    /// same factor at other steps.
    pub(super) fn wish(
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
