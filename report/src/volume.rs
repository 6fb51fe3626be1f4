//! A volume: values along three axes of an array, at one place along the others.

use crate::pair::Pair;
use crate::planes::SHORTEST;
use crate::solid::Vector;
use ferrosz::Value;

/// The most values along an axis. Of a longer one every second, third ... is taken.
const MOST_VALUES: usize = 96;

/// The share of a volume's values that are above its isovalue.
const SHARE_ABOVE: f64 = 0.1;

/// Which elements of an array are a volume.
pub struct Elements {
    /// The axes, slowest first.
    pub axes: [usize; 3],
    /// The number of elements along each.
    lengths: [usize; 3],
    /// All elements, in the order of the array.
    all: Vec<usize>,
    /// The elements as NumPy writes them: `[0, :, ::2, ::2]`.
    pub name: String,
}

impl Elements {
    /// Those along the three fastest of the axes that are long enough, in the middle of the others; none of fewer axes.
    pub fn choose<V: Value>(pair: &Pair<'_, V>) -> Option<Self> {
        let mut long = pair.long_axes();
        long.retain(|axis| pair.extents[*axis] >= SHORTEST);
        let axes = [*long.get(2)?, *long.get(1)?, *long.first()?];
        let (mut all, mut names) = (vec![0], Vec::new());
        for (axis, (length, stride)) in pair.extents.iter().zip(pair.strides()).enumerate() {
            let step = length.div_ceil(MOST_VALUES).max(1);
            let (places, name) = match (axes.contains(&axis), step) {
                (true, 1) => (0..*length, ":".to_owned()),
                (true, _) => (0..*length, format!("::{step}")),
                (false, _) => {
                    let middle = length.saturating_sub(1) / 2;
                    (middle..middle + 1, middle.to_string())
                }
            };
            let places = |at: usize| places.clone().step_by(step).map(move |n| at + n * stride);
            all = all.into_iter().flat_map(places).collect();
            names.push(name);
        }
        let length =
            |axis: usize| pair.extents[axis].div_ceil(pair.extents[axis].div_ceil(MOST_VALUES));
        Some(Self {
            axes,
            lengths: axes.map(length),
            all,
            name: format!("[{}]", names.join(", ")),
        })
    }

    /// The volume of their values.
    pub fn volume(&self, value: impl Fn(usize) -> Option<f64>) -> Volume {
        let values = self.all.iter().map(|at| value(*at).unwrap_or(f64::NAN));
        Volume {
            lengths: self.lengths,
            values: values.collect(),
        }
    }
}

/// The values of a volume.
pub struct Volume {
    /// The number of values along each axis, slowest first; at least 3.
    pub lengths: [usize; 3],
    /// The values; NaN where one is missing.
    pub values: Vec<f64>,
}

impl Volume {
    /// The value that a tenth of all values are above; none if all are equal. It lies halfway between two values, so that none
    /// is on the surface.
    pub fn isovalue(&self) -> Option<f64> {
        let mut sorted = self.values.clone();
        sorted.retain(|value| !value.is_nan());
        sorted.sort_unstable_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let highest = sorted[last];
        let of_share = sorted[(last as f64 * (1.0 - SHARE_ABOVE)) as usize];
        // If more than a tenth are the highest value, it alone is above.
        let is_below = |value: &f64| *value <= of_share && *value < highest;
        let above = sorted.partition_point(is_below);
        Some(f64::midpoint(sorted[above.checked_sub(1)?], sorted[above]))
    }

    /// Of the values that are present: how many there are, are above an isovalue, and are on another side of it in a
    /// reconstruction.
    pub fn sides(&self, decoded: &Self, isovalue: f64) -> [usize; 3] {
        let pairs = self.values.iter().zip(&decoded.values);
        let present = pairs.filter(|(x, _)| !x.is_nan());
        let above = present.clone().filter(|(x, _)| **x > isovalue);
        let is_changed = |x: f64, y: f64| y.is_nan() || (x > isovalue) != (y > isovalue);
        let changed = present.clone().filter(|(x, y)| is_changed(**x, **y));
        [present.count(), above.count(), changed.count()]
    }

    /// The value between those around a place, which is counted in values along each axis; none beside missing values.
    pub fn at(&self, place: Vector) -> Option<f64> {
        let mut sum = 0.0;
        for corner in 0..8 {
            let (mut at, mut weight) = (0, 1.0);
            for (axis, length) in self.lengths.iter().enumerate() {
                let share = place[axis].fract();
                let is_second = corner >> axis & 1;
                weight *= [1.0 - share, share][is_second];
                at = at * length + place[axis] as usize + is_second;
            }
            if weight > 0.0 {
                sum += weight * self.values.get(at)?;
            }
        }
        (!sum.is_nan()).then_some(sum)
    }

    /// How much values grow along each axis at a place; 0 beside missing values.
    pub fn slopes(&self, place: Vector) -> Vector {
        // There are places on both sides.
        let inner = [0, 1, 2].map(|axis| place[axis].clamp(1.0, self.lengths[axis] as f64 - 2.0));
        [0, 1, 2].map(|axis| {
            let [before, behind] = [-1.0, 1.0].map(|step| {
                let mut beside = inner;
                beside[axis] += step;
                self.at(beside)
            });
            let both = before.zip(behind);
            both.map_or(0.0, |(before, behind)| (behind - before) / 2.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_those_of_numpy() {
        let extents = [3u64, 200, 2, 9, 10];
        let x: Vec<f64> = (0..108_000).map(f64::from).collect();
        let pair = Pair::new(&x, &x, &extents, &[36_000.0 + 11.0]);
        let found = Elements::choose(&pair).unwrap();
        assert_eq!(
            (found.axes, &found.name[..]),
            ([1, 3, 4], "[1, ::3, 0, :, :]")
        );
        let volume = found.volume(|at| pair.original(at));
        assert_eq!(volume.lengths, [67, 9, 10]);
        // numpy.arange(108000.0).reshape(3, 200, 2, 9, 10)[1, ::3, 0]
        for (at, value) in volume.values.iter().enumerate() {
            let expected = (36_000 + at / 90 * 540 + at % 90) as f64;
            assert!(*value == expected || (at == 11 && value.is_nan()));
        }
        for few in [&[0u64, 20, 20, 20][..], &[20, 20, 7], &[9, 9, 1, 9]] {
            let pair = Pair::<f32>::new(&[], &[], few, &[]);
            let volume = Elements::choose(&pair).map(|found| found.volume(|_| None));
            assert_eq!(volume.and_then(|volume| volume.isovalue()), None);
        }
    }

    fn line(values: &[f64]) -> Volume {
        Volume {
            lengths: [1, 1, values.len()],
            values: values.to_vec(),
        }
    }

    #[test]
    fn a_tenth_is_above_the_isovalue() {
        let mut values: Vec<f64> = (0..1000).map(|i| f64::from(i * 7 % 1000)).collect();
        values.push(f64::NAN);
        let volume = line(&values);
        assert_eq!(volume.isovalue(), Some(899.5));
        assert_eq!(volume.sides(&volume, 899.5), [1000, 100, 0]);
        let mut decoded = line(&values);
        // 7, 14 and 994; NaN is on no side.
        (decoded.values[1], decoded.values[2]) = (900.0, 899.0);
        (decoded.values[142], decoded.values[3]) = (899.0, f64::NAN);
        assert_eq!(volume.sides(&decoded, 899.5), [1000, 100, 3]);
        let shares = |ones: usize| [vec![0.0; 100 - ones], vec![1.0; ones]].concat();
        for (ones, isovalue) in [(3, Some(0.5)), (40, Some(0.5)), (100, None), (0, None)] {
            assert_eq!(line(&shares(ones)).isovalue(), isovalue, "{ones}");
        }
        assert_eq!(line(&[f64::NAN]).isovalue(), None);
    }
}
