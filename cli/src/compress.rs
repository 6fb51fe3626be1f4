//! `ferrosz compress`.

use crate::args::{Common, Compress};
use crate::failure::Failure;
use crate::field_file::{self, Array, Field};
use crate::location::Location;
use crate::output;
use crate::progress::Progress;
use crate::report;
use ferrosz::{Bound, BoundMode, Codec, Compressor, Device, Element};
use serde_json::json;
use std::time::Instant;

/// Compresses a file.
///
/// # Errors
///
/// If the input cannot be read, the device cannot be used, or the output cannot be written.
pub fn run(args: &Compress, common: &Common) -> Result<(), Failure> {
    let bound = bound(args, common)?;
    output::check(&args.output, Some(&args.input))?;
    match field_file::read(&args.input, &args.shape, None)? {
        Field::F32(array) => compress(args, common, bound, &array),
        Field::F64(array) => compress(args, common, bound, &array),
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
    bound: Bound,
    array: &Array<T>,
) -> Result<(), Failure> {
    let compressor = Compressor::new(args.codec, bound)
        .extents(&array.extents)?
        .device(common.device);
    let elements = array.values.len() as u64;
    let progress = Progress::new("compressing", elements, T::BYTES as u64, common.quiet);
    let start = Instant::now();
    let stream =
        compressor.compress_with_progress(&array.values, &|more| progress.advance(more))?;
    let seconds = start.elapsed().as_secs_f64();
    drop(progress);
    output::write(&args.output, |writer| writer.write_all(&stream))?;
    let summary = Summary {
        codec: args.codec,
        bound,
        device: common.device,
        field_bytes: elements * T::BYTES as u64,
        stream_bytes: stream.len() as u64,
        elements,
        seconds,
    };
    summary.print(common, &args.output)
}

/// What was done.
struct Summary {
    codec: Codec,
    bound: Bound,
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

    fn print(&self, common: &Common, output: &Location) -> Result<(), Failure> {
        if common.json {
            let object = json!({
                "codec": self.codec.name(),
                "bound_mode": self.bound.mode().name(),
                "bound": self.bound.value(),
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
            output::note(&format!(
                "{} to {}: ratio {:.2}, {:.2} bits a value ({}, {}); {:.0} MB/s, {:.3} s",
                report::bytes(self.field_bytes),
                report::bytes(self.stream_bytes),
                self.ratio(),
                self.bits_per_value(),
                self.codec,
                bound_text(self.bound),
                self.speed(),
                self.seconds,
            ));
        }
        Ok(())
    }
}

/// A bound as the command line has it: `range 1e-3`.
pub fn bound_text(bound: Bound) -> String {
    let mode: BoundMode = bound.mode();
    format!("{mode} {:e}", bound.value())
}
