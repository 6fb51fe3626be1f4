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
        // False for NaN.
        let is_small = scaled < T::from_i32(radius as i32);
        let (steps, magnitude) = integer_part(scaled);
        let is_below = residual < T::ZERO;
        let code = if is_below {
            magnitude.wrapping_neg()
        } else {
            magnitude
        };
        // As the decoder has it: code 0 is no negative zero.
        let steps = if is_below { T::ZERO - steps } else { steps };
        let known = prediction + steps * self.step;
        let distance = (value - known).abs();
        let mut is_within_bound = distance < error;
        if distance == error {
            is_within_bound = is_within(value, known, error);
        }
        let is_coded = is_small & is_within_bound;
        Quantized {
            code: if is_coded { Some(code) } else { None },
            known: if is_coded { known } else { value },
        }
    }
}

/// The integer part of a number from 0 to [`Element::ROUNDING_LIMIT`], as a number and as an integer; of others, anything.
/// A GPU adds four times as fast as it converts.
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
