//! `ferrosz compress --frames`.

use crate::args::Compress;
use crate::array::ArrayType;
use crate::bounds::Aim;
use crate::files::{Job, frames_name};
use crate::{
    codec_choice, common::Common, failure::Failure, field_file, fills, json, location::Location,
    output, report, suffix::Holds, threads,
};
use bytemuck::cast_slice_mut;
use ferrosz::codec::with_value;
use ferrosz::frames::FrameWriter;
use ferrosz::{Compressor, Preset, Value, ValueType};
use serde_json::json;
use std::fs::File;
use std::io::{self, Read};
use std::time::Instant;

/// Compresses frames until the input ends; true if it ends with a whole frame.
///
/// # Errors
///
/// If settings need all frames at once, the input cannot be read or ends within a frame, or the output cannot be written.
/// All whole frames before are in the output.
pub fn run(
    args: &Compress,
    common: &Common,
    aim: Aim,
    compressor: Compressor,
) -> Result<bool, Failure> {
    let (Some(of), Some(dims)) = (args.shape.dtype, &args.shape.dims) else {
        return Err(Failure::usage(
            "--frames needs --dtype and --dims, those of one frame, as in --dtype f32 --dims 1024,1024",
        ));
    };
    if let Aim::Target(target) = aim {
        return Err(Failure::usage(format_args!(
            "--{} searches a bound for a whole array, which frames without end are not: give a bound",
            target.kind()
        )));
    }
    if args.safeguards.abs_field.is_some() {
        return Err(Failure::usage(
            "--abs-field has the bounds of one array, and frames without end are none",
        ));
    }
    threads::need("--frames")?;
    args.files.each(common, Holds::Frames, frames_name, |job| {
        let call = FramesCall { args, common, job };
        let compressor = match of.is_complex {
            true => compressor.complex(),
            false => compressor,
        };
        let dims = of.of_values(dims.0.clone());
        with_value!(of.dtype, V => call.compress::<V>(compressor, &dims))
    })
}

/// The command line, and one of its inputs.
struct FramesCall<'a> {
    args: &'a Compress,
    common: &'a Common,
    job: &'a Job,
}

impl FramesCall<'_> {
    fn compress<V: Value>(&self, compressor: Compressor, dims: &[u64]) -> Result<bool, Failure> {
        let mut input = FrameInput::open(self.job, dims, V::TYPE)?;
        let start = Instant::now();
        // It decides what the others keep, before an output is begun.
        let mut first = input.next::<V>()?;
        let chosen = match &first {
            None => compressor,
            Some(frame) => {
                let with_fills = fills::with_fills(&self.args.fill, compressor, frame, &[])?;
                with_fills.extents(dims)?.choose(frame)?
            }
        };
        let output = output::begin(&self.job.output, self.args.files.replace.force)?;
        let mut writer = FrameWriter::<V, _>::new(chosen, dims, output)?;
        let written = writer.write_each(|| match first.take() {
            Some(first) => Ok(Some(first)),
            None => input.next::<V>(),
        });
        if let Err(Failure::Closed) = written {
            return Err(Failure::Closed);
        }
        let (frames, bytes) = (writer.frames(), writer.bytes());
        // Also where the input ended within a frame: the whole ones get their index.
        let finished = writer.finish();
        written?;
        finished?;
        let summary = FramesSummary {
            preset: compressor.preset(),
            chosen,
            frames,
            frame_bytes: input.frame_bytes as u64,
            bytes,
            seconds: start.elapsed().as_secs_f64(),
        };
        let of = ArrayType {
            dtype: V::TYPE,
            is_complex: compressor.is_complex(),
        };
        summary.print(self, of)?;
        Ok(true)
    }
}

/// Raw frames of an input.
struct FrameInput<'a> {
    reader: Box<dyn Read + Send>,
    job: &'a Job,
    frame_bytes: usize,
    frames: u64,
}

impl<'a> FrameInput<'a> {
    fn open(job: &'a Job, dims: &[u64], dtype: ValueType) -> Result<Self, Failure> {
        let bytes = dims.iter().try_fold(dtype.bytes() as u64, |bytes, length| {
            bytes.checked_mul(*length)
        });
        let frame_bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let frame_bytes = frame_bytes.filter(|bytes| isize::try_from(*bytes).is_ok());
        let frame_bytes = frame_bytes.ok_or_else(|| {
            Failure::usage("--dims: no computer can hold a frame of these dimensions")
        })?;
        if frame_bytes == 0 {
            return Err(Failure::usage("--dims: frames without values never end"));
        }
        if job.input.is_npy() {
            return Err(Failure::usage(format_args!(
                "{} is an .npy array: --frames takes raw values; without it the array is compressed as one",
                job.input
            )));
        }
        let reader: Box<dyn Read + Send> = match &job.input {
            Location::Pipe => Box::new(io::stdin()),
            Location::File(path) => {
                let file = File::open(path);
                Box::new(file.map_err(|error| Failure::io("read", &job.input, &error))?)
            }
            other => return Err(other.is_no_file("frames are raw values in")),
        };
        Ok(Self {
            reader,
            job,
            frame_bytes,
            frames: 0,
        })
    }

    /// The next frame; none where the input ends behind one.
    fn next<V: Value>(&mut self) -> Result<Option<Vec<V>>, Failure> {
        let mut values =
            ferrosz::internals::try_zeroed::<V>((self.frame_bytes / size_of::<V>()) as u64)?;
        let found = self.fill(cast_slice_mut(&mut values))?;
        if found == 0 {
            return Ok(None);
        }
        if found < self.frame_bytes {
            let Self {
                job,
                frame_bytes,
                frames,
                ..
            } = self;
            return Err(Failure::failed(format_args!(
                "{} ends within frame {frames}, after {found} of its {frame_bytes} bytes; the {frames} whole frames are in {}",
                job.input,
                job.output.output_name()
            )));
        }
        self.frames += 1;
        field_file::from_little(&mut values);
        Ok(Some(values))
    }

    /// Reads bytes up to the end of the input; returns their number.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize, Failure> {
        let mut found = 0;
        while found < bytes.len() {
            match self.reader.read(&mut bytes[found..]) {
                Ok(0) => break,
                Ok(count) => found += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::io("read", &self.job.input, &error)),
            }
        }
        Ok(found)
    }
}

/// The report about the frames of one input.
struct FramesSummary {
    /// The preset that chose the layout, if any did.
    preset: Option<Preset>,
    chosen: Compressor,
    frames: u64,
    /// Bytes of the values of a frame.
    frame_bytes: u64,
    /// Bytes of all frames, compressed.
    bytes: u64,
    seconds: f64,
}

impl FramesSummary {
    fn print(&self, call: &FramesCall<'_>, of: ArrayType) -> Result<(), Failure> {
        let field_bytes = self.frames * self.frame_bytes;
        let speed = report::megabytes_per_second(field_bytes, self.seconds);
        let ratio = field_bytes as f64 / self.bytes as f64;
        let rate = self.frames as f64 / self.seconds;
        let bound = self.chosen.bound();
        let FramesCall { common, job, .. } = call;
        if common.json {
            let run = json!({
                "frames": self.frames,
                "dtype": of.name(),
                "codec": self.chosen.codec().map(|codec| codec.name()),
                "rank": self.chosen.rank(),
                "preset": self.preset.map(Preset::name),
                "bound_mode": bound.mode().name(),
                "bound": bound.value(),
                "field_bytes": field_bytes,
                "file_bytes": self.bytes,
                "ratio": ratio,
                "seconds": self.seconds,
                "frames_per_second": rate,
                "megabytes_per_second": speed,
            });
            let begin = json::begin("compress", &job.input);
            let object = json::join([begin, json::place("output", &job.output), run]);
            return output::print_json(&object, &job.output);
        }
        if common.quiet {
            return Ok(());
        }
        let coded_as = match (self.chosen.codec(), self.chosen.rank()) {
            (Some(codec), Some(rank)) => codec_choice::describe(codec, rank),
            _ => "nothing was chosen".to_owned(),
        };
        let preset = self.preset.map_or_else(String::new, |preset| {
            format!("preset {preset}, by the first frame: ")
        });
        output::note(&format!(
            "{}: {} frames, {} to {}: ratio {ratio:.2}; {rate:.1} frames/s, {speed:.0} MB/s, {:.3} s\n\
             {preset}{coded_as}; {}",
            job.output.output_name(),
            self.frames,
            report::bytes(field_bytes),
            report::bytes(self.bytes),
            self.seconds,
            report::bound(bound),
        ));
        Ok(())
    }
}
