//! The bounds that a search tries, and the way from one to the next.

use crate::error::Error;
use crate::target::{Goal, Place};

/// The exponent of the smallest bounds above 0: the first one is 100e-310.
const FIRST_EXPONENT: i32 = -310;

/// Bounds of three digits for each power of ten.
const DECADE: u32 = 900;

/// The step of 179e306, the largest bound.
const LAST: u32 = (306 - FIRST_EXPONENT) as u32 * DECADE + 80;

/// The bound of a step: 0, 100e-310, 101e-310 and so on.
pub(super) fn bound_of(step: u32) -> f64 {
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
pub(super) fn step_of(value: f64) -> u32 {
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
pub(super) struct Limits {
    /// The first one that is tried.
    pub(super) start: u32,
    /// The last one: beyond it, every code is 0.
    pub(super) most: u32,
}

impl Limits {
    /// Limits for a field whose largest magnitude is `largest`. The last step has at least the bound `least`.
    pub(super) fn new(goal: &Goal, largest: f64, least: f64) -> Self {
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
pub(super) struct Bracket {
    low: Option<u32>,
    high: Option<u32>,
    pub(super) most: u32,
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
pub(super) struct Effort {
    /// Steps that are tried until the bracket is closed.
    tries: u32,
    /// Steps that are tried beyond a closed bracket.
    probes: u32,
}

impl Effort {
    /// For a field or a sample of at most a million elements.
    pub(super) const ALL: Self = Self {
        tries: 64,
        probes: 16,
    };

    /// For trials that compress nothing.
    pub(super) const FEW: Self = Self {
        tries: 8,
        probes: 0,
    };

    /// For a large field with a sample, which makes the probes.
    pub(super) const GUIDED: Self = Self {
        tries: 12,
        probes: 0,
    };
}

/// Tries steps until the figure of one is within the goal, or none is left; `try_step` gives the figure of a step, and
/// the next step that it wishes for. Returns the best step that meets the goal.
pub(super) fn seek(
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
pub(super) fn better(goal: &Goal, best: Option<u32>, step: u32) -> u32 {
    match best {
        None => step,
        Some(best) if goal.is_ratio() => best.min(step),
        Some(best) => best.max(step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{self, Version};
    use crate::target::{Range, Target};

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
