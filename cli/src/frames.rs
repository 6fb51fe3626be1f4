//! Frames without end: `compress --frames`, and the other commands with files of frames.

pub mod compress;
pub mod decompress;
pub mod examine;

use crate::array::Shape;
use crate::json;
use crate::stream_file::{self, Stream, is_frames};
use crate::{failure::Failure, location::Location};
use ferrosz::frames::{FRAMES_MAGIC, Frames, FramesEnd};
use ferrosz::{Error, Info};
use serde_json::{Value, json};
use std::fmt;
use std::io::{self, Cursor, Read};

/// An input of streams: one stream, or frames.
pub enum Streams {
    /// A stream.
    One(Stream),
    /// A file of frames.
    Frames(Stream),
    /// Frames that come through a pipe.
    Coming(Box<dyn Read>),
}

impl Streams {
    /// Opens an input. Of a pipe of frames no more than the first bytes are read.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn open(location: &Location) -> Result<Self, Failure> {
        if *location != Location::Pipe {
            let stream = stream_file::read(location)?;
            return Ok(match is_frames(&stream) {
                true => Self::Frames(stream),
                false => Self::One(stream),
            });
        }
        let reading = |error| Failure::io("read", location, &error);
        let mut first = Vec::new();
        let mut pipe = io::stdin().take(FRAMES_MAGIC.len() as u64);
        pipe.read_to_end(&mut first).map_err(reading)?;
        let has_frames = is_frames(&first);
        let whole = Cursor::new(first).chain(io::stdin());
        match has_frames {
            true => Ok(Self::Coming(Box::new(whole))),
            false => Ok(Self::One(stream_file::read_pipe(whole).map_err(reading)?)),
        }
    }
}

/// The frames of a file.
fn open<'a>(location: &Location, bytes: &'a [u8]) -> Result<Frames<&'a [u8]>, Failure> {
    Frames::open(bytes).map_err(|error| Failure::failed(format_args!("{location}: {error}")))
}

/// The failure of one frame.
fn of_frame(location: &Location, number: u64, error: &Error) -> Failure {
    Failure::failed(format_args!("{location}: frame {number}: {error}"))
}

/// The description of the first frame that has one.
fn first_info(location: &Location, frames: &Frames<&[u8]>) -> Result<Info, Failure> {
    let info = |number| ferrosz::info(frames.stream(number).ok()?).ok();
    (0..frames.len())
        .find_map(info)
        .ok_or_else(|| Failure::failed(format_args!("{location} has no frame that can be read")))
}

/// The stream of a frame of this type and extents, and its description.
fn frame_of<'a>(
    shape: &Shape,
    frames: &'a Frames<&[u8]>,
    number: u64,
) -> Result<(&'a [u8], Info), Error> {
    let stream = frames.stream(number)?;
    Ok((stream, check_shape(shape, stream)?))
}

/// Refuses a frame that has not the type and extents of the others.
fn check_shape(shape: &Shape, stream: &[u8]) -> Result<Info, Error> {
    let info = ferrosz::info(stream)?;
    let found = Shape::of_stream(&info);
    match found == *shape {
        true => Ok(info),
        false => Err(Error::BadFrames(format!(
            "it holds {found}, and others hold {shape}"
        ))),
    }
}

/// How a file of frames ends, for people.
struct EndText(FramesEnd);

impl fmt::Display for EndText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            FramesEnd::Indexed => f.write_str("complete, with an index"),
            FramesEnd::BadIndex => {
                f.write_str("complete, but an index is damaged, or bytes follow the end")
            }
            FramesEnd::Stopped { rest: 0 } => {
                f.write_str("its writer was stopped, or still writes")
            }
            FramesEnd::Stopped { rest } => {
                write!(
                    f,
                    "its writer was stopped: {rest} bytes behind the last frame are no whole frame"
                )
            }
        }
    }
}

/// How a file of frames ends, for programs.
fn end_to_json(end: FramesEnd) -> Value {
    let (is_complete, rest) = match end {
        FramesEnd::Indexed | FramesEnd::BadIndex => (true, 0),
        FramesEnd::Stopped { rest } => (false, rest),
    };
    json!({
        "complete": is_complete,
        "indexed": end == FramesEnd::Indexed,
        "rest_bytes": rest,
    })
}

/// The members about frames that the objects of several commands have.
fn to_json(command: &str, location: &Location, shape: &Shape, frames: u64) -> Value {
    let found = json!({
        "frames": frames,
        "dtype": shape.of.name(),
        "dims": shape.numbers(),
    });
    json::join([json::begin(command, location), found])
}
