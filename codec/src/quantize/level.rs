//! The quantiser of a level: residual to code and back, with the exact bound.

use crate::code::entropy::token::{RAW, zigzag};
use crate::element::Element;
use crate::quantize::field::is_within;
use core::array::from_fn;

/// Codes of a greater magnitude are computed by the definition of [`LevelQuantizer::encode`], others mostly by a faster
/// way. For a residual r and the level's bound e, the definition rounds (|r| + e) / 2e down to an integer; the faster
/// way rounds r / 2e to the nearest integer. The results are equal unless r / 2e is half-way between two integers, or
/// so close to it that the addition may have been rounded. r / 2e is at most 2^10, and the last of 24 bits of (|r| + e)
/// / e is then 2^-12, so the results are equal unless r / 2e is within 2^-14 of half-way. With a dead zone, which is at most
/// [`MOST_DEAD`], both ways have one more sum, which is less; the distance that is asked for is twice as large.
const MOST_USUAL: u32 = 1 << 10;

/// The working values of a level's bound.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LevelQuantizer<T> {
    /// Twice the level's bound: the step between codes. 0 is lossless.
    pub step: T,
    /// 1 over the level's bound, or 0.
    pub inverse: T,
    /// By how much a residual is shortened before it is rounded, in steps.
    pub dead: T,
}

/// The most units of a dead zone: a quarter of a step.
pub const MOST_DEAD: u32 = 1 << 14;

/// A dead zone of so many units as a part of the step. It is exact.
#[inline(always)]
pub fn part_of_step<T: Element>(units: u32) -> T {
    const UNIT: f64 = 1.0 / 65_536.0;
    T::from_i32(units.cast_signed()) * T::from_f64(UNIT)
}

/// The result of quantising a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantized<T> {
    /// Its code, zigzag, or [`RAW`] if the raw value is stored.
    pub code: u32,
    /// The decoded value.
    pub known: T,
}

impl<T: Element> LevelQuantizer<T> {
    /// The quantiser of a level whose bound is `error`, finite and not negative.
    pub fn new(error: f64) -> Self {
        let step = T::from_f64(2.0 * error);
        let inverse = T::from_f64(1.0 / error);
        if step.is_finite() && inverse.is_finite() {
            Self {
                step,
                inverse,
                dead: T::ZERO,
            }
        } else {
            Self::default()
        }
    }

    /// The same quantiser with a dead zone of so many units, at most [`MOST_DEAD`]. Residuals are rounded towards 0 by this part
    /// of a step, so decoded values may be farther off than half of a step by as much, and more codes are 0.
    #[must_use]
    #[inline(always)]
    pub fn with_dead_zone(self, units: u32) -> Self {
        Self {
            dead: part_of_step(units),
            ..self
        }
    }

    /// A residual in steps, shortened by the dead zone. Without one it is the same number.
    #[inline(always)]
    pub fn shortened(&self, scaled: T) -> T {
        let against = T::ZERO - self.dead;
        let short = if scaled < against { against } else { scaled };
        scaled - if short > self.dead { self.dead } else { short }
    }

    /// The value of a code.
    #[inline(always)]
    pub fn decode(&self, prediction: T, code: i32) -> T {
        finite_or_zero(prediction) + T::from_i32(code) * self.step
    }

    /// The value that the encoder used for further predictions at a position whose raw value is stored. Usually it is
    /// the raw value. But if a whole chunk is stored raw, most of its positions had a code.
    #[inline(always)]
    pub fn known(&self, value: T, prediction: T, error: T, radius: u32) -> T {
        self.encode(value, prediction, error, radius).known
    }

    /// The number that is whole steps from `origin` and nearest to a value: about as far from it as decoded values are, without
    /// a prediction. The value itself if it is not a few steps away.
    #[inline(always)]
    pub fn rounded(&self, value: T, origin: T) -> T {
        let scaled = (value - origin) * (self.inverse * T::HALF);
        let steps = (scaled + T::ROUNDING_MAGIC) - T::ROUNDING_MAGIC;
        // Also false for NaN.
        let is_near = scaled.abs() < T::ROUNDING_LIMIT;
        if is_near && self.step > T::ZERO {
            origin + steps * self.step
        } else {
            value
        }
    }

    /// The code of a value, less than `radius` in magnitude. The decoded value is exactly within `error` of the value;
    /// with an error of 0, it has the same bits.
    #[inline(always)]
    pub fn encode(&self, value: T, prediction: T, error: T, radius: u32) -> Quantized<T> {
        let [quantized] = self.encode_all([value], [prediction], error, radius);
        quantized
    }

    /// As [`LevelQuantizer::encode`], for independent values. There is one branch to the rare path for all of them.
    #[inline(always)]
    pub fn encode_all<const N: usize>(
        &self,
        values: [T; N],
        predictions: [T; N],
        error: T,
        radius: u32,
    ) -> [Quantized<T>; N] {
        let (usual, is_usual) = self.encode_usual(values, predictions, error, radius);
        if is_usual {
            usual
        } else {
            self.encode_as_defined(values, predictions, error, radius)
        }
    }

    /// The usual path of [`LevelQuantizer::encode_all`], and whether its results are right for all of these values: never with a
    /// dead zone.
    #[inline(always)]
    pub fn encode_usual<const N: usize>(
        &self,
        values: [T; N],
        predictions: [T; N],
        error: T,
        radius: u32,
    ) -> ([Quantized<T>; N], bool) {
        let half_inverse = self.inverse * T::HALF;
        let most = T::from_i32(MOST_USUAL.min(radius.saturating_sub(1)).cast_signed());
        // Kernels have no registers to spare for a dead zone, which most streams do not have.
        let mut is_usual = self.dead == T::ZERO;
        let usual = from_fn(|i| {
            let scaled = (values[i] - predictions[i]) * half_inverse;
            let biased = scaled + T::ROUNDING_MAGIC;
            let steps = biased - T::ROUNDING_MAGIC;
            let known = predictions[i] + steps * self.step;
            // All of these comparisons are false for NaN.
            is_usual &= scaled.abs() < most;
            is_usual &= (scaled - steps).abs() < T::CLEARLY_NEAREST;
            is_usual &= (values[i] - known).abs() < error;
            let bits = biased.low_bits().wrapping_sub(T::ROUNDING_MAGIC_BITS);
            Quantized {
                code: zigzag(bits.cast_signed()),
                known,
            }
        });
        (usual, is_usual)
    }

    /// The definition of [`LevelQuantizer::encode_all`].
    #[inline(always)]
    pub fn encode_as_defined<const N: usize>(
        &self,
        values: [T; N],
        predictions: [T; N],
        error: T,
        radius: u32,
    ) -> [Quantized<T>; N] {
        let guesses: [Guess<T>; N] = from_fn(|i| self.guess(values[i], predictions[i], radius));
        let distances: [T; N] = from_fn(|i| (values[i] - guesses[i].known).abs());
        let mut is_kept: [bool; N] = from_fn(|i| distances[i] < error);
        let is_edge = distances
            .iter()
            .fold(false, |is_edge, distance| is_edge | (*distance == error));
        if is_edge {
            is_kept = from_fn(|i| is_within(values[i], guesses[i].known, error));
        }
        from_fn(|i| {
            let guess = guesses[i];
            let is_coded = guess.is_small & is_kept[i];
            Quantized {
                code: if is_coded { zigzag(guess.code) } else { RAW },
                known: if is_coded { guess.known } else { values[i] },
            }
        })
    }

    #[inline(always)]
    fn guess(&self, value: T, prediction: T, radius: u32) -> Guess<T> {
        let prediction = finite_or_zero(prediction);
        let residual = value - prediction;
        let offset = T::ONE - (self.dead + self.dead);
        let scaled = (residual.abs() * self.inverse + offset) * T::HALF;
        let (steps, magnitude) = integer_part(scaled);
        let is_below = residual < T::ZERO;
        // As in the decoder, where code 0 is not a negative zero.
        let steps = if is_below { T::ZERO - steps } else { steps };
        Guess {
            code: if is_below {
                magnitude.wrapping_neg()
            } else {
                magnitude
            },
            // The comparison is false for NaN.
            is_small: scaled < T::from_i32(radius.cast_signed()),
            known: prediction + steps * self.step,
        }
    }
}

/// The code that is nearest to a value.
#[derive(Clone, Copy)]
struct Guess<T> {
    code: i32,
    /// Whether the code is below the radius. If not, the code is unspecified.
    is_small: bool,
    /// The decoded value.
    known: T,
}

/// The integer part of a number from 0 to [`Element::ROUNDING_LIMIT`], as a number and as an integer; unspecified for
/// others. A GPU adds four times as fast as it converts.
#[inline(always)]
fn integer_part<T: Element>(value: T) -> (T, i32) {
    let biased = value + T::ROUNDING_MAGIC;
    let nearest = biased - T::ROUNDING_MAGIC;
    let is_above = nearest > value;
    let bits = biased.low_bits().wrapping_sub(T::ROUNDING_MAGIC_BITS);
    (
        if is_above { nearest - T::ONE } else { nearest },
        bits.wrapping_sub(u32::from(is_above)).cast_signed(),
    )
}

#[inline(always)]
fn finite_or_zero<T: Element>(prediction: T) -> T {
    if prediction.is_finite() {
        prediction
    } else {
        T::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::code::RADIUS;
    use alloc::format;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// A residual in half steps of about this magnitude: any number, or half-way between two codes up to a few units in
    /// the last position.
    fn half_steps(rng: &mut SmallRng, magnitude: f64) -> f64 {
        let any = rng.random_range(-magnitude..magnitude);
        match rng.random_range(0..4) {
            0 => any,
            1 => any.round(),
            _ => any.round() * (1.0 + f64::from(rng.random_range(-3..4)) * 6e-8),
        }
    }

    #[test]
    fn rounded_values_are_whole_steps_away() {
        let quantizer = LevelQuantizer::<f32>::new(0.125);
        for (value, rounded) in [(0.3, 0.25), (-7.9, -8.0), (0.1, 0.0), (1e30, 1e30)] {
            assert_eq!(quantizer.rounded(value, 0.0), rounded);
        }
        assert_eq!(quantizer.rounded(0.3, 0.1), 0.35);
        assert!(quantizer.rounded(f32::NAN, 0.0).is_nan());
        assert_eq!(quantizer.rounded(0.3, f32::NAN), 0.3);
        assert_eq!(LevelQuantizer::<f64>::new(0.0).rounded(0.3, 0.1), 0.3);
    }

    fn usual_codes_are_as_defined<T: Element>(seed: u64) {
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut coded = 0;
        for i in 0..400_000 {
            let error =
                T::from_f64(2f64.powi(rng.random_range(-20..20)) * rng.random_range(1.0..2.0));
            // Levels may have tighter bounds.
            let part = [1.0, 1.0, 0.8, 0.5][i % 4];
            let dead = [0, 4000, 9999, MOST_DEAD][i / 16 % 4];
            let quantizer = LevelQuantizer::new(error.to_f64() * part).with_dead_zone(dead);
            let magnitude = [4.0, 300.0, 2100.0, 1e5][i / 4 % 4];
            let prediction = match rng.random_range(0..20) {
                0 => T::NAN,
                1 => T::MAX,
                2 => T::ZERO - T::MAX,
                3 => T::ZERO,
                _ => T::from_f64(error.to_f64() * rng.random_range(-1e4..1e4)),
            };
            let base = if prediction.is_finite() {
                prediction
            } else {
                T::ZERO
            };
            let half_steps = half_steps(&mut rng, magnitude);
            // The halves between two codes are as much farther out as the dead zone is long.
            let dead = half_steps.signum() * 2.0 * f64::from(dead) / 65_536.0;
            let residual = (half_steps + dead) * error.to_f64() * part;
            let value = match rng.random_range(0..50) {
                0 => T::NAN,
                1 => T::MAX,
                _ => T::from_f64(base.to_f64() + residual),
            };
            let radius = [RADIUS, 1, 0, 128, 2, RADIUS][rng.random_range(0..6)];
            let found = quantizer.encode(value, prediction, error, radius);
            let [right] = quantizer.encode_as_defined([value], [prediction], error, radius);
            let context = format!("{value} {prediction} {error} {part} {radius} {dead}");
            assert_eq!(found.code, right.code, "{context}");
            assert_eq!(
                found.known.to_bits64(),
                right.known.to_bits64(),
                "{context}"
            );
            coded += u32::from(found.code != RAW);
        }
        assert!(coded > 100_000, "{coded}");
    }

    #[test]
    fn usual_codes_are_as_defined_in_either_type() {
        usual_codes_are_as_defined::<f32>(1);
        usual_codes_are_as_defined::<f64>(2);
    }
}
