//! `ferrosz info`, `check` and `verify` of files of frames.

use super::{EndText, end_to_json, first_info, frame_of, of_frame, open, to_json};
use crate::array::{Array, Shape};
use crate::field_file::{self, Assumed, CHECK_FLAGS};
use crate::{
    args::Verify, codec_choice, common::Common, failure::Failure, json, location::Location, output,
    report,
};
use ferrosz::frames::{Frames, FramesEnd};
use ferrosz::{Decompressor, Info, Value};
use ferrosz_verify::Comparison;
use serde_json::json;
use std::time::Instant;

/// Damaged frames in a text at most.
const MOST_FRAMES: usize = 20;

/// The least, the mean and the largest ratio of frames; of no frames all are 0.
struct Ratios {
    least: f64,
    mean: f64,
    largest: f64,
}

impl Ratios {
    /// Those of the frames whose heads are there. The mean is that of all bytes.
    fn of(frames: &Frames<&[u8]>, frame_bytes: u64) -> Self {
        let streams = (0..frames.len()).filter_map(|number| frames.stream(number).ok());
        let (mut least, mut largest, mut count, mut bytes) = (f64::INFINITY, 0.0f64, 0, 0);
        for stream in streams {
            let ratio = frame_bytes as f64 / stream.len() as f64;
            (least, largest) = (least.min(ratio), largest.max(ratio));
            count += 1;
            bytes += stream.len() as u64;
        }
        Self {
            least,
            mean: (count * frame_bytes) as f64 / bytes as f64,
            largest,
        }
    }
}

/// The description of a file of frames, as `info` prints it.
///
/// # Errors
///
/// If no frame can be read.
pub fn info(location: &Location, file: &[u8], common: &Common) -> Result<String, Failure> {
    let frames = open(location, file)?;
    if frames.is_empty() {
        return Ok(match common.json {
            true => format!(
                "{}\n",
                json::join([json::begin("info", location), json!({ "frames": 0 })])
            ),
            false => report::pairs(&[
                ("frames", "0".to_owned()),
                ("file", EndText(frames.end()).to_string()),
            ]),
        });
    }
    let first = first_info(location, &frames)?;
    let ratios = Ratios::of(&frames, first.field_bytes);
    Ok(match common.json {
        true => {
            let more = json!({
                "codec": first.codec.name(),
                "rank": first.rank,
                "bound_mode": first.bound.mode().name(),
                "bound": first.bound.value(),
                "field_bytes": frames.len() * first.field_bytes,
                "file_bytes": file.len(),
                "ratio": ratios.mean,
                "least_ratio": ratios.least,
                "largest_ratio": ratios.largest,
                "data_checked": false,
            });
            let begin = to_json("info", location, &Shape::of_stream(&first), frames.len());
            format!("{}\n", json::join([begin, more, end_to_json(frames.end())]))
        }
        false => report::pairs(&to_pairs(&frames, &first, &ratios, file.len() as u64)),
    })
}

fn to_pairs(
    frames: &Frames<&[u8]>,
    first: &Info,
    ratios: &Ratios,
    file_bytes: u64,
) -> Vec<(&'static str, String)> {
    let Ratios {
        least,
        mean,
        largest,
    } = ratios;
    vec![
        ("frames", frames.len().to_string()),
        ("element type", first.type_name().to_owned()),
        (
            "dimensions",
            format!("{} of a frame", report::lengths(first.number_extents())),
        ),
        ("codec", codec_choice::describe(first.codec, first.rank)),
        ("error bound", report::bound(first.bound)),
        ("arrays", report::bytes(frames.len() * first.field_bytes)),
        (
            "file",
            format!("{}; {}", report::bytes(file_bytes), EndText(frames.end())),
        ),
        (
            "ratio",
            format!("{mean:.3}; of a frame {least:.3} to {largest:.3}"),
        ),
        (
            "data",
            "not checked; `ferrosz check` decodes all of it".to_owned(),
        ),
    ]
}

/// Decodes all frames and compares all checksums; true if none is damaged, and the file has its end.
///
/// # Errors
///
/// If no frame can be read.
pub fn check(location: &Location, file: &[u8], common: &Common) -> Result<bool, Failure> {
    let frames = open(location, file)?;
    let start = Instant::now();
    let mut damaged = Vec::new();
    if !frames.is_empty() {
        let shape = Shape::of_stream(&first_info(location, &frames)?);
        for number in 0..frames.len() {
            damaged.extend(fault(&shape, &frames, number).map(|fault| (number, fault)));
        }
    }
    let is_whole = damaged.is_empty() && frames.end() == FramesEnd::Indexed;
    if common.json {
        let list = damaged
            .iter()
            .map(|(number, cause)| json!({ "frame": number, "cause": cause }));
        let found = json!({
            "whole": is_whole,
            "file_bytes": file.len(),
            "frames": frames.len(),
            "damaged_frames": list.collect::<Vec<_>>(),
            "seconds": start.elapsed().as_secs_f64(),
        });
        let object = json::join([
            json::begin("check", location),
            end_to_json(frames.end()),
            found,
        ]);
        output::print(&format!("{object}\n"))?;
    } else if !is_whole || !common.quiet {
        output::print(&check_text(location, &frames, &damaged))?;
    }
    Ok(is_whole)
}

/// The reason why a frame is damaged; none if it is not.
fn fault(shape: &Shape, frames: &Frames<&[u8]>, number: u64) -> Option<String> {
    let found = frame_of(shape, frames, number);
    match found.and_then(|(stream, _)| Decompressor::new().check(stream)) {
        Err(error) => Some(error.to_string()),
        Ok(damages) => damages.first().map(|damage| damage.cause.to_string()),
    }
}

fn check_text(location: &Location, frames: &Frames<&[u8]>, damaged: &[(u64, String)]) -> String {
    let (count, end) = (frames.len(), EndText(frames.end()));
    if damaged.is_empty() {
        return format!("{location}: {count} whole frames; {end}\n");
    }
    let mut lines = vec![format!(
        "{location}: DAMAGED: {} of {count} frames; {end}; `ferrosz decompress --salvage` gives the rest",
        damaged.len()
    )];
    let listed = damaged.iter().take(MOST_FRAMES);
    lines.extend(listed.map(|(number, cause)| format!("  frame {number}: {cause}")));
    if let Some(more) = damaged
        .len()
        .checked_sub(MOST_FRAMES)
        .filter(|more| *more > 0)
    {
        lines.push(format!("  and {more} more frames; --json lists all"));
    }
    lines.join("\n") + "\n"
}

/// Compares the frames with the original array, whose first axis counts them; true if all keep their bounds and promises.
///
/// # Errors
///
/// If an input cannot be read or decoded, or the types or lengths differ.
pub fn verify(args: &Verify, file: &[u8], common: &Common) -> Result<bool, Failure> {
    let frames = open(&args.stream, file)?;
    let shape = Shape::of_stream(&first_info(&args.stream, &frames)?);
    let all = Shape {
        of: shape.of,
        extents: [&[frames.len()][..], &shape.extents].concat(),
    };
    let assumed = Assumed {
        shape: all,
        check: CHECK_FLAGS,
    };
    let original = field_file::read(&args.original, &args.shape, Some(&assumed))?;
    if original.shape() != assumed.shape {
        return Err(Failure::failed(format_args!(
            "{} holds {}, and {} has frames that make {}: they are not the same",
            args.original,
            original.shape(),
            args.stream,
            assumed.shape
        )));
    }
    let start = Instant::now();
    let judged =
        with_field!(&original, array => JudgedFrames::new(args, common, (&frames, &shape), array)?);
    output::print(&match common.json {
        true => {
            let begin = to_json("verify", &args.original, &shape, frames.len());
            let stream = json::place("stream", &args.stream);
            let run = json!({ "seconds": start.elapsed().as_secs_f64() });
            let parts = [
                begin,
                stream,
                end_to_json(frames.end()),
                judged.to_json(),
                run,
            ];
            format!("{}\n", json::join(parts))
        }
        false => report::pairs(&judged.to_pairs(frames.len())),
    })?;
    Ok(judged.broken.is_empty())
}

/// The judgement of all frames.
struct JudgedFrames {
    /// The frames that do not keep their bounds and promises.
    broken: Vec<u64>,
    /// The largest error, and its frame.
    largest: (f64, u64),
    least_psnr: f64,
}

impl JudgedFrames {
    fn new<V: Value>(
        args: &Verify,
        common: &Common,
        (frames, shape): (&Frames<&[u8]>, &Shape),
        original: &Array<V>,
    ) -> Result<Self, Failure> {
        let elements = shape.elements().unwrap_or(u64::MAX).max(1) as usize;
        let decompressor = Decompressor::new().device(common.device);
        let mut found = Self {
            broken: Vec::new(),
            largest: (0.0, 0),
            least_psnr: f64::INFINITY,
        };
        for (number, original) in (0..).zip(original.values.chunks(elements)) {
            let explain = |error| of_frame(&args.stream, number, &error);
            let (stream, info) = frame_of(shape, frames, number).map_err(explain)?;
            let decoded: Vec<V> = decompressor.decompress(stream).map_err(explain)?;
            let compared = Comparison::new(original, &decoded, &info).map_err(explain)?;
            let is_kept = compared.is_kept();
            let judgement = compared.judgement;
            found.broken.extend((!is_kept).then_some(number));
            found.least_psnr = found.least_psnr.min(judgement.psnr());
            if judgement.largest_error > found.largest.0 {
                found.largest = (judgement.largest_error, number);
            }
        }
        Ok(found)
    }

    fn to_json(&self) -> serde_json::Value {
        json!({
            "kept": self.broken.is_empty(),
            "frames_over_limit": self.broken,
            "largest_error": self.largest.0,
            "largest_error_frame": self.largest.1,
            // JSON has no infinity: for exact values it is null.
            "least_psnr": self.least_psnr,
        })
    }

    fn to_pairs(&self, count: u64) -> Vec<(&'static str, String)> {
        let verdict = match self.broken.first() {
            None => format!("yes, by all {count} frames"),
            Some(first) => {
                let broken = self.broken.len();
                format!("NO: not by {broken} of {count} frames, first by frame {first}")
            }
        };
        let (error, frame) = (report::number(self.largest.0), self.largest.1);
        let psnr = report::decibels(self.least_psnr);
        vec![
            ("bound kept", verdict),
            ("largest error", format!("{error}, in frame {frame}")),
            ("least PSNR", format!("{psnr} of a frame")),
        ]
    }
}
