//! Several error bounds on a command line.

use crate::args::bound_value;
use crate::failure::Failure;
use clap::Args;
use ferrosz::{Bound, BoundMode};

/// Any number of error bounds of each mode.
#[derive(Debug, Args)]
pub struct Bounds {
    /// Absolute error bounds
    #[arg(long, value_name = "E,...", value_delimiter = ',', allow_negative_numbers = true, value_parser = bound_value)]
    pub abs: Vec<f64>,
    /// Error bounds relative to the range
    #[arg(long, value_name = "E,...", value_delimiter = ',', allow_negative_numbers = true, value_parser = bound_value)]
    pub range: Vec<f64>,
    /// Error bounds relative to the largest magnitude
    #[arg(long, value_name = "E,...", value_delimiter = ',', allow_negative_numbers = true, value_parser = bound_value)]
    pub max: Vec<f64>,
}

impl Bounds {
    /// All bounds that are given; `ranges`, relative to the range, if none is.
    ///
    /// # Errors
    ///
    /// If a bound is not a valid one.
    pub fn all_or(&self, ranges: &[f64]) -> Result<Vec<Bound>, Failure> {
        let none = self.abs.is_empty() && self.range.is_empty() && self.max.is_empty();
        let ranges = if none { ranges } else { &self.range[..] };
        [
            (BoundMode::Abs, &self.abs[..]),
            (BoundMode::Range, ranges),
            (BoundMode::Max, &self.max[..]),
        ]
        .into_iter()
        .flat_map(|(mode, values)| values.iter().map(move |value| Bound::new(mode, *value)))
        .collect::<Result<_, _>>()
        .map_err(Failure::usage)
    }
}
