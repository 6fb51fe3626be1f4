//! PSNR and SSIM of pieces of an array, one behind the other.

use crate::pair::Pair;
use ferrosz::Value;
use ferrosz_verify::ssim;

/// The most pieces.
const MOST: usize = 64;

/// The fewest rows of a band.
const FEWEST_ROWS: usize = 8;

/// The most values of a piece, from its middle.
const MOST_VALUES: usize = 1 << 21;

/// The figures of a piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// Its number among all pieces.
    pub number: usize,
    /// Decibels, relative to the range of the whole array; infinite without errors, none without values.
    pub psnr: Option<f64>,
    /// None if no window has all values.
    pub ssim: Option<f64>,
}

/// The figures of pieces: planes of the two fastest axes, or, of two axes and one, bands of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Slices {
    /// What a piece is, in words.
    pub what: String,
    /// All pieces.
    pub all: usize,
    /// Those that were measured.
    pub slices: Vec<Slice>,
}

impl Slices {
    /// Those of an array with this range.
    pub fn of<V: Value>(pair: &Pair<'_, V>, range: f64) -> Self {
        let cut = Cut::new(pair);
        let count = cut.all.min(MOST);
        let slices = (0..count).map(|number| {
            // The first and the last one are among them.
            let number = number * (cut.all - 1) / (count - 1).max(1);
            cut.measure(pair, number, range)
        });
        Self {
            slices: slices.collect(),
            what: cut.what,
            all: cut.all,
        }
    }
}

/// The division of an array into pieces.
struct Cut {
    what: String,
    all: usize,
    /// Rows of a piece, and values of a row.
    rows: usize,
    columns: usize,
    /// Rows of all pieces.
    all_rows: usize,
}

impl Cut {
    fn new<V: Value>(pair: &Pair<'_, V>) -> Self {
        let long: Vec<usize> = pair.long_axes();
        let length = |place: usize| long.get(place).map_or(1, |axis| pair.extents[*axis]);
        let (columns, all_rows) = match long.len() {
            // A line is cut into rows of a hundredth of it.
            0 | 1 => {
                let columns = pair.len().div_ceil(MOST * FEWEST_ROWS).max(8);
                (columns, pair.len() / columns)
            }
            _ => (length(0), pair.len() / length(0).max(1)),
        };
        let (rows, what) = match long.len() {
            0..=2 => {
                let rows = all_rows.div_ceil(MOST).max(FEWEST_ROWS);
                (rows, format!("bands of {} values", rows * columns))
            }
            _ => (
                length(1),
                format!("planes of {} x {} values", length(1), columns),
            ),
        };
        Self {
            what,
            all: (all_rows / rows.max(1)).max(1),
            rows: rows.min(all_rows.max(1)),
            columns,
            all_rows: all_rows.max(1),
        }
    }

    fn measure<V: Value>(&self, pair: &Pair<'_, V>, number: usize, range: f64) -> Slice {
        let rows = self.rows.min((MOST_VALUES / self.columns.max(1)).max(1));
        let first =
            (number * self.rows + (self.rows - rows) / 2).min(self.all_rows - 1) * self.columns;
        let last = (first + rows * self.columns).min(pair.len());
        let both = |at: usize| pair.both(at).unwrap_or((f64::NAN, f64::NAN));
        let (x, y): (Vec<f64>, Vec<f64>) = (first..last).map(both).unzip();
        let errors = x.iter().zip(&y).map(|(x, y)| y - x);
        let present = errors.filter(|error| error.is_finite());
        let (sum, count) = present.fold((0.0, 0u64), |(sum, count), error| {
            (sum + error * error, count + 1)
        });
        let rmse = (sum / count.max(1) as f64).sqrt();
        let extents = [(x.len() / self.columns.max(1)) as u64, self.columns as u64];
        Slice {
            number,
            psnr: (count > 0).then(|| 20.0 * (range / rmse).log10()),
            ssim: match extents[0] * extents[1] == x.len() as u64 {
                true => ssim(&x, &y, &extents),
                false => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays(count: usize) -> (Vec<f32>, Vec<f32>) {
        let x: Vec<f32> = (0..count).map(|i| (i as f32 * 0.03).sin() * 4.0).collect();
        let y = (0..)
            .zip(&x)
            .map(|(i, x)| x + ((i * 7) % 5 - 2) as f32 * 1e-3);
        let y = y.collect();
        (x, y)
    }

    #[test]
    fn planes_have_the_figures_of_plain_sums() {
        let (x, y) = arrays(3 * 20 * 31);
        let found = Slices::of(&Pair::new(&x, &y, &[3, 1, 20, 31], &[]), 8.0);
        assert_eq!((found.all, found.slices.len()), (3, 3));
        assert_eq!(found.what, "planes of 20 x 31 values");
        for slice in found.slices {
            let part = slice.number * 620..(slice.number + 1) * 620;
            let (x, y) = (&x[part.clone()], &y[part]);
            let squares = x
                .iter()
                .zip(y)
                .map(|(x, y)| (f64::from(*y) - f64::from(*x)).powi(2));
            let rmse = (squares.sum::<f64>() / 620.0).sqrt();
            assert!((slice.psnr.unwrap() - 20.0 * (8.0 / rmse).log10()).abs() < 1e-9);
            let expected = ssim(x, y, &[20, 31]).unwrap();
            assert!((slice.ssim.unwrap() - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn many_planes_are_sampled_from_the_first_to_the_last() {
        let (x, y) = arrays(500 * 9 * 8);
        let found = Slices::of(&Pair::new(&x, &y, &[5, 100, 9, 8], &[]), 8.0);
        assert_eq!((found.all, found.slices.len()), (500, 64));
        assert_eq!((found.slices[0].number, found.slices[63].number), (0, 499));
    }

    #[test]
    fn lines_and_planes_are_cut_into_bands() {
        let (x, y) = arrays(100_000);
        for extents in [
            &[100_000u64][..],
            &[1000, 100],
            &[1, 100, 1000],
            &[2, 50_000],
        ] {
            let found = Slices::of(&Pair::new(&x, &y, extents, &[]), 8.0);
            assert!(found.all >= 1 && found.slices.len() <= 64);
            assert!(
                found.slices.iter().all(|slice| slice.psnr.is_some()),
                "{extents:?}"
            );
            assert!(
                found.slices.iter().all(|slice| slice.ssim.is_some()),
                "{extents:?}"
            );
        }
        for few in [0, 1, 5] {
            let found = Slices::of(&Pair::new(&x[..few], &y[..few], &[few as u64], &[]), 8.0);
            assert_eq!((found.all, found.slices.len()), (1, 1));
        }
    }

    #[test]
    fn exact_and_empty_planes_have_no_decibels() {
        let x = [[1.0f32, 2.0], [f32::NAN, f32::NAN]].concat().repeat(9);
        let found = Slices::of(&Pair::new(&x[..2], &x[..2], &[2], &[]), 1.0);
        assert_eq!(found.slices[0].psnr, Some(f64::INFINITY));
        let found = Slices::of(&Pair::new(&x[2..4], &x[2..4], &[2], &[]), 1.0);
        assert_eq!(found.slices[0].psnr, None);
    }
}
