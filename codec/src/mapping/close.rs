//! Which values are close to a fill value. FORMAT.md, section 23.

use crate::element::Element;
use crate::quantize::field::is_within;

/// How far away a fill value is close.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reach<T> {
    /// At most so far away.
    Error(T),
    /// At most this share of the value away.
    Share(f64),
}

impl<T: Element> Reach<T> {
    /// Whether a value is close to a fill value.
    #[inline(always)]
    pub fn has(&self, value: T, fill: T) -> bool {
        let is_other = fill.is_finite() && value != fill;
        is_other
            && match self {
                Self::Error(error) => is_within(value, fill, *error),
                Self::Share(share) => {
                    let (value, fill) = (value.to_f64(), fill.to_f64());
                    // The product may be rounded down.
                    is_within(value, fill, (share * value.abs()).next_up())
                }
            }
    }

    /// Whether any other number may be close to a fill value: the next one is at least this far away.
    #[inline(always)]
    pub fn is_more_than(&self, fill: T) -> bool {
        let gap = fill.abs().to_f64() * (0.5 / (1u64 << T::MANTISSA_BITS) as f64);
        fill.is_finite()
            && match self {
                Self::Error(error) => error.to_f64() >= gap,
                Self::Share(_) => true,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_other_numbers_within_reach_are_close() {
        let reach = Reach::Error(0.5f32);
        assert!(reach.has(0.5, 0.0) && reach.has(-0.25, 0.0));
        assert!(!reach.has(0.0, 0.0) && !reach.has(-0.0, 0.0) && !reach.has(0.75, 0.0));
        assert!(!reach.has(f32::NAN, 0.0) && !reach.has(0.1, f32::NAN));
        let reach = Reach::Share(0.1);
        assert!(reach.has(91.0f64, 100.0) && !reach.has(90.0, 100.0));
    }

    #[test]
    fn numbers_next_to_a_fill_value_are_in_reach_if_any_are() {
        for fill in [1e20f32, -9999.0, 1.0, 0.0, f32::MAX, -32768.0, 1e-30] {
            for next in [fill.next_up(), fill.next_down()] {
                let gap = (f64::from(next) - f64::from(fill)).abs() as f32;
                if next.is_finite() {
                    assert!(Reach::Error(gap).is_more_than(fill), "{fill}");
                }
            }
        }
        assert!(!Reach::Error(1e-3f32).is_more_than(1e20));
        assert!(!Reach::Error(1e-3f64).is_more_than(1e20));
        assert!(!Reach::Error(1.0f32).is_more_than(f32::NAN));
    }
}
