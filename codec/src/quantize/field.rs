//! Value to integer and back: the only position where anything is lost.
//!
//! A quantisation code k stands for the value k * step, step = 2 * error, rounded once. A code is
//! accepted only if *those two operations of the decoder* give a value within the bound:
//!
//! Let d be the rounded difference of x and the decoder's value. Rounding is monotone and `error`
//! is a number of the type, so |d| < error means that the exact difference is below the bound,
//! and |d| > error that it is above. Only |d| = error leaves it open, and there the exact rounding
//! error of the difference (Knuth's TwoSum) decides. Nothing here needs a wider type, so one text
//! serves f32 and f64, on every machine.
//!
//! A value without a code is an *exception*: it travels bit-exactly beside the codes. Among them
//! are all NaNs and infinities.

use crate::element::Element;

/// Codes lie strictly between -CODE_LIMIT and CODE_LIMIT, so that the difference of two codes
/// never needs 32 bits of magnitude.
pub const CODE_LIMIT: i32 = 1 << 30;

/// The working values of an error bound.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantizer<T> {
    error: T,
    step: T,
    inverse: T,
}

impl<T: Element> Quantizer<T> {
    /// For an absolute error of `error`, finite and not negative. An error so small that the
    /// inverse of the step is infinite gives the lossless quantiser; one so large that the step
    /// would be infinite is lowered.
    pub fn from_error(error: T) -> Self {
        let half_max = T::MAX * (T::ONE + T::ONE).reciprocal();
        let error = if error > half_max { half_max } else { error };
        let step = error + error;
        let inverse = step.reciprocal();
        if inverse.is_finite() {
            Self {
                error,
                step,
                inverse,
            }
        } else {
            Self {
                error: T::ZERO,
                step: T::ZERO,
                inverse: T::ZERO,
            }
        }
    }

    /// The working values as bits: what kernels pass on.
    pub fn to_bits(&self) -> [u64; 3] {
        [self.error, self.step, self.inverse].map(T::to_bits64)
    }

    /// From what [`Quantizer::to_bits`] gave.
    #[inline(always)]
    pub fn from_bits(bits: [u64; 3]) -> Self {
        let [error, step, inverse] = bits.map(T::from_bits64);
        Self {
            error,
            step,
            inverse,
        }
    }

    /// The bound in the working type, at most what the user asked for; 0 is lossless.
    pub fn error(&self) -> T {
        self.error
    }

    /// Whether every value must come back bit-exact.
    #[inline(always)]
    pub fn is_lossless(&self) -> bool {
        self.step == T::ZERO
    }

    /// The value of a code: one conversion, one multiplication, each rounded to nearest even.
    #[inline(always)]
    pub fn dequantize(&self, code: i32) -> T {
        T::from_i32(code) * self.step
    }

    /// The value in units of the step plus [`Element::ROUNDING_MAGIC`], so that its low bits are those of
    /// the nearest code plus [`Quantizer::BIAS`].
    #[inline(always)]
    pub fn round(&self, value: T) -> T {
        value * self.inverse + T::ROUNDING_MAGIC
    }

    /// What a rounded value's low bits are above its code.
    pub const BIAS: i32 = T::ROUNDING_MAGIC_BITS.cast_signed();

    /// The code of a value that is not near the bound's edge; whether it is one is for
    /// [`Quantizer::is_clearly_within`] to say. This is the fast path of [`Quantizer::quantize`].
    #[inline(always)]
    pub fn nearest_code(&self, value: T) -> i32 {
        let biased = self.round(value).low_bits().cast_signed();
        biased.wrapping_sub(Self::BIAS)
    }

    /// Whether the nearest code's value is beyond doubt within the bound of `value` (false for NaN), and
    /// [`Quantizer::nearest_code`] is exact for it.
    #[inline(always)]
    pub fn is_clearly_within(&self, value: T) -> bool {
        // Within the limit this difference is exact, and equals the code.
        let code = self.round(value) - T::ROUNDING_MAGIC;
        ((value * self.inverse).abs() < T::ROUNDING_LIMIT)
            & ((value - code * self.step).abs() < self.error)
    }

    /// The code of a value, or none if no code keeps the bound.
    #[inline(always)]
    pub fn quantize(&self, value: T) -> Option<i32> {
        if self.is_clearly_within(value) {
            Some(self.nearest_code(value))
        } else {
            self.quantize_with_care(value)
        }
    }

    /// The code of a value near the bound's edge, beyond the reach of the rounding constant, or
    /// without a code. Equals [`Quantizer::quantize`] for every value that is not clearly within.
    pub fn quantize_with_care(&self, value: T) -> Option<i32> {
        if self.is_lossless() {
            return (value.to_bits64() == 0).then_some(0);
        }
        let scaled = value * self.inverse;
        // False for NaN.
        let is_codable = |scaled: T| scaled.abs() < T::from_i32(CODE_LIMIT - 1);
        if !is_codable(scaled) {
            return None;
        }
        // Above 2^24 the rounding of `scaled` itself is worth more than one code, so the first
        // guess is corrected by what it leaves over.
        let guess = scaled.truncate();
        let left = (value - self.dequantize(guess)) * self.inverse;
        if !is_codable(left) {
            return None;
        }
        let half = (T::ONE + T::ONE).reciprocal();
        let correction = if left < T::ZERO {
            (left - half).truncate()
        } else {
            (left + half).truncate()
        };
        let code = guess.wrapping_add(correction);
        let in_range = code > -CODE_LIMIT && code < CODE_LIMIT;
        (in_range && is_within(value, self.dequantize(code), self.error)).then_some(code)
    }
}

/// Whether `value` and `decoded` differ by at most `error`, in exact arithmetic; with an error of 0, whether
/// they have the same bits. False where one of them is NaN, but for the same bits.
#[inline(always)]
pub fn is_within<T: Element>(value: T, decoded: T, error: T) -> bool {
    let difference = value - decoded;
    let magnitude = difference.abs();
    if magnitude != error {
        return magnitude < error;
    }
    if error == T::ZERO {
        return value.to_bits64() == decoded.to_bits64();
    }
    let decoded_part = difference - value;
    let rest = (value - (difference - decoded_part)) - (decoded + decoded_part);
    // The exact difference is `difference + rest`: above the bound if both have one sign.
    if difference > T::ZERO {
        rest <= T::ZERO
    } else {
        rest >= T::ZERO
    }
}
