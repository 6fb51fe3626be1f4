//! `ferrosz compress`.

use crate::args::Compress;
use crate::codec_choice;
use crate::common::Common;
use crate::failure::Failure;
use crate::field_file::{self, Array};
use crate::files::{Job, stream_name};
use crate::outlying::{self, Outlying};
use crate::progress::Progress;
use crate::report;
use crate::with_field;
use crate::{json, output};
use ferrosz::{Bound, Compressor, Device, Element, Info, Preset};
use serde_json::{Value, json};
use std::time::Instant;

/// Compresses files; true if all succeeded.
///
/// # Errors
///
/// If the input cannot be read, the device cannot be used, or the output cannot be written.
pub fn run(args: &Compress, common: &Common) -> Result<bool, Failure> {
    let compressor = compressor(args, common)?;
    note_lossless(args, common);
    args.files.each(common, stream_name, |job| {
        let field = field_file::read(&job.input, &args.shape, None)?;
        with_field!(field, array => compress(args, job, common, compressor, &array)?);
        Ok(true)
    })
}

/// Explains `--abs 0` in a note.
fn note_lossless(args: &Compress, common: &Common) {
    let is_lossless = args.bound.given().is_some_and(|(_, bound)| bound == 0.0);
    if is_lossless && common.notes() {
        output::note(
            "note: a bound of 0 is lossless: every value comes back bit by bit, and noise in the last bits is kept, too; \
             any bound above 0 gives a far shorter stream",
        );
    }
}

/// The compressor of the command line, before the extents of an array are known.
fn compressor(args: &Compress, common: &Common) -> Result<Compressor, Failure> {
    let bound = bound(args, common)?;
    let compressor = Compressor::new(args.coding.choice(), bound).device(common.device);
    match args.rank {
        Some(rank) => (compressor.with_rank(rank))
            .map_err(|error| Failure::usage(format_args!("--rank: {error}"))),
        None => Ok(compressor),
    }
}

fn bound(args: &Compress, common: &Common) -> Result<Bound, Failure> {
    if args.bound.rel.is_some() && common.notes() {
        output::note(
            "note: --rel is taken as --range, relative to max - min of the finite values, as SZ, \
             cuSZ and cuSZp have it; --max is relative to the largest magnitude",
        );
    }
    let (mode, value) = (args.bound.given())
        .ok_or_else(|| Failure::usage("an error bound is needed: --abs, --range or --max"))?;
    Bound::new(mode, value).map_err(Failure::usage)
}

fn compress<T: Element>(
    args: &Compress,
    job: &Job,
    common: &Common,
    compressor: Compressor,
    array: &Array<T>,
) -> Result<(), Failure> {
    let compressor = compressor.extents(&array.extents)?;
    let elements = array.values.len() as u64;
    let progress = Progress::new("compressing", elements, T::BYTES as u64, common.quiet);
    let start = Instant::now();
    let chosen = compressor.choose(&array.values)?;
    let stream = chosen.compress_with_progress(&array.values, &|more| progress.advance(more))?;
    let seconds = start.elapsed().as_secs_f64();
    drop(progress);
    let force = args.files.replace.force;
    output::write(&job.output, force, |writer| writer.write_all(&stream))?;
    let info = ferrosz::info(&stream)?;
    let summary = Summary {
        outlying: outlying::find(&array.values, info.bound.mode()),
        info,
        rank: args.rank,
        preset: compressor.preset(),
        device: chosen.device_for(elements, T::DTYPE)?,
        seconds,
    };
    summary.print(common, job)
}

/// The report about one compressed array.
struct Summary {
    info: Info,
    /// The rank of the command line.
    rank: Option<u8>,
    /// The preset that chose the layout, if any did.
    preset: Option<Preset>,
    outlying: Vec<Outlying>,
    /// The device that was used.
    device: Device,
    seconds: f64,
}

impl Summary {
    fn speed(&self) -> f64 {
        report::megabytes_per_second(self.info.field_bytes, self.seconds)
    }

    fn coded_as(&self) -> String {
        let layout = codec_choice::describe(self.info.codec, self.info.rank);
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
                output::note(&format!("{}: {}", job.input, outlying.warning(info)));
            }
        }
        if common.json {
            return output::print_json(&self.to_json(job), &job.output);
        }
        if !common.quiet {
            self.note_rank();
            output::note(&format!(
                "{}: {} to {}: ratio {:.2}, {} bits a value; {:.0} MB/s, {:.3} s on {}\n\
                 {}; {}",
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
            ));
        }
        Ok(())
    }

    fn to_json(&self, job: &Job) -> Value {
        let warnings = self.outlying.iter();
        let warnings: Vec<Value> = warnings.map(|found| found.to_json(&self.info)).collect();
        let run = json!({
            "output": job.output.output_name(),
            "preset": self.preset.map(Preset::name),
            "automatic": self.preset.is_some(),
            "device": self.device.to_string(),
            "seconds": self.seconds,
            "megabytes_per_second": self.speed(),
            "warnings": warnings,
        });
        json::join([
            json::begin("compress", &job.input),
            json::stream(&self.info),
            run,
        ])
    }
}

/// A bound, and the absolute error that it resolves to.
fn resolved(info: &Info) -> String {
    let error = report::absolute_error(info.absolute_error);
    format!("{}, absolute error {error}", report::bound(info.bound))
}
