//! `ferrosz decompress` of frames.

use super::{EndText, check_shape, end_to_json, first_info, frame_of, of_frame, open};
use crate::args::Decompress;
use crate::array::Shape;
use crate::files::Job;
use crate::{
    common::Common, failure::Failure, field_file, json, location::Location, output, report,
    stream_file, stream_file::Stream,
};
use ferrosz::codec::with_value;
use ferrosz::frames::{FrameReader, Frames, FramesEnd};
use ferrosz::{Decompressor, Error, Part, Value};
use serde_json::json;
use std::io::{self, BufWriter, Read, Write};
use std::ops::Range;
use std::time::Instant;

/// Values of frames that are decoded at the same time.
const VALUES_TOGETHER: u64 = 1 << 22;

/// Frames that are decoded at the same time, at most.
const MOST_TOGETHER: u64 = 256;

/// The values of a frame, and whether some are lost.
type Decoded<V> = Result<(Vec<V>, bool), Error>;

/// The command line, and one of its inputs.
pub struct FramesJob<'a> {
    /// The command line.
    pub args: &'a Decompress,
    /// Options of all commands.
    pub common: &'a Common,
    /// The input and the output.
    pub job: &'a Job,
}

impl FramesJob<'_> {
    /// Decompresses the frames of a file; true if no value is lost.
    ///
    /// # Errors
    ///
    /// If a frame is damaged (without `--salvage`), or the output cannot be written.
    pub fn of_file(&self, file: &Stream) -> Result<bool, Failure> {
        let frames = open(&self.job.input, file)?;
        let numbers = self.numbers(frames.len())?;
        let shape = Shape::of_stream(&first_info(&self.job.input, &frames)?);
        with_value!(shape.of.dtype, V => self.write_file::<V>(&frames, &shape, numbers))
    }

    /// Decompresses frames that come through a pipe; true, as no value is lost without an error.
    ///
    /// # Errors
    ///
    /// If a frame is damaged, behind which none is read, or the output cannot be written. The frames before are written to a
    /// pipe; a file is written as a whole or not at all.
    pub fn of_pipe(&self, pipe: Box<dyn Read>) -> Result<bool, Failure> {
        let input = &self.job.input;
        // The header of .npy has the number of frames, and what is lost is searched.
        if self.job.output.is_npy() || self.args.salvage {
            let file = stream_file::read_rest(pipe);
            return self.of_file(&file.map_err(|error| Failure::io("read", input, &error))?);
        }
        let reader = FrameReader::new(pipe);
        let mut reader =
            reader.map_err(|error| Failure::failed(format_args!("{input}: {error}")))?;
        self.write(|writer| self.write_coming(&mut reader, writer))?;
        if !reader.has_ended() && self.args.frames.is_none() && self.common.notes() {
            let end = EndText(FramesEnd::Stopped { rest: 0 });
            output::note(&format!("note: {input}: {end}"));
        }
        Ok(true)
    }

    /// The numbers of the wanted frames.
    fn numbers(&self, count: u64) -> Result<Range<u64>, Failure> {
        let wanted = self.args.frames.unwrap_or_default();
        let to = wanted.to.unwrap_or(count);
        match wanted.from <= to && to <= count {
            true => Ok(wanted.from..to),
            false => Err(self.too_few(count)),
        }
    }

    fn too_few(&self, count: u64) -> Failure {
        Failure::failed(format_args!(
            "--frames {} is not within the {count} frames of {}",
            self.args.frames.unwrap_or_default(),
            self.job.input
        ))
    }

    /// Calls `write` with the writer of the output. A file appears when it is complete.
    fn write<R>(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        match &self.job.output {
            Location::File(path) => {
                let force = self.args.files.replace.force;
                output::write_seek(path, force, |writer| write(writer))
            }
            _ => write(&mut BufWriter::new(io::stdout())),
        }
    }

    /// The result of a write to the output.
    fn written(&self, result: io::Result<()>) -> Result<(), Failure> {
        result.map_err(|error| Failure::io("write", self.job.output.output_name(), &error))
    }

    fn write_file<V: Value>(
        &self,
        frames: &Frames<&[u8]>,
        shape: &Shape,
        numbers: Range<u64>,
    ) -> Result<bool, Failure> {
        let start = Instant::now();
        let part = self.args.part.of(shape.numbers())?;
        let own = part.as_ref().map_or(shape.extents.clone(), |part| {
            shape.of.of_values(part.extents())
        });
        let part = part.map(|part| shape.of.part_of_values(&part));
        let extents = [&[numbers.end - numbers.start][..], &own].concat();
        let all = Shape {
            of: shape.of,
            extents: extents.clone(),
        };
        let lost = self.write(|writer| {
            self.written(writer.write_all(&field_file::header(&self.job.output, &all)))?;
            let lost = self.write_numbers::<V>((frames, shape), part.as_ref(), numbers, writer)?;
            self.written(writer.flush())?;
            Ok(lost)
        })?;
        let seconds = start.elapsed().as_secs_f64();
        self.report(shape, (frames.end(), &extents), &lost, seconds)?;
        Ok(lost.is_empty())
    }

    /// Writes the values of frames, several at a time; returns the numbers of those of which some are lost.
    fn write_numbers<V: Value>(
        &self,
        (frames, shape): (&Frames<&[u8]>, &Shape),
        part: Option<&Part>,
        numbers: Range<u64>,
        writer: &mut dyn Write,
    ) -> Result<Vec<u64>, Failure> {
        let elements = shape.elements().unwrap_or(u64::MAX).max(1);
        let together = (VALUES_TOGETHER / elements).clamp(1, MOST_TOGETHER);
        let (mut lost, mut number) = (Vec::new(), numbers.start);
        while number < numbers.end {
            let end = numbers.end.min(number + together);
            let streams: Vec<_> = (number..end)
                .map(|number| Ok(frame_of(shape, frames, number)?.0))
                .collect();
            for decoded in self.decode::<V>(shape, part, &streams) {
                let explain = |error| of_frame(&self.job.input, number, &error);
                let (values, is_lost) = decoded.map_err(explain)?;
                self.written(field_file::write_values(writer, &values))?;
                lost.extend(is_lost.then_some(number));
                number += 1;
            }
        }
        Ok(lost)
    }

    /// Decodes frames at the same time.
    fn decode<V: Value>(
        &self,
        shape: &Shape,
        part: Option<&Part>,
        streams: &[Result<&[u8], Error>],
    ) -> Vec<Decoded<V>> {
        let decompressor = Decompressor::new().device(self.common.device);
        if self.args.salvage {
            let salvage = |stream: &Result<&[u8], Error>| salvaged(&decompressor, shape, stream);
            return streams.iter().map(salvage).collect();
        }
        let there: Vec<&[u8]> = streams.iter().flatten().copied().collect();
        let mut decoded = match part {
            None => decompressor.decompress_batch::<V>(&there),
            Some(part) => (there.iter())
                .map(|stream| decompressor.decompress_part(stream, part))
                .collect(),
        }
        .into_iter();
        let take = |stream: &Result<&[u8], Error>| {
            stream.clone()?;
            let values = decoded.next().unwrap_or(Ok(Vec::new()));
            Ok((values?, false))
        };
        streams.iter().map(take).collect()
    }

    /// Writes the wanted ones of the frames that come, each before the next one is read.
    fn write_coming(
        &self,
        reader: &mut FrameReader<Box<dyn Read>>,
        writer: &mut dyn Write,
    ) -> Result<(), Failure> {
        let wanted = self.args.frames.unwrap_or_default();
        let mut shape = None;
        let mut number = 0;
        while wanted.to.is_none_or(|to| number < to) {
            let Some(stream) = reader.next() else {
                break;
            };
            let explain = |error| of_frame(&self.job.input, number, &error);
            let stream = stream.map_err(explain)?;
            if number >= wanted.from {
                let shape = match &shape {
                    Some(shape) => shape,
                    None => {
                        shape.insert(Shape::of_stream(&ferrosz::info(&stream).map_err(explain)?))
                    }
                };
                check_shape(shape, &stream).map_err(explain)?;
                let part = self.args.part.of(shape.numbers())?;
                let part = part.map(|part| shape.of.part_of_values(&part));
                with_value!(shape.of.dtype, V => {
                    for decoded in self.decode::<V>(shape, part.as_ref(), &[Ok(&stream)]) {
                        let (values, _) = decoded.map_err(explain)?;
                        self.written(field_file::write_values(writer, &values))?;
                    }
                });
                self.written(writer.flush())?;
            }
            number += 1;
        }
        match number < wanted.to.unwrap_or(wanted.from) {
            true => Err(self.too_few(number)),
            false => Ok(()),
        }
    }

    fn report(
        &self,
        shape: &Shape,
        (end, extents): (FramesEnd, &[u64]),
        lost: &[u64],
        seconds: f64,
    ) -> Result<(), Failure> {
        let Self { common, job, .. } = self;
        let bytes = extents.iter().product::<u64>() * shape.of.dtype.bytes() as u64;
        let speed = report::megabytes_per_second(bytes, seconds);
        if common.json {
            let run = json!({
                "frames": extents.first(),
                "dtype": shape.of.name(),
                "dims": shape.of.of_numbers(extents),
                "field_bytes": bytes,
                "damaged_frames": lost,
                "seconds": seconds,
                "megabytes_per_second": speed,
            });
            let begin = json::begin("decompress", &job.input);
            let output = json::place("output", &job.output);
            let object = json::join([begin, output, end_to_json(end), run]);
            return output::print_json(&object, &job.output);
        }
        for number in lost {
            output::note(&format!("error: {}: frame {number} is damaged", job.input));
        }
        if common.quiet {
            return Ok(());
        }
        if end != FramesEnd::Indexed {
            output::note(&format!("note: {}: {}", job.input, EndText(end)));
        }
        output::note(&format!(
            "{}: {}, {} {}; {speed:.0} MB/s, {seconds:.3} s",
            job.output.output_name(),
            report::bytes(bytes),
            report::lengths(shape.of.of_numbers(extents)),
            shape.of,
        ));
        Ok(())
    }
}

/// The values of a frame that may be damaged: lost ones are NaN, of integers 0.
fn salvaged<V: Value>(
    decompressor: &Decompressor,
    shape: &Shape,
    stream: &Result<&[u8], Error>,
) -> Decoded<V> {
    let found = stream
        .clone()
        .and_then(|stream| decompressor.salvage::<V>(stream));
    match found {
        Ok((values, damages)) => Ok((values, !damages.is_empty())),
        Err(Error::OutOfMemory { bytes }) => Err(Error::OutOfMemory { bytes }),
        Err(_) => {
            let lost = V::from_number(f64::NAN).unwrap_or(V::from_value_bits(0));
            let elements = shape.elements().unwrap_or(u64::MAX);
            let mut values = ferrosz::internals::try_zeroed::<V>(elements)?;
            values.fill(lost);
            Ok((values, true))
        }
    }
}
