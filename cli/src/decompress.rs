//! `ferrosz decompress`.

use crate::files::{Job, array_name};
use crate::frames::{Streams, decompress::FramesJob};
use crate::{
    args::Decompress,
    array::{Array, ArrayType, Shape},
    common::Common,
    damage,
    damage::Cut,
    failure::Failure,
    field_file, json,
    location::Location,
    output,
    progress::Progress,
    remote, report, scratch, stream_file,
    suffix::Holds,
    values::Values,
};
use ferrosz::codec::with_value;
use ferrosz::stream::Damage;
use ferrosz::{Decompressor, Device, Info, Part, Value, level_extents_of_box};
use serde_json::json;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

/// Decompresses files; true if no value is lost.
///
/// # Errors
///
/// If the stream cannot be read, is damaged (with `--salvage`: damaged outside of its chunks), the device cannot be
/// used, or the output cannot be written.
pub fn run(args: &Decompress, common: &Common) -> Result<bool, Failure> {
    let is_part = args.part.elements.is_some() || args.part.box_.is_some() || args.level.is_some();
    // By default, a part would get the file name of the whole array.
    if is_part
        && let ([Location::File(_) | Location::Url(_)], None) =
            (&args.files.files[..], &args.files.out_dir)
    {
        return Err(Failure::usage(
            "a part or a level of an array has no default output: name an output",
        ));
    }
    args.files.each(common, Holds::Array, array_name, |job| {
        if let (Location::Url(url), true) = (&job.input, is_part) {
            remote::decompress_part(args, job, common, url)?;
            return Ok(true);
        }
        let of_frames = FramesJob { args, common, job };
        let stream = match Streams::open(&job.input)? {
            Streams::Frames(file) => return of_frames.of_file(&file),
            Streams::Coming(pipe) => return of_frames.of_pipe(pipe),
            Streams::One(stream) => stream,
        };
        if args.frames.is_some() {
            return Err(Failure::usage(format_args!(
                "--frames: {} is a stream of one array; --box takes a part of it",
                job.input
            )));
        }
        let info = stream_file::info(&job.input, &stream, "decompress")?;
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
    let part = args.part.of(info.number_extents())?;
    let start = Instant::now();
    let cut = Cut::of(stream, info);
    let force = args.files.replace.force;
    let whole_file = output::seekable(&job.output).filter(|_| {
        part.is_none() && args.level.is_none() && !args.salvage && cfg!(target_endian = "little")
    });
    let (extents, damages, time) = match whole_file {
        // The file is written while the stream is decoded, so that the array need not fit in memory.
        Some(path) => {
            write_file::<V>(path, force, job, stream, info, common)?;
            (info.extents.clone(), Vec::new(), start.elapsed())
        }
        None => {
            let (array, damages) = decode::<V>(args, job, common, stream, info, part.as_ref())?;
            let time = start.elapsed();
            field_file::write(&job.output, force, &array)?;
            (array.extents, damages, time)
        }
    };
    let elements: u64 = extents.iter().product();
    // Damaged streams, and levels in a box, are decoded on the CPU.
    let device = match args.salvage || (part.is_some() && args.level.is_some()) {
        true => Device::Cpu,
        false => {
            let decompressor = Decompressor::new().device(common.device);
            decompressor.device_for(stream, elements as usize)?
        }
    };
    let summary = Summary {
        info,
        extents: &extents,
        elements,
        damages: &damages,
        cut,
        device,
        seconds: time.as_secs_f64(),
    };
    summary.print(job, common)?;
    summary.report_losses(job, common);
    Ok(damages.is_empty() && cut.is_none())
}

/// The array of a stream, or a part of it; and the damages, which are an error unless the stream is salvaged.
fn decode<V: Value>(
    args: &Decompress,
    job: &Job,
    common: &Common,
    stream: &[u8],
    info: &Info,
    part: Option<&Part>,
) -> Result<(Array<V>, Vec<Damage>), Failure> {
    let explain = |error| stream_file::explain(&job.input, error);
    let (mut extents, mut damages) = (info.extents.clone(), Vec::new());
    let values: Values<V> = match (args.level, part) {
        (Some(level), part) => {
            let of = Shape::of_stream(info).of;
            let wanted = LevelBox::new(level, of, info.number_extents(), part);
            extents = wanted.extents;
            let decompressor = Decompressor::new().device(common.device);
            let values = match part {
                None => decompressor.level::<V>(stream, level),
                Some(_) => decompressor.level_of_box::<V>(stream, level, &wanted.ranges),
            };
            values.map_err(explain)?.into()
        }
        (None, None) if args.salvage => {
            let progress = progress::<V>("salvaging", info, common);
            let more = |more| progress.advance(more);
            let salvaged = Decompressor::new().progress(&more).salvage(stream);
            let cut = Cut::of(stream, info);
            let (values, found): (Vec<V>, _) =
                salvaged.map_err(|error| Cut::explain(cut, &job.input, error))?;
            damages = found;
            values.into()
        }
        (None, None) => whole_or_mapped(stream, info, common).map_err(explain)?,
        (None, Some(part)) => {
            let of = Shape::of_stream(info).of;
            extents = of.of_values(part.extents());
            let decompressor = Decompressor::new().device(common.device);
            let values = decompressor.decompress_part::<V>(stream, &of.part_of_values(part));
            values.map_err(explain)?.into()
        }
    };
    let is_complex = info.is_complex;
    let array = Array {
        extents,
        is_complex,
        values,
    };
    Ok((array, damages))
}

/// The box of an array in which a level is decoded, in the array's values.
pub struct LevelBox {
    /// The ranges of the box.
    pub ranges: Vec<Range<u64>>,
    /// The extents of the level's values in it.
    pub extents: Vec<u64>,
}

impl LevelBox {
    /// A box of the numbers of an array with these extents, or all of it.
    pub fn new(level: u32, of: ArrayType, numbers: &[u64], part: Option<&Part>) -> Self {
        let whole = Part::Box(numbers.iter().map(|length| 0..*length).collect());
        let part = part.unwrap_or(&whole);
        let ranges_of = |part: &Part| match part {
            Part::Box(ranges) => ranges.clone(),
            Part::Elements(range) => vec![range.clone()],
        };
        Self {
            ranges: ranges_of(&of.part_of_values(part)),
            extents: of.of_values(level_extents_of_box(&ranges_of(part), level)),
        }
    }
}

/// Decompresses a whole stream to a file.
fn write_file<V: Value>(
    path: &Path,
    force: bool,
    job: &Job,
    stream: &[u8],
    info: &Info,
    common: &Common,
) -> Result<(), Failure> {
    let progress = progress::<V>("decompressing", info, common);
    let decompressor = Decompressor::new().device(common.device);
    let header = field_file::header(&job.output, &Shape::of_stream(info));
    output::write_seek(path, force, |writer| {
        let written = writer.write_all(&header);
        written.map_err(|error| Failure::io("write", path.display(), &error))?;
        let more = |more| progress.advance(more);
        let written = decompressor
            .progress(&more)
            .decompress_seek::<V>(stream, writer);
        written
            .map_err(|error| match error {
                ferrosz::Error::Io { .. } => output::explain_write(path, error),
                error => stream_file::explain(&job.input, error),
            })
            .map(drop)
    })
}

fn progress<V: Value>(what: &'static str, info: &Info, common: &Common) -> Progress {
    Progress::new(what, info.elements, size_of::<V>() as u64, common.quiet)
}

/// Decompresses a whole stream, with a progress bar.
///
/// # Errors
///
/// The errors of [`Decompressor::decompress`].
fn whole<V: Value>(stream: &[u8], info: &Info, common: &Common) -> Result<Vec<V>, ferrosz::Error> {
    let progress = progress::<V>("decompressing", info, common);
    Decompressor::new()
        .device(common.device)
        .progress(&|more| progress.advance(more))
        .decompress(stream)
}

/// As [`whole`]. A large array is decoded to a temporary file, which is mapped, so that it need not fit in memory.
///
/// # Errors
///
/// The errors of [`Decompressor::decompress`].
pub fn whole_or_mapped<V: Value>(
    stream: &[u8],
    info: &Info,
    common: &Common,
) -> Result<Values<V>, ferrosz::Error> {
    if let Some(mut file) = scratch::file_for(info.field_bytes)
        && let Some(values) = in_file(&mut file, stream, info, common)?
    {
        return Ok(values);
    }
    Ok(whole(stream, info, common)?.into())
}

/// The values of a stream in a mapped temporary file; none if there is no room for them.
fn in_file<V: Value>(
    file: &mut File,
    stream: &[u8],
    info: &Info,
    common: &Common,
) -> Result<Option<Values<V>>, ferrosz::Error> {
    let progress = progress::<V>("decompressing", info, common);
    let decompressor = Decompressor::new().device(common.device);
    let more = |more| progress.advance(more);
    match decompressor
        .progress(&more)
        .decompress_seek::<V>(stream, &mut *file)
    {
        Ok(count) => Ok(Values::map(file, 0, count).ok().flatten()),
        Err(ferrosz::Error::Io { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The report about one decompressed stream.
struct Summary<'a> {
    info: &'a Info,
    /// Of the array or of the part.
    extents: &'a [u64],
    elements: u64,
    damages: &'a [Damage],
    cut: Option<Cut>,
    device: Device,
    seconds: f64,
}

impl Summary<'_> {
    /// The lengths of the numbers.
    fn numbers(&self) -> &[u64] {
        let of = Shape::of_stream(self.info).of;
        of.of_numbers(self.extents)
    }

    /// Whether standard error has text for people: with `--json` and data on standard output, it has the object.
    fn has_stderr(&self, job: &Job, common: &Common) -> bool {
        !common.json || job.output != Location::Pipe
    }

    /// Says how many values are lost, if any are.
    fn report_losses(&self, job: &Job, common: &Common) {
        let is_whole = self.damages.is_empty() && self.cut.is_none();
        if is_whole || !self.has_stderr(job, common) {
            return;
        }
        let lost: u64 = self.damages.iter().map(Damage::elements).sum();
        output::note(&format!(
            "error: {} is {}: {lost} of {} values are lost, and {} in {}",
            job.input,
            if self.cut.is_some() {
                "cut off"
            } else {
                "damaged"
            },
            self.info.elements,
            if self.info.dtype.is_integer() {
                "0"
            } else {
                "NaN"
            },
            job.output.output_name()
        ));
    }

    fn print(&self, job: &Job, common: &Common) -> Result<(), Failure> {
        let bytes = self.elements * self.info.dtype.bytes() as u64;
        let speed = report::megabytes_per_second(bytes, self.seconds);
        if self.has_stderr(job, common) {
            for line in damage::lines(self.damages, self.cut) {
                output::note(&line);
            }
        }
        if common.json {
            let run = json!({
                "dims": self.numbers(),
                "elements": self.elements,
                "field_bytes": bytes,
                "damaged": damage::to_json(self.damages, self.cut),
                "device": self.device.to_string(),
                "seconds": self.seconds,
                "megabytes_per_second": speed,
            });
            let begin = json::begin("decompress", &job.input);
            let output = json::place("output", &job.output);
            let object = json::join([begin, output, json::stream(self.info), run]);
            return output::print_json(&object, &job.output);
        }
        if !common.quiet {
            output::note(&format!(
                "{}: {}, {} {}; {}, absolute error {}; on {}, {speed:.0} MB/s, {:.3} s",
                job.output.output_name(),
                report::bytes(bytes),
                report::lengths(self.numbers()),
                self.info.type_name(),
                report::bound(self.info.bound),
                report::absolute_error(self.info.absolute_error),
                self.device,
                self.seconds,
            ));
        }
        Ok(())
    }
}
