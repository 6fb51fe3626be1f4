//! A census of a field: counts of zeros and negative values, by which a preset keeps zeros and signs or not.

use crate::element::Element;
use crate::mapping::Keep;

/// Zeros are kept where they are more than one of so many values that are present.
const ZEROS_ONE_OF: u128 = 100;

/// How many values of a field are zeros, and how many are negative. Elements that are missing, which are NaN in the coded
/// field, and infinities do not count.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Census {
    /// Finite values.
    pub present: u64,
    /// Zeros of both signs.
    pub zeros: u64,
    /// Values below 0.
    pub negatives: u64,
}

impl Census {
    /// Counts a value.
    #[inline(always)]
    pub fn see<T: Element>(&mut self, value: T) {
        let is_present = value.is_finite();
        self.present += u64::from(is_present);
        self.zeros += u64::from(value == T::ZERO);
        self.negatives += u64::from(is_present && value < T::ZERO);
    }

    /// The census of two fields.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            present: self.present + other.present,
            zeros: self.zeros + other.zeros,
            negatives: self.negatives + other.negatives,
        }
    }

    /// What a preset keeps: the signs of a field without negative values, and zeros that are more than a hundredth of its
    /// values.
    pub fn keep(self) -> Keep {
        Keep {
            zeros: u128::from(self.zeros) * ZEROS_ONE_OF > u128::from(self.present),
            signs: self.negatives == 0 && self.present > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_and_zeros_are_kept_by_their_numbers() {
        let keep = |field: &[f32]| {
            let mut census = Census::default();
            field.iter().for_each(|value| census.see(*value));
            (census.keep().zeros, census.keep().signs)
        };
        let mut field = [2.0f32; 200];
        assert_eq!(keep(&field), (false, true));
        field[..2].fill(-0.0);
        assert_eq!(keep(&field), (false, true));
        field[2] = 0.0;
        assert_eq!(keep(&field), (true, true));
        field[150] = -1e-30;
        assert_eq!(keep(&field), (true, false));
        // Holes and infinities are no values: 3 of 200 become 3 of 100.
        field[100..].fill(f32::NAN);
        field[100] = f32::NEG_INFINITY;
        assert_eq!(keep(&field), (true, true));
        assert_eq!(keep(&[f32::NAN; 9]), (false, false));
        assert_eq!(keep(&[]), (false, false));
    }
}
