//! `ferrosz decompress`.

use crate::args::Decompress;
use crate::array::Array;
use crate::common::Common;
use crate::failure::Failure;
use crate::field_file;
use crate::files::{Job, array_name};
use crate::location::Location;
use crate::progress::Progress;
use crate::{damage, json, output, remote, report, stream_file};
use ferrosz::codec::with_value;
use ferrosz::{Damage, Decompressor, Device, Info, Value};
use serde_json::json;
use std::time::Instant;

/// Decompresses files; true if no value is lost.
///
/// # Errors
///
/// If the stream cannot be read, is damaged (with `--salvage`: damaged outside of its chunks), the device cannot be
/// used, or the output cannot be written.
pub fn run(args: &Decompress, common: &Common) -> Result<bool, Failure> {
    let is_part = args.part.elements.is_some() || args.part.box_.is_some();
    // By default, a part would get the file name of the whole array.
    if is_part
        && let ([Location::File(_) | Location::Url(_)], None) =
            (&args.files.files[..], &args.files.out_dir)
    {
        return Err(Failure::usage(
            "a part of an array has no default output: name an output",
        ));
    }
    args.files.each(common, array_name, |job| {
        if let (Location::Url(url), true) = (&job.input, is_part) {
            remote::decompress_part(args, job, common, url)?;
            return Ok(true);
        }
        let stream = stream_file::read(&job.input)?;
        let info = stream_file::info(&job.input, &stream)?;
        with_value!(info.dtype, V => decompress::<V>(args, job, common, &stream, &info))
    })
}

fn decompress<V: Value>(
    args: &Decompress,
    job: &Job,
    common: &Common,
    stream: &[u8],
    info: &Info,
) -> Result<bool, Failure> {
    let part = args.part.of(&info.extents)?;
    let start = Instant::now();
    let mut damages = Vec::new();
    let array: Array<V> = match &part {
        None if args.salvage => {
            let progress = progress::<V>("salvaging", info, common);
            let more = |more| progress.advance(more);
            let salvaged = Decompressor::new().salvage_with_progress(stream, &more);
            salvaged.map(|(values, found)| {
                damages = found;
                Array {
                    extents: info.extents.clone(),
                    values,
                }
            })
        }
        None => whole(stream, info, common),
        Some(part) => Decompressor::new()
            .device(common.device)
            .decompress_part(stream, part)
            .map(|values| Array {
                extents: part.extents(),
                values,
            }),
    }
    .map_err(|error| stream_file::explain(&job.input, error))?;
    let seconds = start.elapsed().as_secs_f64();
    field_file::write(&job.output, args.files.replace.force, &array)?;
    // Damaged streams, and parts of streams of tiles, are decoded on the CPU.
    let device = match args.salvage || (part.is_some() && info.chunk_tiles.is_some()) {
        true => Device::Cpu,
        false => Decompressor::new()
            .device(common.device)
            .device_for(stream, array.values.len())?,
    };
    let summary = Summary {
        info,
        array: &array,
        damages: &damages,
        device,
        seconds,
    };
    summary.print(job, common)?;
    if !damages.is_empty() && summary.has_stderr(job, common) {
        let lost: u64 = damages.iter().map(Damage::elements).sum();
        output::note(&format!(
            "error: {} is damaged: {lost} of {} values are lost, and {} in {}",
            job.input,
            info.elements,
            if info.dtype.is_integer() { "0" } else { "NaN" },
            job.output.output_name()
        ));
    }
    Ok(damages.is_empty())
}

fn progress<V: Value>(what: &'static str, info: &Info, common: &Common) -> Progress {
    Progress::new(what, info.elements, size_of::<V>() as u64, common.quiet)
}

/// Decompresses a whole stream, with a progress bar.
///
/// # Errors
///
/// The errors of [`Decompressor::decompress`].
pub fn whole<V: Value>(
    stream: &[u8],
    info: &Info,
    common: &Common,
) -> Result<Array<V>, ferrosz::Error> {
    let progress = progress::<V>("decompressing", info, common);
    let values = Decompressor::new()
        .device(common.device)
        .decompress_with_progress(stream, &|more| progress.advance(more))?;
    Ok(Array {
        extents: info.extents.clone(),
        values,
    })
}

/// The report about one decompressed stream.
struct Summary<'a, V> {
    info: &'a Info,
    array: &'a Array<V>,
    damages: &'a [Damage],
    device: Device,
    seconds: f64,
}

impl<V: Value> Summary<'_, V> {
    /// Whether standard error has text for people: with `--json` and data on standard output, it has the object.
    fn has_stderr(&self, job: &Job, common: &Common) -> bool {
        !common.json || job.output != Location::Pipe
    }

    fn print(&self, job: &Job, common: &Common) -> Result<(), Failure> {
        let bytes = size_of_val(&self.array.values[..]) as u64;
        let speed = report::megabytes_per_second(bytes, self.seconds);
        if self.has_stderr(job, common) {
            for line in damage::lines(self.damages) {
                output::note(&line);
            }
        }
        if common.json {
            let run = json!({
                "output": job.output.output_name(),
                "dims": self.array.extents,
                "elements": self.array.values.len(),
                "field_bytes": bytes,
                "damaged": damage::to_json(self.damages),
                "device": self.device.to_string(),
                "seconds": self.seconds,
                "megabytes_per_second": speed,
            });
            let begin = json::begin("decompress", &job.input);
            let object = json::join([begin, json::stream(self.info), run]);
            return output::print_json(&object, &job.output);
        }
        if !common.quiet {
            output::note(&format!(
                "{}: {}, {} {}; {}, absolute error {}; on {}, {speed:.0} MB/s, {:.3} s",
                job.output.output_name(),
                report::bytes(bytes),
                report::lengths(&self.array.extents),
                V::TYPE,
                report::bound(self.info.bound),
                report::absolute_error(self.info.absolute_error),
                self.device,
                self.seconds,
            ));
        }
        Ok(())
    }
}
