//! `info` and `check` of streams without header: the length, the sections, and the forms of the blocks.

use super::args::{BareCheck, BareInfo, FormatFlags};
use super::{begin, explain, read, sizes};
use crate::{common::Common, failure::Failure, json, output, report};
use ferrosz::codec::with_element;
use ferrosz_cuszp::cuszp::Framing;
use ferrosz_cuszp::outline::{Outline, RateCount};
use ferrosz_cuszp::{Bare, Element, Shape};
use serde_json::{Value, json};

/// Shows the sizes of a stream and the forms of its blocks.
///
/// # Errors
///
/// If the stream cannot be read, or ends within its rate bytes, or one of these is corrupt.
pub fn info<R: FormatFlags>(args: &BareInfo<R>, common: &Common) -> Result<(), Failure> {
    let stream = read::<R>(&args.stream, "info")?;
    let (dtype, dims) = (args.told.shape.dtype, &args.told.shape.dims.0);
    let text = with_element!(dtype, E => {
        let bare = args.told.format.bare(dims, E::ONE)?;
        let outline = bare.outline(&stream).map_err(|error| explain(&args.stream, error))?;
        if common.json {
            let begin = begin::<R>("info", &args.stream);
            let sizes = sizes::<E>(dims, outline.stream_bytes());
            format!("{}\n", json::join([begin, sizes, to_json(&outline)]))
        } else {
            report::pairs(&to_pairs(&outline, &bare, dims)) + &rates(&outline.rates)
        }
    });
    output::print(&text)
}

/// Checks the rate bytes and the length of a stream; true if they are right.
///
/// # Errors
///
/// If the stream cannot be read.
pub fn check<R: FormatFlags>(args: &BareCheck<R>, common: &Common) -> Result<bool, Failure> {
    let stream = read::<R>(&args.stream, "check")?;
    let (dtype, dims) = (args.told.shape.dtype, &args.told.shape.dims.0);
    let found = with_element!(dtype, E => args.told.format.bare(dims, E::ONE)?.check(&stream));
    let is_sound = found.is_ok();
    if common.json {
        let fault = found.err().map(|error| error.to_string());
        let found = json!({ "sound": is_sound, "file_bytes": stream.len(), "fault": fault });
        let object = json::join([begin::<R>("check", &args.stream), found]);
        output::print(&format!("{object}\n"))?;
    } else if let Err(error) = found {
        output::print(&format!("{}: NOT SOUND: {error}\n", args.stream))?;
    } else if !common.quiet {
        output::print(&format!(
            "{}: sound: all rate bytes are valid, and their bodies give the {} of the stream. It has no checksums: only \
             `ferrosz {} verify` tells whether the values are right\n",
            args.stream,
            report::bytes(stream.len() as u64),
            R::COMMAND
        ))?;
    }
    Ok(is_sound)
}

fn to_json(outline: &Outline) -> Value {
    let rate = |rate: &RateCount| {
        json!({
            "byte": rate.byte,
            "planes": rate.planes,
            "outlier_bytes": rate.outlier_bytes,
            "body_bytes": rate.body_bytes,
            "blocks": rate.blocks,
        })
    };
    json!({
        "file_bytes": outline.found_bytes,
        "length_fits": outline.stream_bytes() == outline.found_bytes,
        "rate_bytes": outline.rate_bytes,
        "between_bytes": outline.between_bytes,
        "body_bytes": outline.body_bytes,
        "blocks": outline.rate_bytes,
        "zero_blocks": outline.zero_blocks(),
        "rates": outline.rates.iter().map(rate).collect::<Vec<_>>(),
    })
}

fn to_pairs<T: Element>(
    outline: &Outline,
    bare: &Bare<T>,
    dims: &[u64],
) -> Vec<(&'static str, String)> {
    let elements: u64 = dims.iter().product();
    let (array, stream) = (elements * T::BYTES as u64, outline.stream_bytes());
    vec![
        ("format", describe(bare)),
        ("element type", T::DTYPE.to_string()),
        ("dimensions", report::lengths(dims)),
        ("array", report::bytes(array)),
        ("stream", report::bytes(stream)),
        ("length", length(outline)),
        ("ratio", format!("{:.3}", array as f64 / stream as f64)),
        (
            "bits a value",
            report::bits_per_value(8.0 * stream as f64 / elements as f64),
        ),
        ("rate bytes", report::bytes(outline.rate_bytes)),
        ("before bodies", report::bytes(outline.between_bytes)),
        ("bodies", report::bytes(outline.body_bytes)),
        (
            "blocks",
            format!(
                "{}, {} of them without a body",
                outline.rate_bytes,
                outline.zero_blocks()
            ),
        ),
    ]
}

/// The format in words.
fn describe<T>(bare: &Bare<T>) -> String {
    let Bare::Cuszp(params) = bare else {
        return "AATROX, layers of 32768, blocks of 32".to_owned();
    };
    let version = match params.framing {
        Framing::V1 => "cuSZp 1",
        Framing::V3 => "cuSZp",
    };
    let blocks = match params.shape {
        Shape::Line => "32",
        Shape::Plane => "8 x 8",
        Shape::Cube => "4 x 4 x 4",
    };
    format!("{version}, mode {}, blocks of {blocks}", params.mode.name())
}

fn length(outline: &Outline) -> String {
    let (needed, found) = (outline.stream_bytes(), outline.found_bytes);
    match found.checked_sub(needed) {
        Some(0) => "fits: that of the bodies that the rate bytes announce".to_owned(),
        Some(more) => format!("DOES NOT FIT: {more} bytes more than the rate bytes announce"),
        None => format!(
            "DOES NOT FIT: {} bytes less than the rate bytes announce",
            needed - found
        ),
    }
}

/// The table of rate bytes.
fn rates(rates: &[RateCount]) -> String {
    let rows: Vec<Vec<String>> = rates
        .iter()
        .map(|rate| {
            let numbers = [rate.planes, rate.outlier_bytes, rate.body_bytes];
            let mut row = vec![format!("{:#04x}", rate.byte)];
            row.extend(numbers.map(|number| number.to_string()));
            row.push(rate.blocks.to_string());
            row
        })
        .collect();
    let heading = [
        "rate byte",
        "planes",
        "outlier bytes",
        "body bytes",
        "blocks",
    ];
    format!("\n{}", report::table(&heading, &rows))
}
