//! `ferrosz decompress`.

use crate::args::{Common, Decompress};
use crate::failure::Failure;
use crate::field_file::{self, Array};
use crate::output;
use crate::progress::Progress;
use crate::report;
use crate::stream_file;
use ferrosz::{Decompressor, Dtype, Element, Info};
use serde_json::json;
use std::time::Instant;

/// Decompresses a file.
///
/// # Errors
///
/// If the stream cannot be read, is damaged, the device cannot be used, or the output cannot be
/// written.
pub fn run(args: &Decompress, common: &Common) -> Result<(), Failure> {
    output::check(&args.output, Some(&args.input))?;
    let stream = stream_file::read(&args.input)?;
    let info = stream_file::info(&args.input, &stream)?;
    match info.dtype {
        Dtype::F32 => decompress::<f32>(args, common, &stream, &info),
        Dtype::F64 => decompress::<f64>(args, common, &stream, &info),
    }
}

fn decompress<T: Element>(
    args: &Decompress,
    common: &Common,
    stream: &[u8],
    info: &Info,
) -> Result<(), Failure> {
    let part = args.part.of(&info.extents)?;
    let start = Instant::now();
    let array: Array<T> = match &part {
        None => whole(stream, info, common),
        Some(part) => Decompressor::new()
            .device(common.device)
            .decompress_part(stream, part)
            .map(|values| Array {
                extents: part.extents(),
                values,
            }),
    }
    .map_err(|error| stream_file::explain(&args.input, error))?;
    let seconds = start.elapsed().as_secs_f64();
    field_file::write(&args.output, &array)?;
    report(args, common, &array, seconds)
}

/// All values, with a progress bar.
///
/// # Errors
///
/// As [`Decompressor::decompress`].
pub fn whole<T: Element>(
    stream: &[u8],
    info: &Info,
    common: &Common,
) -> Result<Array<T>, ferrosz::Error> {
    let progress = Progress::new(
        "decompressing",
        info.elements,
        T::BYTES as u64,
        common.quiet,
    );
    let values = Decompressor::new()
        .device(common.device)
        .decompress_with_progress(stream, &|more| progress.advance(more))?;
    Ok(Array {
        extents: info.extents.clone(),
        values,
    })
}

fn report<T: Element>(
    args: &Decompress,
    common: &Common,
    array: &Array<T>,
    seconds: f64,
) -> Result<(), Failure> {
    let bytes = array.values.len() as u64 * T::BYTES as u64;
    let speed = report::megabytes_per_second(bytes, seconds);
    if common.json {
        let object = json!({
            "dtype": T::DTYPE.name(),
            "dims": array.extents,
            "elements": array.values.len(),
            "field_bytes": bytes,
            "device": common.device.to_string(),
            "seconds": seconds,
            "megabytes_per_second": speed,
        });
        return output::print_json(&object, &args.output);
    }
    if !common.quiet {
        output::note(&format!(
            "{}, {} {}; {speed:.0} MB/s, {seconds:.3} s",
            report::bytes(bytes),
            report::lengths(&array.extents),
            T::DTYPE,
        ));
    }
    Ok(())
}
