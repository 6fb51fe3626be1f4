//! Fill values of the command line.

use crate::args::Compress;
use crate::failure::Failure;
use crate::report;
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

/// The compressor with the fill values of the command line, or of the array.
///
/// # Errors
///
/// If there are too many values, or `auto` or `none` beside others.
pub fn with_fills<V: ferrosz::Value>(
    args: &Compress,
    compressor: Compressor,
    values: &[V],
) -> Result<Compressor, Failure> {
    let fills: Vec<Fill> = match &args.fill[..] {
        [] | [FillFlag::Auto] => Fill::detect(values),
        [FillFlag::None] => Vec::new(),
        flags => {
            let fill = |flag: &FillFlag| match flag {
                FillFlag::Fill(fill) => Some(*fill),
                FillFlag::Auto | FillFlag::None => None,
            };
            let fills: Option<Vec<Fill>> = flags.iter().map(fill).collect();
            fills.ok_or_else(|| Failure::usage("--fill: auto and none stand alone"))?
        }
    };
    let add = |compressor: Compressor, fill| compressor.fill(fill);
    let compressor = fills.into_iter().try_fold(compressor, add);
    compressor.map_err(|error| Failure::usage(format_args!("--fill: {error}")))
}

/// Fill values of a stream for people; none without a mask.
pub fn describe(fills: &[f64]) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for fill in fills {
        let name = match fill.is_nan() {
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
