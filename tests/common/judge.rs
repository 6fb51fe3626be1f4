//! The judge: is a decoded field within the bound the user gave? In exact arithmetic, and without
//! a line of the library's quantiser.

use ferrosz::{Bound, BoundMode, Value};
use num_rational::BigRational;

fn exact(value: f64) -> BigRational {
    BigRational::from_float(value).expect("finite")
}

/// The absolute error that the bound allows on this field: an exact number.
fn allowed<V: Value>(bound: Bound, original: &[V]) -> BigRational {
    let finite = original
        .iter()
        .map(|x| x.to_number())
        .filter(|x| x.is_finite());
    let (min, max) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), x| {
        (min.min(x), max.max(x))
    });
    let scale = match bound.mode() {
        BoundMode::Abs => exact(1.0),
        _ if min > max => exact(0.0),
        BoundMode::Range => exact(max) - exact(min),
        BoundMode::Max => exact(max.abs().max(min.abs())),
        BoundMode::Pwrel => unreachable!("each value has an error of its own"),
    };
    exact(bound.value()) * scale
}

/// Nothing, or what is wrong with the first value that is.
pub fn judge<V: Value>(bound: Bound, original: &[V], decoded: &[V]) -> Result<(), String> {
    if original.len() != decoded.len() {
        return Err(format!(
            "{} values became {}",
            original.len(),
            decoded.len()
        ));
    }
    if bound.mode() == BoundMode::Pwrel {
        return judge_pointwise(bound.value(), original, decoded);
    }
    let allowed = allowed(bound, original);
    // A number safely below the allowed error, for the clear cases: differences in f64 are off by
    // less than one part in 2^52.
    let clear = clearly_below(&allowed);
    for (i, (x, y)) in original.iter().zip(decoded).enumerate() {
        if x.to_value_bits() == y.to_value_bits() {
            continue;
        }
        let (x, y) = (x.to_number(), y.to_number());
        if !x.is_finite() {
            return Err(format!("value {i}: {x} is not bit-exact: {y}"));
        }
        if !y.is_finite() {
            return Err(format!("value {i}: {x} became {y}"));
        }
        let is_clear = (x - y).abs() < clear;
        if !is_clear {
            let difference = exact(x) - exact(y);
            let is_within = difference <= allowed && -difference <= allowed;
            if !is_within {
                return Err(format!("value {i}: {x:e} became {y:e}, bound {bound:?}"));
            }
        }
    }
    Ok(())
}

/// As [`judge`], with a bound relative to each value: signs must come back, too.
fn judge_pointwise<V: Value>(bound: f64, original: &[V], decoded: &[V]) -> Result<(), String> {
    let allowed = exact(bound);
    for (i, (x, y)) in original.iter().zip(decoded).enumerate() {
        if x.to_value_bits() == y.to_value_bits() {
            continue;
        }
        let (x, y) = (x.to_number(), y.to_number());
        let may_differ =
            x.is_finite() && y.is_finite() && x.is_sign_negative() == y.is_sign_negative();
        let is_within = may_differ
            && (is_clearly_within(bound, x, y) || {
                let (difference, most) = (exact(x) - exact(y), &allowed * exact(x.abs()));
                difference <= most && -difference <= most
            });
        if !is_within {
            return Err(format!("value {i}: {x:e} became {y:e}, pwrel {bound}"));
        }
    }
    Ok(())
}

/// The clear cases of a relative bound, which are nearly all: a difference in `f64`, and a product that is a normal number,
/// are each off by less than one part in 2^52.
fn is_clearly_within(bound: f64, x: f64, y: f64) -> bool {
    let most = bound * x.abs();
    most.is_normal() && (x - y).abs() < most * 0.999_999
}

/// A number a little below the largest that is allowed, found by halving the range of bit patterns,
/// which are in the order of the numbers.
fn clearly_below(allowed: &BigRational) -> f64 {
    let (mut low, mut high) = (0u64, f64::MAX.to_bits());
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if &exact(f64::from_bits(middle)) <= allowed {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    f64::from_bits(low) * 0.999_999
}
