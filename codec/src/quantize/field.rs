//! Value to integer and back: the only lossy step.
//!
//! A quantisation code k represents the value k * step, step = 2 * error, rounded once. A code is accepted only if
//! *these two operations of the decoder* give a value within the bound:
//!
//! Let d be the rounded difference of x and the decoder's value. Rounding is monotone and `error` is a number of the
//! type, so |d| < error means that the exact difference is below the bound, and |d| > error that it is above. If |d| =
//! error, the exact rounding error of the difference (Knuth's TwoSum) decides. No wider type is necessary, so the same
//! code serves f32 and f64, on every machine.
//!
//! A value without a code is an *exception*: it is stored bit-exactly beside the codes. All NaNs and infinities are
//! exceptions, except the holes of a mask.

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
    /// Whether [`Element::HOLE`] stands for elements of a mask.
    has_holes: bool,
}

impl<T: Element> Quantizer<T> {
    /// The quantiser of an absolute error of `error`, finite and not negative. It is lossless if the error is so small
    /// that the inverse of the step is infinite. An error so large that the step would be infinite is lowered.
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
                has_holes: false,
            }
        } else {
            Self {
                error: T::ZERO,
                step: T::ZERO,
                inverse: T::ZERO,
                has_holes: false,
            }
        }
    }

    /// The quantiser of a field that has holes, or not: see [`crate::mapping::mask`].
    #[inline(always)]
    #[must_use]
    pub fn with_holes(self, has_holes: bool) -> Self {
        Self { has_holes, ..self }
    }

    /// Whether the field may have holes.
    #[inline(always)]
    pub fn has_holes(&self) -> bool {
        self.has_holes
    }

    /// Whether a value is a hole: it has no code, and it is not stored.
    #[inline(always)]
    pub fn is_hole(&self, value: T) -> bool {
        self.has_holes && value.is_hole()
    }

    /// The working values as bits, for kernels; without the holes.
    pub fn to_bits(&self) -> [u64; 3] {
        [self.error, self.step, self.inverse].map(T::to_bits64)
    }

    /// The quantiser from the result of [`Quantizer::to_bits`].
    #[inline(always)]
    pub fn from_bits(bits: [u64; 3]) -> Self {
        let [error, step, inverse] = bits.map(T::from_bits64);
        Self {
            error,
            step,
            inverse,
            has_holes: false,
        }
    }

    /// The bound in the working type, at most the user's bound; 0 is lossless.
    pub fn error(&self) -> T {
        self.error
    }

    /// Whether every value must be decoded bit-exactly.
    #[inline(always)]
    pub fn is_lossless(&self) -> bool {
        self.step == T::ZERO
    }

    /// The value of a code: one conversion, one multiplication, each rounded to nearest even.
    #[inline(always)]
    pub fn dequantize(&self, code: i32) -> T {
        T::from_i32(code) * self.step
    }

    /// The value in units of the step plus [`Element::ROUNDING_MAGIC`]. Its low bits are the nearest code plus
    /// [`Quantizer::BIAS`].
    #[inline(always)]
    pub fn round(&self, value: T) -> T {
        value * self.inverse + T::ROUNDING_MAGIC
    }

    /// The difference between a rounded value's low bits and its code.
    pub const BIAS: i32 = T::ROUNDING_MAGIC_BITS.cast_signed();

    /// The nearest code, for values that are not near the bound's edge; [`Quantizer::is_clearly_within`] must hold.
    /// This is the fast path of [`Quantizer::quantize`].
    #[inline(always)]
    pub fn nearest_code(&self, value: T) -> i32 {
        let biased = self.round(value).low_bits().cast_signed();
        biased.wrapping_sub(Self::BIAS)
    }

    /// Whether the nearest code's value is clearly within the bound of `value`, and [`Quantizer::nearest_code`] is
    /// exact for it. False for NaN.
    #[inline(always)]
    pub fn is_clearly_within(&self, value: T) -> bool {
        // Within the limit this difference is exact and equals the code.
        let code = self.round(value) - T::ROUNDING_MAGIC;
        ((value * self.inverse).abs() < T::ROUNDING_LIMIT)
            & ((value - code * self.step).abs() < self.error)
    }

    /// The code of a value, or none if no code represents it within the bound.
    #[inline(always)]
    pub fn quantize(&self, value: T) -> Option<i32> {
        if self.is_clearly_within(value) {
            Some(self.nearest_code(value))
        } else {
            self.quantize_with_care(value)
        }
    }

    /// The code of a value that is near the bound's edge, exceeds the range of the rounding constant, or has no code.
    /// Equals [`Quantizer::quantize`] for every value that is not clearly within.
    pub fn quantize_with_care(&self, value: T) -> Option<i32> {
        if self.is_lossless() {
            return (value.to_bits64() == 0).then_some(0);
        }
        let scaled = value * self.inverse;
        // The comparison is false for NaN.
        let is_codable = |scaled: T| scaled.abs() < T::from_i32(CODE_LIMIT - 1);
        if !is_codable(scaled) {
            return None;
        }
        // Above 2^24 the rounding error of `scaled` exceeds one code, so the remainder corrects the first guess.
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

/// Whether `value` and `decoded` differ by at most `error`, in exact arithmetic; with an error of 0, whether they have
/// the same bits. False if the difference is NaN, also for the same bits.
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
    // The exact difference is `difference + rest`: above the bound if both have the same sign.
    if difference > T::ZERO {
        rest <= T::ZERO
    } else {
        rest >= T::ZERO
    }
}
