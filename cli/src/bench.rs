//! `ferrosz bench`: ratio, speed and error of every preset on a field.

use crate::array::{Array, Input};
use crate::link::{self, Measured};
use crate::trial::{Runs, Trial, verdict};
use crate::{
    args::Bench, common::Common, compress, failure::Failure, field_file, files, fills, json,
    location::Location, output, report,
};
use ferrosz::{Bound, Compressor, Fill, Preset};
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
        let input = field_file::read_input(field, &args.shape)?;
        compress::note_reading(&input, field, common);
        let Input {
            field: values,
            fills,
            ..
        } = input;
        with_field!(values, array => {
            let bench = Benched { args, common, field, array: &array, fills: &fills };
            bench.run(&bounds)
        })
    })
}

/// A field that is measured.
struct Benched<'a, V: ferrosz::Value> {
    args: &'a Bench,
    common: &'a Common,
    field: &'a Location,
    array: &'a Array<V>,
    /// The fill values that its file names.
    fills: &'a [Fill],
}

impl<V: ferrosz::Value> Benched<'_, V> {
    /// Prints a table for each bound; true if no error exceeds its bound.
    fn run(&self, bounds: &[Bound]) -> Result<bool, Failure> {
        let Self {
            args,
            common,
            field,
            array,
            ..
        } = self;
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
                let compressor = self.compressor(preset, *bound)?;
                let (trial, _) = Trial::run(compressor, common.device, array, runs)?;
                rows.push((preset, trial));
                if !args.link.is_empty() {
                    measured.push(Measured::new(
                        (preset, *bound),
                        compressor,
                        common.device,
                        array,
                        runs,
                    )?);
                }
            }
        }
        output::print(&match common.json {
            true => format!("{}\n", to_json(args, field, &rows, &measured)),
            false => self.to_text(&rows) + &link::to_text(&measured, &args.link),
        })?;
        Ok(rows.iter().all(|(_, trial)| trial.judgement.is_kept()))
    }

    /// The compressor of a preset, which sees the array as `ferrosz compress` does.
    fn compressor(&self, preset: Preset, bound: Bound) -> Result<Compressor, Failure> {
        let compressor = Compressor::new(preset, bound).device(self.common.device);
        fills::with_fills(&self.args.fill, compressor, &self.array.values, self.fills)
    }

    fn to_text(&self, rows: &[(Preset, Trial)]) -> String {
        let Self { field, array, .. } = self;
        let mut text = format!(
            "{field}: {} {}, {}\n",
            report::lengths(&array.extents),
            V::TYPE,
            report::bytes(size_of_val(&array.values[..]) as u64)
        );
        for rows in rows.chunk_by(|(_, one), (_, other)| one.info.bound == other.info.bound) {
            text += &of_bound(rows);
        }
        text + &format!(
            "{}\nSpeeds: MB/s of whole calls on host memory, the choice of the codec included;\nmedians of {} after one \
             that is not timed.\n",
            verdict(rows.iter().map(|(_, trial)| trial)),
            self.args.repeat
        )
    }
}

/// The table of a bound, within 80 columns.
fn of_bound(rows: &[(Preset, Trial)]) -> String {
    let Some((_, Trial { info, .. })) = rows.first() else {
        return String::new();
    };
    let heading = [
        "preset", "codec", "ratio", "comp.", "decomp.", "error", "PSNR dB", "SSIM",
    ];
    let lines: Vec<Vec<String>> = rows.iter().map(row).collect();
    let fills = fills::describe(&info.fills);
    let fills = fills.map_or_else(String::new, |fills| format!("; fill values {fills}"));
    let devices: Vec<String> = rows.iter().map(|(_, trial)| devices(trial)).collect();
    let devices: Vec<&str> = devices.iter().map(String::as_str).collect();
    let error = match info.absolute_error.is_infinite() {
        true => String::new(),
        false => format!(
            ", absolute error {}",
            report::absolute_error(info.absolute_error)
        ),
    };
    format!(
        "\n{}{error}{fills}; on {}\n{}",
        report::bound(info.bound),
        report::distinct(&devices),
        report::table(&heading, &lines)
    )
}

/// The devices that compressed and decompressed.
fn devices(trial: &Trial) -> String {
    match trial.compress_device == trial.decompress_device {
        true => trial.compress_device.to_string(),
        false => format!("{} and {}", trial.compress_device, trial.decompress_device),
    }
}

fn row((preset, trial): &(Preset, Trial)) -> Vec<String> {
    let Trial {
        info,
        judgement,
        quality,
        ..
    } = trial;
    let psnr = judgement.psnr();
    vec![
        preset.to_string(),
        info.codec.to_string(),
        format!("{:.2}", info.ratio()),
        format!("{:.0}", trial.compress_speed()),
        format!("{:.0}", trial.decompress_speed()),
        report::number(judgement.largest_error),
        match psnr.is_finite() {
            true => format!("{psnr:.2}"),
            false => psnr.to_string(),
        },
        quality
            .ssim
            .map_or_else(|| "-".to_owned(), report::six_digits),
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
        // JSON has no infinity: for exact values, "psnr" is null.
        "psnr": trial.judgement.psnr(),
        "ssim": trial.quality.ssim,
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
