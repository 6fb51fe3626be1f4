//! Warnings about repeated values far outside the others that are not taken for fill values.

use crate::report;
use ferrosz::codec::{self, with_value};
pub use ferrosz::internals::{Outlying, find_outlying};
use ferrosz::{BoundMode, Info, ValueType};
use serde_json::{Value, json};

/// The warning for people.
pub fn warning(outlying: &Outlying, info: &Info) -> String {
    format!(
        "warning: {} occurs {} times, far outside the other values, and determines {}: --{} {} is an error of {}, and the \
         range is {} with this value and {} without it. If it stands for missing values, say so with --fill",
        name(outlying.value, info.dtype),
        outlying.count,
        match info.bound.mode() {
            BoundMode::Max => "the largest magnitude",
            _ => "the range",
        },
        info.bound.mode(),
        report::short(info.bound.value()),
        report::number(info.absolute_error),
        report::number(outlying.range),
        report::number(outlying.range_without),
    )
}

/// The warning for programs.
pub fn to_json(outlying: &Outlying, info: &Info) -> Value {
    json!({
        "kind": "outlying_value",
        "value": outlying.value,
        "count": outlying.count,
        "range": outlying.range,
        "range_without": outlying.range_without,
        "text": warning(outlying, info),
    })
}

/// A value with as many digits as its type needs.
fn name(value: f64, dtype: ValueType) -> String {
    let is_short = value == 0.0 || (1e-3..1e6).contains(&value.abs());
    use codec::Value as _;
    with_value!(dtype, V => {
        let value = V::from_number(value).unwrap_or_default();
        if is_short { value.to_string() } else { format!("{value:e}") }
    })
}
