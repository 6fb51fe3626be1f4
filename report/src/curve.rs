//! Rate over distortion of a codec, from a sample of an array.

use crate::report::Field;
use crate::words;
use ferrosz::{AxesSetting, Bound, Compressor, Decompressor, Error, Fill, Info, Value};
use ferrosz_verify::Comparison;

/// The bounds, relative to the range of the array.
const BOUNDS: [f64; 7] = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5];

/// The most values of the sample.
const MOST_VALUES: usize = 1 << 19;

/// Rate over distortion.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What it is of, in words.
    pub name: String,
    /// Bits a value and decibels, relative to the range of the array.
    pub points: Vec<[f64; 2]>,
    /// The extents of the sample.
    pub sample: Vec<u64>,
}

impl Curve {
    /// That of a stream's codec, on a field with this range.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn of<V: Value>(field: &Field<'_, V>, info: &Info, range: f64) -> Result<Self, Error> {
        let sample = sample_box(field.extents);
        let values = copy(field, &sample);
        let mut points = Vec::new();
        let mut last = f64::INFINITY;
        for bound in BOUNDS {
            let bound = match V::TYPE.is_integer() {
                true => (bound * range).floor(),
                false => bound * range,
            };
            if bound <= 0.0 || bound >= last {
                continue;
            }
            last = bound;
            points.extend(point(&values, &sample, info, bound, range)?);
        }
        Ok(Self {
            name: format!("{} of rank {}", info.codec, info.rank),
            points,
            sample,
        })
    }

    /// What the sample is, in words.
    pub fn describe(&self, extents: &[u64]) -> String {
        match self.sample == extents {
            true => "all of the array".to_owned(),
            false => format!(
                "{} values from the middle of the array",
                words::lengths(&self.sample)
            ),
        }
    }
}

fn point<V: Value>(
    values: &[V],
    extents: &[u64],
    info: &Info,
    bound: f64,
    range: f64,
) -> Result<Option<[f64; 2]>, Error> {
    let fills: Vec<Fill> = info.fills.iter().map(|fill| Fill::from(*fill)).collect();
    let mut compressor = Compressor::new(info.codec, Bound::abs(bound)?).with_rank(info.rank)?;
    if info.has_roles() {
        compressor = compressor.with_axes(AxesSetting::Roles(info.axes));
    }
    let compressor = compressor.extents(extents)?.fills_of(values, &fills);
    let stream = compressor.compress(values)?;
    let decoded: Vec<V> = Decompressor::new().decompress(&stream)?;
    let found = ferrosz::info(&stream)?;
    let rmse = Comparison::new(values, &decoded, &found)?.quality.rmse;
    let psnr = 20.0 * (range / rmse).log10();
    Ok(psnr.is_finite().then(|| [found.bits_per_value(), psnr]))
}

/// The lengths of a box of at most [`MOST_VALUES`] values: the longest axes are halved. The parts of complex numbers stay
/// together, as no axis is cut to less than 8.
fn sample_box(extents: &[u64]) -> Vec<u64> {
    let mut lengths = extents.to_vec();
    while lengths.iter().product::<u64>() > MOST_VALUES as u64 {
        match lengths.iter_mut().max() {
            Some(longest) if *longest > 8 => *longest = longest.div_ceil(2),
            _ => break,
        }
    }
    lengths
}

/// The values of a box in the middle of a field.
fn copy<V: Value>(field: &Field<'_, V>, lengths: &[u64]) -> Vec<V> {
    let starts = field
        .extents
        .iter()
        .zip(lengths)
        .map(|(all, length)| (all - length) / 2);
    let starts: Vec<u64> = starts.collect();
    let count: u64 = lengths.iter().product();
    let row = lengths.last().copied().unwrap_or(1).max(1);
    let mut values = Vec::with_capacity(count as usize);
    for number in 0..count / row {
        let mut rest = number * row;
        let (mut at, mut stride) = (0, 1);
        for axis in (0..lengths.len()).rev() {
            at += (starts[axis] + rest % lengths[axis]) * stride;
            rest /= lengths[axis];
            stride *= field.extents[axis];
        }
        let end = at + row;
        values.extend_from_slice(
            field
                .values
                .get(at as usize..end as usize)
                .unwrap_or_default(),
        );
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz::Preset;

    fn field() -> Vec<f32> {
        let value = |i: usize| ((i % 100) as f32 * 0.07).sin() + ((i / 100) as f32 * 0.05).cos();
        (0..100 * 8000).map(value).collect()
    }

    #[test]
    fn samples_are_boxes_in_the_middle() {
        let values: Vec<f32> = (0..24).map(|i| i as f32).collect();
        let field = Field {
            name: "x",
            values: &values,
            extents: &[4, 6],
            unit: "",
        };
        // numpy.arange(24).reshape(4, 6)[1:3, 1:5]
        assert_eq!(
            copy(&field, &[2, 4]),
            [7.0, 8.0, 9.0, 10.0, 13.0, 14.0, 15.0, 16.0]
        );
        assert_eq!(copy(&field, &[4, 6]), values);
        assert_eq!(sample_box(&[8000, 100]), [4000, 100]);
        assert_eq!(sample_box(&[1 << 40, 2]), [1 << 18, 2]);
        assert_eq!(sample_box(&[0, 5]), [0, 5]);
    }

    #[test]
    fn more_bits_have_less_error() {
        let values = field();
        let extents = [8000, 100];
        let field = Field {
            name: "x",
            values: &values,
            extents: &extents,
            unit: "K",
        };
        let compressor = Compressor::new(Preset::Fast, Bound::range(1e-3).unwrap());
        let stream = compressor
            .extents(&extents)
            .unwrap()
            .compress(&values)
            .unwrap();
        let info = ferrosz::info(&stream).unwrap();
        let found = Curve::of(&field, &info, 4.0).unwrap();
        assert_eq!(found.points.len(), BOUNDS.len());
        assert!(
            found
                .points
                .windows(2)
                .all(|two| two[0][0] < two[1][0] && two[0][1] < two[1][1])
        );
        // A uniform error within the bound has this PSNR.
        let expected = 20.0 * (3f64.sqrt() / 1e-3).log10();
        assert!(
            (found.points[2][1] - expected).abs() < 3.0,
            "{:?}",
            found.points
        );
        assert_eq!(
            found.describe(&extents),
            "4000 x 100 values from the middle of the array"
        );
    }

    #[test]
    fn bounds_of_integers_are_integers() {
        let values: Vec<i16> = (0..10_000)
            .map(|i| ((i as f32 * 0.01).sin() * 400.0) as i16)
            .collect();
        let field = Field {
            name: "x",
            values: &values,
            extents: &[10_000],
            unit: "K",
        };
        let stream = Compressor::new(Preset::Fast, Bound::abs(2.0).unwrap()).compress(&values);
        let info = ferrosz::info(&stream.unwrap()).unwrap();
        // 8, 2 of bounds relative to 800; below 1 is lossless.
        assert_eq!(Curve::of(&field, &info, 800.0).unwrap().points.len(), 2);
    }
}
