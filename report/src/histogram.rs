//! Counts of values in bins of one width.

/// Counts of values in bins of one width.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// The low end of the first bin.
    pub low: f64,
    /// The high end of the last bin.
    pub high: f64,
    /// The values of each bin. Values beyond the ends are in the first and the last one.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Empty bins between two numbers.
    pub fn new(low: f64, high: f64, bins: usize) -> Self {
        Self {
            low,
            high,
            counts: vec![0; bins.max(1)],
        }
    }

    /// Counts a value.
    pub fn add(&mut self, value: f64) {
        let bins = self.counts.len();
        let position = (value - self.low) / (self.high - self.low) * bins as f64;
        // A number that is none, as of an empty range, becomes 0.
        let bin = (position.max(0.0) as usize).min(bins - 1);
        self.counts[bin] += 1;
    }

    /// Counts the values of another one with the same bins.
    pub fn and(mut self, other: &Self) -> Self {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self
    }

    /// All values.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The corners of the outline of the bars: each bin's share of all values.
    pub fn outline(&self) -> Vec<(f64, f64)> {
        let width = (self.high - self.low) / self.counts.len() as f64;
        let total = self.total().max(1) as f64;
        let corners = (0u32..).zip(&self.counts).flat_map(|(bin, count)| {
            let (left, share) = (self.low + f64::from(bin) * width, *count as f64 / total);
            [(left, share), (left + width, share)]
        });
        corners.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_those_of_numpy() {
        // numpy.histogram([-1, -0.5, 0, 0.1, 0.3, 0.99, 1], bins=4, range=(-1, 1))[0]
        let mut found = Histogram::new(-1.0, 1.0, 4);
        for value in [-1.0, -0.5, 0.0, 0.1, 0.3, 0.99, 1.0] {
            found.add(value);
        }
        assert_eq!(found.counts, [1, 1, 3, 2]);
        let twice = found.clone().and(&found);
        assert_eq!((twice.total(), &twice.counts[..]), (14, &[2, 2, 6, 4][..]));
        let outline = found.outline();
        assert_eq!(outline[2], (-0.5, 1.0 / 7.0));
        assert_eq!(outline.last(), Some(&(1.0, 2.0 / 7.0)));
    }

    #[test]
    fn what_is_outside_is_in_the_last_bins() {
        let mut found = Histogram::new(0.0, 1.0, 2);
        for value in [-9.0, f64::NEG_INFINITY, 9.0, f64::INFINITY, f64::NAN] {
            found.add(value);
        }
        assert_eq!(found.counts, [3, 2]);
        let mut empty = Histogram::new(1.0, 1.0, 3);
        empty.add(1.0);
        assert_eq!(empty.total(), 1);
    }
}
