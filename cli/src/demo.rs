//! `ferrosz demo`: a real field through every codec, judged and drawn.

use crate::args::{Common, Demo};
use crate::canvas::Canvas;
use crate::codec_choice;
use crate::colour::ColourMap;
use crate::compress::bound_text;
use crate::failure::Failure;
use crate::field_file::{self, Array, Field};
use crate::judge::{Judgement, judge};
use crate::location::Location;
use crate::output;
use crate::picture::{self, Grid, Panel};
use crate::report;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Preset};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// See `data/README.md` for where it comes from.
const FIELD: &[u8] = include_bytes!("../data/um_colpex_theta.npy");
const NAME: &str = "um_colpex_theta.npy";
const WHAT: &str = "air potential temperature over the Welsh borders, UK Met Office Unified Model";
const SOURCE: &str = "iris-sample-data 2.5.2, sample_data/colpex.pp";
const LICENCE: &str = "Open Government Licence (UK), British Crown copyright, 2018";
const UNIT: &str = "K";

/// Bounds of the table, relative to the range.
const BOUNDS: [f64; 3] = [1e-2, 1e-3, 1e-4];
/// What the picture shows.
const TITLE: &str = "ferrosz demo: air potential temperature, lowest of 10 levels";
const DRAWN: (Way, f64) = (Way::Coded(Codec::OUTLIER, 1), 1e-2);
/// A run takes about a millisecond, and the median of this many is steady.
const RUNS: usize = 51;
/// No more runs after this: on the emulator, one is slow enough.
const PATIENCE: Duration = Duration::from_millis(100);

/// What is tried at every bound: all that is chosen from but for variants, and the choice.
const WAYS: [Way; 21] = [
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
    Way::Auto,
];

/// How the field is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// With a codec and blocks of a rank.
    Coded(Codec, u8),
    /// With what is chosen.
    Auto,
}

/// A way at a bound: what came of it.
struct Trial {
    way: Way,
    /// As in the stream.
    codec: Codec,
    /// As in the stream.
    rank: u8,
    bound: Bound,
    stream_bytes: u64,
    decoded: Vec<f32>,
    judgement: Judgement,
    compress_seconds: f64,
    decompress_seconds: f64,
}

/// Compresses the embedded field with every codec, prints a table, and draws a picture; whether
/// every bound was kept.
///
/// # Errors
///
/// If the device cannot be used or the picture cannot be written.
pub fn run(args: &Demo, common: &Common) -> Result<bool, Failure> {
    let picture = Location::File(args.out.clone());
    output::check(&picture, None, args.replace.force)?;
    let field = field()?;
    let mut trials = Vec::new();
    for bound in BOUNDS {
        for way in WAYS {
            trials.push(Trial::run(&field, way, bound, common.device)?);
        }
    }
    let is_kept = trials.iter().all(|trial| trial.judgement.is_kept());
    if let Some(canvas) = draw(&field, &trials) {
        output::write(&picture, args.replace.force, |writer| {
            canvas.write_png(writer)
        })?;
    }
    output::print(&if common.json {
        format!("{}\n", to_json(&field, &trials, args, common))
    } else {
        to_text(&field, &trials, args, common)
    })?;
    Ok(is_kept)
}

fn field() -> Result<Array<f32>, Failure> {
    match field_file::read_npy_bytes(NAME, FIELD)? {
        Field::F32(array) => Ok(array),
        Field::F64(_) => Err(Failure::failed("the demo's field is not of f32")),
    }
}

impl Way {
    fn compressor(self, bound: Bound) -> Result<Compressor, ferrosz::Error> {
        match self {
            Self::Coded(codec, rank) => Compressor::new(codec, bound).with_rank(rank),
            Self::Auto => Ok(Compressor::new(Preset::Small, bound)),
        }
    }
}

impl Trial {
    fn run(field: &Array<f32>, way: Way, bound: f64, device: Device) -> Result<Self, Failure> {
        let bound = Bound::range(bound).map_err(Failure::failed)?;
        let compressor = (way.compressor(bound)?)
            .extents(&field.extents)?
            .device(device);
        let decompressor = Decompressor::new().device(device);
        let (stream, compress_seconds) = timed(|| compressor.compress(&field.values))?;
        let (decoded, decompress_seconds) = timed(|| decompressor.decompress::<f32>(&stream))?;
        let info = ferrosz::info(&stream)?;
        Ok(Self {
            way,
            codec: info.codec,
            rank: info.rank,
            bound,
            stream_bytes: stream.len() as u64,
            judgement: judge(&field.values, &decoded, bound, info.absolute_error),
            decoded,
            compress_seconds,
            decompress_seconds,
        })
    }

    fn ratio(&self, field: &Array<f32>) -> f64 {
        field_bytes(field) as f64 / self.stream_bytes as f64
    }

    fn bits_per_value(&self, field: &Array<f32>) -> f64 {
        8.0 * self.stream_bytes as f64 / field.values.len() as f64
    }

    fn compress_speed(&self, field: &Array<f32>) -> f64 {
        report::megabytes_per_second(field_bytes(field), self.compress_seconds)
    }

    fn decompress_speed(&self, field: &Array<f32>) -> f64 {
        report::megabytes_per_second(field_bytes(field), self.decompress_seconds)
    }
}

/// The result, and the median time of several runs after a first one.
fn timed<R>(work: impl Fn() -> Result<R, ferrosz::Error>) -> Result<(R, f64), Failure> {
    let result = work()?;
    let begin = Instant::now();
    let mut seconds = Vec::new();
    while seconds.is_empty() || (seconds.len() < RUNS && begin.elapsed() < PATIENCE) {
        let start = Instant::now();
        std::hint::black_box(work()?);
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(seconds.len() / 2).copied();
    Ok((result, median.unwrap_or_default()))
}

fn field_bytes(field: &Array<f32>) -> u64 {
    size_of_val(field.values.as_slice()) as u64
}

fn to_text(field: &Array<f32>, trials: &[Trial], args: &Demo, common: &Common) -> String {
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
    // A blank line between bounds.
    let rows: Vec<Vec<String>> = (trials.chunks(WAYS.len()))
        .map(|trials| trials.iter().map(|trial| row(field, trial)).collect())
        .collect::<Vec<Vec<_>>>()
        .join(&[Vec::new()][..]);
    let about = report::pairs(&[
        ("field", WHAT.to_owned()),
        ("", describe(field)),
        ("source", SOURCE.to_owned()),
        ("licence", LICENCE.to_owned()),
    ]);
    format!(
        "{about}\n{}\n{}\nSpeeds: median of up to {RUNS} runs of this small field, device '{}'. \
         Picture: {}\n",
        report::table(&heading, &rows),
        verdict(trials),
        common.device,
        args.out.display(),
    )
}

fn describe(field: &Array<f32>) -> String {
    format!(
        "{} values of f32, {}",
        report::lengths(&field.extents),
        report::bytes(field_bytes(field))
    )
}

fn row(field: &Array<f32>, trial: &Trial) -> Vec<String> {
    vec![
        match trial.way {
            Way::Coded(..) => trial.codec.to_string(),
            Way::Auto => format!("auto: {}", trial.codec),
        },
        codec_choice::extents(trial.codec, trial.rank),
        bound_text(trial.bound),
        format!("{:.2}", trial.ratio(field)),
        format!("{:.2}", trial.bits_per_value(field)),
        format!("{:.6}", trial.judgement.largest_over_promise()),
        format!("{:.2}", trial.judgement.psnr()),
        format!("{:.0}", trial.compress_speed(field)),
        format!("{:.0}", trial.decompress_speed(field)),
    ]
}

fn verdict(trials: &[Trial]) -> String {
    let broken = trials
        .iter()
        .filter(|trial| !trial.judgement.is_kept())
        .count();
    match broken {
        0 => "Every value of every reconstruction is within its bound.".to_owned(),
        _ => format!("BOUND NOT KEPT in {broken} of {} rows.", trials.len()),
    }
}

fn to_json(field: &Array<f32>, trials: &[Trial], args: &Demo, common: &Common) -> Value {
    let rows: Vec<Value> = (trials.iter())
        .map(|trial| {
            json!({
                "codec": trial.codec.name(),
                "rank": trial.rank,
                "automatic": trial.way == Way::Auto,
                "bound_mode": trial.bound.mode().name(),
                "bound": trial.bound.value(),
                "kept": trial.judgement.is_kept(),
                "stream_bytes": trial.stream_bytes,
                "ratio": trial.ratio(field),
                "bits_per_value": trial.bits_per_value(field),
                "absolute_error": trial.judgement.promise,
                "largest_error": trial.judgement.largest_error,
                "largest_error_over_absolute_error": trial.judgement.largest_over_promise(),
                "psnr": trial.judgement.psnr(),
                "compress_megabytes_per_second": trial.compress_speed(field),
                "decompress_megabytes_per_second": trial.decompress_speed(field),
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
        "most_runs": RUNS,
        "rows": rows,
        "picture": args.out.display().to_string(),
    })
}

/// Original, reconstruction and error of the lowest level; none if that trial was not made.
fn draw(field: &Array<f32>, trials: &[Trial]) -> Option<Canvas> {
    let is_drawn = |trial: &&Trial| (trial.way, trial.bound.value()) == DRAWN;
    let trial = trials.iter().find(is_drawn)?;
    let [_, rows, columns] = *field.extents.as_slice() else {
        return None;
    };
    let (columns, level) = (columns as usize, (rows * columns) as usize);
    let lowest = |values: &[f32]| Grid {
        columns,
        values: values.iter().take(level).map(|x| f64::from(*x)).collect(),
    };
    let original = lowest(&field.values);
    let decoded = lowest(&trial.decoded);
    let pairs = original.values.iter().zip(&decoded.values);
    let error = Grid {
        columns,
        values: pairs.map(|(x, y)| y - x).collect(),
    };
    let range = original.range();
    let codec = format!(
        "Reconstruction: {}, {}",
        trial.codec,
        bound_text(trial.bound)
    );
    let panels = [
        panel("Original", describe(field), original, range),
        panel(&codec, compression(field, trial), decoded, range),
        error_panel(&trial.judgement, error),
    ];
    let footer = format!("{SOURCE}; {LICENCE}");
    Some(picture::draw(TITLE, &panels, &footer))
}

fn panel(caption: &str, detail: String, grid: Grid, range: (f64, f64)) -> Panel {
    Panel {
        caption: caption.to_owned(),
        detail,
        grid,
        colours: ColourMap::Viridis,
        range,
        unit: UNIT,
    }
}

fn error_panel(judgement: &Judgement, grid: Grid) -> Panel {
    let detail = format!(
        "largest {:.6} of the bound, {} values over it",
        judgement.largest_over_promise(),
        judgement.over_promise
    );
    Panel {
        colours: ColourMap::Coolwarm,
        ..panel(
            "Error, from -bound to +bound",
            detail,
            grid,
            (-judgement.promise, judgement.promise),
        )
    }
}

fn compression(field: &Array<f32>, trial: &Trial) -> String {
    format!(
        "{}, ratio {:.2}, PSNR {}",
        report::bytes(trial.stream_bytes),
        trial.ratio(field),
        report::decibels(trial.judgement.psnr())
    )
}
