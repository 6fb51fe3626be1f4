//! Values that are looked for, on the command line.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// An interval of values: each of its two ends may belong to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    low: Bound<f64>,
    high: Bound<f64>,
}

impl RangeBounds<f64> for Wanted {
    fn start_bound(&self) -> Bound<&f64> {
        self.low.as_ref()
    }

    fn end_bound(&self) -> Bound<&f64> {
        self.high.as_ref()
    }
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.trim().parse::<f64>() {
            Ok(number) if !number.is_nan() => Ok(number),
            _ => Err(
                "values are '>N', '>=N', '<N', '<=N' or 'A..B', both included, as in '>310' or '-1..1'",
            ),
        };
        let unbounded = Bound::Unbounded;
        let (low, high) = if let Some(text) = text.strip_prefix(">=") {
            (Bound::Included(number(text)?), unbounded)
        } else if let Some(text) = text.strip_prefix('>') {
            (Bound::Excluded(number(text)?), unbounded)
        } else if let Some(text) = text.strip_prefix("<=") {
            (unbounded, Bound::Included(number(text)?))
        } else if let Some(text) = text.strip_prefix('<') {
            (unbounded, Bound::Excluded(number(text)?))
        } else {
            let (low, high) = text.split_once("..").unwrap_or((text, text));
            (
                Bound::Included(number(low)?),
                Bound::Included(number(high)?),
            )
        };
        match (low, high) {
            (Bound::Included(low), Bound::Included(high)) if low > high => {
                Err(format!("the values end at {high}, below their start {low}"))
            }
            _ => Ok(Self { low, high }),
        }
    }
}

/// As the command line has it.
impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (Bound::Included(low), Bound::Included(high)) => write!(f, "{low}..{high}"),
            (Bound::Included(low), _) => write!(f, ">={low}"),
            (Bound::Excluded(low), _) => write!(f, ">{low}"),
            (_, Bound::Included(high)) => write!(f, "<={high}"),
            (_, Bound::Excluded(high)) => write!(f, "<{high}"),
            _ => f.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_values_are_comparisons_or_two_numbers() {
        let has = |text: &str, value: f64| text.parse::<Wanted>().unwrap().contains(&value);
        assert!(has(">310", 310.5) && !has(">310", 310.0));
        assert!(has(">=310", 310.0) && !has(">= 310", 309.0));
        assert!(has("<-1e3", -1001.0) && !has("<-1e3", -1000.0));
        assert!(has("<=0", 0.0) && !has("<=0", 0.1));
        assert!(has("-1..1", -1.0) && has("-1..1", 1.0) && !has("-1..1", 1.1));
        assert!(has("5", 5.0) && !has("5", 5.1) && has("<inf", 5.0));
        for text in [">310", ">=-2.5", "<1", "<=0", "-1..1"] {
            assert_eq!(text.parse::<Wanted>().unwrap().to_string(), text);
        }
        for bad in ["", ">", "a", "1..", "..1", ">nan", "=5", "1...2"] {
            assert!(bad.parse::<Wanted>().is_err(), "{bad}");
        }
    }
}
