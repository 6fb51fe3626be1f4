//! The quantiser of a level: residual to code and back, under the exact promise.

use crate::element::Element;
use crate::quantize::is_within;

/// What codes may be of 16 bits: -32,767 to 32,767.
pub const RADIUS: u32 = 1 << 15;

/// The working values of a level's bound.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LevelQuantizer<T> {
    /// Twice the level's bound: a code's step. 0 is lossless.
    pub step: T,
    /// 1 over the level's bound, or 0.
    pub inverse: T,
}

/// What became of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantized<T> {
    /// Its code; none if the value is stored as it is.
    pub code: Option<i32>,
    /// What the decoder will know.
    pub known: T,
}

impl<T: Element> LevelQuantizer<T> {
    /// For a level whose bound is `error`, finite and not negative.
    pub fn new(error: f64) -> Self {
        let step = T::from_f64(2.0 * error);
        let inverse = T::from_f64(1.0 / error);
        if step.is_finite() && inverse.is_finite() {
            Self { step, inverse }
        } else {
            Self::default()
        }
    }

    /// The value of a code.
    #[inline(always)]
    pub fn decode(&self, prediction: T, code: i32) -> T {
        finite_or_zero(prediction) + T::from_i32(code) * self.step
    }

    /// What the encoder knew of a place whose value is stored as it is, when it predicted others from it. Mostly that
    /// value; but where a whole chunk is stored so, most places had a code.
    #[inline(always)]
    pub fn known(&self, value: T, prediction: T, error: T, radius: u32) -> T {
        self.encode(value, prediction, error, radius).known
    }

    /// The code of a value, of less than `radius` in magnitude, that the decoder turns into one within
    /// `error` of it, exactly; with an error of 0, into the very bits.
    #[inline(always)]
    pub fn encode(&self, value: T, prediction: T, error: T, radius: u32) -> Quantized<T> {
        let prediction = finite_or_zero(prediction);
        let residual = value - prediction;
        let scaled = (residual.abs() * self.inverse + T::ONE) * T::HALF;
        // False for NaN; below it the number is in the range of an integer.
        if scaled < T::from_i32(radius as i32) {
            let magnitude = scaled.truncate();
            let code = if residual < T::ZERO {
                -magnitude
            } else {
                magnitude
            };
            let known = prediction + T::from_i32(code) * self.step;
            if is_within(value, known, error) {
                return Quantized {
                    code: Some(code),
                    known,
                };
            }
        }
        Quantized {
            code: None,
            known: value,
        }
    }
}

#[inline(always)]
fn finite_or_zero<T: Element>(prediction: T) -> T {
    if prediction.is_finite() {
        prediction
    } else {
        T::ZERO
    }
}
