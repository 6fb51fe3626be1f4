//! `ferrosz verify`.

use crate::array::{Array, Field, Shape};
use crate::field_file::{self, Assumed, CHECK_FLAGS};
use crate::{
    args::Verify, common::Common, decompress, failure::Failure, frames, json, location::Location,
    output, report, stream_file, values::Values,
};
use ferrosz::{BoundMode, Decompressor, Info};
use ferrosz_verify::{Class, Comparison, Judgement, Kept, Quality};
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
    if stream_file::is_frames(&stream) {
        return frames::examine::verify(args, &stream, common);
    }
    let info = stream_file::info(&args.stream, &stream)?;
    let assumed = Assumed {
        shape: shape_of(&info),
        check: CHECK_FLAGS,
    };
    let original = field_file::read(&args.original, &args.shape, Some(&assumed))?;
    check_comparable(args, &original, &info)?;
    let comparison = with_field!(&original, array => compare(args, common, array, &stream, &info)?);
    let judgement = &comparison.judgement;
    let text = if common.json {
        let decompressor = Decompressor::new().device(common.device);
        let device = decompressor.device_for(&stream, judgement.values as usize)?;
        let run = json!({
            "device": device.to_string(),
            "seconds": start.elapsed().as_secs_f64(),
        });
        let begin = json::begin("verify", &args.original);
        let found = to_json(&comparison, &info);
        let of_stream = json::place("stream", &args.stream);
        let object = json::join([begin, of_stream, json::stream(&info), found, run]);
        format!("{object}\n")
    } else {
        report::pairs(&to_pairs(&comparison, &info))
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

fn compare<V: ferrosz::Value>(
    args: &Verify,
    common: &Common,
    original: &Array<V>,
    stream: &[u8],
    info: &Info,
) -> Result<Comparison, Failure> {
    let decoded: Values<V> = decompress::whole_or_mapped(stream, info, common)
        .map_err(|error| stream_file::explain(&args.stream, error))?;
    Ok(Comparison::new(&original.values, &decoded, info)?)
}

fn to_json(comparison: &Comparison, info: &Info) -> Value {
    let index = |at: Option<u64>| at.map(|at| coordinates(at, &info.extents));
    let Comparison {
        judgement: found,
        quality,
        fills,
    } = comparison;
    let class = |(class, kept): &(Class, Kept)| json!({ "class": class.name(), "count": kept.count, "kept": kept.kept });
    json!({
        "kept": found.is_kept(),
        "limit": found.limit,
        "largest_error": found.largest_error,
        "largest_error_at": found.largest_error_at,
        "largest_error_index": index(found.largest_error_at),
        "largest_error_over_absolute_error": found.largest_over_promise(),
        "values": found.values,
        "values_over_limit": found.over_limit,
        "values_over_absolute_error": found.over_promise,
        "not_finite": found.not_finite - fills.count,
        "not_finite_changed": found.not_finite_changed - (fills.count - fills.kept),
        // JSON has no infinity: for exact values, "psnr" is null.
        "exact": found.psnr() == f64::INFINITY,
        "psnr": found.psnr(),
        "range": found.range,
        "rmse": quality.rmse,
        "nrmse": comparison.nrmse(),
        "ssim": quality.ssim,
        "largest_relative_error": quality.largest_relative_error,
        "largest_relative_error_at": quality.largest_relative_error_at,
        "largest_relative_error_index": index(quality.largest_relative_error_at),
        "error_autocorrelation": quality.error_autocorrelation,
        "zeros": quality.zeros.count,
        "zeros_kept": quality.zeros.kept,
        "zeros_lost": quality.zeros.count - quality.zeros.kept,
        "signs_flipped": quality.signs_flipped,
        "became_negative": quality.became_negative,
        "fill_elements": fills.count,
        "fill_elements_kept": fills.kept,
        "bit_for_bit": quality.classes.iter().map(class).collect::<Vec<_>>(),
    })
}

fn to_pairs(comparison: &Comparison, info: &Info) -> Vec<(&'static str, String)> {
    let Comparison {
        judgement: found,
        quality,
        fills,
    } = comparison;
    let at = |at: u64| format!("at {}", place(at, &info.extents));
    let of_largest =
        (found.largest_error_at).map_or(String::new(), |worst| format!(", {}", at(worst)));
    let mut pairs = vec![
        ("bound kept", verdict(found)),
        ("error bound", bound_line(found, info)),
        (
            "absolute error",
            match found.promise.is_infinite() {
                true => report::absolute_error(found.promise),
                false => format!(
                    "{} promised by the stream",
                    report::absolute_error(found.promise)
                ),
            },
        ),
        (
            "largest error",
            format!("{}{of_largest}", report::number(found.largest_error)),
        ),
        (
            "largest / promised",
            format!("{:.6}", comparison.largest_over_promise(info)),
        ),
        ("PSNR", report::decibels(found.psnr())),
        (
            "NRMSE",
            or_none(comparison.nrmse().map(report::number), "the range is 0"),
        ),
        (
            "SSIM",
            or_none(quality.ssim.map(report::six_digits), "no window is finite"),
        ),
        (
            "relative error",
            match quality.largest_relative_error_at {
                None => "0".to_owned(),
                Some(worst) => {
                    let largest = report::number(quality.largest_relative_error);
                    format!("{largest} at most, {}", at(worst))
                }
            },
        ),
        (
            "autocorrelation",
            or_none(
                quality.error_autocorrelation.map(|r| format!("{r:.4}")),
                "all errors are equal",
            ),
        ),
        ("zeros kept", kept(quality.zeros)),
        ("signs flipped", quality.signs_flipped.to_string()),
        ("became negative", became_negative(quality)),
        ("ratio", format!("{:.3}", info.ratio())),
        (
            "bits a value",
            report::bits_per_value(info.bits_per_value()),
        ),
    ];
    if fills.count > 0 {
        pairs.push(("fill values kept", kept(*fills)));
    }
    let not_finite = found.not_finite - fills.count;
    if not_finite > 0 {
        let changed = found.not_finite_changed - (fills.count - fills.kept);
        let text = format!("{not_finite} not finite, {changed} of them changed");
        pairs.push(("NaN, infinities", text));
    }
    pairs
}

/// A figure, or the reason why there is none.
fn or_none(figure: Option<String>, reason: &str) -> String {
    figure.unwrap_or_else(|| format!("none: {reason}"))
}

fn kept(found: Kept) -> String {
    match found.count {
        0 => "none in the original".to_owned(),
        count if count == found.kept => format!("{count} of {count}"),
        count => format!("{} of {count}, {} lost", found.kept, count - found.kept),
    }
}

/// The values that came back below 0 and were not.
fn became_negative(quality: &Quality) -> String {
    match (quality.not_negative, quality.became_negative) {
        (0, _) => "none, as all were".to_owned(),
        (_, 0) => "none".to_owned(),
        (all, some) => format!("{some} of {all} values of 0 and above"),
    }
}

/// The coordinates of an element, as `--box` counts them, and its number in memory order.
fn place(element: u64, extents: &[u64]) -> String {
    if extents.len() == 1 {
        return format!("element {element}");
    }
    let coordinates: Vec<String> = (coordinates(element, extents).iter())
        .map(u64::to_string)
        .collect();
    format!("[{}], element {element}", coordinates.join(", "))
}

/// The index of an element along each axis.
fn coordinates(element: u64, extents: &[u64]) -> Vec<u64> {
    let mut rest = element;
    let mut found: Vec<u64> = (extents.iter().rev())
        .map(|length| {
            let length = (*length).max(1);
            let index = rest % length;
            rest /= length;
            index
        })
        .collect();
    found.reverse();
    found
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
        BoundMode::Pwrel => format!("{text}, of each value"),
        _ if info.update_bytes > 0 => {
            format!("{text} of the array before its updates, which keep the absolute error")
        }
        _ => format!("{text}, {} for this array", report::number(found.limit)),
    }
}
