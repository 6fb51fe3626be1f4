//! Mean power spectra of lines.

use crate::lines::Line;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use std::f64::consts::TAU;

/// The fewest segments whose spectra are worth a mean, unless there are fewer lines.
const ENOUGH: usize = 16;

/// The fewest values of a segment.
const SHORTEST: usize = 8;

/// Mean power spectra of segments of lines: one-sided, with the window of Hann, without the mean of a segment. The powers of
/// noise add up to its variance.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectra {
    /// Frequencies, in cycles for each value.
    pub frequencies: Vec<f64>,
    /// The powers of original, reconstruction and error.
    pub powers: [Vec<f64>; 3],
    /// Segments.
    pub segments: usize,
    /// Values of a segment.
    pub length: usize,
}

impl Spectra {
    /// Those of the longest segments of which there are enough without missing values; none if there are no such segments.
    pub fn of(lines: &[Line]) -> Option<Self> {
        let mut length = lines.first()?.len();
        while length >= SHORTEST {
            let segments = whole_segments(lines, length);
            if segments.len() >= ENOUGH.min(lines.len()) {
                return Some(Self::of_segments(&segments, length));
            }
            length /= 2;
        }
        None
    }

    fn of_segments(segments: &[Vec<(f64, f64)>], length: usize) -> Self {
        let window = hann(length);
        let squares: f64 = window.iter().map(|w| w * w).sum();
        let fft = FftPlanner::new().plan_fft_forward(length);
        let mut powers = [const { Vec::new() }; 3];
        for (power, of) in powers.iter_mut().zip([
            (|(x, _)| x) as fn((f64, f64)) -> f64,
            |(_, y)| y,
            |(x, y)| y - x,
        ]) {
            *power = vec![0.0; length / 2 + 1];
            for segment in segments {
                let values = segment.iter().map(|pair| of(*pair));
                let mean = values.clone().sum::<f64>() / length as f64;
                let mut windowed: Vec<Complex<f64>> = (values.zip(&window))
                    .map(|(value, w)| Complex::new((value - mean) * w, 0.0))
                    .collect();
                fft.process(&mut windowed);
                let sides = |k: usize| if k == 0 || 2 * k == length { 1.0 } else { 2.0 };
                let scale = squares * length as f64 * segments.len() as f64;
                for (k, (sum, value)) in power.iter_mut().zip(&windowed).enumerate() {
                    *sum += sides(k) * value.norm_sqr() / scale;
                }
            }
        }
        Self {
            frequencies: (0..=length / 2).map(|k| k as f64 / length as f64).collect(),
            powers,
            segments: segments.len(),
            length,
        }
    }
}

/// The segments of this length, one behind the other in each line, that have all values.
fn whole_segments(lines: &[Line], length: usize) -> Vec<Vec<(f64, f64)>> {
    let segments = lines.iter().flat_map(|line| line.chunks_exact(length));
    let whole = segments.filter_map(|segment| segment.iter().copied().collect());
    whole.collect()
}

/// The window of Hann, periodic.
fn hann(length: usize) -> Vec<f64> {
    let at = |i: usize| 0.5 - 0.5 * (TAU * i as f64 / length as f64).cos();
    (0..length).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The powers by the definition, of one line.
    fn plain(values: &[f64]) -> Vec<f64> {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let window = |i: usize| 0.5 * (1.0 - (TAU * i as f64 / n as f64).cos());
        let squares: f64 = (0..n).map(|i| window(i).powi(2)).sum();
        let power = |k: usize| {
            let (mut re, mut im) = (0.0, 0.0);
            for (i, value) in values.iter().enumerate() {
                let angle = TAU * (k * i) as f64 / n as f64;
                re += (value - mean) * window(i) * angle.cos();
                im -= (value - mean) * window(i) * angle.sin();
            }
            let sides = if k == 0 || 2 * k == n { 1.0 } else { 2.0 };
            sides * (re * re + im * im) / (n as f64 * squares)
        };
        (0..=n / 2).map(power).collect()
    }

    fn line(length: usize, seed: usize) -> Line {
        let value = |i: usize| {
            let x = ((i + 7 * seed) as f64 * 0.7).sin() * 3.0 + (i * i % 17) as f64 * 0.1;
            Some((x, x + ((i * 31 + seed) % 11) as f64 * 1e-3))
        };
        (0..length).map(value).collect()
    }

    #[test]
    fn powers_are_those_of_plain_sums() {
        for length in [16, 45] {
            let lines = [line(length, 1), line(length, 2)];
            let found = Spectra::of(&lines).unwrap();
            assert_eq!((found.segments, found.length), (2, length));
            assert_eq!(found.frequencies[1], 1.0 / length as f64);
            for (which, powers) in found.powers.iter().enumerate() {
                let of = |line: &Line| -> Vec<f64> {
                    let pick = |(x, y): (f64, f64)| [x, y, y - x][which];
                    plain(
                        &line
                            .iter()
                            .map(|pair| pick(pair.unwrap()))
                            .collect::<Vec<_>>(),
                    )
                };
                let expected = of(&lines[0]).into_iter().zip(of(&lines[1]));
                for (power, (one, other)) in powers.iter().zip(expected) {
                    let expected = (one + other) / 2.0;
                    assert!(
                        (power - expected).abs() < 1e-12 + 1e-9 * expected,
                        "{power} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn segments_with_missing_values_are_left_out() {
        let mut one = line(64, 1);
        one[40] = None;
        let found = Spectra::of(&[one.clone()]).unwrap();
        assert_eq!((found.segments, found.length), (1, 32));
        one[3] = None;
        let found = Spectra::of(&[one]).unwrap();
        assert_eq!((found.segments, found.length), (2, 16));
        assert_eq!(Spectra::of(&[vec![None; 64]]), None);
        assert_eq!(Spectra::of(&[]), None);
    }
}
