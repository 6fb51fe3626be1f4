//! `ferrosz verify`.

use crate::args::Verify;
use crate::common::Common;
use crate::decompress;
use crate::failure::Failure;
use crate::field_file::{self, Array, Assumed, CHECK_FLAGS, Field, Shape};
use crate::judge::{Judgement, judge};
use crate::location::Location;
use crate::with_field;
use crate::{json, output, report, stream_file};
use ferrosz::{Bound, BoundMode, Decompressor, Element, Info};
use serde_json::{Value, json};
use std::time::Instant;

/// Compares a stream with the original array; true if the bound and the stream's promise are kept.
///
/// # Errors
///
/// If an input cannot be read or decoded, both are `-`, or their element types or lengths differ.
pub fn run(args: &Verify, common: &Common) -> Result<bool, Failure> {
    if args.original == Location::Pipe && args.stream == Location::Pipe {
        return Err(Failure::usage(
            "only one of ORIGINAL and STREAM can be '-': put the other into a file",
        ));
    }
    let start = Instant::now();
    let stream = stream_file::read(&args.stream)?;
    let info = stream_file::info(&args.stream, &stream)?;
    let assumed = Assumed {
        shape: shape_of(&info),
        check: CHECK_FLAGS,
    };
    let original = field_file::read(&args.original, &args.shape, Some(&assumed))?;
    check_comparable(args, &original, &info)?;
    let judgement = with_field!(&original, array => compare(args, common, array, &stream, &info)?);
    let text = if common.json {
        let decompressor = Decompressor::new().device(common.device);
        let device = decompressor.device_for(&stream, judgement.values as usize)?;
        let run = json!({
            "stream": args.stream.to_string(),
            "device": device.to_string(),
            "seconds": start.elapsed().as_secs_f64(),
        });
        let begin = json::begin("verify", &args.original);
        let found = to_json(&judgement);
        let object = json::join([begin, json::stream(&info), found, run]);
        format!("{object}\n")
    } else {
        report::pairs(&to_pairs(&judgement, &info))
    };
    output::print(&text)?;
    Ok(judgement.is_kept())
}

fn shape_of(info: &Info) -> Shape {
    Shape {
        dtype: info.dtype,
        extents: info.extents.clone(),
    }
}

fn check_comparable(args: &Verify, original: &Field, info: &Info) -> Result<(), Failure> {
    let found = original.shape();
    let wanted = shape_of(info);
    if found == wanted {
        return Ok(());
    }
    Err(Failure::failed(format_args!(
        "{} holds {found}, and {} is of {wanted}: they are not the same array",
        args.original, args.stream
    )))
}

fn compare<T: Element>(
    args: &Verify,
    common: &Common,
    original: &Array<T>,
    stream: &[u8],
    info: &Info,
) -> Result<Judgement, Failure> {
    let decoded: Array<T> = decompress::whole(stream, info, common)
        .map_err(|error| stream_file::explain(&args.stream, error))?;
    Ok(judge(
        &original.values,
        &decoded.values,
        bound_of(info)?,
        info.absolute_error,
    ))
}

/// The bound to judge by. An update may change the range or the maximum that a relative bound was resolved with; for an
/// updated stream it is therefore the absolute error, which updates preserve.
fn bound_of(info: &Info) -> Result<Bound, Failure> {
    match info.update_bytes {
        0 => Ok(info.bound),
        _ => Bound::abs(info.absolute_error).map_err(Failure::failed),
    }
}

fn to_json(found: &Judgement) -> Value {
    json!({
        "kept": found.is_kept(),
        "limit": found.limit,
        "largest_error": found.largest_error,
        "largest_error_at": found.largest_error_at,
        "largest_error_over_absolute_error": found.largest_over_promise(),
        "values": found.values,
        "values_over_limit": found.over_limit,
        "values_over_absolute_error": found.over_promise,
        "not_finite": found.not_finite,
        "not_finite_changed": found.not_finite_changed,
        // JSON has no infinity: for exact values, "psnr" is null.
        "exact": found.psnr() == f64::INFINITY,
        "psnr": found.psnr(),
        "range": found.range,
    })
}

fn to_pairs(found: &Judgement, info: &Info) -> Vec<(&'static str, String)> {
    let place = (found.largest_error_at).map_or(String::new(), |at| format!(", at element {at}"));
    let mut pairs = vec![
        ("bound kept", verdict(found)),
        ("error bound", bound_line(found, info)),
        (
            "absolute error",
            format!(
                "{} promised by the stream",
                report::absolute_error(found.promise)
            ),
        ),
        (
            "largest error",
            format!("{}{place}", report::number(found.largest_error)),
        ),
        (
            "largest / promised",
            format!("{:.6}", found.largest_over_promise()),
        ),
        ("PSNR", report::decibels(found.psnr())),
        ("ratio", format!("{:.3}", info.ratio())),
        (
            "bits a value",
            report::bits_per_value(info.bits_per_value()),
        ),
    ];
    if found.not_finite > 0 {
        let changed = found.not_finite_changed;
        let text = format!("{} not finite, {changed} of them changed", found.not_finite);
        pairs.push(("NaN, infinities", text));
    }
    pairs
}

fn verdict(found: &Judgement) -> String {
    if found.is_kept() {
        return format!("yes, by all {} values", found.values);
    }
    format!(
        "NO: {} of {} values are off by more than the bound, {} by more than the stream promises; \
         {} not finite changed",
        found.over_limit, found.values, found.over_promise, found.not_finite_changed
    )
}

fn bound_line(found: &Judgement, info: &Info) -> String {
    let text = report::bound(info.bound);
    match info.bound.mode() {
        BoundMode::Abs => text,
        _ if info.update_bytes > 0 => {
            format!("{text} of the array before its updates, which keep the absolute error")
        }
        _ => format!("{text}, {} for this array", report::number(found.limit)),
    }
}
