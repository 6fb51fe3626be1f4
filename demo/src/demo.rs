//! `ferrosz-demo demo`: compresses a real field with every codec, judges and draws it.

use clap::Args;
use ferrosz::{Bound, Codec, Compressor, Device, Preset};
use ferrosz_cli::array::{Array, Field};
use ferrosz_cli::codec_choice;
use ferrosz_cli::common::Common;
use ferrosz_cli::failure::Failure;
use ferrosz_cli::field_file;
use ferrosz_cli::files::Replace;
use ferrosz_cli::location::Location;
use ferrosz_cli::output;
use ferrosz_cli::report;
use ferrosz_cli::trial::{Runs, Trial, verdict};
use ferrosz_report::canvas::Canvas;
use ferrosz_report::picture::{self, Grid, Panel, Scale};
use ferrosz_verify::Judgement;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// The field; `data/README.md` has its source.
const FIELD: &[u8] = include_bytes!("../data/um_colpex_theta.npy");
const NAME: &str = "um_colpex_theta.npy";
const WHAT: &str = "air potential temperature over the Welsh borders, UK Met Office Unified Model";
const SOURCE: &str = "iris-sample-data 2.5.2, sample_data/colpex.pp";
const LICENCE: &str = "Open Government Licence (UK), British Crown copyright, 2018";
const UNIT: &str = "K";

/// Bounds of the table, relative to the range.
const BOUNDS: [f64; 3] = [1e-2, 1e-3, 1e-4];
/// The title and the trial of the picture.
const TITLE: &str = "ferrosz demo: air potential temperature, lowest of 10 levels";
const DRAWN: (Way, f64) = (Way::Coded(Codec::OUTLIER, 1), 1e-2);
/// A run takes about a millisecond, and the median of 51 is steady. On the emulator, the time limit leaves a single
/// run.
const RUNS: Runs = Runs {
    most: 51,
    patience: Duration::from_millis(100),
};

/// `ferrosz-demo demo`.
#[derive(Debug, Args)]
pub struct Flags {
    /// Picture to write
    #[arg(long, value_name = "PNG", default_value = "ferrosz-demo.png")]
    out: PathBuf,
    /// Whether the picture may replace a file.
    #[command(flatten)]
    replace: Replace,
}

/// All trials at a bound: the codecs of the presets, without variants, and the choice of the preset.
const WAYS: [Way; 24] = [
    Way::Coded(Codec::FIXED, 1),
    Way::Coded(Codec::PLAIN, 1),
    Way::Coded(Codec::PLAIN, 2),
    Way::Coded(Codec::PLAIN, 3),
    Way::Coded(Codec::OUTLIER, 1),
    Way::Coded(Codec::OUTLIER, 2),
    Way::Coded(Codec::OUTLIER, 3),
    Way::Coded(Codec::LORENZO, 1),
    Way::Coded(Codec::LORENZO, 2),
    Way::Coded(Codec::LORENZO, 3),
    Way::Coded(Codec::LAYERED, 1),
    Way::Coded(Codec::LORENZO_RANS, 1),
    Way::Coded(Codec::LORENZO_RANS, 2),
    Way::Coded(Codec::LORENZO_RANS, 3),
    Way::Coded(Codec::LORENZO_HUFFMAN, 1),
    Way::Coded(Codec::LORENZO_HUFFMAN, 2),
    Way::Coded(Codec::LORENZO_HUFFMAN, 3),
    Way::Coded(Codec::INTERP, 1),
    Way::Coded(Codec::INTERP, 2),
    Way::Coded(Codec::INTERP, 3),
    Way::Coded(Codec::STENCIL, 1),
    Way::Coded(Codec::STENCIL, 2),
    Way::Coded(Codec::STENCIL, 3),
    Way::Auto,
];

/// A choice of codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A codec, with blocks or tiles of a rank.
    Coded(Codec, u8),
    /// The codec that the preset `small` chooses.
    Auto,
}

/// A trial and the decompressed field.
struct Row {
    way: Way,
    trial: Trial,
    decoded: Vec<f32>,
}

/// Compresses the embedded field with every codec, prints a table, and draws a picture; true if no error exceeds its
/// bound.
///
/// # Errors
///
/// If the device cannot be used or the picture cannot be written.
pub fn run(flags: &Flags, common: &Common) -> Result<bool, Failure> {
    let picture = Location::File(flags.out.clone());
    output::check(&picture, None, flags.replace.force)?;
    let field = field()?;
    let mut rows = Vec::new();
    for bound in BOUNDS {
        for way in WAYS {
            rows.push(Row::new(&field, way, bound, common.device)?);
        }
    }
    let is_kept = rows.iter().all(|row| row.trial.judgement.is_kept());
    if let Some(canvas) = draw(&field, &rows) {
        output::write(&picture, flags.replace.force, |writer| {
            canvas.write_png(writer)
        })?;
    }
    output::print(&if common.json {
        format!("{}\n", to_json(&field, &rows, flags, common))
    } else {
        to_text(&field, &rows, flags, common)
    })?;
    Ok(is_kept)
}

fn field() -> Result<Array<f32>, Failure> {
    let Field::F32(array) = field_file::read_npy_bytes(NAME, FIELD)? else {
        return Err(Failure::failed("the demo's field is not of f32"));
    };
    Ok(array)
}

impl Row {
    fn new(field: &Array<f32>, way: Way, bound: f64, device: Device) -> Result<Self, Failure> {
        let bound = Bound::range(bound).map_err(Failure::failed)?;
        let compressor = match way {
            Way::Coded(codec, rank) => Compressor::new(codec, bound).with_rank(rank)?,
            Way::Auto => Compressor::new(Preset::Small, bound),
        };
        let (trial, decoded) = Trial::run(compressor, device, field, RUNS)?;
        Ok(Self {
            way,
            trial,
            decoded,
        })
    }
}

fn field_bytes(field: &Array<f32>) -> u64 {
    size_of_val(&field.values[..]) as u64
}

fn to_text(field: &Array<f32>, rows: &[Row], flags: &Flags, common: &Common) -> String {
    let heading = [
        "codec",
        "blocks or tiles",
        "bound",
        "ratio",
        "bits a value",
        "largest error / bound",
        "PSNR dB",
        "compress MB/s",
        "decompress MB/s",
    ];
    // A blank line separates bounds.
    let lines: Vec<Vec<String>> = (rows.chunks(WAYS.len()))
        .map(|rows| rows.iter().map(line).collect())
        .collect::<Vec<Vec<_>>>()
        .join(&[Vec::new()][..]);
    let about = report::pairs(&[
        ("field", WHAT.to_owned()),
        ("", describe(field)),
        ("source", SOURCE.to_owned()),
        ("licence", LICENCE.to_owned()),
    ]);
    format!(
        "{about}\n{}\n{}\nSpeeds: median of up to {} runs of this small field, device '{}'. \
         Picture: {}\n",
        report::table(&heading, &lines),
        verdict(rows.iter().map(|row| &row.trial)),
        RUNS.most,
        common.device,
        flags.out.display(),
    )
}

fn describe(field: &Array<f32>) -> String {
    format!(
        "{} values of f32, {}",
        report::lengths(&field.extents),
        report::bytes(field_bytes(field))
    )
}

fn line(row: &Row) -> Vec<String> {
    let Row { way, trial, .. } = row;
    let info = &trial.info;
    vec![
        match way {
            Way::Coded(..) => info.codec.to_string(),
            Way::Auto => format!("auto: {}", info.codec),
        },
        codec_choice::extents(info.codec, info.rank),
        report::bound(info.bound),
        format!("{:.2}", info.ratio()),
        format!("{:.2}", info.bits_per_value()),
        format!("{:.6}", trial.judgement.largest_over_promise()),
        format!("{:.2}", trial.judgement.psnr()),
        format!("{:.0}", trial.compress_speed()),
        format!("{:.0}", trial.decompress_speed()),
    ]
}

fn to_json(field: &Array<f32>, rows: &[Row], flags: &Flags, common: &Common) -> Value {
    let rows: Vec<Value> = (rows.iter())
        .map(|Row { way, trial, .. }| {
            let (info, judgement) = (&trial.info, &trial.judgement);
            json!({
                "codec": info.codec.name(),
                "rank": info.rank,
                "automatic": *way == Way::Auto,
                "bound_mode": info.bound.mode().name(),
                "bound": info.bound.value(),
                "kept": judgement.is_kept(),
                "stream_bytes": info.stream_bytes,
                "ratio": info.ratio(),
                "bits_per_value": info.bits_per_value(),
                "absolute_error": judgement.promise,
                "largest_error": judgement.largest_error,
                "largest_error_over_absolute_error": judgement.largest_over_promise(),
                "psnr": judgement.psnr(),
                "compress_megabytes_per_second": trial.compress_speed(),
                "decompress_megabytes_per_second": trial.decompress_speed(),
            })
        })
        .collect();
    json!({
        "field": WHAT,
        "source": SOURCE,
        "licence": LICENCE,
        "dtype": "f32",
        "dims": field.extents,
        "field_bytes": field_bytes(field),
        "device": common.device.to_string(),
        "most_runs": RUNS.most,
        "rows": rows,
        "picture": flags.out.display().to_string(),
    })
}

/// Draws original, reconstruction and error of the lowest level; none if the trial [`DRAWN`] was not made.
fn draw(field: &Array<f32>, rows: &[Row]) -> Option<Canvas> {
    let is_drawn = |row: &&Row| (row.way, row.trial.info.bound.value()) == DRAWN;
    let Row { trial, decoded, .. } = rows.iter().find(is_drawn)?;
    let [_, rows, columns] = *field.extents.as_slice() else {
        return None;
    };
    let (columns, level) = (columns as usize, (rows * columns) as usize);
    // The first row of the field is the southern one.
    let lowest = |values: &[f32]| Grid {
        columns,
        points: (values
            .get(..level)
            .unwrap_or(values)
            .rchunks(columns.max(1))
            .flatten())
        .map(|x| f64::from(*x))
        .collect(),
    };
    let original = lowest(&field.values);
    let decoded = lowest(decoded);
    let pairs = original.points.iter().zip(&decoded.points);
    let error = Grid {
        columns,
        points: pairs.map(|(x, y)| y - x).collect(),
    };
    let finite = original.points.iter().copied();
    let scale = Scale::between(
        finite.clone().fold(f64::INFINITY, f64::min),
        finite.fold(f64::NEG_INFINITY, f64::max),
    );
    let codec = format!(
        "Reconstruction: {}, {}",
        trial.info.codec,
        report::bound(trial.info.bound)
    );
    let panels = [
        panel("Original", describe(field), original, scale),
        panel(&codec, compression(trial), decoded, scale),
        error_panel(&trial.judgement, error),
    ];
    let footer = format!("{SOURCE}; {LICENCE}");
    Some(picture::draw(TITLE, &panels, &footer))
}

fn panel(caption: &str, detail: String, grid: Grid, scale: Scale) -> Panel {
    Panel {
        caption: caption.to_owned(),
        detail,
        grid,
        scale,
        unit: UNIT.to_owned(),
    }
}

fn error_panel(judgement: &Judgement, grid: Grid) -> Panel {
    let detail = format!(
        "largest {:.6} of the bound, {} values over it",
        judgement.largest_over_promise(),
        judgement.over_promise
    );
    panel(
        "Error, from -bound to +bound",
        detail,
        grid,
        Scale::around_zero(judgement.promise),
    )
}

fn compression(trial: &Trial) -> String {
    format!(
        "{}, ratio {:.2}, PSNR {}",
        report::bytes(trial.info.stream_bytes),
        trial.info.ratio(),
        report::decibels(trial.judgement.psnr())
    )
}
