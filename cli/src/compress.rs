//! `ferrosz compress`.

use crate::args::{Common, Compress};
use crate::codec_choice;
use crate::failure::Failure;
use crate::field_file::{self, Array, Field};
use crate::location::Location;
use crate::output;
use crate::progress::Progress;
use crate::report;
use ferrosz::{Bound, BoundMode, Compressor, Device, Dtype, Element, Layout, Preset};
use serde_json::json;
use std::time::Instant;

/// Compresses a file.
///
/// # Errors
///
/// If the input cannot be read, the device cannot be used, or the output cannot be written.
pub fn run(args: &Compress, common: &Common) -> Result<(), Failure> {
    let compressor = compressor(args, common)?;
    output::check(&args.output, Some(&args.input))?;
    match field_file::read(&args.input, &args.shape, None)? {
        Field::F32(array) => compress(args, common, compressor, &array),
        Field::F64(array) => compress(args, common, compressor, &array),
    }
}

/// What the command line asks for, whatever the array.
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
    if args.bound.rel.is_some() && !common.quiet {
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
    output::write(&args.output, |writer| writer.write_all(&stream))?;
    let summary = Summary {
        layout: chosen.layout_for(elements)?,
        dtype: T::DTYPE,
        rank: args.rank,
        preset: compressor.preset(),
        bound: chosen.bound(),
        absolute_error: ferrosz::info(&stream)?.absolute_error,
        device: chosen.device_for(elements, T::DTYPE)?,
        field_bytes: elements * T::BYTES as u64,
        stream_bytes: stream.len() as u64,
        elements,
        seconds,
    };
    summary.print(common, &args.output)
}

/// What was done.
struct Summary {
    layout: Layout,
    dtype: Dtype,
    /// As asked for.
    rank: Option<u8>,
    /// That which chose the layout.
    preset: Option<Preset>,
    bound: Bound,
    /// What the bound comes to.
    absolute_error: f64,
    /// The one that was used.
    device: Device,
    field_bytes: u64,
    stream_bytes: u64,
    elements: u64,
    seconds: f64,
}

impl Summary {
    fn ratio(&self) -> f64 {
        self.field_bytes as f64 / self.stream_bytes as f64
    }

    fn bits_per_value(&self) -> f64 {
        8.0 * self.stream_bytes as f64 / self.elements as f64
    }

    fn speed(&self) -> f64 {
        report::megabytes_per_second(self.field_bytes, self.seconds)
    }

    fn coded_as(&self) -> String {
        let layout = codec_choice::describe(self.layout.codec, self.layout.shape.rank());
        match self.preset {
            Some(preset) => format!("preset {preset}: {layout}"),
            None => layout,
        }
    }

    /// Says so where blocks have fewer dimensions than were asked for.
    fn note_rank(&self) {
        let found = self.layout.shape.rank();
        if let Some(rank) = self.rank.filter(|rank| *rank > found) {
            let pieces = codec_choice::pieces(self.layout.codec);
            output::note(&format!(
                "note: --rank {rank}: an array of {} has {pieces} of {}, as {pieces} have no more \
                 dimensions than the array has of length > 1",
                report::lengths(self.layout.extents.lengths()),
                codec_choice::extents(self.layout.codec, found)
            ));
        }
    }

    fn print(&self, common: &Common, output: &Location) -> Result<(), Failure> {
        if common.json {
            let object = json!({
                "codec": self.layout.codec.name(),
                "rank": self.layout.shape.rank(),
                "preset": self.preset.map(Preset::name),
                "automatic": self.preset.is_some(),
                "dtype": self.dtype.name(),
                "dims": self.layout.extents.lengths(),
                "bound_mode": self.bound.mode().name(),
                "bound": self.bound.value(),
                "absolute_error": self.absolute_error,
                "device": self.device.to_string(),
                "elements": self.elements,
                "field_bytes": self.field_bytes,
                "stream_bytes": self.stream_bytes,
                "ratio": self.ratio(),
                "bits_per_value": self.bits_per_value(),
                "seconds": self.seconds,
                "megabytes_per_second": self.speed(),
            });
            return output::print_json(&object, output);
        }
        if !common.quiet {
            self.note_rank();
            output::note(&format!(
                "{} to {}: ratio {:.2}, {:.2} bits a value; {:.0} MB/s, {:.3} s on {}\n\
                 {}; {}, absolute error {}",
                report::bytes(self.field_bytes),
                report::bytes(self.stream_bytes),
                self.ratio(),
                self.bits_per_value(),
                self.speed(),
                self.seconds,
                self.device,
                self.coded_as(),
                bound_text(self.bound),
                rounded_error(self.absolute_error),
            ));
        }
        Ok(())
    }
}

/// An absolute error for people.
fn rounded_error(error: f64) -> String {
    match error {
        0.0 => report::absolute_error(error),
        _ => report::number(error),
    }
}

/// A bound as the command line has it: `range 1e-3`.
pub fn bound_text(bound: Bound) -> String {
    let mode: BoundMode = bound.mode();
    format!("{mode} {:e}", bound.value())
}
