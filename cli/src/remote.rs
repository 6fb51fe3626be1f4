//! Streams on servers.

use crate::{
    args::Decompress,
    array::{Array, ArrayType},
    common::Common,
    decompress::LevelBox,
    failure::Failure,
    field_file,
    files::Job,
    json, output, report,
};
use ferrosz::codec::with_value;
use ferrosz::stream::{ReadAt, StreamAt, Traffic};
use ferrosz::{Decompressor, Error, ValueType};
use serde_json::json;
use std::time::Instant;

/// A stream on a server, of which the first bytes were read.
pub type Remote = StreamAt<Box<dyn ReadAt>>;

/// Opens the stream at a URL.
///
/// # Errors
///
/// If the server cannot be reached, or no stream is there.
pub fn open(url: &str) -> Result<Remote, Failure> {
    let place = place(url)?;
    StreamAt::open(place).map_err(|error| explain(url, error))
}

#[cfg(feature = "remote")]
fn place(url: &str) -> Result<Box<dyn ReadAt>, Failure> {
    let object = ferrosz::stream::Object::open(url).map_err(|error| explain(url, error))?;
    Ok(Box::new(object))
}

#[cfg(not(feature = "remote"))]
fn place(url: &str) -> Result<Box<dyn ReadAt>, Failure> {
    Err(Failure::failed(format_args!(
        "cannot read {url}: this ferrosz was built without the feature remote; install it with --features remote"
    )))
}

/// Adds the URL to an error.
pub fn explain(url: &str, error: Error) -> Failure {
    Failure::failed(format_args!("{url}: {error}"))
}

/// Decompresses a part or a level of the array of a stream on a server, reading no more than it needs.
///
/// # Errors
///
/// If the stream cannot be read or is damaged, the part is not within the array, or the output cannot be written.
pub fn decompress_part(
    args: &Decompress,
    job: &Job,
    common: &Common,
    url: &str,
) -> Result<(), Failure> {
    let start = Instant::now();
    let mut stream = open(url)?;
    let of = ArrayType {
        dtype: stream.dtype(),
        is_complex: stream.is_complex(),
    };
    let numbers = of.of_numbers(&stream.extents()).to_vec();
    let (dtype, part) = (of.dtype, args.part.of(&numbers)?);
    let level = args
        .level
        .map(|level| (level, LevelBox::new(level, of, &numbers, part.as_ref())));
    let extents = match (&level, &part) {
        (Some((_, wanted)), _) => wanted.extents.clone(),
        (None, Some(part)) => of.of_values(part.extents()),
        (None, None) => return Err(Failure::usage("name a part: --elements, --box or --level")),
    };
    let part = part.map(|part| of.part_of_values(&part));
    let decompressor = Decompressor::new().device(common.device);
    with_value!(dtype, V => {
        let values: Result<Vec<V>, Error> = match (&level, &part) {
            (Some((level, wanted)), _) => stream.level(&decompressor, *level, Some(&wanted.ranges)),
            (None, Some(part)) => stream.decompress_part(&decompressor, part),
            (None, None) => Ok(Vec::new()),
        };
        let values = values.map_err(|error| explain(url, error))?;
        let extents = extents.clone();
        field_file::write(&job.output, args.files.replace.force, &Array { extents, is_complex: of.is_complex, values: values.into() })?;
    });
    let seconds = start.elapsed().as_secs_f64();
    report(job, common, (dtype, &extents), (stream.traffic(), seconds))
}

/// Says what was decompressed, and how much was read for it.
fn report(
    job: &Job,
    common: &Common,
    (dtype, extents): (ValueType, &[u64]),
    (traffic, seconds): (Traffic, f64),
) -> Result<(), Failure> {
    let elements: u64 = extents.iter().product();
    let bytes = elements * dtype.bytes() as u64;
    let Traffic {
        rounds,
        ranges,
        bytes: read,
        ..
    } = traffic;
    if common.json {
        let run = json!({
            "dtype": dtype.to_string(),
            "dims": extents,
            "elements": elements,
            "field_bytes": bytes,
            "seconds": seconds,
            "rounds": rounds,
            "ranges": ranges,
            "bytes_read": read,
        });
        let begin = json::begin("decompress", &job.input);
        let object = json::join([begin, json::place("output", &job.output), run]);
        return output::print_json(&object, &job.output);
    }
    if !common.quiet {
        output::note(&format!(
            "{}: {}, {} {dtype}; read {} of the stream in {ranges} ranges and {rounds} rounds of requests, {seconds:.3} s",
            job.output.output_name(),
            report::bytes(bytes),
            report::lengths(extents),
            report::bytes(read),
        ));
    }
    Ok(())
}
