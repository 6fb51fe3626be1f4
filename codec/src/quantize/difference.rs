//! The bits of a difference between two values, by which the choice of a preset weighs the tiles of a field.

use crate::element::Element;

/// The bits of the difference between two neighbours, with that of its sign: two for a difference of one step of the quantiser.
/// Holes have none. `steps` is the number of steps of a difference of 1.
#[inline(always)]
pub fn difference_bits<T: Element>(before: T, behind: T, steps: T) -> u32 {
    let least = T::EXPONENT_BIAS as u32 - 2;
    let infinite = 2 * T::EXPONENT_BIAS as u32 + 1;
    let difference = (behind - before) * steps;
    let exponent = (difference.to_bits64() >> T::MANTISSA_BITS) as u32 & infinite;
    let bits = exponent.saturating_sub(least).min(32);
    let is_number = difference <= T::ZERO || difference > T::ZERO;
    if is_number { bits } else { 0 }
}

/// The steps of a difference of 1 for [`difference_bits`]. Without an error, all differences are large.
#[inline(always)]
pub fn steps_of<T: Element>(error: T) -> T {
    let steps = 0.5 / error.to_f64();
    T::from_f64(if steps < f64::MAX { steps } else { f64::MAX })
}
