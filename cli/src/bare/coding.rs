//! Compression to streams without header, and decompression.

use super::args::{BareCompress, BareDecompress, FormatFlags};
use super::{begin, error_for, exact, explain, part_of, read, sizes, told_error};
use crate::suffix::{self, Holds};
use crate::{
    array::Array, common::Common, failure::Failure, field_file, files::Replace, json,
    location::Location, output, report,
};
use ferrosz::codec::with_element;
use ferrosz_cuszp::{Device, Element};
use serde_json::json;
use std::time::Instant;

/// Compresses an array.
///
/// # Errors
///
/// If a file cannot be read or written, or the array cannot be compressed with these parameters.
pub fn compress<W: FormatFlags>(args: &BareCompress<W>, common: &Common) -> Result<(), Failure> {
    check_output(&args.input, &args.output, Holds::Stream, args.replace)?;
    let bound = args.bound.get()?;
    let field = field_file::read(&args.input, &args.shape, None)?;
    field.check_real("a bare stream")?;
    with_element_field!(field, array => {
        let start = Instant::now();
        let error = error_for(&args.format, bound, &args.input, &array.values)?;
        let bare = args.format.bare(&array.extents, error)?;
        let stream = (bare.compress_on(common.device, &array.values))
            .map_err(|error| explain(&args.input, error))?;
        let run = Run {
            command: "compress",
            input: &args.input,
            output: &args.output,
            whole: &array.extents,
            stream_bytes: stream.len() as u64,
            device: common.device,
            seconds: start.elapsed().as_secs_f64(),
        };
        output::write(&args.output, args.replace.force, |writer| writer.write_all(&stream))?;
        run.report::<W, _>(&array.extents, error, common)
    })
}

/// Decompresses a stream, or a part of its array.
///
/// # Errors
///
/// If a file cannot be read or written, or the stream is damaged or has another format.
pub fn decompress<R: FormatFlags>(
    args: &BareDecompress<R>,
    common: &Common,
) -> Result<(), Failure> {
    check_output(&args.input, &args.output, Holds::Array, args.replace)?;
    let dims = &args.told.shape.dims.0;
    with_element!(args.told.shape.dtype, E => {
        let error = told_error::<_, E>(&args.told.format, args.told.abs)?;
        let bare = args.told.format.bare(dims, error)?;
        let part = args.part.of(dims)?;
        let stream = read::<R>(&args.input, "decompress")?;
        let start = Instant::now();
        // Parts are decoded on the CPU.
        let device = if part.is_some() { Device::Cpu } else { common.device };
        let (extents, values) = match part {
            None => (dims.clone(), bare.decompress_on(device, &stream)),
            Some(part) => (part.extents(), bare.decompress_part(&stream, &part_of(&part, dims)?)),
        };
        let values = values.map_err(|error| explain(&args.input, error))?;
        let run = Run {
            command: "decompress",
            input: &args.input,
            output: &args.output,
            whole: dims,
            stream_bytes: stream.len() as u64,
            device,
            seconds: start.elapsed().as_secs_f64(),
        };
        let array = Array { extents, is_complex: false, values: values.into() };
        field_file::write(&args.output, args.replace.force, &array)?;
        run.report::<R, E>(&array.extents, error, common)
    })
}

fn check_output(
    input: &Location,
    to: &Location,
    holds: Holds,
    replace: Replace,
) -> Result<(), Failure> {
    suffix::check(to, holds)?;
    output::check(to, Some(input), replace.force)
}

/// A call that is over.
struct Run<'a> {
    command: &'static str,
    input: &'a Location,
    output: &'a Location,
    /// Lengths of the whole array.
    whole: &'a [u64],
    stream_bytes: u64,
    device: Device,
    seconds: f64,
}

impl Run<'_> {
    /// Reports the call on an array, or a part, of these extents.
    fn report<F: FormatFlags, T: Element>(
        &self,
        extents: &[u64],
        error: T,
        common: &Common,
    ) -> Result<(), Failure> {
        let elements = extents.iter().product::<u64>();
        let bytes = elements * T::BYTES as u64;
        let speed = report::megabytes_per_second(bytes, self.seconds);
        if common.json {
            let run = json!({
                "dims": extents,
                "elements": elements,
                "field_bytes": bytes,
                "absolute_error": error.to_f64(),
                "abs": exact(error),
                "device": self.device.to_string(),
                "seconds": self.seconds,
                "megabytes_per_second": speed,
            });
            let begin = begin::<F>(self.command, self.input);
            let output = json::place("output", self.output);
            let sizes = sizes::<T>(self.whole, self.stream_bytes);
            let object = json::join([begin, output, sizes, run]);
            return output::print_json(&object, self.output);
        }
        if !common.quiet {
            let whole = self.whole.iter().product::<u64>() * T::BYTES as u64;
            output::note(&format!(
                "{} stream: {} {}, {} as a stream, ratio {:.2}; absolute error --abs {}; {speed:.0} MB/s, {:.3} s",
                F::COMMAND,
                report::bytes(bytes),
                T::DTYPE,
                report::bytes(self.stream_bytes),
                whole as f64 / self.stream_bytes as f64,
                exact(error),
                self.seconds,
            ));
        }
        Ok(())
    }
}
