//! The values of a part of a field in four numbers. Sums have one order, whatever machine makes them. FORMAT.md, section 31.

/// Values of a unit that are summed side by side.
pub const LANES: usize = 256;

/// The values of a part of a field, but for missing ones.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueSummary {
    /// The smallest; infinite without values.
    pub min: f64,
    /// The largest; infinite and negative without values.
    pub max: f64,
    /// Their sum.
    pub sum: f64,
    /// Their number.
    pub count: u64,
}

impl ValueSummary {
    /// No values.
    pub const EMPTY: Self = Self {
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        sum: 0.0,
        count: 0,
    };

    /// These values and another one; a NaN is missing.
    #[inline(always)]
    #[must_use]
    pub fn with(self, value: f64) -> Self {
        let is_present = !value.is_nan();
        Self {
            min: if value < self.min { value } else { self.min },
            max: if value > self.max { value } else { self.max },
            sum: self.sum + if is_present { value } else { 0.0 },
            count: self.count + u64::from(is_present),
        }
    }

    /// These values and others behind them.
    #[inline(always)]
    #[must_use]
    pub fn and(self, behind: Self) -> Self {
        let (min, max) = (self.min, self.max);
        Self {
            min: if behind.min < min { behind.min } else { min },
            max: if behind.max > max { behind.max } else { max },
            sum: self.sum + behind.sum,
            count: self.count + behind.count,
        }
    }

    /// The values of a *unit*, a tile or a chunk of blocks, in C order of its box; a NaN is missing.
    ///
    /// Value number i belongs to lane i modulo [`LANES`], and a lane sums its values in their order. Then lane l takes lane
    /// l + 128, for each l below 128, and so on with 64, 32, ... 1. A chunk sums its units in order, and a group its chunks.
    pub fn of_unit(values: &[f64]) -> Self {
        let mut lanes = [Self::EMPTY; LANES];
        for values in values.chunks(LANES) {
            for (lane, value) in lanes.iter_mut().zip(values) {
                *lane = lane.with(*value);
            }
        }
        let mut half = LANES / 2;
        while half > 0 {
            let (low, high) = lanes.split_at_mut(half);
            for (lane, other) in low.iter_mut().zip(high) {
                *lane = lane.and(*other);
            }
            half /= 2;
        }
        lanes[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of lane `lane` once `lanes` lanes are left, by its definition.
    fn sum(values: &[f64], lane: usize, lanes: usize) -> f64 {
        if lanes == LANES {
            let own = values.iter().skip(lane).step_by(LANES);
            return own
                .filter(|value| !value.is_nan())
                .fold(0.0, |sum, value| sum + value);
        }
        sum(values, lane, 2 * lanes) + sum(values, lane + lanes, 2 * lanes)
    }

    #[test]
    fn sums_have_the_order_of_their_definition() {
        for count in [0usize, 1, 255, 256, 257, 5000] {
            let number = |i: usize| match i % 7 {
                3 => f64::NAN,
                _ => ((i * 7919 % 1009) as f64 - 500.0) * 0.1,
            };
            let values: alloc::vec::Vec<f64> = (0..count).map(number).collect();
            let found = ValueSummary::of_unit(&values);
            assert_eq!(found.sum.to_bits(), sum(&values, 0, 1).to_bits(), "{count}");
            let present = || values.iter().copied().filter(|value| !value.is_nan());
            assert_eq!(found.count, present().count() as u64);
            assert_eq!(found.min, present().fold(f64::INFINITY, f64::min));
            assert_eq!(found.max, present().fold(f64::NEG_INFINITY, f64::max));
        }
    }
}
