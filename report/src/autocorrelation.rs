//! How errors of neighbours go together.

use crate::lines::Line;

/// The longest distance between neighbours.
const MOST_LAGS: usize = 48;

/// The autocorrelation of errors along lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Autocorrelation {
    /// The correlations at distances from 1 on.
    pub at_lags: Vec<f64>,
    /// The bounds that 95 % of the correlations of independent errors are within.
    pub noise: f64,
}

impl Autocorrelation {
    /// That of lines; none if all errors are equal.
    pub fn of(lines: &[Line]) -> Option<Self> {
        let errors: Vec<Vec<Option<f64>>> = (lines.iter())
            .map(|line| line.iter().map(|pair| pair.map(|(x, y)| y - x)).collect())
            .collect();
        let all = || errors.iter().flatten().flatten();
        let count = all().count() as f64;
        let mean = all().sum::<f64>() / count;
        let variance = all().map(|error| (error - mean).powi(2)).sum::<f64>() / count;
        // Rounding alone gives equal errors a variance.
        let is_spread = variance > (mean * 1e-12).powi(2);
        if !is_spread {
            return None;
        }
        let most = MOST_LAGS.min(lines.first().map_or(0, Vec::len).saturating_sub(1) / 2);
        let at_lags: Option<Vec<f64>> = (1..=most.max(1))
            .map(|lag| {
                let pairs = errors
                    .iter()
                    .flat_map(|line| line.iter().zip(line.iter().skip(lag)));
                let products =
                    pairs.filter_map(|(one, other)| Some((one.as_ref()?, other.as_ref()?)));
                let (mut sum, mut pairs) = (0.0, 0u64);
                for (one, other) in products {
                    sum += (one - mean) * (other - mean);
                    pairs += 1;
                }
                (pairs > 0).then(|| sum / pairs as f64 / variance)
            })
            .collect();
        Some(Self {
            at_lags: at_lags?,
            noise: 1.96 / count.sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_are_those_of_plain_sums() {
        let errors: Vec<Vec<f64>> = (0..3)
            .map(|line| {
                let error =
                    |i: usize| ((i * 37 + line * 11) % 23) as f64 * 0.1 + (i as f64 * 0.3).sin();
                (0..60).map(error).collect()
            })
            .collect();
        let lines: Vec<Line> = (errors.iter())
            .map(|line| line.iter().map(|error| Some((5.0, 5.0 + error))).collect())
            .collect();
        let found = Autocorrelation::of(&lines).unwrap();
        assert_eq!(found.at_lags.len(), 29);
        let all: Vec<f64> = errors.concat();
        let mean = all.iter().sum::<f64>() / 180.0;
        let variance = all.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / 180.0;
        for (lag, correlation) in (1..).zip(&found.at_lags) {
            let mut sum = 0.0;
            for line in &errors {
                for i in 0..60 - lag {
                    sum += (line[i] - mean) * (line[i + lag] - mean);
                }
            }
            let expected = sum / (3 * (60 - lag)) as f64 / variance;
            assert!(
                (correlation - expected).abs() < 1e-9,
                "{correlation} {expected}"
            );
        }
        assert_eq!(found.noise, 1.96 / 180f64.sqrt());
    }

    #[test]
    fn errors_that_alternate_and_equal_ones() {
        let alternating = |i: usize| Some((0.0, if i.is_multiple_of(2) { 1.0 } else { -1.0 }));
        let found = Autocorrelation::of(&[(0..8).map(alternating).collect()]).unwrap();
        assert_eq!(found.at_lags, [-1.0, 1.0, -1.0]);
        assert_eq!(Autocorrelation::of(&[vec![Some((1.0, 1.5)); 9]]), None);
        assert_eq!(Autocorrelation::of(&[vec![None; 9]]), None);
        assert_eq!(Autocorrelation::of(&[]), None);
    }
}
