//! `ferrosz compress`.

use crate::args::{Compress, KeepFlag};
use crate::array::{Array, Input};
use crate::files::{Job, stream_name};
use crate::outlying::{self, Outlying, find_outlying};
use crate::{
    bounds::Aim,
    codec_choice,
    common::Common,
    failure::Failure,
    field_file, fills, frames, json,
    location::Location,
    output,
    progress::Progress,
    report, scratch, strange,
    stream_file::{self, Stream},
    suffix::Holds,
};
use ferrosz::target::{Figures, Found, Target};
use ferrosz::{Bound, Codec, Compressor, Device, Error, Fill, Info, Preference, Preset, Reporting};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Seek};
use std::time::Instant;

/// Bytes of a write call of the operating system.
const BLOCK: usize = 1 << 20;

/// Compresses files; true if all succeeded.
///
/// # Errors
///
/// If the input cannot be read, the device cannot be used, or the output cannot be written.
pub fn run(args: &Compress, common: &Common) -> Result<bool, Failure> {
    let _start = common.device.start();
    note_rel(args, common);
    let aim = args.bound.aim()?;
    note_lossless(aim, common);
    let compressor = compressor(args, common, aim)?;
    if args.frames {
        return frames::compress::run(args, common, aim, keep(args, compressor));
    }
    args.files.each(common, Holds::Stream, stream_name, |job| {
        scratch::beside(&job.output);
        let input = field_file::read_input(&job.input, &args.shape)?;
        note_reading(&input, &job.input, common);
        note_strange(args, &input, &job.input, common);
        let Input { field, fills, .. } = input;
        let call = Call {
            args,
            common,
            job,
            aim,
            fills,
            bounds: args.safeguards.bounds(&field.shape())?,
        };
        with_field!(field, array => compress(&call, compressor, &array)?);
        Ok(true)
    })
}

/// Applies `--keep`, `--keep-zero` and `--keep-sign`.
fn keep(args: &Compress, compressor: Compressor) -> Compressor {
    let keeps = |what| args.keep.contains(&what);
    let mut compressor = compressor;
    if keeps(KeepFlag::None) {
        compressor = compressor.keep_none();
    }
    if args.keep_zero || keeps(KeepFlag::Zero) {
        compressor = compressor.keep_zeros();
    }
    if args.keep_sign || keeps(KeepFlag::Sign) {
        compressor = compressor.keep_signs();
    }
    compressor
}

/// Explains `--rel` in a note.
fn note_rel(args: &Compress, common: &Common) {
    if args.bound.rel.is_some() && common.notes() {
        output::note(
            "note: --rel is taken as --range, relative to max - min of the finite values, as SZ, \
             cuSZ and cuSZp have it; --max is relative to the largest magnitude",
        );
    }
}

/// Explains `--abs 0` in a note.
fn note_lossless(aim: Aim, common: &Common) {
    let is_lossless = matches!(aim, Aim::Bound(bound) if bound.value() == 0.0);
    if is_lossless && common.notes() {
        output::note(
            "note: a bound of 0 is lossless: every value comes back bit by bit, and noise in the last bits is kept, too; \
             any bound above 0 gives a far shorter stream",
        );
    }
}

/// Says how the values of a file were read, if they are not as the file has them.
pub fn note_reading(input: &Input, location: &Location, common: &Common) {
    for note in input.notes.iter().filter(|_| common.notes()) {
        output::note(&format!("note: {location}: {note}"));
    }
}

/// Says that raw values look as if they were read as another type than they have.
fn note_strange(args: &Compress, input: &Input, location: &Location, common: &Common) {
    if args.shape.dtype.is_none() || !common.notes() {
        return;
    }
    if let Some(strange) = with_field!(&input.field, array => strange::find(&array.values)) {
        output::note(&format!(
            "note: {location}: many values are as large or as small as {}: check --dtype, the byte order and the start of \
             the values",
            report::short(strange)
        ));
    }
}

/// The compressor of the command line, before the extents of an array are known. A search replaces its bound.
fn compressor(args: &Compress, common: &Common, aim: Aim) -> Result<Compressor, Failure> {
    let bound = match aim {
        Aim::Bound(bound) => bound,
        Aim::Target(_) => Bound::default(),
    };
    let mut compressor = Compressor::new(args.coding.choice(), bound)
        .device(common.device)
        .bounded_memory();
    if let Some(axes) = args.axes {
        compressor = compressor.with_axes(axes);
    }
    if let Some(rank) = args.rank {
        let with_rank = compressor.with_rank(rank);
        compressor = with_rank.map_err(|error| Failure::usage(format_args!("--rank: {error}")))?;
    }
    if let Some(tiles) = args.chunk_tiles {
        compressor = (compressor.with_chunk_tiles(tiles))
            .map_err(|error| Failure::usage(format_args!("--chunk-tiles: {error}")))?;
    }
    if let Some(levels) = args.levels {
        compressor = (compressor.levels_apart(levels))
            .map_err(|error| Failure::usage(format_args!("--levels: {error}")))?;
    }
    if let Some(error) = args.wavelets {
        compressor = with_wavelets(args, compressor, aim, error)?;
    }
    compressor = match (args.stats, args.no_stats || args.frames) {
        (true, _) => compressor.statistics(true),
        (false, false) => compressor.small_statistics(),
        (false, true) => compressor,
    };
    args.safeguards.apply(prefer(args.prefer, compressor)?)
}

/// A compressor with coefficients of wavelets within this error, which one codec has.
///
/// # Errors
///
/// Another codec, a preset, a target, and an error that is none.
fn with_wavelets(
    args: &Compress,
    compressor: Compressor,
    aim: Aim,
    error: f64,
) -> Result<Compressor, Failure> {
    let refused = |why: &str| Err(Failure::usage(format_args!("--wavelets: {why}")));
    if let Aim::Target(_) = aim {
        return refused("give a bound; a target finds their error by itself");
    }
    if args.coding.is_given() && args.coding.codec != Some(Codec::DIRECT_RANS.into()) {
        return refused("the codec is direct+rans; no other codec and no preset is given");
    }
    (compressor.wavelets_within(error))
        .map_err(|error| Failure::usage(format_args!("--wavelets: {error}")))
}

/// A compressor with the preference of the flag.
///
/// # Errors
///
/// If it can have none.
pub fn prefer(flag: Option<Preference>, compressor: Compressor) -> Result<Compressor, Failure> {
    (compressor.prefer(flag.unwrap_or_default()))
        .map_err(|error| Failure::usage(format_args!("--prefer: {error}")))
}

/// The command line, and one of its inputs.
struct Call<'a> {
    args: &'a Compress,
    common: &'a Common,
    job: &'a Job,
    aim: Aim,
    /// The fill values that the input names.
    fills: Vec<Fill>,
    /// The bound of each value.
    bounds: Option<Vec<f64>>,
}

impl Call<'_> {
    /// Writes a stream; returns its description.
    fn write(&self, stream: &[u8]) -> Result<Info, Failure> {
        let force = self.args.files.replace.force;
        output::write(&self.job.output, force, |writer| writer.write_all(stream))?;
        Ok(ferrosz::info(stream)?)
    }
}

/// A compressed array, whose stream is written.
struct Compressed {
    chosen: Compressor,
    info: Info,
    /// The target of the search, and the figures that were reached.
    reached: Option<(Target, Figures)>,
}

impl Compressed {
    fn new<V: ferrosz::Value>(
        call: &Call<'_>,
        compressor: Compressor,
        array: &Array<V>,
    ) -> Result<Self, Failure> {
        if call.bounds.is_some() && matches!(call.aim, Aim::Target(_)) {
            return Err(Failure::usage(
                "--abs-field has a bound for each value, and a target searches one for all: give a bound",
            ));
        }
        match call.aim {
            Aim::Bound(_) => Self::within(call, compressor, array),
            Aim::Target(target) => Self::search(call, target, compressor, array),
        }
    }

    /// A file is written while the array is compressed, so that neither must fit in memory.
    fn within<V: ferrosz::Value>(
        call: &Call<'_>,
        compressor: Compressor,
        array: &Array<V>,
    ) -> Result<Self, Failure> {
        let elements = array.values.len() as u64;
        let quiet = call.common.quiet;
        let progress = Progress::new("compressing", elements, size_of::<V>() as u64, quiet);
        let chosen = compressor.choose(&array.values)?;
        let advance = |more| progress.advance(more);
        let calls = chosen.progress(&advance);
        let calls = match &call.bounds {
            Some(bounds) => calls.bounds_of_values(bounds),
            None => calls,
        };
        let output = &call.job.output;
        let info = match output::seekable(output) {
            Some(path) => {
                output::write_seek(path, call.args.files.replace.force, |writer| {
                    let written = calls.compress_seek(&array.values, writer);
                    written.map_err(|error| output::explain_write(path, error))
                })?;
                stream_file::info(output, &stream_file::read(output)?, "info")?
            }
            None => call.write(&to_stream(calls, array)?)?,
        };
        Ok(Self {
            chosen,
            info,
            reached: None,
        })
    }

    fn search<V: ferrosz::Value>(
        call: &Call<'_>,
        target: Target,
        compressor: Compressor,
        array: &Array<V>,
    ) -> Result<Self, Failure> {
        let Found {
            compressor: chosen,
            stream,
            figures,
            ..
        } = (compressor.search(target, &array.values)).map_err(|error| match error {
            Error::TargetNotReached { .. } => Failure::failed(format_args!("--{error}")),
            error => error.into(),
        })?;
        Ok(Self {
            chosen,
            info: call.write(&stream)?,
            reached: Some((target, figures)),
        })
    }
}

/// Compresses an array to a stream in memory; to a mapped temporary file, if it is large.
///
/// # Errors
///
/// Those of the library, and of the temporary file.
pub fn to_stream<V: ferrosz::Value>(
    calls: Reporting<'_, Compressor>,
    array: &Array<V>,
) -> Result<Stream, Failure> {
    let Some(mut file) = scratch::file_for(size_of_val(&array.values[..]) as u64) else {
        return Ok(Stream::Read(calls.compress(&array.values)?));
    };
    compress_to_file(calls, array, &mut file)?;
    let stream = stream_file::read_file(&mut file);
    stream.map_err(|error| Failure::io("read", "the stream", &error))
}

/// Compresses an array to a temporary file, as the header of a stream is written last.
fn compress_to_file<V: ferrosz::Value>(
    calls: Reporting<'_, Compressor>,
    array: &Array<V>,
    file: &mut File,
) -> Result<(), Failure> {
    let explain = |error| output::explain_write(&tempfile::env::temp_dir(), error);
    let writer = BufWriter::with_capacity(BLOCK, &mut *file);
    let written = calls.compress_seek(&array.values, writer);
    written.map_err(explain)?;
    let rewound = file.rewind();
    rewound.map_err(|error| Failure::io("read", "the stream", &error))
}

fn compress<V: ferrosz::Value>(
    call: &Call<'_>,
    compressor: Compressor,
    array: &Array<V>,
) -> Result<(), Failure> {
    let Call {
        args,
        common,
        job,
        fills,
        ..
    } = call;
    let _start = compressor.start_auto(array.values.len() as u64, V::TYPE);
    let compressor = keep(args, compressor);
    let compressor = fills::with_fills(&args.fill, compressor, &array.values, fills)?;
    let mut compressor = compressor.extents(&array.extents)?;
    if array.is_complex {
        compressor = compressor.complex();
    }
    if let Some(axes) = args.axes
        && let Some(count) = axes.count()
        && count != array.extents.len()
    {
        return Err(Failure::usage(format_args!(
            "--axes {axes} has {count} roles, but the array has the dimensions {}: give a role for each{}",
            report::lengths(&array.extents),
            if array.is_complex {
                "; the last one is that of the parts of complex numbers"
            } else {
                ""
            }
        )));
    }
    let start = Instant::now();
    let Compressed {
        chosen,
        info,
        reached,
    } = Compressed::new(call, compressor, array)?;
    let seconds = start.elapsed().as_secs_f64();
    let summary = Summary {
        outlying: match fills::are_found(&args.fill) {
            // They would be fill values.
            true => Vec::new(),
            false => outlying_of(&array.values, &info),
        },
        rank: args.rank,
        preset: compressor.preset(),
        device: chosen.device_for(info.elements, V::TYPE)?,
        reached,
        info,
        seconds,
    };
    summary.print(common, job)
}

/// The outlying values that determine a relative bound. Streams with a mask have none.
fn outlying_of<V: ferrosz::Value>(values: &[V], info: &Info) -> Vec<Outlying> {
    match info.bound.needs_extremes() && info.fills.is_empty() {
        true => find_outlying(values),
        false => Vec::new(),
    }
}

/// The report about one compressed array.
struct Summary {
    info: Info,
    /// The rank of the command line.
    rank: Option<u8>,
    /// The preset that chose the layout, if any did.
    preset: Option<Preset>,
    outlying: Vec<Outlying>,
    /// The target of the search, and the figures that were reached.
    reached: Option<(Target, Figures)>,
    /// The device that was used.
    device: Device,
    seconds: f64,
}

impl Summary {
    fn speed(&self) -> f64 {
        report::megabytes_per_second(self.info.field_bytes, self.seconds)
    }

    fn coded_as(&self) -> String {
        let mut layout = codec_choice::describe(self.info.codec, self.info.rank);
        if self.info.has_roles() {
            layout = format!("{layout}, axes {}", self.info.axes);
        }
        match self.preset {
            Some(preset) => format!("preset {preset}: {layout}"),
            None => layout,
        }
    }

    /// Prints a note if blocks have fewer dimensions than `--rank`.
    fn note_rank(&self) {
        let found = self.info.rank;
        if let Some(rank) = self.rank.filter(|rank| *rank > found) {
            let pieces = codec_choice::pieces(self.info.codec);
            output::note(&format!(
                "note: --rank {rank}: an array of {} has {pieces} of {}, as {pieces} have no more \
                 dimensions than the array has of length > 1",
                report::lengths(&self.info.extents),
                codec_choice::extents(self.info.codec, found)
            ));
        }
    }

    fn print(&self, common: &Common, job: &Job) -> Result<(), Failure> {
        let info = &self.info;
        if common.notes() {
            for outlying in &self.outlying {
                let warning = outlying::warning(outlying, info);
                output::note(&format!("{}: {warning}", job.input));
            }
        }
        if common.json {
            return output::print_json(&self.to_json(job), &job.output);
        }
        if !common.quiet {
            self.note_rank();
            output::note(&format!(
                "{}: {} to {}: ratio {:.2}, {} bits a value; {:.0} MB/s, {:.3} s on {}\n\
                 {}; {}{}",
                job.output.output_name(),
                report::bytes(info.field_bytes),
                report::bytes(info.stream_bytes),
                info.ratio(),
                report::bits_per_value(info.bits_per_value()),
                self.speed(),
                self.seconds,
                self.device,
                self.coded_as(),
                resolved(info),
                masked(info),
            ));
            if let Some((target, figures)) = &self.reached {
                output::note(&format!(
                    "target {target}: PSNR {}; RMSE {}; mean error {}; ratio {:.2}",
                    report::decibels(figures.psnr),
                    report::number(figures.rmse),
                    report::number(figures.mae),
                    figures.ratio,
                ));
            }
        }
        Ok(())
    }

    fn to_json(&self, job: &Job) -> Value {
        let warnings = self.outlying.iter();
        let to_json = |found| outlying::to_json(found, &self.info);
        let warnings: Vec<Value> = warnings.map(to_json).collect();
        let run = json!({
            "preset": self.preset.map(Preset::name),
            "automatic": self.preset.is_some(),
            "device": self.device.to_string(),
            "seconds": self.seconds,
            "megabytes_per_second": self.speed(),
            "warnings": warnings,
            "target": self.reached.as_ref().map(target_to_json),
        });
        json::join([
            json::begin("compress", &job.input),
            json::place("output", &job.output),
            json::stream(&self.info),
            run,
        ])
    }
}

/// The fill values of a stream with a mask.
fn masked(info: &Info) -> String {
    fills::describe(&info.fills).map_or_else(String::new, |fills| format!("; fill values {fills}"))
}

/// A target and the figures that were reached. JSON has no infinity: of exact values, "psnr" is null.
fn target_to_json((target, figures): &(Target, Figures)) -> Value {
    json!({
        "name": target.kind().name(),
        "value": target.value(),
        "psnr": figures.psnr,
        "rmse": figures.rmse,
        "mae": figures.mae,
        "ratio": figures.ratio,
    })
}

/// A bound, and the absolute error that it resolves to.
fn resolved(info: &Info) -> String {
    let error = report::absolute_error(info.absolute_error);
    format!("{}, absolute error {error}", report::bound(info.bound))
}
