//! Frames without end: a file or a pipe of streams, each of a frame of its own, which a detector gives one after the other.
//!
//! [`FrameWriter`] compresses frames as they come, [`Frames`] finds any frame of a file, [`FrameReader`] reads the frames of a
//! pipe. FRAMES.md in the crate `ferrosz-codec` defines the bytes.
//!
//! ```
//! # use ferrosz_host as ferrosz;
//! use ferrosz::frames::{FrameReader, FrameWriter, Frames};
//! use ferrosz::{Bound, Compressor, Decompressor, Preset};
//!
//! let compressor = Compressor::new(Preset::Fast, Bound::abs(0.01)?);
//! let mut writer = FrameWriter::new(compressor, &[40, 50], Vec::new())?;
//! for number in 0..20 {
//!     let frame: Vec<f32> = (0..2000).map(|i| (i as f32 * 0.01).sin() + number as f32).collect();
//!     writer.write(&frame)?;
//! }
//! let file = writer.finish()?;
//!
//! let frames = Frames::open(&file)?;
//! assert_eq!(frames.len(), 20);
//! let frame: Vec<f32> = Decompressor::new().decompress(frames.stream(17)?)?;
//! assert!((frame[100] - (1f32.sin() + 17.0)).abs() <= 0.0101);
//!
//! for (number, stream) in FrameReader::new(&file[..])?.enumerate() {
//!     assert_eq!(stream?, frames.stream(number as u64)?);
//! }
//! # Ok::<(), ferrosz::Error>(())
//! ```

mod reader;
mod writer;

pub use ferrosz_codec::container::frames::FRAMES_MAGIC;
pub use reader::FrameReader;
pub use writer::FrameWriter;

use crate::error::Error;
use ferrosz_codec::container::frames::{
    FRAME_ALIGNMENT, FRAME_HEAD_BYTES, FRAMES_VERSION, FrameHead, FrameIndex,
};

/// The frames of a file, which is in memory or mapped: a slice, or an owner of its bytes. Each frame has eight bytes of memory
/// here.
#[derive(Debug, Clone)]
pub struct Frames<B> {
    bytes: B,
    /// The position of each frame's head; 0 if it is lost.
    positions: Vec<u64>,
    end: FramesEnd,
}

/// How a file of frames ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FramesEnd {
    /// With the end that a writer makes; frames are found by the index.
    Indexed,
    /// With the end that a writer makes, but an index is damaged; frames were found by their heads.
    BadIndex,
    /// Its writer was stopped; frames were found by their heads.
    Stopped {
        /// Bytes behind the last whole record.
        rest: u64,
    },
}

impl<B: AsRef<[u8]>> Frames<B> {
    /// Finds the frames: by the index, and in a file without one by their heads. A damaged head costs its frame alone.
    ///
    /// # Errors
    ///
    /// [`Error::BadFrames`] if the bytes do not begin as a file of frames.
    pub fn open(bytes: B) -> Result<Self, Error> {
        let file = bytes.as_ref();
        check_start(file)?;
        let (positions, end) = match indexed(file) {
            Some(positions) => (positions, FramesEnd::Indexed),
            None => scan(file),
        };
        Ok(Self {
            bytes,
            positions,
            end,
        })
    }

    /// The number of frames, those whose heads are lost included.
    pub fn len(&self) -> u64 {
        self.positions.len() as u64
    }

    /// Whether there is no frame.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// How the file ends.
    pub fn end(&self) -> FramesEnd {
        self.end
    }

    /// The stream of a frame, for [`Decompressor`](crate::Decompressor) and [`info()`](crate::info()).
    ///
    /// # Errors
    ///
    /// [`Error::BadFrames`] if there is no such frame, or its head is damaged.
    pub fn stream(&self, number: u64) -> Result<&[u8], Error> {
        let position = usize::try_from(number).ok();
        let position = position.and_then(|number| self.positions.get(number));
        let position = position.ok_or_else(|| {
            let count = self.len();
            Error::BadFrames(format!("there is no frame {number}, only {count} frames"))
        })?;
        match record(self.bytes.as_ref(), *position) {
            Some((FrameHead::Frame { number: found, .. }, stream)) if found == number => Ok(stream),
            _ => Err(Error::BadFrames(format!(
                "the head of frame {number} is damaged"
            ))),
        }
    }
}

/// Checks the first record.
fn check_start(bytes: &[u8]) -> Result<(), Error> {
    let reason = match FrameHead::read(bytes) {
        Some(FrameHead::Start {
            version: FRAMES_VERSION,
        }) => return Ok(()),
        Some(FrameHead::Start { version }) => {
            format!("version {version} of files of frames is unknown to this library")
        }
        _ if bytes.starts_with(&FRAMES_MAGIC) => {
            "the first 32 bytes of the file of frames are damaged or cut off".to_owned()
        }
        _ => "not a file of frames: the magic bytes are missing".to_owned(),
    };
    Err(Error::BadFrames(reason))
}

/// The record at a position, if all of it is there.
fn record(bytes: &[u8], position: u64) -> Option<(FrameHead, &[u8])> {
    let behind = bytes.get(usize::try_from(position).ok()?..)?;
    let head = FrameHead::read(behind)?;
    let content = behind.get(FRAME_HEAD_BYTES..)?;
    Some((
        head,
        content.get(..usize::try_from(head.content_bytes()).ok()?)?,
    ))
}

/// The positions of all frames by the indexes, from the last one on; none if one is missing or damaged.
fn indexed(bytes: &[u8]) -> Option<Vec<u64>> {
    let last = bytes.len().checked_sub(FRAME_HEAD_BYTES)? as u64;
    let (FrameHead::End { frames, index }, _) = record(bytes, last)? else {
        return None;
    };
    let (mut parts, mut left, mut at) = (Vec::new(), frames, index);
    while at != 0 {
        let (FrameHead::Index { frames, .. }, content) = record(bytes, at)? else {
            return None;
        };
        let found = FrameIndex::read(frames, content)?;
        // Forged indexes may name each other.
        if frames != left || found.previous >= at {
            return None;
        }
        left = left.checked_sub(found.positions.len() as u64)?;
        at = found.previous;
        parts.push(found.positions);
    }
    parts.reverse();
    (left == 0).then(|| parts.concat())
}

/// The positions of all frames by their heads, and how the file ends. Behind a damaged head the next one is searched.
fn scan(bytes: &[u8]) -> (Vec<u64>, FramesEnd) {
    let mut positions = Vec::new();
    // The next record should be at `expected`; up to `at` there is none.
    let (mut expected, mut at) = (FRAME_HEAD_BYTES as u64, FRAME_HEAD_BYTES as u64);
    let mut end = None;
    while let Some((found, head, content)) = next_record(bytes, at) {
        // Each lost frame had a head, at least: a forged number takes no memory.
        let most = positions.len() as u64 + (found - expected) / FRAME_HEAD_BYTES as u64;
        at = found + FRAME_ALIGNMENT as u64;
        match head {
            FrameHead::Frame { number, .. }
                if (positions.len() as u64..=most).contains(&number) =>
            {
                positions.resize(number as usize, 0);
                positions.push(found);
            }
            FrameHead::End { frames, .. } if (positions.len() as u64..=most).contains(&frames) => {
                positions.resize(frames as usize, 0);
                end = Some(FramesEnd::BadIndex);
            }
            FrameHead::Index { .. } => {}
            FrameHead::Start { .. } | FrameHead::Frame { .. } | FrameHead::End { .. } => continue,
        }
        expected = found + (FRAME_HEAD_BYTES + content) as u64;
        at = expected;
        if end.is_some() {
            break;
        }
    }
    let rest = bytes.len() as u64 - expected;
    (positions, end.unwrap_or(FramesEnd::Stopped { rest }))
}

/// The first whole record from a position on: where it is, its head, and the bytes of its content.
fn next_record(bytes: &[u8], from: u64) -> Option<(u64, FrameHead, usize)> {
    let positions = (from..bytes.len() as u64).step_by(FRAME_ALIGNMENT);
    let mut records = positions.filter_map(|at| {
        let (head, content) = record(bytes, at)?;
        Some((at, head, content.len()))
    });
    records.next()
}
