//! Durations of repeated work.

use ferrosz_cli::failure::Failure;
use std::time::Instant;

/// Durations of runs of the same work, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// The shortest.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The longest.
    pub max: f64,
}

impl Times {
    /// The times of these durations; none if there are none.
    pub fn of(mut seconds: Vec<f64>) -> Option<Self> {
        seconds.sort_by(f64::total_cmp);
        Some(Self {
            min: *seconds.first()?,
            median: *seconds.get(seconds.len() / 2)?,
            max: *seconds.last()?,
        })
    }

    /// 10^9 bytes a second, by the median.
    pub fn rate(&self, bytes: u64) -> f64 {
        1e-9 * bytes as f64 / self.median
    }

    /// Microseconds: shortest, median, longest.
    pub fn microseconds(&self) -> [f64; 3] {
        [self.min, self.median, self.max].map(|seconds| 1e6 * seconds)
    }
}

/// Times of `repeat` runs after `warm_up` others; `run` returns the duration of a run in seconds.
///
/// # Errors
///
/// The first error of a run.
pub fn sample<E>(
    warm_up: u32,
    repeat: u32,
    mut run: impl FnMut() -> Result<f64, E>,
) -> Result<Times, E> {
    for _ in 0..warm_up {
        run()?;
    }
    // At least one run.
    let first = run()?;
    let mut seconds = vec![first];
    for _ in 1..repeat {
        seconds.push(run()?);
    }
    Ok(Times::of(seconds).unwrap_or(Times {
        min: first,
        median: first,
        max: first,
    }))
}

/// Times of `repeat` runs of `work` after `warm_up` others, by the host's clock.
///
/// # Errors
///
/// The first error of a run.
pub fn by_clock(
    warm_up: u32,
    repeat: u32,
    mut work: impl FnMut() -> Result<(), Failure>,
) -> Result<Times, Failure> {
    sample(warm_up, repeat, || {
        let start = Instant::now();
        work()?;
        Ok(start.elapsed().as_secs_f64())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_the_warm_up_do_not_count() {
        let mut durations = [90.0, 80.0, 3.0, 1.0, 2.0, 5.0, 4.0].into_iter();
        let found = sample(2, 5, || durations.next().ok_or("too many runs"));
        let (min, median, max) = (1.0, 3.0, 5.0);
        assert_eq!(found, Ok(Times { min, median, max }));
        assert_eq!(durations.next(), None);
        assert_eq!(sample(0, 1, || Err::<f64, _>("broken")), Err("broken"));
    }

    #[test]
    fn rates_are_of_the_median() {
        let times = Times::of(vec![1.0, 2.0, 7.0]).unwrap();
        assert_eq!(times.rate(4_000_000_000), 2.0);
        assert_eq!(times.microseconds(), [1e6, 2e6, 7e6]);
        assert_eq!(Times::of(Vec::new()), None);
    }
}
