//! Compares an array with its reconstruction: are all errors within the bound, and how large are they?
//!
//! Blocks of values are compared in parallel and without branches. Only the values of a block with a doubtful value are
//! judged one by one.
//!
//! The judge shares no code with the library. It decides |x - x'| <= limit in exact arithmetic, since a rounded
//! difference can hide a violation smaller than its own rounding error: it takes the difference with its rounding error
//! (Dekker's Fast2Sum), and the limit as a rational number.

use ferrosz::{Bound, BoundMode, Element};
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use rayon::prelude::*;

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Values compared.
    pub values: u64,
    /// Original values that are NaN or infinite.
    pub not_finite: u64,
    /// Original NaNs and infinities that did not come back bit by bit.
    pub not_finite_changed: u64,
    /// The largest |x - x'|, rounded to nearest.
    pub largest_error: f64,
    /// The index of the largest error.
    pub largest_error_at: Option<u64>,
    /// The absolute error that the user's bound resolves to on the original, rounded down; infinite if the bound is
    /// relative to each value.
    pub limit: f64,
    /// Values whose error exceeds the unrounded limit.
    pub over_limit: u64,
    /// The absolute error that the stream promises; at most the limit.
    pub promise: f64,
    /// Values whose error exceeds the promise; if the promise is 0, values with other bits; if the bound is relative to
    /// each value, values with another sign.
    pub over_promise: u64,
    /// Largest minus smallest of the finite original values.
    pub range: f64,
    /// Mean of the squared errors of the finite original values.
    pub mean_squared_error: f64,
}

impl Judgement {
    /// Whether no value exceeds the limit or the promise, and all NaNs and infinities came back.
    pub fn is_kept(&self) -> bool {
        self.over_limit == 0 && self.over_promise == 0 && self.not_finite_changed == 0
    }

    /// The largest error divided by the error that the stream promises.
    pub fn largest_over_promise(&self) -> f64 {
        if self.largest_error == 0.0 {
            0.0
        } else {
            self.largest_error / self.promise
        }
    }

    /// Peak signal-to-noise ratio in dB, the peak being the range; infinite without error.
    pub fn psnr(&self) -> f64 {
        match self.mean_squared_error == 0.0 {
            true => f64::INFINITY,
            false => 20.0 * self.range.log10() - 10.0 * self.mean_squared_error.log10(),
        }
    }
}

/// Compares `decoded` with `original`, which was compressed within `bound`. The stream promises an absolute error of
/// `promise`. If the lengths differ, only the values up to the shorter length are compared.
pub fn judge<T: Element>(original: &[T], decoded: &[T], bound: Bound, promise: f64) -> Judgement {
    let extremes = Extremes::of(original);
    let is_pointwise = bound.mode() == BoundMode::Pwrel;
    let judge = Judge {
        pointwise: is_pointwise.then_some(bound.value()),
        limit: Limit::new(extremes.resolve(bound)),
        promise,
        promised: Limit::new(rational(promise)),
    };
    let pairs = original
        .par_chunks(PART)
        .zip(decoded.par_chunks(PART))
        .enumerate();
    let tallies: Vec<Tally> = pairs
        .map(|(part, (x, y))| judge.part((part * PART) as u64, x, y))
        .collect();
    // In order of position, so that rounded sums are the same on every machine.
    let tally = tallies.into_iter().fold(Tally::default(), Tally::and);
    let finite = tally.values - tally.not_finite;
    Judgement {
        values: tally.values,
        not_finite: tally.not_finite,
        not_finite_changed: tally.not_finite_changed,
        largest_error: tally.largest,
        largest_error_at: tally.largest_at,
        limit: match is_pointwise {
            true => f64::INFINITY,
            false => judge.limit.below,
        },
        over_limit: tally.over_limit,
        promise,
        over_promise: tally.over_promise,
        range: extremes.range(),
        mean_squared_error: tally.squares / finite.max(1) as f64,
    }
}

/// Values in a task of one thread; a multiple of [`BLOCK`].
const PART: usize = 1 << 16;

/// Values that are judged together if none of them is in doubt.
const BLOCK: usize = 256;

/// Independent sums, one for each lane of a vector.
const LANES: usize = 8;

/// The limits that values are judged by.
struct Judge {
    /// The bound, if it is relative to each value.
    pointwise: Option<f64>,
    limit: Limit,
    promise: f64,
    promised: Limit,
}

impl Judge {
    /// Judges values; `first` is the index of the first one.
    fn part<T: Element>(&self, first: u64, original: &[T], decoded: &[T]) -> Tally {
        let mut tally = Tally::default();
        let blocks = original.chunks(BLOCK).zip(decoded.chunks(BLOCK));
        for (at, (x, y)) in (first..).step_by(BLOCK).zip(blocks) {
            match self.clear_block(x, y) {
                Some((largest, squares)) => {
                    tally.values += x.len().min(y.len()) as u64;
                    tally.squares += squares;
                    if largest > tally.largest {
                        let is_it = |(x, y): (&T, &T)| (x.to_f64() - y.to_f64()).abs() == largest;
                        let place = x.iter().zip(y).position(is_it).unwrap_or_default();
                        tally.largest = largest;
                        tally.largest_at = Some(at + place as u64);
                    }
                }
                None => {
                    for (at, (x, y)) in (at..).zip(x.iter().zip(y)) {
                        self.one(at, *x, *y, &mut tally);
                    }
                }
            }
        }
        tally
    }

    /// The largest error of a block and the sum of its squared errors; none if a value is in doubt: it is not finite,
    /// or its rounded error is not less than both limits (for a limit of 0: its bits differ).
    fn clear_block<T: Element>(&self, original: &[T], decoded: &[T]) -> Option<(f64, f64)> {
        // A difference that rounds to less than a rounded product is less than the product.
        let clear = match self.pointwise {
            Some(_) => self.promised.below,
            None => self.limit.below.min(self.promised.below),
        };
        if clear == 0.0 && (self.pointwise.is_none() || self.promise == 0.0) {
            // Zeros of different sign differ.
            let is_exact = |(x, y): (&T, &T)| x.is_finite() && x.to_bits64() == y.to_bits64();
            return original
                .iter()
                .zip(decoded)
                .all(is_exact)
                .then_some((0.0, 0.0));
        }
        let (mut largest, mut squares, mut doubts) = ([0.0; LANES], [0.0; LANES], [false; LANES]);
        let mut see = |lane: usize, x: T, y: T| {
            let error = (x.to_f64() - y.to_f64()).abs();
            // The error of a value that is not finite is NaN or infinite, and never less than the limit.
            let is_clear = match self.pointwise {
                Some(bound) => {
                    let has_sign = |value: T| value.to_f64().is_sign_negative();
                    error < bound * x.to_f64().abs() && has_sign(x) == has_sign(y)
                }
                None => error < clear,
            };
            doubts[lane] |= !is_clear;
            largest[lane] = if error > largest[lane] {
                error
            } else {
                largest[lane]
            };
            squares[lane] += error * error;
        };
        let (whole, rest) = original.as_chunks::<LANES>();
        let (whole_decoded, rest_decoded) = decoded.as_chunks::<LANES>();
        for (x, y) in whole.iter().zip(whole_decoded) {
            for lane in 0..LANES {
                see(lane, x[lane], y[lane]);
            }
        }
        for (lane, (x, y)) in rest.iter().zip(rest_decoded).enumerate() {
            see(lane, *x, *y);
        }
        if doubts.contains(&true) {
            return None;
        }
        let largest = largest.into_iter().fold(0.0, f64::max);
        Some((largest, squares.into_iter().sum()))
    }

    /// Judges one value exactly.
    fn one<T: Element>(&self, at: u64, x: T, y: T, tally: &mut Tally) {
        let same = x.to_bits64() == y.to_bits64();
        tally.values += 1;
        if !x.is_finite() {
            tally.not_finite += 1;
            tally.not_finite_changed += u64::from(!same);
            return;
        }
        let error = Difference::of(x.to_f64(), y.to_f64());
        tally.see(at, &error);
        if let Some(bound) = self.pointwise {
            let limit = Limit::new(rational(bound) * rational(x.to_f64().abs()));
            let signs = [x, y].map(|value| value.to_f64().is_sign_negative());
            tally.over_limit += u64::from(!limit.admits(&error));
            tally.over_promise += u64::from(signs[0] != signs[1] || self.promise == 0.0 && !same);
            return;
        }
        tally.over_limit += u64::from(!self.limit.admits(&error));
        let kept = if self.promise == 0.0 {
            same
        } else {
            self.promised.admits(&error)
        };
        tally.over_promise += u64::from(!kept);
    }
}

#[derive(Default)]
struct Tally {
    values: u64,
    not_finite: u64,
    not_finite_changed: u64,
    largest: f64,
    largest_at: Option<u64>,
    over_limit: u64,
    over_promise: u64,
    squares: f64,
}

impl Tally {
    fn see(&mut self, at: u64, error: &Difference) {
        if error.rounded > self.largest {
            self.largest = error.rounded;
            self.largest_at = Some(at);
        }
        self.squares += error.rounded * error.rounded;
    }

    /// The sum of two tallies; of equal largest errors, the one in `self` counts.
    fn and(self, other: Self) -> Self {
        let (largest, largest_at) = match other.largest > self.largest {
            true => (other.largest, other.largest_at),
            false => (self.largest, self.largest_at),
        };
        Self {
            values: self.values + other.values,
            not_finite: self.not_finite + other.not_finite,
            not_finite_changed: self.not_finite_changed + other.not_finite_changed,
            largest,
            largest_at,
            over_limit: self.over_limit + other.over_limit,
            over_promise: self.over_promise + other.over_promise,
            squares: self.squares + other.squares,
        }
    }
}

/// Smallest and largest finite value; none if no value is finite.
struct Extremes(Option<(f64, f64)>);

impl Extremes {
    fn of<T: Element>(values: &[T]) -> Self {
        let nothing = || (f64::INFINITY, f64::NEG_INFINITY);
        let (min, max) = values
            .par_chunks(PART)
            .map(|values| {
                let mut ends = [nothing(); LANES];
                for values in values.chunks(LANES) {
                    for (x, (min, max)) in values.iter().zip(&mut ends) {
                        let (value, is_finite) = (x.to_f64(), x.is_finite());
                        *min = if is_finite && value < *min {
                            value
                        } else {
                            *min
                        };
                        *max = if is_finite && value > *max {
                            value
                        } else {
                            *max
                        };
                    }
                }
                ends.into_iter().fold(nothing(), |one, other| {
                    (one.0.min(other.0), one.1.max(other.1))
                })
            })
            .reduce(nothing, |one, other| {
                (one.0.min(other.0), one.1.max(other.1))
            });
        Self((min <= max).then_some((min, max)))
    }

    fn range(&self) -> f64 {
        self.0.map_or(0.0, |(min, max)| max - min)
    }

    /// The exact absolute error that a bound resolves to.
    fn resolve(&self, bound: Bound) -> BigRational {
        let (min, max) = self.0.unwrap_or_default();
        let scale = match bound.mode() {
            BoundMode::Abs => rational(1.0),
            BoundMode::Range => rational(max) - rational(min),
            BoundMode::Max => rational(min.abs().max(max.abs())),
            BoundMode::Pwrel => rational(0.0),
        };
        rational(bound.value()) * scale
    }
}

/// A finite number as a fraction; 0, the strictest limit, for NaN and infinities.
fn rational(value: f64) -> BigRational {
    BigRational::from_float(value).unwrap_or_else(BigRational::zero)
}

/// |x - y| = rounded + rest, exactly.
struct Difference {
    /// The difference rounded to nearest, not negative; infinite if it overflows or `y` is not finite.
    rounded: f64,
    rest: f64,
    /// The operands, needed if the rounded difference overflows.
    of: (f64, f64),
}

impl Difference {
    /// The difference of a finite `x` and any `y`.
    fn of(x: f64, y: f64) -> Self {
        // Fast2Sum of x and -y. It is exact if the first operand is the larger one, and has no intermediate that can
        // overflow, which Knuth's TwoSum has.
        let (large, small) = if x.abs() >= y.abs() { (x, -y) } else { (-y, x) };
        let sum = large + small;
        let rest = small - (sum - large);
        let (rounded, rest) = if sum < 0.0 {
            (-sum, -rest)
        } else {
            (sum, rest)
        };
        Self {
            rounded: if rounded.is_finite() {
                rounded
            } else {
                f64::INFINITY
            },
            rest,
            of: (x, y),
        }
    }
}

/// A limit on differences, prepared so that almost all of them need one comparison.
///
/// Rounding is monotone: a difference that rounds to less than `below` is less than the limit, and one that rounds to
/// more than `above` is more than the limit. A difference that rounds to `below` or `above` is within the limit if and
/// only if its rounding error is at most the limit minus that number.
struct Limit {
    exact: BigRational,
    /// The largest f64 that is at most the limit, and the next one.
    below: f64,
    above: f64,
    /// The largest f64 that is at most the limit minus `below`, and at most the limit minus `above`.
    beyond_below: f64,
    beyond_above: f64,
}

impl Limit {
    /// Prepares a limit, which is not negative.
    fn new(exact: BigRational) -> Self {
        let below = round_down(&exact);
        let above = below.next_up();
        Self {
            below,
            above,
            beyond_below: round_down(&(&exact - rational(below))),
            // If `above` is infinite, `admits` never uses this.
            beyond_above: round_down(&(&exact - rational(above))),
            exact,
        }
    }

    fn admits(&self, error: &Difference) -> bool {
        if error.rounded < self.below {
            true
        } else if error.rounded.is_infinite() {
            self.admits_overflowing(error.of)
        } else if error.rounded == self.below {
            error.rest <= self.beyond_below
        } else {
            error.rounded == self.above && error.rest <= self.beyond_above
        }
    }

    fn admits_overflowing(&self, (x, y): (f64, f64)) -> bool {
        let (large, small) = if x > y { (x, y) } else { (y, x) };
        y.is_finite() && rational(large) - rational(small) <= self.exact
    }
}

/// The largest finite f64 that is at most `exact`.
fn round_down(exact: &BigRational) -> f64 {
    let near = exact.to_f64().unwrap_or(0.0);
    let mut value = near.clamp(f64::MIN, f64::MAX);
    while value > f64::MIN && &rational(value) > exact {
        value = value.next_down();
    }
    while value < f64::MAX && &rational(value.next_up()) <= exact {
        value = value.next_up();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_traits::Signed;

    fn verdict<T: Element>(original: &[T], decoded: &[T], bound: Bound, promise: f64) -> Judgement {
        judge(original, decoded, bound, promise)
    }

    fn abs(value: f64) -> Bound {
        Bound::abs(value).unwrap()
    }

    #[test]
    fn errors_up_to_the_bound_are_kept() {
        let found = verdict(&[1.0f32, 2.0, 3.0], &[1.5, 1.5, 3.25], abs(0.5), 0.5);
        assert!(found.is_kept());
        assert_eq!(
            (found.largest_error, found.largest_error_at),
            (0.5, Some(0))
        );
        assert_eq!(found.largest_over_promise(), 1.0);
        assert_eq!(found.range, 2.0);
        assert_eq!(found.mean_squared_error, (0.25 + 0.25 + 0.0625) / 3.0);
        assert!((found.psnr() - 10.0 * (4.0f64 / 0.1875).log10()).abs() < 1e-9);
    }

    #[test]
    fn a_planted_violation_is_found() {
        let original: Vec<f64> = (0..1000).map(f64::from).collect();
        let mut decoded = original.clone();
        decoded[777] += 0.5f64.next_up() + 1e-10;
        let found = verdict(&original, &decoded, abs(0.5), 0.5);
        assert!(!found.is_kept());
        assert_eq!((found.over_limit, found.over_promise), (1, 1));
        assert_eq!(found.largest_error_at, Some(777));
    }

    #[test]
    fn a_violation_hidden_by_rounding_is_found() {
        // Each difference rounds to exactly 1; some are a little more, some a little less.
        let tiny = 2f64.powi(-60);
        for (x, y, kept) in [
            (1.0, -tiny, false),
            (-tiny, 1.0, false),
            (1.0, tiny, true),
            (tiny, 1.0, true),
            (-1.0, tiny, false),
            (1.0, 0.0, true),
        ] {
            let found = verdict(&[x], &[y], abs(1.0), 1.0);
            assert_eq!((x - y).abs(), 1.0);
            assert_eq!(found.is_kept(), kept, "{x:e} {y:e}");
        }
        let found = verdict(&[1e30f32], &[-1e-30], abs(f64::from(1e30f32)), 1.0);
        assert_eq!(found.over_limit, 1);
    }

    #[test]
    fn relative_limits_are_exact() {
        // 0.1 is a little above 1/10, and 0.1 * 10 is 1 + 2^-54.
        let bound = Bound::range(0.1).unwrap();
        let tiny = 2f64.powi(-60);
        let judged = |y: f64| verdict(&[1.0, 0.0, 10.0], &[y, 0.0, 10.0], bound, 2.0);
        assert_eq!(judged(0.0).limit, 1.0);
        assert!(judged(-tiny).is_kept());
        assert!(judged(-64.0 * tiny).is_kept());
        assert!(!judged(-65.0 * tiny).is_kept());
        // 0.3 is a little below 3/10.
        let bound = Bound::max(0.3).unwrap();
        let judged = |y: f64| verdict(&[3.0, -10.0], &[y, -10.0], bound, 4.0);
        assert_eq!(judged(0.0).limit, 3f64.next_down());
        assert!(!judged(0.0).is_kept());
        assert!(judged(5e-16).is_kept());
        // Both differences round to 3, which is above the limit. Only one of them is within it.
        assert_eq!((3.0 - 2e-16, 3.0 - 1e-16), (3.0, 3.0));
        assert!(judged(2e-16).is_kept());
        assert!(!judged(1e-16).is_kept());
    }

    #[test]
    fn verdicts_near_the_limit_are_those_of_fractions() {
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / 2f64.powi(53)
        };
        let mut verdicts = [0; 2];
        for _ in 0..20_000 {
            let exact = rational(random()) * rational(random() * 100.0);
            let limit = Limit::new(exact.clone());
            let mut x = limit.below;
            for _ in 0..(random() * 3.0) as u32 {
                x = x.next_up();
            }
            let y = (random() - 0.5) * 4.0 * (limit.above - limit.below);
            let wanted = rational(x) - rational(y) <= exact;
            assert_eq!(limit.admits(&Difference::of(x, y)), wanted, "{x:e} {y:e}");
            assert_eq!(limit.admits(&Difference::of(-y, -x)), wanted, "{x:e} {y:e}");
            verdicts[usize::from(wanted)] += 1;
        }
        assert!(verdicts.iter().all(|count| *count > 5000), "{verdicts:?}");
    }

    #[test]
    fn ranges_beyond_the_largest_number_are_judged() {
        let bound = Bound::range(1.0).unwrap();
        let field = [f64::MAX, f64::MIN];
        assert_eq!(
            verdict(&field, &[f64::MIN, f64::MIN], bound, 1.0).over_limit,
            0
        );
        let bound = Bound::range(1f64.next_down()).unwrap();
        assert_eq!(
            verdict(&field, &[f64::MIN, f64::MIN], bound, 1.0).over_limit,
            1
        );
    }

    #[test]
    fn lossless_means_bit_by_bit() {
        assert!(verdict(&[0.5f32, -0.0], &[0.5, -0.0], abs(0.0), 0.0).is_kept());
        let found = verdict(&[0.5f32, -0.0], &[0.5, 0.0], abs(0.0), 0.0);
        assert_eq!((found.over_limit, found.over_promise), (0, 1));
        assert!(!found.is_kept());
        assert!(found.psnr().is_infinite());
    }

    #[test]
    fn many_values_are_judged_as_each_alone() {
        let mut state = 1u64;
        let mut random = || {
            state = (state.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1);
            (state >> 11) as f64 / 2f64.powi(53)
        };
        let original: Vec<f64> = (0..3 * PART + 77).map(|_| random() * 10.0).collect();
        // Almost all errors are clear; the errors of every 1000th value are close to the bound.
        let errors = (0..original.len()).map(|i| match i % 1000 {
            0 => (0.25 + (random() - 0.5) * 1e-15) * (random() - 0.5).signum(),
            _ => (random() - 0.5) * 0.49,
        });
        let mut decoded: Vec<f64> = original.iter().zip(errors).map(|(x, e)| x + e).collect();
        decoded[PART + 5] = f64::NAN;
        let found = verdict(&original, &decoded, abs(0.25), 0.25);
        let limit = rational(0.25);
        let distance = |x: f64, y: f64| (rational(x) - rational(y)).abs();
        let is_over = |(x, y): &(&f64, &f64)| !y.is_finite() || distance(**x, **y) > limit;
        let over = original.iter().zip(&decoded).filter(is_over).count() as u64;
        assert!(over > 20 && over < 190, "{over}");
        assert_eq!((found.over_limit, found.over_promise), (over, over));
        assert_eq!(found.values, original.len() as u64);
        assert_eq!(found.largest_error_at, Some(PART as u64 + 5));
        decoded[PART + 5] = original[PART + 5] + 0.3;
        let found = verdict(&original, &decoded, abs(0.5), 0.5);
        assert!(found.is_kept());
        let pairs = || original.iter().zip(&decoded).map(|(x, y)| (x - y).abs());
        let mean = pairs().map(|e| e * e).sum::<f64>() / original.len() as f64;
        assert!((found.mean_squared_error / mean - 1.0).abs() < 1e-12);
        assert_eq!(found.largest_error, pairs().fold(0.0, f64::max));
        assert_eq!(found.largest_error_at, Some(PART as u64 + 5));
    }

    #[test]
    fn exact_values_have_no_noise() {
        // A range of 0 would give 0 / 0.
        let found = verdict(&[7.0f32; 9], &[7.0; 9], abs(0.1), 0.1);
        assert_eq!(found.psnr(), f64::INFINITY);
        assert_eq!(
            verdict::<f32>(&[], &[], abs(0.1), 0.1).psnr(),
            f64::INFINITY
        );
        let found = verdict(&[7.0f32; 9], &[7.5; 9], abs(1.0), 1.0);
        assert_eq!(found.psnr(), f64::NEG_INFINITY);
    }

    #[test]
    fn values_that_are_not_finite_must_come_back() {
        let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0];
        assert!(verdict(&special, &special, abs(0.5), 0.5).is_kept());
        let other_nan = f32::from_bits(f32::NAN.to_bits() ^ 1);
        for changed in [
            [other_nan, f32::INFINITY, f32::NEG_INFINITY, 1.0],
            [f32::NAN, f32::MAX, f32::NEG_INFINITY, 1.0],
            [f32::NAN, f32::INFINITY, f32::INFINITY, 1.0],
        ] {
            let found = verdict(&special, &changed, abs(0.5), 0.5);
            assert_eq!((found.not_finite, found.not_finite_changed), (3, 1));
            assert!(!found.is_kept());
        }
        for lost in [f32::NAN, f32::INFINITY] {
            let found = verdict(&[1.0f32], &[lost], abs(0.5), 0.5);
            assert_eq!((found.over_limit, found.largest_error), (1, f64::INFINITY));
        }
    }

    #[test]
    fn empty_arrays_keep_every_bound() {
        let found = verdict::<f64>(&[], &[], Bound::range(1e-3).unwrap(), 0.0);
        assert!(found.is_kept());
        assert_eq!((found.values, found.limit), (0, 0.0));
    }
}
