//! Error bounds on a command line.

use crate::failure::Failure;
use clap::Args;
use ferrosz::target::{Target, TargetKind};
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
    /// Error bounds relative to each value
    #[arg(long, value_name = "E,...", value_delimiter = ',', allow_negative_numbers = true, value_parser = bound_value)]
    pub pwrel: Vec<f64>,
}

impl Bounds {
    /// Whether any bound is given.
    pub fn is_given(&self) -> bool {
        let all = [&self.abs, &self.range, &self.max, &self.pwrel];
        all.iter().any(|bounds| !bounds.is_empty())
    }

    /// All bounds that are given; `ranges`, relative to the range, if none is.
    ///
    /// # Errors
    ///
    /// If a bound is not a valid one.
    pub fn all_or(&self, ranges: &[f64]) -> Result<Vec<Bound>, Failure> {
        let ranges = if self.is_given() {
            &self.range[..]
        } else {
            ranges
        };
        [
            (BoundMode::Abs, &self.abs[..]),
            (BoundMode::Range, ranges),
            (BoundMode::Max, &self.max[..]),
            (BoundMode::Pwrel, &self.pwrel[..]),
        ]
        .into_iter()
        .flat_map(|(mode, values)| values.iter().map(move |value| Bound::new(mode, *value)))
        .collect::<Result<_, _>>()
        .map_err(Failure::usage)
    }
}

/// The error bound, or the target that it is searched for: exactly one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct BoundFlags {
    /// Absolute error bound: |x - x'| <= E
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub abs: Option<f64>,
    /// Error bound relative to the range: |x - x'| <= E * (max - min); also --rel
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub range: Option<f64>,
    /// Same as --range; most compressors call it REL
    #[arg(long, hide = true, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub rel: Option<f64>,
    /// Error bound relative to the largest magnitude: |x - x'| <= E * max|x|
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub max: Option<f64>,
    /// Error bound relative to each value: |x - x'| <= E * |x|; signs are kept
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub pwrel: Option<f64>,
    /// Search the bound whose PSNR is this many decibels, or up to 0.5 more
    #[arg(long, value_name = "DB", allow_negative_numbers = true, value_parser = psnr_value)]
    pub psnr: Option<f64>,
    /// Search the bound with this RMS error, or up to 5 % less; --mae: mean |error|
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = rmse_value)]
    pub rmse: Option<f64>,
    /// Search the bound whose mean absolute error is this, or up to 5 % less. The help of `--rmse` names it, so that the help
    /// fits a screen.
    #[arg(long, hide = true, value_name = "E", allow_negative_numbers = true, value_parser = mae_value)]
    pub mae: Option<f64>,
    /// Search the bound whose ratio is this, or up to 5 % more
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = ratio_value)]
    pub ratio: Option<f64>,
}

/// What decides the error: a bound, or a target of a search for one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// This bound.
    Bound(Bound),
    /// The bound that reaches this target.
    Target(Target),
}

impl BoundFlags {
    /// The bound or the target.
    ///
    /// # Errors
    ///
    /// If there is none, or its number is not a valid one.
    pub fn aim(&self) -> Result<Aim, Failure> {
        let bounds = [
            (BoundMode::Abs, self.abs),
            (BoundMode::Range, self.range.or(self.rel)),
            (BoundMode::Max, self.max),
            (BoundMode::Pwrel, self.pwrel),
        ];
        let targets = [
            (TargetKind::Psnr, self.psnr),
            (TargetKind::Rmse, self.rmse),
            (TargetKind::Mae, self.mae),
            (TargetKind::Ratio, self.ratio),
        ];
        if let Some((mode, value)) = first_given(bounds) {
            return Bound::new(mode, value)
                .map(Aim::Bound)
                .map_err(Failure::usage);
        }
        let (kind, value) = first_given(targets).ok_or_else(|| {
            Failure::usage("an error bound or a target is needed: --abs, --range, --max, --pwrel, --psnr, --rmse, --mae or --ratio")
        })?;
        Target::new(kind, value)
            .map(Aim::Target)
            .map_err(Failure::usage)
    }
}

/// The first of some options that has a value.
fn first_given<K, const N: usize>(options: [(K, Option<f64>); N]) -> Option<(K, f64)> {
    options
        .into_iter()
        .find_map(|(kind, value)| Some((kind, value?)))
}

fn psnr_value(text: &str) -> Result<f64, String> {
    target_value(TargetKind::Psnr, text)
}

fn rmse_value(text: &str) -> Result<f64, String> {
    target_value(TargetKind::Rmse, text)
}

fn mae_value(text: &str) -> Result<f64, String> {
    target_value(TargetKind::Mae, text)
}

fn ratio_value(text: &str) -> Result<f64, String> {
    target_value(TargetKind::Ratio, text)
}

/// Parses the number of a target.
fn target_value(kind: TargetKind, text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "a target is a number, as in 80 or 1e-3".to_owned())?;
    Target::new(kind, value).map_err(|error| error.to_string())?;
    Ok(value)
}

/// Parses a bound of any mode: a finite number that is not negative.
pub fn bound_value(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "a bound is a number, as in 1e-3".to_owned())?;
    Bound::abs(value).map_err(|error| error.to_string())?;
    Ok(value)
}
