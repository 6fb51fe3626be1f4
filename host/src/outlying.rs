//! Finds fill values: repeated values far outside the others that mark missing measurements, as 1e20, 9.96921e36 or
//! -9999.
//!
//! Without a mask, a finite fill value counts in the range and in the largest magnitude, to which bounds are relative.
//! Ordinary values do not look like fill values: a saturated instrument repeats its largest value, but other values
//! come close to it.

use crate::cpu::{self, Version};
use crate::parallel;
use crate::sample::spread;
use ferrosz_codec::{Element, Value, with_value};

/// Values in a task of one thread.
const BLOCK: usize = 1 << 16;

/// Without outlying values, the range is smaller by at least this factor.
const LEAST_FACTOR: f64 = 10.0;

/// The same for values that often mark missing measurements.
const LEAST_FACTOR_OF_MARKS: f64 = 2.0;

/// Values that often mark missing measurements: those of NetCDF, CF, GRIB, satellites and instruments. Negative ones,
/// too.
const MARKS: [f64; 17] = [
    99.0,
    999.0,
    999.9,
    9999.0,
    9999.9,
    99_999.0,
    999_999.0,
    32_767.0,
    32_768.0,
    65_535.0,
    1e10,
    1e15,
    1e20,
    1e30,
    1e35,
    1e36,
    9.969_209_968_386_869e36,
];

/// If all other values are equal, or a value is most of a field, it is outlying if its magnitude is at least this many times theirs.
const LEAST_DISTANCE: f64 = 1e3;

/// Values of a sample at most.
const SAMPLE: u64 = 1 << 12;

/// Independent extremes, one for each lane of a vector.
const LANES: usize = 8;

/// The search stops after this many outlying values; a step that finds two may exceed it by one.
const MOST: usize = 4;

/// A repeated value far outside the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlying {
    /// The value.
    pub value: f64,
    /// The number of its occurrences.
    pub count: u64,
    /// Largest minus smallest of all finite values.
    pub range: f64,
    /// Largest minus smallest of the finite values without all outlying ones.
    pub range_without: f64,
    /// Whether the value often marks missing measurements. Another one may be the background of a few values.
    pub is_mark: bool,
}

/// The outlying values of a field.
pub fn find<V: Value>(values: &[V]) -> Vec<Outlying> {
    with_value!(V::TYPE, W => {
        compiled_here!(find: fn(&[W]) -> Vec<Outlying> = find_of);
        find()(bytemuck::cast_slice(values))
    })
}

fn find_of<V: Value>(values: &[V]) -> Vec<Outlying> {
    let mut found: Vec<(f64, u64)> = Vec::new();
    let Some((low, high)) = all_extremes(values) else {
        return Vec::new();
    };
    if sample_range(values, low, high) * LEAST_FACTOR_OF_MARKS > high - low {
        return Vec::new();
    }
    let whole = Ends::counted(values, (low, high));
    let mut ends = whole;
    while found.len() < MOST {
        if ends.low == ends.high {
            break;
        }
        // The remaining values without one end, and without both.
        let inner = Ends::of(values, ends.low, ends.high);
        let without_high = Ends {
            high: inner.map_or(ends.low, |inner| inner.high),
            high_count: inner.map_or(ends.low_count, |inner| inner.high_count),
            ..ends
        };
        let without_low = Ends {
            low: inner.map_or(ends.high, |inner| inner.low),
            low_count: inner.map_or(ends.high_count, |inner| inner.low_count),
            ..ends
        };
        let without = [
            Some((without_high, [None, Some(ends.high())])),
            Some((without_low, [Some(ends.low()), None])),
            inner.map(|inner| (inner, [Some(ends.low()), Some(ends.high())])),
        ];
        let outside = without.into_iter().flatten().find(|(rest, outside)| {
            let outside = || outside.iter().flatten();
            let factor = match outside().all(|(value, _)| is_mark::<V>(*value)) {
                true => LEAST_FACTOR_OF_MARKS,
                false => LEAST_FACTOR,
            };
            let is_outlying = |(value, count): &(f64, u64)| {
                let is_background = *count > values.len() as u64 / 2 && !is_mark::<V>(*value);
                *count > 1 && rest.is_far_below(*value, is_background)
            };
            outside().all(is_outlying) && rest.range() * factor <= ends.range()
        });
        let Some((rest, outside)) = outside else {
            break;
        };
        found.extend(outside.into_iter().flatten());
        ends = rest;
    }
    let outlying = found.into_iter().map(|(value, count)| Outlying {
        value,
        count,
        range: whole.range(),
        range_without: ends.range(),
        is_mark: is_mark::<V>(value),
    });
    outlying.collect()
}

/// Whether a value of the type often marks missing measurements.
fn is_mark<V: Value>(value: f64) -> bool {
    MARKS
        .iter()
        .filter_map(|mark| V::from_number(*mark))
        .any(|mark| mark.to_number() == value.abs())
}

/// The smallest and the largest of some values, and how often each occurs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ends {
    low: f64,
    low_count: u64,
    high: f64,
    high_count: u64,
}

impl Ends {
    /// The ends of the finite values strictly between two others; none if there is no such value.
    fn of<V: Value>(values: &[V], above: f64, below: f64) -> Option<Self> {
        extremes(values, above, below).map(|ends| Self::counted(values, ends))
    }

    fn counted<V: Value>(values: &[V], (low, high): (f64, f64)) -> Self {
        let count = |wanted: f64| -> u64 {
            let count =
                |block: &[V]| block.iter().filter(|x| x.to_number() == wanted).count() as u64;
            parallel::map(values.chunks(BLOCK), count).into_iter().sum()
        };
        Self {
            low,
            low_count: count(low),
            high,
            high_count: count(high),
        }
    }

    fn low(&self) -> (f64, u64) {
        (self.low, self.low_count)
    }

    fn high(&self) -> (f64, u64) {
        (self.high, self.high_count)
    }

    fn range(&self) -> f64 {
        self.high - self.low
    }

    /// Whether `value` is outlying to values with these ends. If all of them are equal, or it may be the background of a
    /// few of them, it is only if its magnitude is far larger: two values alone, as in a mask, are both ordinary.
    fn is_far_below(&self, value: f64, is_background: bool) -> bool {
        let largest = self.low.abs().max(self.high.abs());
        let is_far = largest > 0.0 && value.abs() >= LEAST_DISTANCE * largest;
        is_far || self.range() > 0.0 && !is_background
    }
}

/// The smallest and the largest of the finite values; none if there is none.
fn all_extremes<V: Value>(values: &[V]) -> Option<(f64, f64)> {
    match V::TYPE.is_coded_as_is() {
        true => {
            let found = cpu::extremes::<V::Coded>(Version::best(), bytemuck::cast_slice(values));
            found
                .values()
                .map(|(low, high)| (low.to_f64(), high.to_f64()))
        }
        false => extremes(values, f64::NEG_INFINITY, f64::INFINITY),
    }
}

/// The smallest and the largest of the finite values strictly between two others; none if there is no such value.
fn extremes<V: Value>(values: &[V], above: f64, below: f64) -> Option<(f64, f64)> {
    let nothing = || (f64::INFINITY, f64::NEG_INFINITY);
    let of_block = |block: &[V]| {
        let mut ends = [nothing(); LANES];
        for values in block.chunks(LANES) {
            for (value, (low, high)) in values.iter().zip(&mut ends) {
                let x = value.to_number();
                let inside = x.is_finite() && x > above && x < below;
                *low = if inside && x < *low { x } else { *low };
                *high = if inside && x > *high { x } else { *high };
            }
        }
        ends.into_iter().fold(nothing(), join)
    };
    let blocks = parallel::map(values.chunks(BLOCK), of_block);
    let (low, high) = blocks.into_iter().fold(nothing(), join);
    (low <= high).then_some((low, high))
}

fn join(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// The range of a sample of the values between two others. The range of all of them is at least as large, so that the
/// sample almost always shows that no value is outlying.
fn sample_range<V: Value>(values: &[V], above: f64, below: f64) -> f64 {
    let all = values.len() as u64;
    let inside = spread(all, all.min(SAMPLE))
        .map(|at| values[at as usize].to_number())
        .filter(|x| *x > above && *x < below);
    let nothing = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = inside.fold(nothing, |ends, x| join(ends, (x, x)));
    (high - low).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[f64]) -> Vec<(f64, u64, f64)> {
        let found = find(values).into_iter();
        found
            .map(|found| (found.value, found.count, found.range_without))
            .collect()
    }

    fn temperatures() -> Vec<f64> {
        (0..1000)
            .map(|i| 280.0 + f64::from(i % 100) / 10.0)
            .collect()
    }

    #[test]
    fn marks_of_missing_values_are_found() {
        for mark in [1e20, 9.969_209_968_386_869e36, -9999.0, -32768.0, -1e34] {
            let mut values = temperatures();
            values[10] = f64::NAN;
            values[11] = f64::INFINITY;
            values[40..47].fill(mark);
            let [(value, 7, range)] = found(&values)[..] else {
                panic!("{mark}: {:?}", found(&values));
            };
            assert_eq!(value, mark);
            assert!((range - 9.9).abs() < 1e-9);
        }
    }

    #[test]
    fn usual_marks_may_be_close() {
        // Within ten times the range of the others.
        for (mark, is_found) in [(-9999.0, true), (32_767.0, true), (-9998.0, false)] {
            let mut values: Vec<f64> = (0..1000).map(|i| f64::from(i) * 4.0).collect();
            values[40..47].fill(mark);
            assert_eq!(found(&values).len(), usize::from(is_found), "{mark}");
        }
    }

    #[test]
    fn several_marks_are_found() {
        let mut values = temperatures();
        values[0..2].fill(1e20);
        values[5..8].fill(-9999.0);
        let marks: Vec<_> = found(&values)
            .iter()
            .map(|found| (found.0, found.1))
            .collect();
        assert_eq!(marks, [(1e20, 2), (-9999.0, 3)]);
        values[0..2].fill(1e30);
        values[5..8].fill(-1e30);
        assert_eq!(found(&values).len(), 2);
        // Missing measurements may be most of a field.
        let mut values = temperatures();
        values[100..].fill(-1e34);
        assert_eq!(found(&values).len(), 1);
        // The other values may be constant.
        let constant = [vec![280.0; 50], vec![1e20; 3]].concat();
        assert_eq!(found(&constant), [(1e20, 3, 0.0)]);
    }

    #[test]
    fn ordinary_values_are_left_alone() {
        let ramp = || (0..4096).map(f64::from);
        let saturated: Vec<f64> = ramp().map(|x| x.min(3000.0)).collect();
        let both_ends: Vec<f64> = ramp().map(|x| x.clamp(1000.0, 1100.0)).collect();
        let rain: Vec<f64> = ramp().map(|x| (x - 4000.0).max(0.0)).collect();
        // Steep: the largest ten values span most of the range, and the last one is repeated where the curve is cut
        // off.
        let steep: Vec<f64> = ramp().map(|x| (x / 100.0).exp().min(1e15)).collect();
        let mask: Vec<f64> = ramp().map(|x| x % 2.0).collect();
        // A few bright values on a dark ground, which is not 0 in all pictures.
        let bright = |x: f64| 1000.0 + 0.1 * (x - 2000.0);
        let ball: Vec<f64> = ramp()
            .map(|x| {
                if (2000.0..2040.0).contains(&x) {
                    bright(x)
                } else {
                    0.0
                }
            })
            .collect();
        let air: Vec<f64> = ball.iter().map(|x| x - 1000.0).collect();
        let mut spike = temperatures();
        spike[3] = 1e20;
        for values in [
            saturated,
            both_ends,
            rain,
            steep,
            mask,
            ball,
            air,
            spike,
            vec![7.0; 9],
            vec![],
            vec![f64::NAN],
        ] {
            assert_eq!(found(&values), []);
        }
    }
}
