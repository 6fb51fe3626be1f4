//! The search: rounds, their candidates, and the choice by their costs.

use crate::code::entropy::shifts::{LEVELS, Shifts};
use crate::predict::interp::geometry::MAX_LEVELS;
use crate::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
use crate::predict::interp::spline::Spline;
use crate::predict::interp::tune::cost::COST_BITS;
use crate::predict::interp::tune::score::{Score, Size, with_shifts_of_level};
use crate::predict::interp::tune::{FlagChoice, TIGHTENINGS, TighteningChoice, Tuning};
use crate::predict::stencil::coefficients::per_level;
use crate::shape::Shape;
use crate::tile::TileGrid;

/// A round decides some parameters, from the costs of candidates that differ in nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Round {
    /// The flags of levels.
    Flags,
    /// The levels' bounds, after the flags.
    Tightening,
}

impl Round {
    /// The rounds in their order.
    pub const ALL: [Self; 2] = [Self::Flags, Self::Tightening];
}

/// The most candidates of a round.
pub const MAX_CANDIDATES: u32 = TIGHTENINGS.len() as u32;

/// The number in [`Costs`] of the bits of all coarse levels taken together, those from level 1 on: the coder mixes their codes.
pub const TOGETHER: u32 = MAX_LEVELS as u32;

/// The bits of codes by level, and behind them those of [`TOGETHER`], in units of 2^-[`COST_BITS`].
pub type Costs = [u64; MAX_LEVELS + 1];

/// The tuning of fields of a shape.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// The parameters that are tuned, and their choices.
    pub tuning: Tuning,
    /// The fields' shape.
    pub shape: Shape,
    /// What the coefficients of a fitted level cost on the samples; 0 without stencils.
    coefficients: u64,
    /// The least saving on the samples that is significant.
    least: u64,
    /// The least cost on the samples of a level that gets shifts.
    least_shifted: u64,
}

impl Search {
    /// The search of this tuning on the sample tiles of a field.
    pub fn of_field(tuning: Tuning, grid: &TileGrid) -> Self {
        let samples = tuning.samples(grid.tiles()).count();
        Self::new(tuning, grid.shape(), samples.into(), grid.tiles())
    }

    /// The search of this tuning for a field of this many tiles, of which so many are samples.
    pub fn new(tuning: Tuning, shape: Shape, samples: u64, tiles: u64) -> Self {
        let mut search = Self {
            tuning,
            shape,
            coefficients: 0,
            least: LEAST,
            least_shifted: 0,
        };
        if tuning.is_fitted() {
            let bits = 32 * per_level(shape) as u64;
            search.coefficients = (bits << COST_BITS) * samples / tiles.max(1);
            search.least_shifted = LEAST_SHIFTED * samples / tiles.max(1);
            search.least = LEAST_OF_SAMPLE * samples;
        }
        search
    }

    /// The parameters before the first round; `relative` is the ratio of the bound to the range of values.
    #[inline(always)]
    pub fn start(&self, relative: f64) -> Parameters {
        Parameters {
            geometry: self.tuning.geometry,
            tightening: match self.tuning.tightening {
                TighteningChoice::Given(tightening) => tightening,
                TighteningChoice::OfBound => Tightening::of_relative(relative),
                TighteningChoice::Cheapest(_) => match self.tuning.flags {
                    // Slices are fitted to values of equal bounds, as their coarse levels have many positions.
                    FlagChoice::AllFitted => TIGHTENINGS[0],
                    _ => TIGHTENINGS[FAVOURITE_TIGHTENING as usize],
                },
            },
            ..Parameters::default()
        }
    }

    /// The candidate of the first round with which sample tiles are predicted to fit stencils to their decoded values:
    /// all levels along all axes. Slices have one candidate.
    #[inline(always)]
    pub const fn number_before_fit(&self) -> u32 {
        match (self.tuning.flags, self.shape) {
            (FlagChoice::AllFitted, _) | (_, Shape::Line) => 0,
            (_, Shape::Plane | Shape::Cube) => 2,
        }
    }

    /// The number of candidates of a round; 0 if it decides nothing.
    #[inline(always)]
    pub const fn candidates(&self, round: Round) -> u32 {
        // A line has one order of axes, and cannot combine axes.
        let (orders, ways) = match self.shape {
            Shape::Line => (1, 1),
            Shape::Plane | Shape::Cube => (2, WAYS),
        };
        match (round, self.tuning.flags, self.tuning.tightening) {
            (Round::Flags, FlagChoice::Default, _) => 0,
            (Round::Flags, FlagChoice::Order, _) => orders,
            (Round::Flags, FlagChoice::OrderAndSpline, _) => SPLINES * orders,
            (Round::Flags, FlagChoice::PerLevel, _) => SPLINES * ways,
            (Round::Flags, FlagChoice::Stencils, _) => ways + 1,
            (Round::Flags, FlagChoice::AllFitted, _) => 1,
            (Round::Tightening, _, TighteningChoice::Cheapest(count)) => {
                if count < MAX_CANDIDATES {
                    count
                } else {
                    MAX_CANDIDATES
                }
            }
            (Round::Tightening, _, _) => 0,
        }
    }

    /// A candidate of a round; `number` is below [`Search::candidates`], `decided` are the parameters after the rounds
    /// before.
    #[inline(always)]
    pub fn candidate(&self, round: Round, number: u32, decided: &Parameters) -> Parameters {
        let mut candidate = *decided;
        match round {
            Round::Flags => {
                for flags in &mut candidate.levels {
                    *flags = self.flags_of(number, *flags);
                }
            }
            Round::Tightening => {
                for (i, tightening) in (0..).zip(&TIGHTENINGS) {
                    if i == number {
                        candidate.tightening = *tightening;
                    }
                }
            }
        }
        candidate
    }

    /// The flags that a candidate gives a level.
    #[inline(always)]
    const fn flags_of(&self, number: u32, before: LevelFlags) -> LevelFlags {
        match self.tuning.flags {
            FlagChoice::Default => before,
            FlagChoice::Order => LevelFlags {
                is_multi: before.is_multi,
                is_reverse: number == 1,
                spline: before.spline,
            },
            // The spline varies fastest, as it is the only choice of a line.
            FlagChoice::OrderAndSpline => LevelFlags {
                is_multi: false,
                is_reverse: number / SPLINES == 1,
                spline: spline(number),
            },
            FlagChoice::PerLevel if matches!(self.shape, Shape::Line) => LevelFlags {
                is_multi: before.is_multi,
                is_reverse: before.is_reverse,
                spline: spline(number),
            },
            FlagChoice::PerLevel => LevelFlags {
                is_multi: number / SPLINES == 2,
                is_reverse: number / SPLINES == 1,
                spline: spline(number),
            },
            FlagChoice::Stencils if matches!(self.shape, Shape::Line) => {
                if number == 0 {
                    before
                } else {
                    LevelFlags::FITTED
                }
            }
            FlagChoice::AllFitted => LevelFlags::FITTED,
            FlagChoice::Stencils => LevelFlags {
                is_multi: number >= 2,
                is_reverse: number == 1 || number == 3,
                spline: Spline::NotAKnot,
            },
        }
    }

    /// The candidate that a round chooses unless another is clearly better. `before` are a level's flags, if levels are
    /// decided one by one.
    #[inline(always)]
    fn favourite(&self, round: Round, before: LevelFlags) -> u32 {
        match round {
            Round::Tightening => FAVOURITE_TIGHTENING.min(self.candidates(round) - 1),
            Round::Flags if self.is_per_level(round) => {
                // The first candidate that gives the level the flags that it had.
                (0..self.candidates(round)).rev().fold(0, |found, number| {
                    if self.flags_of(number, before).to_bits() == before.to_bits() {
                        number
                    } else {
                        found
                    }
                })
            }
            Round::Flags => 0,
        }
    }

    #[inline(always)]
    const fn is_per_level(&self, round: Round) -> bool {
        matches!(
            (round, self.tuning.flags),
            (
                Round::Flags,
                FlagChoice::PerLevel | FlagChoice::Stencils | FlagChoice::AllFitted
            )
        )
    }

    /// The parameters after a round, given the [`Costs`] of each candidate by number, and the size of its codes at each level
    /// below [`LEVELS`] of each oddness.
    #[inline(always)]
    pub fn decide(
        &self,
        round: Round,
        decided: &Parameters,
        cost: impl Fn(u32, u32) -> u64,
        size: impl Fn(u32, u32, u32) -> Size,
    ) -> Parameters {
        let count = self.candidates(round);
        if count == 0 {
            return *decided;
        }
        if !self.is_per_level(round) {
            let of_all = |number| match round {
                Round::Tightening => cost(number, 0).wrapping_add(cost(number, TOGETHER)),
                Round::Flags => {
                    (0..TOGETHER).fold(0u64, |sum, level| sum.wrapping_add(cost(number, level)))
                }
            };
            let favourite = self.favourite(round, LevelFlags::default());
            return self.candidate(
                round,
                cheapest(count, favourite, self.least, of_all),
                decided,
            );
        }
        let mut found = *decided;
        let mut shifts = Shifts::NONE;
        for (level, flags) in (0..).zip(&mut found.levels) {
            let favourite = self.favourite(round, *flags);
            let is_fitted = |number| self.flags_of(number, *flags).is_fitted();
            let number = cheapest(count, favourite, self.least, |number| {
                let coefficients = if is_fitted(number) {
                    self.coefficients
                } else {
                    0
                };
                cost(number, level).wrapping_add(coefficients)
            });
            *flags = self.flags_of(number, *flags);
            let is_shifted = cost(number, level) >= self.least_shifted;
            if self.tuning.is_fitted() && level < LEVELS && is_shifted {
                let size = |oddness| size(number, level, oddness);
                shifts = with_shifts_of_level(shifts, level, size);
            }
        }
        found.shifts = shifts;
        found
    }

    /// Runs all rounds; `score` gives the cost of parameters on the samples.
    pub fn run(&self, relative: f64, mut score: impl FnMut(&Parameters) -> Score) -> Parameters {
        let mut decided = self.start(relative);
        for round in Round::ALL {
            let mut scores = [Score::default(); MAX_CANDIDATES as usize];
            for (number, found) in (0..self.candidates(round)).zip(&mut scores) {
                *found = score(&self.candidate(round, number, &decided));
            }
            decided = self.decide(
                round,
                &decided,
                |number, level| scores[number as usize].costs[level as usize],
                |number, level, oddness| {
                    scores[number as usize].sizes[level as usize][oddness as usize - 1]
                },
            );
        }
        decided
    }
}

/// The number of splines.
const SPLINES: u32 = 2;

/// The number of ways to predict a level: axis by axis from the slowest, axis by axis from x, along all axes.
const WAYS: u32 = 3;

/// The best tightening for fields that cost almost nothing, for which samples are not significant.
const FAVOURITE_TIGHTENING: u32 = 1;

#[inline(always)]
const fn spline(number: u32) -> Spline {
    if number.is_multiple_of(SPLINES) {
        Spline::NotAKnot
    } else {
        Spline::Natural
    }
}

/// The least saving on the samples that is significant.
const LEAST: u64 = 64 << COST_BITS;

/// The same for each sample, with stencils, which have many samples also of small fields.
const LEAST_OF_SAMPLE: u64 = 16 << COST_BITS;

/// The least cost of a level of a field that gets shifts. Those of a smaller one save less than the frequencies of the contexts
/// that they add.
const LEAST_SHIFTED: u64 = (1 << 15) << COST_BITS;

/// The first of the cheapest candidates, or the favourite if its cost is not much higher.
#[inline(always)]
fn cheapest(count: u32, favourite: u32, least: u64, cost: impl Fn(u32) -> u64) -> u32 {
    const LEAST_PART: u64 = 1024;
    let of_favourite = cost(favourite);
    let mut best = (
        of_favourite.saturating_sub(least + of_favourite / LEAST_PART),
        favourite,
    );
    for number in 0..count {
        let cost = cost(number);
        if cost < best.0 {
            best = (cost, number);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::interp::geometry::Geometry;

    const BIT: u64 = 1 << COST_BITS;

    fn search(mode: u32, shape: Shape) -> Search {
        let tuning = Tuning::of_mode(mode, Geometry::Square, None).unwrap();
        Search::new(tuning, shape, 4, 4)
    }

    /// Runs a search whose costs are lowest for these parameters and grow with the difference from them.
    fn run_for(search: &Search, wanted: &Parameters) -> Parameters {
        search.run(1e-3, |candidate| {
            let distance = (candidate.tightening.alpha - wanted.tightening.alpha).abs()
                + (candidate.tightening.beta - wanted.tightening.beta).abs();
            let cost = |level: usize| {
                let differs = candidate.levels[level].to_bits() ^ wanted.levels[level].to_bits();
                BIT * (10_000 + 1000 * u64::from(differs.count_ones()) + (4000.0 * distance) as u64)
            };
            let mut score = Score::default();
            let (together, levels) = score.costs.split_last_mut().unwrap();
            for (level, of_level) in levels.iter_mut().enumerate() {
                *of_level = cost(level);
                *together += *of_level * u64::from(level > 0);
            }
            score
        })
    }

    #[test]
    fn what_is_cheapest_is_found() {
        let mut wanted = search(4, Shape::Cube).start(1e-3);
        wanted.tightening = Tightening::new(1.75, 3.0);
        for (level, bits) in [1, 2, 4, 5, 6, 0, 1, 2, 6].into_iter().enumerate() {
            wanted.levels[level] = LevelFlags::from_bits(bits);
        }
        assert_eq!(run_for(&search(4, Shape::Cube), &wanted), wanted);
        assert_eq!(run_for(&search(4, Shape::Plane), &wanted), wanted);
        let of_levels = run_for(&search(3, Shape::Cube), &wanted);
        assert_eq!(of_levels.levels, wanted.levels);
        assert_eq!(of_levels.tightening, Tightening::of_relative(1e-3));
        let of_line = run_for(&search(3, Shape::Line), &wanted);
        for (found, wanted) in of_line.levels.iter().zip(&wanted.levels) {
            assert_eq!(found.spline, wanted.spline);
        }
    }

    #[test]
    fn one_order_and_one_spline() {
        for bits in [0, 2, 4, 6] {
            let mut wanted = search(2, Shape::Cube).start(1e-3);
            wanted.levels = [LevelFlags::from_bits(bits); MAX_LEVELS];
            assert_eq!(run_for(&search(2, Shape::Cube), &wanted), wanted);
            let mut of_order = search(1, Shape::Cube).start(1e-3);
            for flags in &mut of_order.levels {
                flags.is_reverse = bits & 2 != 0;
            }
            assert_eq!(run_for(&search(1, Shape::Cube), &of_order), of_order);
        }
    }

    #[test]
    fn nothing_changes_without_a_reason() {
        for shape in Shape::ALL {
            for mode in [0, 1, 3, 4, 5] {
                let search = search(mode, shape);
                let start = search.start(1e-3);
                assert_eq!(start.levels, Parameters::default().levels);
                // Savings that may be due to chance change nothing either.
                let mut turn = 0;
                let found = search.run(1e-3, |_| {
                    turn += 1;
                    let costs = [BIT * (5000 + 60 * (turn % 2)) / 9; MAX_LEVELS + 1];
                    Score {
                        costs,
                        ..Score::default()
                    }
                });
                if shape != Shape::Line {
                    assert_eq!(found, start, "{mode}");
                }
            }
        }
    }
}
