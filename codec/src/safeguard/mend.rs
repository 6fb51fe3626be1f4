//! From decoded values and corrections to the values of a stream with safeguards.

use crate::element::Element;
use crate::safeguard::Safeguards;
use crate::value::Value;

/// The corrections of this magnitude and less are fractions of the step.
pub const MOST_CORRECTION: i16 = 1 << LEVELS;

/// Levels of fractions: halves, odd quarters, odd eighths ...
pub const LEVELS: u32 = 14;

/// The step of corrections.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectionStep {
    /// The absolute error of values, or their bound relative to each value.
    pub error: f64,
    /// Whether the error is relative to each value.
    pub is_relative: bool,
}

impl CorrectionStep {
    /// The step at a decoded value.
    #[inline(always)]
    pub fn at(self, value: f64) -> f64 {
        match self.is_relative {
            true => self.error * value.abs(),
            false => self.error,
        }
    }
}

/// Mends decoded values.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mender {
    /// The safeguards of the stream.
    pub safeguards: Safeguards,
    /// The step of corrections.
    pub step: CorrectionStep,
}

impl Mender {
    /// Whether a value is touched by nothing: it is exempt or not finite.
    #[inline(always)]
    pub fn is_exempt<V: Value>(&self, value: V) -> bool {
        let bits = value.to_value_bits();
        !value.to_number().is_finite() || self.safeguards.is_exempt(bits)
    }

    /// The value for a decoded value and its correction.
    #[inline(always)]
    pub fn mend<V: Value>(&self, decoded: V, correction: i16) -> V {
        if self.is_exempt(decoded) {
            return decoded;
        }
        let decoded = self.limited(decoded);
        match correction {
            0 => decoded,
            correction => self.corrected(decoded, correction),
        }
    }

    /// A decoded value within the limits.
    #[inline(always)]
    pub fn limited<V: Value>(&self, decoded: V) -> V {
        let [low, high] = self.safeguards.limits();
        let number = decoded.to_number();
        let limit = if number < low {
            low
        } else if number > high {
            high
        } else {
            return decoded;
        };
        rounded(limit)
    }

    /// A value within the limits and its correction, which is not 0.
    #[inline(always)]
    pub fn corrected<V: Value>(&self, value: V, correction: i16) -> V {
        let number = value.to_number();
        let distance = self.step.at(number) * fraction(correction.unsigned_abs());
        rounded(match correction < 0 {
            true => number - distance,
            false => number + distance,
        })
    }
}

/// The value nearest to a number, by way of an element.
#[inline(always)]
fn rounded<V: Value>(number: f64) -> V {
    V::narrowed(V::Coded::from_f64(number), 0)
}

/// The fraction of the step that a correction of this magnitude, from 1 on, stands for: 1, 1/2, 1/4, 3/4, 1/8, 3/8, 5/8,
/// 7/8, 1/16 ...
#[inline(always)]
pub fn fraction(magnitude: u16) -> f64 {
    if magnitude < 2 {
        return 1.0;
    }
    let above = u32::from(magnitude) - 1;
    let level = above.ilog2();
    f64::from(2 * (above - (1 << level)) + 1) / f64::from(2u32 << level)
}

/// The correction of the fraction at a level that is nearest to a number from 0 to 1.
#[inline(always)]
pub fn nearest_at(level: u32, share: f64) -> i16 {
    let places = 1u32 << level;
    let place = ((share * f64::from(places)) as u32).min(places - 1);
    (places + 1 + place) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_in_order_of_their_denominators() {
        let found: [f64; 9] = core::array::from_fn(|i| fraction(1 + i as u16));
        let eighths = [0.125, 0.375, 0.625, 0.875, 0.0625];
        assert_eq!(
            (&found[..4], &found[4..]),
            (&[1.0, 0.5, 0.25, 0.75][..], &eighths[..])
        );
        for level in 0..LEVELS {
            for i in 0..=1000 {
                let share = f64::from(i) / 1000.0;
                let nearest = nearest_at(level, share);
                let distance = (fraction(nearest as u16) - share).abs();
                assert!(distance <= 0.5f64.powi(level as i32 + 1), "{level} {share}");
            }
        }
        assert_eq!(nearest_at(LEVELS - 1, 1.0), MOST_CORRECTION);
    }
}
