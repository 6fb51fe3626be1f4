//! Whether a stream without header keeps its error.

use super::args::{BareVerify, FormatFlags};
use super::{begin, error_for, exact, explain, read, sizes};
use crate::compared::{self, Compared};
use crate::{
    common::Common, failure::Failure, field_file, json, location::Location, output, report,
};
use ferrosz_cuszp::{Bound, Element};
use ferrosz_verify::{Claim, Comparison};
use serde_json::json;
use std::time::Instant;

/// Compares a stream with the original array; true if the absolute error of the bound is kept.
///
/// # Errors
///
/// If an input cannot be read or decoded, or both are `-`.
pub fn run<R: FormatFlags>(args: &BareVerify<R>, common: &Common) -> Result<bool, Failure> {
    if args.original == Location::Pipe && args.stream == Location::Pipe {
        return Err(Failure::usage(compared::TWO_PIPES));
    }
    let start = Instant::now();
    let bound = args.bound.get()?;
    let stream = read::<R>(&args.stream, "verify")?;
    let field = field_file::read(&args.original, &args.shape, None)?;
    field.check_real("a bare stream")?;
    with_element_field!(field, array => {
        let error = error_for(&args.format, bound, &args.original, &array.values)?;
        let bare = args.format.bare(&array.extents, error)?;
        let decoded = (bare.decompress_on(common.device, &stream))
            .map_err(|error| explain(&args.stream, error))?;
        let claim = Claim {
            extents: array.extents.clone(),
            bound: Bound::abs(error.to_f64()).map_err(Failure::usage)?,
            absolute_error: error.to_f64(),
            fills: Vec::new(),
            safeguards: Vec::new(),
            bounds: None,
        };
        let comparison = Comparison::of_claim(&array.values, &decoded, &claim)?;
        let field_bytes = size_of_val(&array.values[..]) as f64;
        let compared = Compared {
            extents: &array.extents,
            bound: format!("{}, or --abs {}", report::bound(bound), exact(error)),
            largest_over_promise: comparison.judgement.largest_over_promise(),
            ratio: field_bytes / stream.len() as f64,
            bits_per_value: 8.0 * stream.len() as f64 / array.values.len() as f64,
            safeguards: None,
            comparison: &comparison,
        };
        let text = if common.json {
            let run = json!({
                "bound_mode": bound.mode().name(),
                "bound": bound.value(),
                "absolute_error": error.to_f64(),
                "device": common.device.to_string(),
                "seconds": start.elapsed().as_secs_f64(),
            });
            let begin = begin::<R>("verify", &args.original);
            let of_stream = json::place("stream", &args.stream);
            let sizes = of::<_>(&array.values, &array.extents, stream.len());
            let object = json::join([begin, of_stream, sizes, compared.to_json(), run]);
            format!("{object}\n")
        } else {
            report::pairs(&compared.to_pairs())
        };
        output::print(&text)?;
        Ok(comparison.is_kept())
    })
}

/// [`sizes`] for the type of these values.
fn of<T: Element>(_: &[T], extents: &[u64], stream_bytes: usize) -> serde_json::Value {
    sizes::<T>(extents, stream_bytes as u64)
}
