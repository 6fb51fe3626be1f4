//! Error bounds on a command line.

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

/// The error bound: exactly one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct BoundFlags {
    /// Absolute error bound: |x - x'| <= E
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub abs: Option<f64>,
    /// Error bound relative to the range: |x - x'| <= E * (max - min)
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub range: Option<f64>,
    /// Error bound relative to the largest magnitude: |x - x'| <= E * max|x|
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub max: Option<f64>,
    /// Same as --range; most compressors call it REL
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub rel: Option<f64>,
}

impl BoundFlags {
    /// Mode and number of the bound; the command line has exactly one.
    pub fn given(&self) -> Option<(BoundMode, f64)> {
        [
            (BoundMode::Abs, self.abs),
            (BoundMode::Range, self.range.or(self.rel)),
            (BoundMode::Max, self.max),
        ]
        .into_iter()
        .find_map(|(mode, value)| Some((mode, value?)))
    }
}

/// Parses a bound of any mode: a finite number that is not negative.
pub fn bound_value(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "a bound is a number, as in 1e-3".to_owned())?;
    Bound::abs(value).map_err(|error| error.to_string())?;
    Ok(value)
}
