//! Streams on servers.

use crate::array::Array;
use crate::common::Common;
use crate::failure::Failure;
use crate::field_file;
use crate::files::Job;
use crate::part::PartFlags;
use crate::{json, output, report};
use ferrosz::codec::with_value;
use ferrosz::{Decompressor, Error, ReadAt, StreamAt, Traffic, Value};
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
    let object = ferrosz::Object::open(url).map_err(|error| explain(url, error))?;
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

/// Decompresses a part of the array of a stream on a server, reading no more than the part needs.
///
/// # Errors
///
/// If the stream cannot be read or is damaged, the part is not within the array, or the output cannot be written.
pub fn decompress_part(
    url: &str,
    part: &PartFlags,
    job: &Job,
    force: bool,
    common: &Common,
) -> Result<(), Failure> {
    let stream = open(url)?;
    with_value!(stream.dtype(), V => part_of::<V>(stream, url, part, job, force, common))
}

fn part_of<V: Value>(
    mut stream: Remote,
    url: &str,
    part: &PartFlags,
    job: &Job,
    force: bool,
    common: &Common,
) -> Result<(), Failure> {
    let start = Instant::now();
    let Some(part) = part.of(&stream.extents())? else {
        return Err(Failure::usage("name a part: --elements or --box"));
    };
    let decompressor = Decompressor::new().device(common.device);
    let values: Vec<V> =
        (stream.decompress_part(&decompressor, &part)).map_err(|error| explain(url, error))?;
    let seconds = start.elapsed().as_secs_f64();
    let array = Array {
        extents: part.extents(),
        values,
    };
    field_file::write(&job.output, force, &array)?;
    let bytes = size_of_val(&array.values[..]) as u64;
    let Traffic {
        rounds,
        ranges,
        bytes: read,
        ..
    } = stream.traffic();
    if common.json {
        let run = json!({
            "output": job.output.output_name(),
            "dtype": V::TYPE.to_string(),
            "dims": array.extents,
            "elements": array.values.len(),
            "field_bytes": bytes,
            "seconds": seconds,
            "rounds": rounds,
            "ranges": ranges,
            "bytes_read": read,
        });
        let object = json::join([json::begin("decompress", &job.input), run]);
        return output::print_json(&object, &job.output);
    }
    if !common.quiet {
        output::note(&format!(
            "{}: {}, {} {}; read {} of the stream in {ranges} ranges and {rounds} rounds of requests, {seconds:.3} s",
            job.output.output_name(),
            report::bytes(bytes),
            report::lengths(&array.extents),
            V::TYPE,
            report::bytes(read),
        ));
    }
    Ok(())
}
