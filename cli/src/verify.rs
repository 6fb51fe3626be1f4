//! `ferrosz verify`.

use crate::array::{self, Array, Shape};
use crate::compared::{self, Compared};
use crate::field_file::{self, Assumed, CHECK_FLAGS};
use crate::{
    args::Verify, common::Common, decompress, failure::Failure, frames, json, location::Location,
    output, report, safeguards, stream_file, values::Values,
};
use ferrosz::{BoundMode, Decompressor, Info};
use ferrosz_report::{Field, picture};
use ferrosz_verify::{Claim, Comparison, Judgement};
use serde_json::json;
use std::time::Instant;

/// Compares a stream with the original array; true if the bound and the stream's promise are kept.
///
/// # Errors
///
/// If an input cannot be read or decoded, both are `-`, or their element types or lengths differ.
pub fn run(args: &Verify, common: &Common) -> Result<bool, Failure> {
    if args.original == Location::Pipe && args.stream == Location::Pipe {
        return Err(Failure::usage(compared::TWO_PIPES));
    }
    if let Some(picture) = &args.picture {
        output::check(picture, Some(&args.original), args.replace.force)?;
    }
    let start = Instant::now();
    let stream = stream_file::read(&args.stream)?;
    if stream_file::is_frames(&stream) {
        if args.picture.is_some() {
            return Err(Failure::usage(
                "--picture is of one stream, and this is a file of frames",
            ));
        }
        return frames::examine::verify(args, &stream, common);
    }
    let info = stream_file::info(&args.stream, &stream, "verify")?;
    let assumed = Assumed {
        shape: Shape::of_stream(&info),
        check: CHECK_FLAGS,
    };
    let original = field_file::read(&args.original, &args.shape, Some(&assumed))?;
    check_comparable(args, &original, &info)?;
    let comparison = with_field!(&original, array => compare(args, common, array, &stream, &info)?);
    let judgement = &comparison.judgement;
    let compared = Compared {
        extents: &info.extents,
        bound: bound_line(judgement, &info),
        largest_over_promise: comparison.largest_over_promise(&info),
        ratio: info.ratio(),
        bits_per_value: info.bits_per_value(),
        safeguards: judged_safeguards(args, &info),
        comparison: &comparison,
    };
    let text = if common.json {
        let decompressor = Decompressor::new().device(common.device);
        let device = decompressor.device_for(&stream, judgement.values as usize)?;
        let run = json!({
            "device": device.to_string(),
            "seconds": start.elapsed().as_secs_f64(),
        });
        let begin = json::begin("verify", &args.original);
        let of_stream = json::place("stream", &args.stream);
        let object = json::join([
            begin,
            of_stream,
            json::stream(&info),
            compared.to_json(),
            run,
        ]);
        format!("{object}\n")
    } else {
        report::pairs(&compared.to_pairs())
    };
    output::print(&text)?;
    Ok(comparison.is_kept())
}

fn check_comparable(args: &Verify, original: &array::Field, info: &Info) -> Result<(), Failure> {
    let found = original.shape();
    let wanted = Shape::of_stream(info);
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
    let mut claim = Claim::of(info)?;
    if let Some(location) = &args.abs_field {
        claim.bounds = Some(safeguards::bounds(location, &original.shape())?);
    }
    let comparison = Comparison::of_claim(&original.values, &decoded, &claim)?;
    if let Some(location) = &args.picture {
        let field = Field {
            name: &args.original.to_string(),
            values: &original.values,
            extents: &original.extents,
            unit: "",
        };
        let canvas = picture(&field, &decoded, info, &comparison);
        output::write(location, args.replace.force, |writer| {
            canvas.write_png(writer)
        })?;
    }
    Ok(comparison)
}

/// The safeguards that are judged: bounds of values only if they are given.
fn judged_safeguards(args: &Verify, info: &Info) -> Option<String> {
    let mut judged = info.clone();
    judged.has_bounds_of_values &= args.abs_field.is_some();
    safeguards::describe(&judged)
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
