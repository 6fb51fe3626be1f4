//! Reads frames as they come.

use super::check_start;
use crate::error::Error;
use ferrosz_codec::container::frames::{FRAME_HEAD_BYTES, FrameHead};
use std::io::{self, Read};

/// The streams of the frames that a reader gives, such as a pipe, in their order. Behind an error there are no more: a pipe
/// is not searched for the next frame. [`Frames`](super::Frames) finds the others in a file.
#[derive(Debug)]
pub struct FrameReader<R> {
    reader: R,
    /// Frames that were read.
    frames: u64,
    state: ReadState,
}

/// How far a reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadState {
    /// More records may come.
    Open,
    /// The end that a writer makes was read.
    Ended,
    /// There is nothing more to read.
    Stopped,
}

/// The error of a read of frames.
const READ_FRAMES: fn(io::Error) -> Error = |error| Error::io("read the frames")(error);

impl<R: Read> FrameReader<R> {
    /// Reads the beginning of a file of frames.
    ///
    /// # Errors
    ///
    /// [`Error::BadFrames`] if it is none; [`Error::Io`] from the reader.
    pub fn new(mut reader: R) -> Result<Self, Error> {
        let start = up_to(&mut reader, FRAME_HEAD_BYTES as u64)?;
        check_start(&start)?;
        Ok(Self {
            reader,
            frames: 0,
            state: ReadState::Open,
        })
    }

    /// Whether the end was read that a writer makes. Without it the writer was stopped.
    pub fn has_ended(&self) -> bool {
        self.state == ReadState::Ended
    }

    /// The next frame; none at the end.
    fn read_next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            let head = up_to(&mut self.reader, FRAME_HEAD_BYTES as u64)?;
            if head.is_empty() {
                self.state = ReadState::Stopped;
                return Ok(None);
            }
            if head.len() < FRAME_HEAD_BYTES {
                return Err(self.cut_off());
            }
            match FrameHead::read(&head) {
                Some(FrameHead::Frame { number, bytes }) if number == self.frames => {
                    let stream = up_to(&mut self.reader, bytes)?;
                    if (stream.len() as u64) < bytes {
                        return Err(self.cut_off());
                    }
                    self.frames += 1;
                    return Ok(Some(stream));
                }
                Some(FrameHead::Index { bytes, .. }) => {
                    let index = (&mut self.reader).take(bytes);
                    let skipped = io::copy(&mut { index }, &mut io::sink());
                    if skipped.map_err(READ_FRAMES)? < bytes {
                        return Err(self.cut_off());
                    }
                }
                Some(FrameHead::End { frames, .. }) if frames == self.frames => {
                    self.state = ReadState::Ended;
                    return Ok(None);
                }
                _ => {
                    let frames = self.frames;
                    let reason = format!("the head behind {frames} frames is damaged");
                    return Err(Error::BadFrames(reason));
                }
            }
        }
    }

    fn cut_off(&self) -> Error {
        Error::BadFrames(format!(
            "the frames are cut off behind {} whole ones",
            self.frames
        ))
    }
}

impl<R: Read> Iterator for FrameReader<R> {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state != ReadState::Open {
            return None;
        }
        let next = self.read_next();
        if next.is_err() {
            self.state = ReadState::Stopped;
        }
        next.transpose()
    }
}

/// So many bytes, fewer at the end of the reader. Memory grows as they come, as the number may be only a claim.
fn up_to(reader: &mut impl Read, count: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = reader.take(count).read_to_end(&mut bytes);
    read.map_err(READ_FRAMES)?;
    Ok(bytes)
}
