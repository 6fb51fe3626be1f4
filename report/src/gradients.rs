//! Differences of neighbours, of an array and its reconstruction.

use crate::histogram::Histogram;
use crate::lines::Line;
use crate::totals::BINS;

/// The histograms of the differences of neighbours along lines, original and reconstruction with the same bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients {
    /// Original and reconstruction.
    pub histograms: [Histogram; 2],
}

impl Gradients {
    /// Those of lines; none if no two neighbours have values.
    pub fn of(lines: &[Line]) -> Option<Self> {
        let largest = differences(lines)
            .flatten()
            .map(f64::abs)
            .reduce(f64::max)?;
        let end = if largest > 0.0 { largest } else { 1.0 };
        let empty = Histogram::new(-end, end, BINS);
        let mut histograms = [empty.clone(), empty];
        for both in differences(lines) {
            for (histogram, difference) in histograms.iter_mut().zip(both) {
                histogram.add(difference);
            }
        }
        Some(Self { histograms })
    }
}

/// The differences of neighbours that have values.
fn differences(lines: &[Line]) -> impl Iterator<Item = [f64; 2]> {
    let pairs = lines.iter().flat_map(|line| line.windows(2));
    pairs.filter_map(|two| {
        let ((x, y), (next_x, next_y)) = (two[0]?, two[1]?);
        Some([next_x - x, next_y - y])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_counted() {
        let line = vec![
            Some((0.0, 0.0)),
            Some((1.0, 2.0)),
            None,
            Some((5.0, 5.0)),
            Some((3.0, 5.0)),
        ];
        let found = Gradients::of(&[line]).unwrap();
        // Of -2 to 2: differences 1 and -2, and 2 and 0.
        let bin = |difference: f64| ((difference + 2.0) / 4.0 * BINS as f64) as usize;
        let [original, decoded] = found.histograms;
        assert_eq!((original.low, original.high), (-2.0, 2.0));
        assert_eq!((original.total(), decoded.total()), (2, 2));
        assert_eq!((original.counts[bin(1.0)], original.counts[0]), (1, 1));
        assert_eq!((decoded.counts[BINS - 1], decoded.counts[bin(0.0)]), (1, 1));
        assert_eq!(Gradients::of(&[vec![Some((1.0, 1.0)), None]]), None);
        assert_eq!(
            Gradients::of(&[vec![Some((1.0, 1.0)); 2]])
                .unwrap()
                .histograms[0]
                .high,
            1.0
        );
    }
}
