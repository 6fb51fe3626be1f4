//! Finds the corrections that values need.

use crate::quantize::field::is_within;
use crate::safeguard::exp::exp_below;
use crate::safeguard::mend::{LEVELS, Mender, nearest_at};
use crate::value::Value;

/// How a value is mended. Numbers instead of variants, so that it stays in the registers of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mended<V> {
    /// The correction; [`EXACT`] or [`NOTHING_FITS`].
    pub correction: i32,
    /// The value.
    pub value: V,
}

/// The value replaces the decoded one.
pub const EXACT: i32 = i32::MAX;

/// No value fits.
pub const NOTHING_FITS: i32 = i32::MIN;

/// The least and the largest number that a value may become, because of its neighbour before it.
pub type Range = [f64; 2];

/// Any number.
pub const ANY: Range = [f64::NEG_INFINITY, f64::INFINITY];

/// Slightly less than 1, for products that must not be rounded up.
const BELOW: f64 = 1.0 - f64::EPSILON;

/// Finds corrections.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guard {
    /// What a decoder does.
    pub mender: Mender,
    /// Numbers below e^-E and e^E for the bound E of logarithms.
    log: [f64; 2],
}

impl Guard {
    /// The guard of a stream that is mended so.
    pub fn new(mender: Mender) -> Self {
        let bound = mender.safeguards.log().unwrap_or_default();
        Self {
            mender,
            log: [exp_below(-bound), exp_below(bound)],
        }
    }

    /// Whether a value may come back as another, which is finite, given the value that the codec decoded and the value's own
    /// bound, if it has one. Decides exactly, or refuses what is too close to a bound.
    #[inline(always)]
    pub fn allows<V: Value>(&self, value: V, decoded: V, other: V, own: Option<f64>) -> bool {
        if value.to_value_bits() == other.to_value_bits() {
            return true;
        }
        let [v, d, r] = [value, decoded, other].map(V::to_number);
        if self.mender.is_exempt(other) || sign(v) == sign(d) && sign(v) != sign(r) {
            return false;
        }
        let error = match self.mender.step.is_relative {
            true => sharp(self.mender.step.error * v.abs()),
            false => self.mender.step.error,
        };
        let has_sign = !self.mender.step.is_relative || sign(v) == sign(r);
        let is_near = is_within(v, r, error) && own.is_none_or(|own| is_within(v, r, own));
        has_sign && is_near && self.keeps_sides(v, r) && self.keeps_functions(v, r)
    }

    #[inline(always)]
    fn keeps_sides(&self, v: f64, r: f64) -> bool {
        let safeguards = &self.mender.safeguards;
        let [low, high] = safeguards.limits();
        let mut keeps = r >= low && r <= high;
        for side in safeguards.sides() {
            keeps &= (v >= *side) == (r >= *side);
        }
        keeps
    }

    #[inline(always)]
    fn keeps_functions(&self, v: f64, r: f64) -> bool {
        let safeguards = &self.mender.safeguards;
        let mut keeps = true;
        if safeguards.log().is_some() {
            // The first is a number above |v| e^-E, as the factor is below e^-E by less than this.
            let [least, most] = [v * self.log[0] * (1.0 + 1e-12), v * self.log[1] * BELOW];
            keeps &= match v > 0.0 {
                true => least >= f64::MIN_POSITIVE && r >= least && r <= most,
                false => sign(v) == sign(r),
            };
        }
        if let Some(bound) = safeguards.exp() {
            // |e^r - e^v| = e^v |e^(r - v) - 1|, with ln(1 + q) >= 2 q / (2 + q) and -ln(1 - q) >= q.
            let q = sharp(bound * exp_below(-v));
            let (above, below) = (sharp((r - v) * (1.0 + 1e-15)), (v - r) * (1.0 + 1e-15));
            keeps &= match r > v {
                true => above <= 2.0 * q / (2.0 + q) * BELOW * BELOW && q > 0.0,
                false => below <= q,
            };
        }
        if let Some(bound) = safeguards.square() {
            let distance = (v - r).abs() * (v + r).abs() * (1.0 + 1e-15);
            keeps &= distance <= bound;
        }
        keeps
    }

    /// What becomes of a decoded value, so that the value is kept within a range; none if nothing that is allowed lies
    /// there.
    #[inline(always)]
    pub fn mended<V: Value>(
        &self,
        value: V,
        decoded: V,
        own: Option<f64>,
        [low, high]: Range,
    ) -> Mended<V> {
        let by = |correction: i32, value: V| Mended { correction, value };
        if self.mender.is_exempt(value) {
            return by(0, decoded);
        }
        let fits = |other: V| {
            let number = other.to_number();
            number >= low && number <= high && self.allows(value, decoded, other, own)
        };
        if !self.mender.is_exempt(decoded) {
            let limited = self.mender.limited(decoded);
            if fits(limited) {
                return by(0, limited);
            }
            let number = limited.to_number();
            let target = value.to_number().max(low).min(high);
            let share = (target - number).abs() / self.mender.step.at(number);
            let sign = if target < number { -1 } else { 1 };
            // Beyond the step there is nothing that is allowed, but for rounding.
            if share <= 1.0 {
                // The step itself, then fractions of it.
                let mut correction = sign;
                for level in 0..=LEVELS {
                    let other = self.mender.corrected(limited, correction);
                    if fits(other) {
                        return by(correction.into(), other);
                    }
                    correction = sign * nearest_at(level.min(LEVELS - 1), share);
                }
            }
        }
        if fits(value) {
            return by(EXACT, value);
        }
        for end in [low, high] {
            if let Some(end) = V::from_number(end)
                && fits(end)
            {
                return by(EXACT, end);
            }
        }
        by(NOTHING_FITS, value)
    }
}

/// A product, slightly lower; 0 instead of numbers that are rounded coarsely.
#[inline(always)]
fn sharp(product: f64) -> f64 {
    match product > 1e-290 {
        true => product * BELOW,
        false => 0.0,
    }
}

/// 1 for positive numbers, -1 for negative ones, 0 for zeros.
#[inline(always)]
fn sign(number: f64) -> i32 {
    i32::from(number > 0.0) - i32::from(number < 0.0)
}
