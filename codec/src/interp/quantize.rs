//! The quantiser of a level: residual to code and back, under the exact promise.

use crate::element::Element;
use crate::quantize::is_within;
use core::array::from_fn;

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
        let [quantized] = self.encode_all([value], [prediction], error, radius);
        quantized
    }

    /// As [`LevelQuantizer::encode`], for values that do not depend on each other: on the rare way there is one branch
    /// for all.
    #[inline(always)]
    pub fn encode_all<const N: usize>(
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
            let Guess {
                code,
                is_small,
                known,
            } = guesses[i];
            let is_coded = is_small & is_kept[i];
            Quantized {
                code: if is_coded { Some(code) } else { None },
                known: if is_coded { known } else { values[i] },
            }
        })
    }

    #[inline(always)]
    fn guess(&self, value: T, prediction: T, radius: u32) -> Guess<T> {
        let prediction = finite_or_zero(prediction);
        let residual = value - prediction;
        let scaled = (residual.abs() * self.inverse + T::ONE) * T::HALF;
        let (steps, magnitude) = integer_part(scaled);
        let is_below = residual < T::ZERO;
        // As the decoder has it: code 0 is no negative zero.
        let steps = if is_below { T::ZERO - steps } else { steps };
        Guess {
            code: if is_below {
                magnitude.wrapping_neg()
            } else {
                magnitude
            },
            // False for NaN.
            is_small: scaled < T::from_i32(radius as i32),
            known: prediction + steps * self.step,
        }
    }
}

/// The code that is nearest to a value.
#[derive(Clone, Copy)]
struct Guess<T> {
    code: i32,
    /// Whether it is below the radius; if not, it may be anything.
    is_small: bool,
    /// What the decoder would know.
    known: T,
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
