//! Fill values of the command line.

use crate::{failure::Failure, report};
use clap::builder::{OsStringValueParser, TypedValueParser};
use ferrosz::{Compressor, Fill};
use serde_json::{Value, json};

/// A value of `--fill`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FillFlag {
    /// Fill values are found in the array.
    Auto,
    /// There are none.
    None,
    /// This one.
    Fill(Fill),
}

/// The parser of `--fill`.
pub fn fill_flag() -> impl TypedValueParser<Value = FillFlag> {
    OsStringValueParser::new().try_map(|text| {
        let text = text.to_string_lossy();
        match text.as_ref() {
            "auto" => Ok(FillFlag::Auto),
            "none" => Ok(FillFlag::None),
            _ => match text.parse::<f64>() {
                Ok(value) => Ok(FillFlag::Fill(value.into())),
                Err(_) => Err("give a number, nan, auto or none"),
            },
        }
    })
}

/// The compressor with the fill values of the command line; by default, those that the array has of the ones that its file
/// names, and those that are found in it.
///
/// # Errors
///
/// If there are too many values, or `auto` or `none` beside others.
pub fn with_fills<V: ferrosz::Value>(
    flags: &[FillFlag],
    compressor: Compressor,
    values: &[V],
    named: &[Fill],
) -> Result<Compressor, Failure> {
    let fills = match flags {
        [] | [FillFlag::Auto] => return Ok(compressor.fills_of(values, named)),
        [FillFlag::None] => &[],
        flags => flags,
    };
    fills
        .iter()
        .try_fold(compressor, |compressor, flag| match flag {
            FillFlag::Fill(fill) => compressor
                .fill(*fill)
                .map_err(|error| Failure::usage(format_args!("--fill: {error}"))),
            FillFlag::Auto | FillFlag::None => {
                Err(Failure::usage("--fill: auto and none stand alone"))
            }
        })
}

/// Whether fill values are found in the array.
pub fn are_found(flags: &[FillFlag]) -> bool {
    matches!(flags, [] | [FillFlag::Auto])
}

/// Fill values of a stream for people; none without a mask.
pub fn describe(fills: &[f64]) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    let has_others = fills.iter().any(|fill| !fill.is_nan());
    for fill in fills {
        let name = match fill.is_nan() {
            // Beside others NaN is always one, whether the array has any or not.
            true if has_others => "any nan".to_owned(),
            true => "nan".to_owned(),
            false => report::short(*fill),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// Fill values of a stream for programs: NaN as text, as JSON has no number for it.
pub fn to_json(fills: &[f64]) -> Value {
    let value = |fill: &f64| match fill.is_nan() {
        true => json!("nan"),
        false => json!(fill),
    };
    fills.iter().map(value).collect()
}
