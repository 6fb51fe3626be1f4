//! The levels' bounds with which a sample has the fewest bytes for a mean error.
//!
//! The trials of a sample are few, as each compresses it. A trial whose figure is near to the goal is corrected: bytes and
//! bound change with the figure as they did between the trials before.

use crate::compress::Compressor;
use crate::error::Error;
use crate::search::measure;
use crate::search::sample::Sample;
use crate::search::steps::{Limits, bound_of, step_of};
use crate::search::wavelets::at_error;
use crate::target::Goal;
use ferrosz_codec::Value;
use ferrosz_codec::predict::interp::parameters::Tightening;

/// Alpha and beta of the levels, from those of rough fields to those of smooth ones.
const LEVELS: [Tightening; 7] = [
    Tightening::new(1.0, 1.0),
    Tightening::new(1.25, 2.0),
    Tightening::new(1.5, 3.0),
    Tightening::new(2.0, 4.0),
    Tightening::new(2.0, 8.0),
    Tightening::new(2.5, 16.0),
    Tightening::new(2.8, 64.0),
];

/// Dead zones in units of 2^-16 of a step: up to about a fifth of it.
const DEAD: [u32; 5] = [0, 0x0c00, 0x1800, 0x2400, 0x3000];

/// The places in these lists where the search begins.
const FIRST: [usize; 2] = [2, 1];

/// The levels' bounds with which the search begins.
pub(super) const fn first() -> Tightening {
    LEVELS[FIRST[0]].with_dead_zone(DEAD[FIRST[1]])
}

/// Other bounds than the usual ones, and coarser fine levels, are taken if the sample then has at most this part of the bytes: a
/// sample gains a little more by them than its field.
const CLEARLY_FEWER: f64 = 0.995;

/// A compression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    pub(super) bound: f64,
    pub(super) figure: f64,
    pub(super) bytes: f64,
}

/// How bound and bytes change with the figure: about as these powers of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slopes {
    bound: f64,
    bytes: f64,
}

impl Default for Slopes {
    fn default() -> Self {
        Self {
            bound: 1.1,
            bytes: -0.7,
        }
    }
}

impl Slopes {
    /// Takes the slopes between two trials with the same settings, if their figures are far enough from each other.
    pub(super) fn learn(&mut self, one: &Trial, other: &Trial) {
        let [near, far] = match one.figure < other.figure {
            true => [one, other],
            false => [other, one],
        };
        let by = far.figure / near.figure - 1.0;
        if (0.01..1.0).contains(&by) {
            self.bound = ((far.bound / near.bound - 1.0) / by).clamp(0.4, 3.0);
            self.bytes = ((1.0 - near.bytes / far.bytes) / by).clamp(-3.0, 0.0);
        }
    }

    /// The bound that is expected to have a figure.
    pub(super) fn bound_for(&self, figure: f64, trial: &Trial) -> f64 {
        moved(trial.bound, self.bound, trial.figure, figure)
    }
}

/// A value that changes about as a power of a figure, at another figure. Machines round powers differently, so it is a line.
fn moved(value: f64, slope: f64, from: f64, to: f64) -> f64 {
    let is_up = to >= from;
    let by = if is_up { to / from } else { from / to } - 1.0;
    let factor = (1.0 + slope.abs() * by).min(16.0);
    match is_up == (slope >= 0.0) {
        true => value * factor,
        false => value / factor,
    }
}

/// A figure is near to the goal if it is off by at most this part of it.
const NEAR: f64 = 0.05;

/// Trials of one setting at most.
const TRIALS: u32 = 5;

impl<V: Value> Sample<V> {
    /// Of two compressors that are chosen for the whole field, the one with the fewest bytes at the goal, and the trial of it.
    /// `usual` has the usual bounds of levels, and `of_usual` is the trial of it; `with_levels` gets the best bounds of levels.
    pub(super) fn best_levels(
        &mut self,
        (usual, of_usual): (Compressor, Trial),
        with_levels: Compressor,
        goal: &Goal,
        limits: &Limits,
    ) -> Result<(Compressor, Trial), Error> {
        let levels_at = |levels: usize, dead: usize| {
            let tightening = LEVELS[levels].with_dead_zone(DEAD[dead]);
            with_levels.with_levels(tightening).unwrap_or(with_levels)
        };
        let [levels, dead] = FIRST;
        let mut start = of_usual.bound;
        let mut reach = |compressor| {
            let found = self.reach(compressor, goal, start, limits)?;
            start = found.bound;
            Ok(found)
        };
        let (levels, _) = climb(LEVELS.len(), levels, |at| reach(levels_at(at, dead)))?;
        let (dead, best) = climb(DEAD.len(), dead, |at| reach(levels_at(levels, at)))?;
        Ok(match best.bytes <= of_usual.bytes * CLEARLY_FEWER {
            true => (levels_at(levels, dead), best),
            false => (usual, of_usual),
        })
    }

    /// What the settings of a compressor are expected to need for the goal, by trials near to it.
    pub(super) fn reach(
        &mut self,
        of_whole: Compressor,
        goal: &Goal,
        start: f64,
        limits: &Limits,
    ) -> Result<Trial, Error> {
        self.reach_with(self.compressor.like(&of_whole), goal, start, limits)
    }

    /// As [`Self::reach`], of a compressor for the sample.
    pub(super) fn reach_with(
        &mut self,
        compressor: Compressor,
        goal: &Goal,
        start: f64,
        limits: &Limits,
    ) -> Result<Trial, Error> {
        let wanted = goal.high();
        // Three digits, and no more than the largest.
        let near = |bound: f64| bound_of(step_of(bound).clamp(1, limits.most));
        let mut found = self.trial(compressor, goal, near(start))?;
        for _ in 1..TRIALS {
            if (found.figure / wanted - 1.0).abs() <= NEAR {
                break;
            }
            let bound = near(self.slopes.bound_for(wanted, &found));
            let next = self.trial(compressor, goal, bound)?;
            self.slopes.learn(&found, &next);
            found = next;
        }
        let Slopes { bound, bytes } = self.slopes;
        Ok(Trial {
            bound: moved(found.bound, bound, found.figure, wanted),
            figure: wanted,
            bytes: moved(found.bytes, bytes, found.figure, wanted),
        })
    }

    fn trial(&self, compressor: Compressor, goal: &Goal, bound: f64) -> Result<Trial, Error> {
        let compressor = at_error(compressor, bound)?;
        let stream = compressor.compress(&self.field)?;
        let errors = measure::<V>(&compressor, &self.valid, &stream)?;
        Ok(Trial {
            bound,
            figure: goal.of(errors),
            bytes: stream.len() as f64,
        })
    }
}

/// The number of the list's entry with the fewest bytes, from one on in the direction in which they become fewer.
fn climb(
    count: usize,
    from: usize,
    mut trial: impl FnMut(usize) -> Result<Trial, Error>,
) -> Result<(usize, Trial), Error> {
    let mut best = (from, trial(from)?);
    for (direction, part) in [(1, CLEARLY_FEWER), (-1, 1.0)] {
        while let Some(at) = best
            .0
            .checked_add_signed(direction)
            .filter(|at| *at < count)
        {
            let found = trial(at)?;
            if found.bytes >= best.1.bytes * part {
                break;
            }
            best = (at, found);
        }
        if best.0 != from {
            break;
        }
    }
    Ok(best)
}
