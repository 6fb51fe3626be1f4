//! `ferrosz bench`: ratio, speed and error of every preset on a field.

use crate::args::Bench;
use crate::array::Array;
use crate::common::Common;
use crate::failure::Failure;
use crate::field_file;
use crate::link::{self, Measured};
use crate::location::Location;
use crate::trial::{Runs, Trial, verdict};
use crate::with_field;
use crate::{codec_choice, files, json, output, report};
use ferrosz::{Bound, Compressor, Preset};
use serde_json::{Value, json};
use std::time::Duration;

/// The bound, relative to the range, if none is given.
const RANGE: f64 = 1e-3;

/// Compresses fields with every preset within every bound; true if no error exceeds its bound.
///
/// # Errors
///
/// If no field is named, one cannot be read, or the device cannot be used.
pub fn run(args: &Bench, common: &Common) -> Result<bool, Failure> {
    if args.fields.is_empty() {
        return Err(Failure::usage(
            "bench needs an array to compress, best one of yours: a .npy file, which numpy.save('field.npy', array) \
             writes, or raw values with --dtype and --dims",
        ));
    }
    let bounds = args.bounds.all_or(&[RANGE])?;
    let fields: Vec<&Location> = args.fields.iter().collect();
    files::each(&fields, common, |field| {
        let values = field_file::read(field, &args.shape, None)?;
        with_field!(values, array => measure(args, common, field, &array, &bounds))
    })
}

fn measure<V: ferrosz::Value>(
    args: &Bench,
    common: &Common,
    field: &Location,
    array: &Array<V>,
    bounds: &[Bound],
) -> Result<bool, Failure> {
    if array.values.is_empty() {
        return Err(Failure::failed(format_args!(
            "{field} has no values to measure on"
        )));
    }
    let runs = Runs {
        most: args.repeat,
        patience: Duration::MAX,
    };
    let (mut rows, mut measured) = (Vec::new(), Vec::new());
    for bound in bounds {
        for preset in Preset::ALL {
            let compressor = Compressor::new(preset, *bound);
            let (trial, _) = Trial::run(compressor, common.device, array, runs)?;
            rows.push((preset, trial));
            if !args.link.is_empty() {
                measured.push(Measured::new(preset, *bound, common.device, array, runs)?);
            }
        }
    }
    let of_field = format!(
        "{field}: {} {}, {}",
        report::lengths(&array.extents),
        V::TYPE,
        report::bytes(size_of_val(&array.values[..]) as u64)
    );
    output::print(&match common.json {
        true => format!("{}\n", to_json(args, field, &rows, &measured)),
        false => to_text(args, &of_field, &rows) + &link::to_text(&measured, &args.link),
    })?;
    Ok(rows.iter().all(|(_, trial)| trial.judgement.is_kept()))
}

fn to_text(args: &Bench, of_field: &str, rows: &[(Preset, Trial)]) -> String {
    let heading = [
        "preset",
        "bound",
        "codec",
        "blocks or tiles",
        "ratio",
        "compress MB/s",
        "decompress MB/s",
        "largest error",
        "device",
    ];
    let lines: Vec<Vec<String>> = rows.iter().map(row).collect();
    format!(
        "{of_field}\n{}{}\nSpeeds: of whole calls on host memory, the choice of the codec included; medians of {} after \
         one that is not timed.\n",
        report::table(&heading, &lines),
        verdict(rows.iter().map(|(_, trial)| trial)),
        args.repeat
    )
}

fn row((preset, trial): &(Preset, Trial)) -> Vec<String> {
    let info = &trial.info;
    vec![
        preset.to_string(),
        report::bound(info.bound),
        info.codec.to_string(),
        codec_choice::extents(info.codec, info.rank),
        format!("{:.2}", info.ratio()),
        format!("{:.0}", trial.compress_speed()),
        format!("{:.0}", trial.decompress_speed()),
        report::number(trial.judgement.largest_error),
        match trial.compress_device == trial.decompress_device {
            true => trial.compress_device.to_string(),
            false => format!("{}, {}", trial.compress_device, trial.decompress_device),
        },
    ]
}

fn to_json(
    args: &Bench,
    field: &Location,
    rows: &[(Preset, Trial)],
    measured: &[Measured],
) -> Value {
    let rows: Vec<Value> = rows.iter().map(row_to_json).collect();
    let found = json!({ "repeat": args.repeat, "rows": rows });
    let through = (!args.link.is_empty()).then(|| link::to_json(measured, &args.link));
    let objects = [Some(json::begin("bench", field)), Some(found), through];
    json::join(objects.into_iter().flatten())
}

fn row_to_json((preset, trial): &(Preset, Trial)) -> Value {
    let found = json!({
        "kept": trial.judgement.is_kept(),
        "largest_error": trial.judgement.largest_error,
        "compress_device": trial.compress_device.to_string(),
        "compress_seconds": trial.compress_seconds,
        "compress_megabytes_per_second": trial.compress_speed(),
        "decompress_device": trial.decompress_device.to_string(),
        "decompress_seconds": trial.decompress_seconds,
        "decompress_megabytes_per_second": trial.decompress_speed(),
    });
    let preset = json!({ "preset": preset.name() });
    json::join([preset, json::stream(&trial.info), found])
}
