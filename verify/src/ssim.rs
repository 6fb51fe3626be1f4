//! The structural similarity of an array and its reconstruction, as Z-checker and QCAT compute it.
//!
//! The index of a window is that of Wang, Bovik, Sheikh and Simoncelli (2004), with the constants of that paper. Windows
//! have 7 values along each dimension, all of one weight, and begin at every second value. The dynamic range is that of
//! the original's values in the window, or 1 if they are equal. The result is the mean of all windows.

use ferrosz::Element;
use rayon::prelude::*;
use std::ops::Range;

/// Values of a window along a dimension.
const WINDOW: u64 = 7;

/// The distance between the first values of neighbouring windows.
const STRIDE: u64 = 2;

const K1: f64 = 0.01;
const K2: f64 = 0.03;

/// Windows of a task along a row, which bound its memory.
const TASK_WINDOWS: u64 = 2048;

/// Tasks whose sums are one number.
const GROUP: u64 = 64;

/// The mean index of all windows without NaNs and infinities; none without such windows. Dimensions of length 1 do not
/// count. Windows have at most three dimensions: leading ones are slices. Of a dimension shorter than a window, a
/// window has all values.
pub fn ssim<T: Element>(original: &[T], decoded: &[T], extents: &[u64]) -> Option<f64> {
    if original.is_empty() || original.len() != decoded.len() {
        return None;
    }
    let windows = Windows::new(extents);
    let of_group = |group: u64| {
        let mut columns = Columns::default();
        let last = (group + 1).saturating_mul(GROUP).min(windows.tasks());
        let sums = (group * GROUP..last).map(|task| {
            let task = windows.task(task);
            columns.fill(&task, original, decoded);
            columns.sum(&task)
        });
        sums.fold((0.0, 0), and)
    };
    // In order, so that rounded sums are the same on every machine.
    let groups = windows.tasks().div_ceil(GROUP);
    let sums: Vec<(f64, u64)> = (0..groups).into_par_iter().map(of_group).collect();
    let (sum, count) = sums.into_iter().fold((0.0, 0), and);
    (count > 0).then(|| sum / count as f64)
}

fn and(one: (f64, u64), other: (f64, u64)) -> (f64, u64) {
    (one.0 + other.0, one.1 + other.1)
}

/// The windows of an array.
struct Windows {
    /// Independent slices, and the lengths of each, slowest first.
    slices: u64,
    lengths: [u64; 3],
    /// Values of a window in each dimension.
    sides: [u64; 3],
    /// Windows in each dimension.
    counts: [u64; 3],
}

/// Windows that follow each other along a row.
struct Task {
    /// The first elements of the rows that they share.
    rows: Vec<usize>,
    /// Elements of a row.
    columns: usize,
    /// Elements of a row of a window.
    width: usize,
    windows: usize,
}

impl Windows {
    fn new(extents: &[u64]) -> Self {
        let long: Vec<u64> = extents.iter().copied().filter(|n| *n != 1).collect();
        let (leading, last) = long.split_at(long.len().saturating_sub(3));
        let mut lengths = [1; 3];
        lengths[3 - last.len()..].copy_from_slice(last);
        let sides = lengths.map(|length| length.min(WINDOW));
        Self {
            slices: leading.iter().product(),
            lengths,
            sides,
            counts: std::array::from_fn(|i| (lengths[i] - sides[i]) / STRIDE + 1),
        }
    }

    /// Tasks along a row.
    fn tasks_of_row(&self) -> u64 {
        self.counts[2].div_ceil(TASK_WINDOWS)
    }

    fn tasks(&self) -> u64 {
        self.slices * self.counts[0] * self.counts[1] * self.tasks_of_row()
    }

    fn task(&self, number: u64) -> Task {
        let of_row = self.tasks_of_row();
        let first = number % of_row * TASK_WINDOWS;
        let y = number / of_row % self.counts[1] * STRIDE;
        let z = number / of_row / self.counts[1] % self.counts[0] * STRIDE;
        let slice = number / of_row / self.counts[1] / self.counts[0];
        let [depth, height, width] = self.lengths;
        let row = |dz: u64, dy: u64| {
            (((slice * depth + z + dz) * height + y + dy) * width + first * STRIDE) as usize
        };
        let rows = (0..self.sides[0]).flat_map(|dz| (0..self.sides[1]).map(move |dy| row(dz, dy)));
        let windows = TASK_WINDOWS.min(self.counts[2] - first);
        Task {
            rows: rows.collect(),
            columns: ((windows - 1) * STRIDE + self.sides[2]) as usize,
            width: self.sides[2] as usize,
            windows: windows as usize,
        }
    }
}

/// Mean and spread of the values of a pair of arrays.
#[derive(Debug, Clone, Copy, Default)]
struct Column {
    mean: [f64; 2],
    /// Sums of squared distances from the mean, and of the products of both arrays' distances.
    squares: [f64; 2],
    products: f64,
    /// The ends of the original's values.
    low: f64,
    high: f64,
}

/// The columns of a task: of the values with one position along the row, in all of its rows. A window is some columns,
/// so that no value is read again for each window along the row.
#[derive(Default)]
struct Columns(Vec<Column>);

impl Columns {
    fn fill<T: Element>(&mut self, task: &Task, original: &[T], decoded: &[T]) {
        let fresh = Column {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            ..Column::default()
        };
        self.0.clear();
        self.0.resize(task.columns, fresh);
        let columns = &mut self.0[..];
        each_pair(task, columns, original, decoded, |column, x, y| {
            column.mean[0] += x;
            column.mean[1] += y;
            column.low = column.low.min(x);
            column.high = column.high.max(x);
        });
        let rows = task.rows.len() as f64;
        for column in &mut *columns {
            column.mean = column.mean.map(|sum| sum / rows);
        }
        each_pair(task, columns, original, decoded, |column, x, y| {
            let (x, y) = (x - column.mean[0], y - column.mean[1]);
            column.squares[0] += x * x;
            column.squares[1] += y * y;
            column.products += x * y;
        });
    }

    /// The sum of the indices of a task's windows, and their number.
    fn sum(&self, task: &Task) -> (f64, u64) {
        let columns = |window: usize| {
            let first = window * STRIDE as usize;
            first..first + task.width
        };
        let indices = (0..task.windows).map(|window| self.index(columns(window), task.rows.len()));
        let finite = indices.filter(|index| index.is_finite());
        finite.fold((0.0, 0), |sum, index| and(sum, (index, 1)))
    }

    /// The index of a window; not finite if it has values that are not finite.
    fn index(&self, columns: Range<usize>, rows: usize) -> f64 {
        let columns = &self.0[columns];
        let (width, rows) = (columns.len() as f64, rows as f64);
        let mut whole = Column {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            ..Column::default()
        };
        for column in columns {
            for i in 0..2 {
                whole.mean[i] += column.mean[i] / width;
            }
            whole.low = whole.low.min(column.low);
            whole.high = whole.high.max(column.high);
        }
        // The squares around a column's mean, and those of its mean around the window's.
        for column in columns {
            let [x, y]: [f64; 2] = std::array::from_fn(|i| column.mean[i] - whole.mean[i]);
            whole.squares[0] += column.squares[0] + rows * x * x;
            whole.squares[1] += column.squares[1] + rows * y * y;
            whole.products += column.products + rows * x * y;
        }
        let count = width * rows;
        let range = whole.high - whole.low;
        let range = if range == 0.0 { 1.0 } else { range };
        let (c1, c2) = ((K1 * range).powi(2), (K2 * range).powi(2));
        let ([x, y], [xx, yy]) = (whole.mean, whole.squares);
        let luminance = (2.0 * x * y + c1) / (x * x + y * y + c1);
        // Contrast times structure: with half of c2 as the constant of the structure, they are one fraction.
        let structure = (2.0 * whole.products / count + c2) / ((xx + yy) / count + c2);
        luminance * structure
    }
}

/// Calls `see` for each pair of values of each column, row after row.
fn each_pair<T: Element>(
    task: &Task,
    columns: &mut [Column],
    original: &[T],
    decoded: &[T],
    see: impl Fn(&mut Column, f64, f64),
) {
    for first in &task.rows {
        let row = *first..*first + task.columns;
        let pairs = original[row.clone()].iter().zip(&decoded[row]);
        for (column, (x, y)) in columns.iter_mut().zip(pairs) {
            see(column, x.to_f64(), y.to_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    /// The definition, window by window, with luminance, contrast and structure apart. Lengths of one to three
    /// dimensions.
    fn defined(x: &[f64], y: &[f64], lengths: [usize; 3]) -> Option<f64> {
        let side = |i: usize| lengths[i].min(7);
        let starts = |i: usize| (0..=lengths[i] - side(i)).step_by(2);
        let (mut sum, mut count) = (0.0, 0.0);
        for z in starts(0) {
            for y0 in starts(1) {
                for x0 in starts(2) {
                    let mut at = Vec::new();
                    for dz in 0..side(0) {
                        for dy in 0..side(1) {
                            for dx in 0..side(2) {
                                at.push(((z + dz) * lengths[1] + y0 + dy) * lengths[2] + x0 + dx);
                            }
                        }
                    }
                    if at.iter().any(|i| !x[*i].is_finite() || !y[*i].is_finite()) {
                        continue;
                    }
                    let n = at.len() as f64;
                    let mean = |v: &[f64]| at.iter().map(|i| v[*i]).sum::<f64>() / n;
                    let (mx, my) = (mean(x), mean(y));
                    let spread = |a: &[f64], ma: f64, b: &[f64], mb: f64| {
                        at.iter().map(|i| (a[*i] - ma) * (b[*i] - mb)).sum::<f64>() / n
                    };
                    let (sx, sy) = (spread(x, mx, x, mx).sqrt(), spread(y, my, y, my).sqrt());
                    let low = at.iter().map(|i| x[*i]).fold(f64::INFINITY, f64::min);
                    let high = at.iter().map(|i| x[*i]).fold(f64::NEG_INFINITY, f64::max);
                    let range = if high == low { 1.0 } else { high - low };
                    let (c1, c2) = (1e-4 * range * range, 9e-4 * range * range);
                    let luminance = (2.0 * mx * my + c1) / (mx * mx + my * my + c1);
                    let contrast = (2.0 * sx * sy + c2) / (sx * sx + sy * sy + c2);
                    let structure = (spread(x, mx, y, my) + c2 / 2.0) / (sx * sy + c2 / 2.0);
                    sum += luminance * contrast * structure;
                    count += 1.0;
                }
            }
        }
        (count > 0.0).then(|| sum / count)
    }

    fn near(found: Option<f64>, wanted: Option<f64>) -> bool {
        match (found, wanted) {
            (Some(found), Some(wanted)) => (found - wanted).abs() < 1e-9,
            (found, wanted) => found == wanted,
        }
    }

    #[test]
    fn windows_computed_by_hand() {
        let ramp: Vec<f64> = (0..7).map(f64::from).collect();
        let one = |y: &[f64], wanted: f64| {
            let found = ssim(&ramp, y, &[7]);
            assert!(near(found, Some(wanted)), "{found:?} {wanted}");
        };
        one(&ramp, 1.0);
        // Mean 3, variance 4, range 6: c1 = 0.0036, c2 = 0.0324.
        let turned: Vec<f64> = ramp.iter().map(|x| 6.0 - x).collect();
        one(&turned, (-8.0 + 0.0324) / (8.0 + 0.0324));
        let lifted: Vec<f64> = ramp.iter().map(|x| x + 1.0).collect();
        one(&lifted, (24.0 + 0.0036) / (25.0 + 0.0036));
        // Mean 3 and 0; variance 4 and 0; no covariance.
        one(&[0.0; 7], 0.0036 / (9.0 + 0.0036) * 0.0324 / (4.0 + 0.0324));
        // Equal values: the range is taken to be 1.
        let found = ssim(&[1.0f32; 7], &[2.0; 7], &[7]);
        assert!(near(found, Some(4.0001 / 5.0001)), "{found:?}");
        // There are two windows. The arrays differ only in the second one.
        let two: Vec<f64> = (0..9).map(f64::from).collect();
        let mut other = two.clone();
        other[8] = 7.0;
        let second = ssim(&two[2..], &other[2..], &[7]).unwrap();
        assert!(second < 1.0 && near(ssim(&two, &other, &[9]), Some((1.0 + second) / 2.0)));
    }

    #[test]
    fn it_is_as_defined() {
        let mut rng = SmallRng::seed_from_u64(1);
        for lengths in [
            [1, 1, 1],
            [1, 1, 6],
            [1, 1, 8],
            [1, 1, 9],
            [1, 1, 10_001],
            [1, 3, 20],
            [1, 30, 41],
            [2, 30, 41],
            [8, 9, 12],
            [20, 7, 33],
        ] {
            let len = lengths.iter().product::<usize>();
            for offset in [0.0, 1e6] {
                let wave = |i: usize| offset + (i as f64 * 0.1).sin() * 9.0;
                let x: Vec<f64> = (0..len).map(wave).collect();
                let noisy = |x: &f64| x + rng.random_range(-3.0..3.0);
                let mut y: Vec<f64> = x.iter().map(noisy).collect();
                let extents = lengths.map(|length| length as u64);
                assert!(
                    near(ssim(&x, &y, &extents), defined(&x, &y, lengths)),
                    "{lengths:?}"
                );
                y[len / 2] = f64::NAN;
                assert!(
                    near(ssim(&x, &y, &extents), defined(&x, &y, lengths)),
                    "{lengths:?}"
                );
            }
        }
    }

    #[test]
    fn leading_dimensions_are_slices() {
        let x: Vec<f64> = (0..3 * 8 * 9 * 10)
            .map(|i| (f64::from(i) * 0.3).sin())
            .collect();
        let y: Vec<f64> = x.iter().map(|x| x * x).collect();
        let slices = x.chunks(8 * 9 * 10).zip(y.chunks(8 * 9 * 10));
        let sum: f64 = slices
            .map(|(x, y)| defined(x, y, [8, 9, 10]).unwrap())
            .sum();
        assert!(near(ssim(&x, &y, &[3, 8, 9, 10]), Some(sum / 3.0)));
        assert!(near(ssim(&x, &y, &[3, 1, 8, 9, 1, 10]), Some(sum / 3.0)));
    }

    #[test]
    fn without_a_window_there_is_none() {
        assert_eq!(ssim::<f32>(&[], &[], &[0]), None);
        assert_eq!(ssim::<f32>(&[], &[], &[5, 0, 5]), None);
        assert_eq!(ssim(&[f32::NAN; 9], &[f32::NAN; 9], &[9]), None);
        assert_eq!(
            ssim(&[f64::MAX, f64::MIN], &[f64::MAX, f64::MIN], &[2]),
            None
        );
    }
}
