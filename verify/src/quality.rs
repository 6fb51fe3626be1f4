//! The figures of a reconstruction that papers report, besides the comparison with the bound, which is the judge's.
//!
//! The sums are rounded, and taken in a fixed order. A pair of values counts if both are finite. Figures that count other pairs say so.

use crate::ssim::ssim;
use ferrosz::Element;
use rayon::prelude::*;
use std::ops::Range;

/// Figures of an array and its reconstruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The largest |x - x'| / |x| of values other than 0, and its index.
    pub largest_relative_error: f64,
    /// The index of the largest relative error.
    pub largest_relative_error_at: Option<u64>,
    /// The correlation of errors that follow each other in memory; none if all errors are equal.
    pub error_autocorrelation: Option<f64>,
    /// The mean structural similarity; none if no window is finite.
    pub ssim: Option<f64>,
    /// Zeros of either sign; those that are zeros of either sign again are kept.
    pub zeros: Kept,
    /// Values above 0 that came back below 0, and the reverse.
    pub signs_flipped: u64,
    /// Values of 0 and above.
    pub not_negative: u64,
    /// Of these, the ones that came back below 0.
    pub became_negative: u64,
    /// Values that are to come back bit for bit, by class.
    pub classes: Vec<(Class, Kept)>,
}

/// The number of values of a kind, and of those that were kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// Values of the original.
    pub count: u64,
    /// Values among them that were kept.
    pub kept: u64,
}

/// A class of values that are to come back bit for bit. Finite fill values of a stream are another class, which the
/// caller counts: see `missing.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// NaNs of any bits.
    Nan,
    /// Infinities of either sign.
    Infinity,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 2] = [Self::Nan, Self::Infinity];

    /// Its name in the object of `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nan => "nan",
            Self::Infinity => "infinity",
        }
    }

    /// Whether a value is of the class.
    fn has<T: Element>(self, value: T) -> bool {
        let value = value.to_f64();
        match self {
            Self::Nan => value.is_nan(),
            Self::Infinity => value.is_infinite(),
        }
    }
}

/// Values in a task of one thread.
const PART: usize = 1 << 16;

/// Measures `decoded`, the reconstruction of `original`, an array of these extents. No error of finite values exceeds
/// `largest_error`.
pub fn measure<T: Element>(
    original: &[T],
    decoded: &[T],
    extents: &[u64],
    largest_error: f64,
) -> Quality {
    let length = original.len().min(decoded.len());
    let count =
        |part: Range<usize>| Counts::of(part.start, &original[part.clone()], &decoded[part]);
    let counts = in_order(length, count, Counts::and);
    let unit = unit_of(largest_error);
    let sums = |mean| {
        let errors = Errors { unit, mean };
        in_order(
            length,
            |part| errors.sums(part, original, decoded),
            Sums::and,
        )
    };
    // Around 0, for the mean, and around the mean.
    let around_zero = sums(0.0);
    let mean = around_zero.sum / around_zero.count.max(1) as f64;
    let around_mean = sums(mean);
    Quality {
        rmse: unit * (around_zero.squares / around_zero.count.max(1) as f64).sqrt(),
        largest_relative_error: counts.largest_relative,
        largest_relative_error_at: counts.largest_relative_at,
        error_autocorrelation: around_mean.autocorrelation(mean),
        ssim: ssim(original, decoded, extents),
        zeros: counts.zeros,
        signs_flipped: counts.signs_flipped,
        not_negative: counts.not_negative,
        became_negative: counts.became_negative,
        classes: Class::ALL.into_iter().zip(counts.classes).collect(),
    }
}

/// The sum of the results for parts of a length, in their order.
fn in_order<S: Default + Send>(
    length: usize,
    of: impl Fn(Range<usize>) -> S + Sync,
    and: impl Fn(S, S) -> S,
) -> S {
    let parts: Vec<S> = (0..length.div_ceil(PART))
        .into_par_iter()
        .map(|part| of(part * PART..((part + 1) * PART).min(length)))
        .collect();
    parts.into_iter().fold(S::default(), and)
}

/// A power of two near a number, in which squares neither overflow nor vanish.
fn unit_of(largest: f64) -> f64 {
    let largest = if largest.is_finite() { largest } else { 1.0 };
    let clamped = largest.clamp(f64::MIN_POSITIVE, f64::MIN_POSITIVE.recip());
    f64::from_bits(clamped.to_bits() >> 52 << 52)
}

/// The figures of a part of the array that are no sums.
#[derive(Default)]
struct Counts {
    zeros: Kept,
    signs_flipped: u64,
    not_negative: u64,
    became_negative: u64,
    largest_relative: f64,
    largest_relative_at: Option<u64>,
    classes: [Kept; Class::ALL.len()],
}

impl Counts {
    fn of<T: Element>(first: usize, original: &[T], decoded: &[T]) -> Self {
        let mut counts = Self::default();
        for (at, (x, y)) in (first as u64..).zip(original.iter().zip(decoded)) {
            if !x.is_finite() {
                counts.see_class(*x, *y);
                continue;
            }
            let (x, y) = (x.to_f64(), y.to_f64());
            counts.not_negative += u64::from(x >= 0.0);
            counts.became_negative += u64::from(x >= 0.0 && y < 0.0);
            if x == 0.0 {
                counts.zeros.see(y == 0.0);
                continue;
            }
            counts.signs_flipped += u64::from(x > 0.0 && y < 0.0 || x < 0.0 && y > 0.0);
            let relative = (x - y).abs() / x.abs();
            if relative > counts.largest_relative {
                counts.largest_relative = relative;
                counts.largest_relative_at = Some(at);
            }
        }
        counts
    }

    fn see_class<T: Element>(&mut self, x: T, y: T) {
        for (class, kept) in Class::ALL.iter().zip(&mut self.classes) {
            if class.has(x) {
                kept.see(x.to_bits64() == y.to_bits64());
            }
        }
    }

    /// The sum; of equal largest errors, the one in `self` counts.
    fn and(mut self, other: Self) -> Self {
        self.zeros = self.zeros.and(other.zeros);
        self.signs_flipped += other.signs_flipped;
        self.not_negative += other.not_negative;
        self.became_negative += other.became_negative;
        if other.largest_relative > self.largest_relative {
            self.largest_relative = other.largest_relative;
            self.largest_relative_at = other.largest_relative_at;
        }
        for (kept, other) in self.classes.iter_mut().zip(other.classes) {
            *kept = kept.and(other);
        }
        self
    }
}

impl Kept {
    fn see(&mut self, is_kept: bool) {
        self.count += 1;
        self.kept += u64::from(is_kept);
    }

    fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            kept: self.kept + other.kept,
        }
    }
}

/// Errors x' - x in a unit, around a mean in this unit.
#[derive(Clone, Copy)]
struct Errors {
    unit: f64,
    mean: f64,
}

/// Sums of errors.
#[derive(Default)]
struct Sums {
    count: u64,
    sum: f64,
    squares: f64,
    /// Products of errors that follow each other.
    pairs: u64,
    products: f64,
}

impl Errors {
    /// The error of a pair; none if one of its values is not finite.
    fn of<T: Element>(&self, x: T, y: T) -> Option<f64> {
        let is_finite = x.is_finite() && y.is_finite();
        is_finite.then(|| (y.to_f64() - x.to_f64()) / self.unit - self.mean)
    }

    /// The sums of a part. The pair of its last value and the next part's first one belongs to it.
    fn sums<T: Element>(&self, part: Range<usize>, original: &[T], decoded: &[T]) -> Sums {
        let mut sums = Sums::default();
        let mut last = None;
        let pairs = original[part.clone()].iter().zip(&decoded[part.clone()]);
        for (x, y) in pairs {
            let error = self.of(*x, *y);
            if let Some(error) = error {
                sums.count += 1;
                sums.sum += error;
                sums.squares += error * error;
            }
            sums.see_pair(last, error);
            last = error;
        }
        if let (Some(x), Some(y)) = (original.get(part.end), decoded.get(part.end)) {
            sums.see_pair(last, self.of(*x, *y));
        }
        sums
    }
}

impl Sums {
    /// Takes the product of two errors that follow each other, if there are both.
    fn see_pair(&mut self, last: Option<f64>, error: Option<f64>) {
        if let (Some(last), Some(error)) = (last, error) {
            self.pairs += 1;
            self.products += last * error;
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
            pairs: self.pairs + other.pairs,
            products: self.products + other.products,
        }
    }

    /// The autocorrelation at lag 1 from sums around `mean`; none if all errors are equal, but for rounding.
    fn autocorrelation(&self, mean: f64) -> Option<f64> {
        let variance = self.squares / self.count.max(1) as f64;
        let is_spread = variance > (mean * 1e-12).powi(2) && self.pairs > 0;
        is_spread.then(|| self.products / self.pairs as f64 / variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    fn of<T: Element>(original: &[T], decoded: &[T]) -> Quality {
        let pairs = original.iter().zip(decoded);
        let errors = pairs.map(|(x, y)| (x.to_f64() - y.to_f64()).abs());
        let largest = errors.fold(0.0, f64::max);
        measure(original, decoded, &[original.len() as u64], largest)
    }

    #[test]
    fn figures_computed_by_hand() {
        let x = [0.0f32, -0.0, 4.0, -2.0, 1.0, f32::NAN, f32::INFINITY, 0.0];
        let y = [
            -0.0f32,
            0.0,
            3.0,
            0.5,
            0.0,
            f32::NAN,
            f32::NEG_INFINITY,
            1.0,
        ];
        let found = of(&x, &y);
        assert_eq!(found.zeros, Kept { count: 3, kept: 2 });
        assert_eq!(found.signs_flipped, 1);
        assert_eq!(found.largest_relative_error, 1.25);
        assert_eq!(found.largest_relative_error_at, Some(3));
        let squares = [1.0, 6.25, 1.0, 1.0].iter().sum::<f64>();
        assert!((found.rmse - (squares / 6.0).sqrt()).abs() < 1e-15);
        assert_eq!(
            found.classes,
            [
                (Class::Nan, Kept { count: 1, kept: 1 }),
                (Class::Infinity, Kept { count: 1, kept: 0 })
            ]
        );
        // Errors 1, -1, 1, -1: mean 0, variance 1, every product -1.
        let found = of(&[0.0f64; 4], &[1.0, -1.0, 1.0, -1.0]);
        assert_eq!(found.error_autocorrelation, Some(-1.0));
        // Errors 1, 1, -1, -1: products 1, -1, 1.
        let found = of(&[0.0f64; 4], &[1.0, 1.0, -1.0, -1.0]);
        assert_eq!(found.error_autocorrelation, Some(1.0 / 3.0));
        for equal in [[0.0f64; 4], [0.1; 4]] {
            assert_eq!(of(&[0.0; 4], &equal).error_autocorrelation, None);
        }
    }

    #[test]
    fn many_values_have_the_figures_of_plain_sums() {
        let mut rng = SmallRng::seed_from_u64(3);
        for scale in [1.0, 1e-200, 1e200] {
            let x: Vec<f64> = (0..2 * PART + 99)
                .map(|_| rng.random_range(-9.0..9.0) * scale)
                .collect();
            let mut last = 0.0;
            let y: Vec<f64> = x
                .iter()
                .map(|x| {
                    last = last * 0.5 + rng.random_range(-1.0..1.2) * scale;
                    x + last
                })
                .collect();
            let found = of(&x, &y);
            let errors: Vec<f64> = x.iter().zip(&y).map(|(x, y)| (y - x) / scale).collect();
            let n = errors.len() as f64;
            let mean = errors.iter().sum::<f64>() / n;
            let square = errors.iter().map(|e| e * e).sum::<f64>() / n;
            let variance = errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / n;
            let products = errors.windows(2).map(|e| (e[0] - mean) * (e[1] - mean));
            let correlation = products.sum::<f64>() / (n - 1.0) / variance;
            assert!(
                (found.rmse / scale / square.sqrt() - 1.0).abs() < 1e-12,
                "{scale}"
            );
            let autocorrelation = found.error_autocorrelation.unwrap();
            assert!((autocorrelation - correlation).abs() < 1e-9, "{scale}");
            assert!((0.4..0.6).contains(&autocorrelation), "{autocorrelation}");
        }
    }

    #[test]
    fn empty_arrays_have_figures() {
        let found = of::<f32>(&[], &[]);
        assert_eq!(
            (found.rmse, found.ssim, found.error_autocorrelation),
            (0.0, None, None)
        );
        let found = of(&[f32::NAN; 3], &[f32::NAN; 3]);
        assert_eq!((found.rmse, found.ssim), (0.0, None));
        assert_eq!(of(&[1.0f32], &[1.5]).error_autocorrelation, None);
    }
}
