//! What a stream is to reach, instead of an error bound: a PSNR, an RMSE, a mean absolute error or a ratio.

use crate::error::Error;
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::bound::Extremes;
use std::array::from_fn;
use std::fmt;

pub use crate::search::Found;

/// The figure of a stream that a [`Target`] is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// The peak signal-to-noise ratio in decibels.
    Psnr,
    /// The root of the mean squared error.
    Rmse,
    /// The mean of the absolute errors.
    Mae,
    /// Bytes of the field over bytes of the stream.
    Ratio,
}

impl TargetKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Psnr, Self::Rmse, Self::Mae, Self::Ratio];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Psnr => "psnr",
            Self::Rmse => "rmse",
            Self::Mae => "mae",
            Self::Ratio => "ratio",
        }
    }
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a stream is to reach. [`Compressor::search`](crate::Compressor::search) finds an error bound for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    kind: TargetKind,
    value: f64,
}

impl Target {
    /// A target of a kind.
    ///
    /// # Errors
    ///
    /// [`Error::BadTarget`]; see [`Target::psnr`], [`Target::rmse`], [`Target::mae`] and [`Target::ratio`].
    pub fn new(kind: TargetKind, value: f64) -> Result<Self, Error> {
        let (is_good, needed) = match kind {
            TargetKind::Psnr => (value > f64::NEG_INFINITY, "a number of decibels"),
            TargetKind::Rmse | TargetKind::Mae => {
                (value >= 0.0 && value.is_finite(), "finite and not negative")
            }
            TargetKind::Ratio => (value > 0.0 && value.is_finite(), "finite and above 0"),
        };
        match is_good {
            true => Ok(Self { kind, value }),
            false => Err(Error::BadTarget {
                kind,
                value,
                needed,
            }),
        }
    }

    /// A peak signal-to-noise ratio of at least so many decibels: 20 log10 of the range of the finite values over the
    /// RMSE. Infinity asks for a lossless stream.
    ///
    /// # Errors
    ///
    /// [`Error::BadTarget`] for NaN and minus infinity.
    pub fn psnr(decibels: f64) -> Result<Self, Error> {
        Self::new(TargetKind::Psnr, decibels)
    }

    /// A root of the mean squared error of the finite values of at most this number. 0 asks for a lossless stream.
    ///
    /// # Errors
    ///
    /// [`Error::BadTarget`] if it is negative, NaN or infinite.
    pub fn rmse(error: f64) -> Result<Self, Error> {
        Self::new(TargetKind::Rmse, error)
    }

    /// A mean of the absolute errors of the finite values of at most this number. 0 asks for a lossless stream.
    ///
    /// # Errors
    ///
    /// [`Error::BadTarget`] if it is negative, NaN or infinite.
    pub fn mae(error: f64) -> Result<Self, Error> {
        Self::new(TargetKind::Mae, error)
    }

    /// A ratio of at least this number: bytes of the field over bytes of the whole stream.
    ///
    /// # Errors
    ///
    /// [`Error::BadTarget`] if it is not above 0, or infinite.
    pub fn ratio(ratio: f64) -> Result<Self, Error> {
        Self::new(TargetKind::Ratio, ratio)
    }

    /// What is to be reached.
    pub fn kind(&self) -> TargetKind {
        self.kind
    }

    /// The number to be reached.
    pub fn value(&self) -> f64 {
        self.value
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.value)
    }
}

/// The figures of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// The peak signal-to-noise ratio in decibels: 20 log10 of the range of the finite values over the RMSE. Infinite
    /// if all values are exact, minus infinity if they are not and the range is 0.
    pub psnr: f64,
    /// The root of the mean squared error of the finite values; 0 without finite values.
    pub rmse: f64,
    /// The mean of the absolute errors of the finite values; 0 without finite values.
    pub mae: f64,
    /// Bytes of the field over bytes of the stream.
    pub ratio: f64,
}

/// The mean errors of the finite values of a decoded field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Errors {
    pub(crate) rmse: f64,
    pub(crate) mae: f64,
}

impl Figures {
    /// The figures of a stream of a field with this range.
    pub(crate) fn new(errors: Errors, range: Range, field_bytes: u64, stream_bytes: u64) -> Self {
        let Errors { rmse, mae } = errors;
        Self {
            psnr: match rmse == 0.0 {
                true => f64::INFINITY,
                false => 20.0 * (range.part.log10() + range.parts.log10() - rmse.log10()),
            },
            rmse,
            mae,
            ratio: ratio(field_bytes, stream_bytes),
        }
    }

    /// The figure that a target of this kind is for.
    pub fn of(&self, kind: TargetKind) -> f64 {
        match kind {
            TargetKind::Psnr => self.psnr,
            TargetKind::Rmse => self.rmse,
            TargetKind::Mae => self.mae,
            TargetKind::Ratio => self.ratio,
        }
    }
}

/// Largest minus smallest of the finite values: a number of equal parts, as the range of `f64` may exceed the largest
/// `f64`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    part: f64,
    parts: f64,
}

impl Range {
    /// The range of a field with these extremes; 0 without finite values.
    pub(crate) fn new<T: Element>(extremes: &Extremes<T>) -> Self {
        let (min, max) = extremes.values().unwrap_or((T::ZERO, T::ZERO));
        let (min, max) = (min.to_f64(), max.to_f64());
        let (part, parts) = match (max - min).is_finite() {
            true => (max - min, 1.0),
            false => (max / 2.0 - min / 2.0, 2.0),
        };
        Self { part, parts }
    }

    /// The range times a factor; infinite if that exceeds the largest number.
    fn times(self, factor: f64) -> f64 {
        match self.part == 0.0 {
            true => 0.0,
            false => self.part * factor * self.parts,
        }
    }
}

/// Bytes of a field over bytes of its stream.
pub(crate) fn ratio(field_bytes: u64, stream_bytes: u64) -> f64 {
    field_bytes as f64 / stream_bytes as f64
}

/// Values of a task of one thread.
const PART: usize = 1 << 16;

/// Independent sums, one for each lane of a vector.
const LANES: usize = 8;

/// The mean errors of the finite values, none of which is off by more than `bound`. The sums have a fixed order, so that the
/// result does not depend on the number of threads.
pub(crate) fn errors<T: Element>(field: &[T], decoded: &[T], bound: f64) -> Errors {
    let unit = unit_of(bound);
    let parts = parallel::map(
        field.chunks(PART).zip(decoded.chunks(PART)),
        |(field, decoded)| sums(field, decoded, unit),
    );
    let ([squares, sum], count) = (parts.into_iter()).fold(([0.0; 2], 0), |(sums, count), part| {
        (from_fn(|i| sums[i] + part.0[i]), count + part.1)
    });
    let count = count.max(1) as f64;
    Errors {
        rmse: unit * (squares / count).sqrt(),
        mae: unit * (sum / count),
    }
}

/// A power of two near a bound. Errors in this unit have squares that neither overflow nor vanish.
fn unit_of(bound: f64) -> f64 {
    let least = f64::MIN_POSITIVE;
    let exponent = bound.clamp(least, least.recip()).to_bits() >> 52;
    f64::from_bits(exponent << 52)
}

/// The sums of the squared and of the absolute errors of the finite values in a unit, and the number of these values.
fn sums<T: Element>(field: &[T], decoded: &[T], unit: f64) -> ([f64; 2], u64) {
    let (mut squares, mut sums, mut counts) = ([0.0; LANES], [0.0; LANES], [0u64; LANES]);
    for (field, decoded) in field.chunks(LANES).zip(decoded.chunks(LANES)) {
        for (lane, (x, y)) in field.iter().zip(decoded).enumerate() {
            let error = (x.to_f64() - y.to_f64()) / unit;
            let is_finite = x.is_finite();
            let error = if is_finite { error.abs() } else { 0.0 };
            squares[lane] += error * error;
            sums[lane] += error;
            counts[lane] += u64::from(is_finite);
        }
    }
    let sums = [squares, sums].map(|lanes| lanes.into_iter().sum());
    (sums, counts.into_iter().sum())
}

/// The figure of a stream that a search compares: its RMSE for a PSNR or an RMSE, its mean absolute error for that, and its
/// ratio for a ratio. All grow with the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Goal {
    /// The figures that end the search.
    low: f64,
    high: f64,
    kind: TargetKind,
}

/// A figure and a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The bound may be larger.
    Below,
    /// The search may end.
    Within,
    /// The bound may be smaller.
    Above,
}

/// Decimal places that are left to the rounding of another computation of a PSNR or an RMSE.
const SLACK: f64 = 1e-12;

impl Goal {
    /// The goal of a target for a field with this range.
    pub(crate) fn new(target: Target, range: Range) -> Self {
        let (kind, value) = (target.kind(), target.value());
        let most = match kind {
            TargetKind::Psnr => range.times(ten_to(-value / 20.0)),
            TargetKind::Rmse | TargetKind::Mae => value,
            TargetKind::Ratio => {
                return Self {
                    low: value,
                    high: value * 1.05,
                    kind,
                };
            }
        };
        // An infinite PSNR of a range that is infinite gives NaN, and nothing to find.
        let most = if most.is_nan() {
            0.0
        } else {
            most.min(f64::MAX)
        } * (1.0 - SLACK);
        let least = match kind {
            // Half a decibel less, and a little more.
            TargetKind::Psnr => 0.945,
            TargetKind::Rmse | TargetKind::Mae | TargetKind::Ratio => 0.951,
        };
        Self {
            low: most * least,
            high: most,
            kind,
        }
    }

    pub(crate) fn is_ratio(&self) -> bool {
        self.kind == TargetKind::Ratio
    }

    /// The figure of errors; the target is not for a ratio.
    pub(crate) fn of(&self, errors: Errors) -> f64 {
        match self.kind {
            TargetKind::Mae => errors.mae,
            TargetKind::Psnr | TargetKind::Rmse | TargetKind::Ratio => errors.rmse,
        }
    }

    /// Whether only exact values reach the goal.
    pub(crate) fn is_lossless(&self) -> bool {
        !self.is_ratio() && self.high == 0.0
    }

    /// The largest figure of the goal.
    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    pub(crate) fn place(&self, figure: f64) -> Place {
        if figure < self.low {
            Place::Below
        } else if figure > self.high {
            Place::Above
        } else {
            Place::Within
        }
    }

    /// Whether the target is reached.
    pub(crate) fn is_met(&self, figure: f64) -> bool {
        match self.is_ratio() {
            true => figure >= self.low,
            false => figure <= self.high,
        }
    }

    /// The goal of a mean error of at least this part of the largest one.
    pub(crate) fn at_least(self, part: f64) -> Self {
        Self {
            low: self.high * part,
            ..self
        }
    }

    /// The goal of a sample whose figure is `factor` times that of its field.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self {
            low: self.low * factor,
            high: self.high * factor,
            ..self
        }
    }
}

/// 10 to a power, by sums and products alone. `f64::powf` may differ in its last bit from one machine to another, and
/// the bound that is found must not.
fn ten_to(power: f64) -> f64 {
    // Powers beyond these limits are 0 and infinite.
    let power = power.clamp(-700.0, 700.0);
    let whole = power.floor();
    let x = (power - whole) * std::f64::consts::LN_10;
    // The series of the exponential function; its terms are below 1e-17 from here on.
    let mut rest = 1.0;
    for i in (1..=32).rev() {
        rest = 1.0 + rest * x / f64::from(i);
    }
    let factor = if whole < 0.0 { 0.1 } else { 10.0 };
    (0..whole.abs() as u32).fold(rest, |product, _| product * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_are_those_of_the_standard_library() {
        for i in -6000..6000 {
            let power = f64::from(i) * 0.05;
            let error = ten_to(power) / 10f64.powf(power) - 1.0;
            assert!(error.abs() < 1e-12, "{power}: {error}");
        }
        assert_eq!(ten_to(-1e9), 0.0);
        assert_eq!(ten_to(1e9), f64::INFINITY);
        assert_eq!(ten_to(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn errors_of_any_magnitude_have_means() {
        for scale in [5e-324, 1e-310, 1e-200, 1.0, 1e200, 8e307] {
            let field = [0.0, scale, -scale, f64::NAN, f64::INFINITY];
            let decoded = [0.0, 0.0, 0.0, f64::NAN, f64::INFINITY];
            let found = errors(&field, &decoded, scale);
            let mean = 2f64 / 3.0;
            for (found, expected) in [(found.rmse, scale * mean.sqrt()), (found.mae, scale * mean)]
            {
                // Of the smallest number there are only multiples.
                let is_least = scale == 5e-324 && found == scale;
                assert!(
                    (found / expected - 1.0).abs() < 1e-12 || is_least,
                    "{scale}: {found}"
                );
            }
        }
        let none = Errors {
            rmse: 0.0,
            mae: 0.0,
        };
        assert_eq!(errors::<f32>(&[], &[], 1.0), none);
        assert_eq!(errors(&[f32::NAN], &[f32::NAN], 1.0), none);
    }

    #[test]
    fn targets_that_mean_nothing_are_refused() {
        for (kind, bad) in [
            (TargetKind::Psnr, f64::NAN),
            (TargetKind::Psnr, f64::NEG_INFINITY),
            (TargetKind::Rmse, -1.0),
            (TargetKind::Rmse, f64::INFINITY),
            (TargetKind::Rmse, f64::NAN),
            (TargetKind::Mae, -1e-9),
            (TargetKind::Mae, f64::NAN),
            (TargetKind::Ratio, 0.0),
            (TargetKind::Ratio, -2.0),
            (TargetKind::Ratio, f64::INFINITY),
        ] {
            let error = Target::new(kind, bad).unwrap_err();
            assert!(error.to_string().contains(kind.name()), "{error}");
        }
        assert!(Target::psnr(f64::INFINITY).is_ok() && Target::rmse(0.0).is_ok());
    }
}
