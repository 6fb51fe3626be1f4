//! Figures of all pairs of values, in one pass that needs little memory.

use crate::histogram::Histogram;
use crate::pair::Pair;
use ferrosz::{BoundMode, Info, Value};
use rayon::prelude::*;
use std::cmp::Ordering;

/// Values in a task of one thread.
const PART: usize = 1 << 16;

/// Tasks whose figures are in memory together.
const WAVE: usize = 256;

/// Bins of a histogram. It is odd, so that an error of 0 is in the middle of one.
pub const BINS: usize = 81;

/// Worst errors that are listed.
const WORST: usize = 8;

/// The error that a stream promises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Promise {
    /// |x - x'| is at most this.
    Absolute(f64),
    /// |x - x'| / |x| is at most this.
    Relative(f64),
}

impl Promise {
    /// That of a stream.
    pub fn of(info: &Info) -> Self {
        match info.bound.mode() == BoundMode::Pwrel && !info.is_lossless() {
            true => Self::Relative(info.bound.value()),
            false => Self::Absolute(info.absolute_error),
        }
    }

    /// The number.
    pub fn value(self) -> f64 {
        let (Self::Absolute(value) | Self::Relative(value)) = self;
        value
    }

    /// The error of a pair as it is promised.
    pub fn error(self, (x, y): (f64, f64)) -> f64 {
        match self {
            Self::Absolute(_) => y - x,
            Self::Relative(_) if x == y => 0.0,
            Self::Relative(_) => (y - x) / x.abs(),
        }
    }
}

/// A pair with a large error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worst {
    /// The number of the element.
    pub at: usize,
    /// The value and what it came back as.
    pub pair: (f64, f64),
    /// The error as it is promised.
    pub error: f64,
}

/// Means and sums of squared distances from them, of pairs.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    means: [f64; 2],
    squares: [f64; 2],
    products: f64,
    error: f64,
    absolute: f64,
}

impl Moments {
    fn add(&mut self, (x, y): (f64, f64)) {
        self.count += 1.0;
        let from = [x - self.means[0], y - self.means[1]];
        self.means[0] += from[0] / self.count;
        self.means[1] += from[1] / self.count;
        let to = [x - self.means[0], y - self.means[1]];
        self.squares[0] += from[0] * to[0];
        self.squares[1] += from[1] * to[1];
        self.products += from[0] * to[1];
        self.error += (y - x - self.error) / self.count;
        self.absolute += ((y - x).abs() - self.absolute) / self.count;
    }

    /// Those of two sets of pairs together.
    fn and(self, other: Self) -> Self {
        let count = self.count + other.count;
        if count == 0.0 {
            return self;
        }
        let (share, both) = (other.count / count, self.count * other.count / count);
        let apart: [f64; 2] = std::array::from_fn(|i| other.means[i] - self.means[i]);
        let mean = |one: f64, other: f64| one + (other - one) * share;
        Self {
            count,
            means: std::array::from_fn(|i| mean(self.means[i], other.means[i])),
            squares: std::array::from_fn(|i| {
                self.squares[i] + other.squares[i] + apart[i] * apart[i] * both
            }),
            products: self.products + other.products + apart[0] * apart[1] * both,
            error: mean(self.error, other.error),
            absolute: mean(self.absolute, other.absolute),
        }
    }
}

/// Figures of all pairs of values.
#[derive(Debug, Clone)]
pub struct Totals {
    moments: Moments,
    /// Elements without a value.
    pub missing: u64,
    /// The smallest and the largest value, and those that came back.
    pub ranges: [[f64; 2]; 2],
    /// The errors, as they are promised.
    pub errors: Histogram,
    /// The pairs with the largest errors, worst first.
    pub worst: Vec<Worst>,
}

impl Totals {
    /// Those of a pair of arrays, with bins between errors of this size.
    pub fn of<V: Value>(pair: &Pair<'_, V>, promise: Promise, largest: f64) -> Self {
        let parts = pair.len().div_ceil(PART);
        let waves = (0..parts).step_by(WAVE);
        waves.fold(Self::none(largest), |sum, first| {
            let wave: Vec<Self> = (first..(first + WAVE).min(parts))
                .into_par_iter()
                .map(|part| Self::of_part(pair, promise, largest, part * PART))
                .collect();
            // In order, so that rounded sums are the same on every machine.
            wave.into_iter().fold(sum, Self::and)
        })
    }

    fn none(largest: f64) -> Self {
        Self {
            moments: Moments::default(),
            missing: 0,
            ranges: [[f64::INFINITY, f64::NEG_INFINITY]; 2],
            errors: Histogram::new(-largest, largest, BINS),
            worst: Vec::new(),
        }
    }

    fn of_part<V: Value>(pair: &Pair<'_, V>, promise: Promise, largest: f64, first: usize) -> Self {
        let mut found = Self::none(largest);
        for at in first..(first + PART).min(pair.len()) {
            let Some(values) = pair.both(at) else {
                found.missing += 1;
                continue;
            };
            found.moments.add(values);
            for (range, value) in found.ranges.iter_mut().zip([values.0, values.1]) {
                *range = [range[0].min(value), range[1].max(value)];
            }
            let error = promise.error(values);
            found.errors.add(error);
            found.see(Worst {
                at,
                pair: values,
                error,
            });
        }
        found
    }

    /// Lists an error if it is among the largest. Of equal ones the first is listed.
    fn see(&mut self, new: Worst) {
        let is_after =
            |old: &Worst| new.error.abs().total_cmp(&old.error.abs()) != Ordering::Greater;
        if new.error == 0.0
            || (self.worst.len() == WORST && self.worst.last().is_some_and(is_after))
        {
            return;
        }
        let place = self.worst.partition_point(is_after);
        self.worst.insert(place, new);
        self.worst.truncate(WORST);
    }

    fn and(mut self, other: Self) -> Self {
        self.moments = self.moments.and(other.moments);
        self.missing += other.missing;
        for (range, more) in self.ranges.iter_mut().zip(other.ranges) {
            *range = [range[0].min(more[0]), range[1].max(more[1])];
        }
        self.errors = self.errors.and(&other.errors);
        for worst in other.worst {
            self.see(worst);
        }
        self
    }

    /// The number of pairs.
    pub fn count(&self) -> u64 {
        self.moments.count as u64
    }

    /// The mean and the standard deviation of the original.
    pub fn original(&self) -> [f64; 2] {
        let Moments {
            count,
            means,
            squares,
            ..
        } = self.moments;
        [means[0], (squares[0] / count.max(1.0)).sqrt()]
    }

    /// The mean error.
    pub fn bias(&self) -> f64 {
        self.moments.error
    }

    /// The mean absolute error.
    pub fn mean_absolute_error(&self) -> f64 {
        self.moments.absolute
    }

    /// Pearson's correlation of values and what they came back as; none if either are all equal.
    pub fn correlation(&self) -> Option<f64> {
        let Moments {
            squares, products, ..
        } = self.moments;
        let spread = squares[0].sqrt() * squares[1].sqrt();
        (spread > 0.0).then(|| (products / spread).clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(count: u32) -> (Vec<f64>, Vec<f64>) {
        let x = |i: u32| (f64::from(i) * 0.37).sin() * 5.0 + 1e3;
        let error = |i: u32| (f64::from(i) * 12.9898).sin() * 0.01 + 0.002;
        let x: Vec<f64> = (0..count).map(x).collect();
        let y = (0..).zip(&x).map(|(i, x)| x + error(i)).collect();
        (x, y)
    }

    #[test]
    fn figures_are_those_of_plain_sums() {
        let (x, y) = values(3 * PART as u32 + 77);
        let extents = [x.len() as u64];
        let found = Totals::of(
            &Pair::new(&x, &y, &extents, &[]),
            Promise::Absolute(0.02),
            0.02,
        );
        let n = x.len() as f64;
        let mean = |of: &[f64]| of.iter().sum::<f64>() / n;
        let errors: Vec<f64> = x.iter().zip(&y).map(|(x, y)| y - x).collect();
        let close = |found: f64, expected: f64| {
            assert!(
                (found - expected).abs() <= 1e-9 * expected.abs(),
                "{found} {expected}"
            );
        };
        close(found.bias(), mean(&errors));
        let absolute: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        close(found.mean_absolute_error(), mean(&absolute));
        let (mx, my) = (mean(&x), mean(&y));
        let products = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my));
        let spread = |of: &[f64], m: f64| of.iter().map(|v| (v - m).powi(2)).sum::<f64>().sqrt();
        let expected = products.sum::<f64>() / spread(&x, mx) / spread(&y, my);
        close(found.correlation().unwrap(), expected);
        close(found.original()[0], mx);
        close(found.original()[1], spread(&x, mx) / n.sqrt());
        assert_eq!(found.errors.total(), x.len() as u64);
        let mut order: Vec<usize> = (0..x.len()).collect();
        order.sort_by(|a, b| absolute[*b].total_cmp(&absolute[*a]));
        let worst: Vec<usize> = found.worst.iter().map(|worst| worst.at).collect();
        assert_eq!(worst, order[..WORST]);
        assert_eq!(found.ranges[0][1], x.iter().copied().fold(0.0, f64::max));
    }

    #[test]
    fn missing_values_do_not_count() {
        let x = [1.0f32, f32::NAN, -9999.0, 3.0, f32::INFINITY, 2.0];
        let y = [1.5f32, f32::NAN, -9999.0, 2.0, f32::INFINITY, f32::NAN];
        let pair = Pair::new(&x, &y, &[6], &[-9999.0]);
        let found = Totals::of(&pair, Promise::Absolute(1.0), 1.0);
        assert_eq!((found.count(), found.missing), (2, 4));
        assert_eq!((found.bias(), found.mean_absolute_error()), (-0.25, 0.75));
        assert_eq!(found.ranges, [[1.0, 3.0], [1.5, 2.0]]);
        assert_eq!(found.worst[0].at, 3);
        let none = Totals::of(
            &Pair::new(&x[1..3], &y[1..3], &[2], &[-9999.0]),
            Promise::Absolute(1.0),
            1.0,
        );
        assert_eq!((none.count(), none.correlation()), (0, None));
        assert!(none.worst.is_empty());
    }

    #[test]
    fn relative_errors_are_those_of_each_value() {
        let promise = Promise::Relative(0.1);
        assert_eq!(promise.error((-2.0, -2.5)), -0.25);
        assert_eq!(promise.error((0.0, 0.0)), 0.0);
    }
}
