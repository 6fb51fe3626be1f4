//! `ferrosz cuszp` and `ferrosz aatrox`: other compressors' own streams.

use crate::args::{
    AatroxAction, CuszpAction, CuszpCompress, CuszpDecompress, CuszpFlags, StreamShape,
};
use crate::suffix::{self, Holds};
use crate::{
    array::Array, common::Common, failure::Failure, field_file, files::Replace, json,
    location::Location, output, report, stream_file,
};
use ferrosz::codec::with_element;
use ferrosz_cuszp::cuszp::{Framing, Mode, Params};
use ferrosz_cuszp::{Element, Error, Shape, aatrox, cuszp};
use serde_json::json;
use std::time::Instant;

/// Runs `ferrosz cuszp`.
///
/// # Errors
///
/// If files cannot be read or written, the stream is damaged or has another format, or the strict encoder
/// refuses the array.
pub fn cuszp(action: &CuszpAction, common: &Common) -> Result<(), Failure> {
    match action {
        CuszpAction::Compress(args) => cuszp_compress(args, common),
        CuszpAction::Decompress(args) => cuszp_decompress(args, common),
    }
}

fn cuszp_compress(args: &CuszpCompress, common: &Common) -> Result<(), Failure> {
    let job = Job::new(
        "cuszp",
        Holds::Stream,
        (&args.input, &args.output),
        args.replace,
        common,
    )?;
    let field = field_file::read(&args.input, &args.shape, None)?;
    with_element_field!(field, array => {
        let params = Params {
            strict: args.strict,
            ..cuszp_params(&args.stream, &array.extents)?
        };
        job.compress(&array, |values| {
            cuszp::compress_on(common.device, &params, values)
        })
    })
}

fn cuszp_decompress(args: &CuszpDecompress, common: &Common) -> Result<(), Failure> {
    let job = Job::new(
        "cuszp",
        Holds::Array,
        (&args.input, &args.output),
        args.replace,
        common,
    )?;
    with_element!(args.shape.dtype, E => {
        let params = Params::<E> {
            allow_missing: args.allow_missing,
            ..cuszp_params(&args.stream, &args.shape.dims.0)?
        };
        job.decompress(&args.shape, |stream| {
            cuszp::decompress_on(common.device, &params, stream)
        })
    })
}

fn cuszp_params<T: Element>(flags: &CuszpFlags, extents: &[u64]) -> Result<Params<T>, Failure> {
    let framing = if flags.v1 { Framing::V1 } else { Framing::V3 };
    let default_rank = match (flags.v1, extents.len()) {
        (true, _) | (_, 1) => Shape::Line,
        (_, 2) => Shape::Plane,
        _ => Shape::Cube,
    };
    let dims = match *extents {
        [z, y, x] => [z, y, x],
        [y, x] => [1, y, x],
        [x] => [1, 1, x],
        _ => {
            return Err(Failure::usage(format_args!(
                "an array of {} has more dimensions than the three of cuSZp: multiply the leading ones",
                report::lengths(extents)
            )));
        }
    };
    let mode = flags.mode.unwrap_or(Mode::Plain);
    let abs = if flags.float_bound {
        bound::<f32>(flags.abs)?.into()
    } else {
        flags.abs
    };
    Ok(Params {
        framing,
        ..Params::new(flags.rank.unwrap_or(default_rank), mode, dims, bound(abs)?)
    })
}

/// Runs `ferrosz aatrox`.
///
/// # Errors
///
/// If files cannot be read or written, or the stream is damaged or has another format.
pub fn aatrox(action: &AatroxAction, common: &Common) -> Result<(), Failure> {
    match action {
        AatroxAction::Compress(args) => {
            let job = Job::new(
                "aatrox",
                Holds::Stream,
                (&args.input, &args.output),
                args.replace,
                common,
            )?;
            let field = field_file::read(&args.input, &args.shape, None)?;
            with_element_field!(field, array => {
                let params = aatrox_params(args.abs, &array.extents)?;
                job.compress(&array, |values| {
                    aatrox::compress_on(common.device, &params, values)
                })
            })
        }
        AatroxAction::Decompress(args) => {
            let job = Job::new(
                "aatrox",
                Holds::Array,
                (&args.input, &args.output),
                args.replace,
                common,
            )?;
            with_element!(args.shape.dtype, E => {
                let params = aatrox_params::<E>(args.abs, &args.shape.dims.0)?;
                job.decompress(&args.shape, |stream| {
                    aatrox::decompress_on(common.device, &params, stream)
                })
            })
        }
    }
}

fn aatrox_params<T: Element>(abs: f64, extents: &[u64]) -> Result<aatrox::Params<T>, Failure> {
    let elements = (extents.iter())
        .try_fold(1u64, |product, length| product.checked_mul(*length))
        .ok_or_else(|| Failure::usage("no computer can hold an array of these dimensions"))?;
    Ok(aatrox::Params {
        elements,
        error: bound(abs)?,
    })
}

/// The bound rounded to the nearest `T`, as cuSZp rounds it.
fn bound<T: Element>(bound: f64) -> Result<T, Failure> {
    let rounded = T::from_f64(bound);
    if rounded > T::ZERO && rounded.is_finite() {
        Ok(rounded)
    } else {
        Err(Failure::usage(format_args!(
            "the bound {bound:e} is not within the range of {}",
            T::DTYPE
        )))
    }
}

/// The files and options of a call, for both directions of both formats.
struct Job<'a> {
    format: &'static str,
    input: &'a Location,
    output: &'a Location,
    force: bool,
    common: &'a Common,
}

impl<'a> Job<'a> {
    fn new(
        format: &'static str,
        holds: Holds,
        (input, output): (&'a Location, &'a Location),
        replace: Replace,
        common: &'a Common,
    ) -> Result<Self, Failure> {
        suffix::check(output, holds)?;
        output::check(output, Some(input), replace.force)?;
        Ok(Self {
            format,
            input,
            output,
            force: replace.force,
            common,
        })
    }

    fn compress<T: Element>(
        &self,
        array: &Array<T>,
        code: impl FnOnce(&[T]) -> Result<Vec<u8>, Error>,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let stream = code(&array.values).map_err(|error| self.explain(error))?;
        let seconds = start.elapsed().as_secs_f64();
        output::write(self.output, self.force, |writer| writer.write_all(&stream))?;
        self.report(array, stream.len(), seconds)
    }

    fn decompress<T: Element>(
        &self,
        shape: &StreamShape,
        decode: impl FnOnce(&[u8]) -> Result<Vec<T>, Error>,
    ) -> Result<(), Failure> {
        let stream = stream_file::read_whole(self.input)?;
        let start = Instant::now();
        let values = decode(&stream).map_err(|error| self.explain(error))?;
        let seconds = start.elapsed().as_secs_f64();
        let array = Array {
            extents: shape.dims.0.clone(),
            values: values.into(),
        };
        field_file::write(self.output, self.force, &array)?;
        self.report(&array, stream.len(), seconds)
    }

    fn explain(&self, error: Error) -> Failure {
        match error {
            Error::Ferrosz(ferrosz::Error::NoDevice { .. }) => error.into(),
            _ => Failure::failed(format_args!("{}: {error}", self.input)),
        }
    }

    fn report<T: Element>(
        &self,
        array: &Array<T>,
        stream_bytes: usize,
        seconds: f64,
    ) -> Result<(), Failure> {
        let elements = array.values.len();
        let field_bytes = (elements * T::BYTES) as u64;
        let ratio = field_bytes as f64 / stream_bytes as f64;
        let speed = report::megabytes_per_second(field_bytes, seconds);
        if self.common.json {
            let format = json!({ "format": self.format, "version": env!("CARGO_PKG_VERSION") });
            let places = [("input", self.input), ("output", self.output)];
            let [input, output] = places.map(|(member, place)| json::place(member, place));
            let found = json!({
                "dtype": T::DTYPE.name(),
                "dims": array.extents,
                "elements": elements,
                "field_bytes": field_bytes,
                "stream_bytes": stream_bytes,
                "ratio": ratio,
                "device": self.common.device.to_string(),
                "seconds": seconds,
                "megabytes_per_second": speed,
            });
            let object = json::join([format, input, output, found]);
            return output::print_json(&object, self.output);
        }
        if !self.common.quiet {
            output::note(&format!(
                "{} stream: {} {}, {} as a stream, ratio {ratio:.2}; {speed:.0} MB/s, {seconds:.3} s",
                self.format,
                report::bytes(field_bytes),
                T::DTYPE,
                report::bytes(stream_bytes as u64),
            ));
        }
        Ok(())
    }
}
