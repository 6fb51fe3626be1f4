//! cuSZp's quantiser, with its faults (cuSZp stream, sections 4 and 5).
//!
//! It is not [`ferrosz_codec::quantize::field`]: it has no exceptions, and may exceed the bound for codes of 2^22 and
//! more in `f32`, for codes that saturate, for NaNs and for infinities. No two of its operations may be fused.

use ferrosz_codec::element::Element;

/// The working values of an error bound.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantizer<T> {
    /// 0.5 / error, rounded once.
    pub inverse: T,
    /// The error bound; codes are taken for whatever it is.
    pub error: T,
}

impl<T: Element> Quantizer<T> {
    /// For an absolute error of `error`.
    #[inline(always)]
    pub fn new(error: T) -> Self {
        Self {
            inverse: Self::half() / error,
            error,
        }
    }

    #[inline(always)]
    fn half() -> T {
        T::ONE / (T::ONE + T::ONE)
    }

    /// The quantisation code of a value. Halves go up, but -0.5 and below away from zero. A code that
    /// is too large saturates; one that is too small wraps to `i32::MAX`.
    #[inline(always)]
    pub fn code(&self, value: T) -> i32 {
        let half = Self::half();
        let scaled = value * self.inverse;
        let shifted = scaled + half;
        // False for NaN.
        let truncates_down = scaled >= T::ZERO - half;
        (shifted.to_i32_as_cuda()).wrapping_sub(i32::from(!truncates_down))
    }

    /// The value of a code.
    #[inline(always)]
    pub fn value(&self, code: i32) -> T {
        let half = T::from_i32(code) * self.error;
        half + half
    }
}
