//! Compresses frames as they come.

use crate::compress::Compressor;
use crate::error::Error;
use crate::length::Length;
use crate::overlapped::ahead;
use ferrosz_codec::Value;
use ferrosz_codec::container::frames::{FRAMES_VERSION, FrameHead, FrameIndex, INDEXED_FRAMES};
use std::io::Write;
use std::iter;
use std::marker::PhantomData;
use std::thread;

/// Values of the frames that are compressed at the same time, if several have come. One frame of so many gives all threads
/// work.
const VALUES_TOGETHER: u64 = 1 << 22;

/// Frames that are compressed at the same time, at most.
const MOST_TOGETHER: u64 = 256;

/// The error of a write of frames.
const WRITE_FRAMES: fn(std::io::Error) -> Error = |error| Error::io("write the frames")(error);

/// Compresses frames of one type and shape, each to a stream with the bytes of [`Compressor::compress`], and writes them as
/// they come, to a file or a pipe. The writer is flushed behind each call. If it is dropped before
/// [`FrameWriter::finish`], or the process ends, what was written has all frames but no index.
///
/// A preset chooses the codec by the first frame, and all others keep it. A bound relative to the range is one of each
/// frame's own range.
#[derive(Debug)]
pub struct FrameWriter<V, W> {
    compressor: Compressor,
    has_chosen: bool,
    elements: u64,
    writer: W,
    /// Bytes that were written.
    at: u64,
    frames: u64,
    /// The frames since the last index.
    index: FrameIndex,
    values: PhantomData<fn(V)>,
}

impl<V: Value, W: Write> FrameWriter<V, W> {
    /// Begins a file of frames with these extents.
    ///
    /// # Errors
    ///
    /// [`Error::BadExtents`]; [`Error::BadFrames`] if frames would have no values; [`Error::Io`] from the writer.
    pub fn new<L: Length>(compressor: Compressor, extents: &[L], writer: W) -> Result<Self, Error> {
        let compressor = compressor.extents(extents)?;
        let elements = compressor.elements().unwrap_or(0);
        if elements == 0 {
            return Err(Error::BadFrames(
                "frames without values never end".to_owned(),
            ));
        }
        let mut frames = Self {
            compressor,
            has_chosen: false,
            elements,
            writer,
            at: 0,
            frames: 0,
            index: FrameIndex {
                previous: 0,
                positions: Vec::new(),
            },
            values: PhantomData,
        };
        let start = FrameHead::Start {
            version: FRAMES_VERSION,
        };
        frames.put(&start.to_bytes())?;
        frames.flush()?;
        Ok(frames)
    }

    /// Compresses and writes a frame.
    ///
    /// # Errors
    ///
    /// As [`FrameWriter::write_all`].
    pub fn write(&mut self, frame: &[V]) -> Result<(), Error> {
        self.write_all(&[frame])
    }

    /// Compresses frames, several at the same time if they are small, and writes them in their order.
    ///
    /// # Errors
    ///
    /// The errors of [`Compressor::compress`], with which the frames before are written; [`Error::Io`] from the writer.
    pub fn write_all(&mut self, frames: &[impl AsRef<[V]>]) -> Result<(), Error> {
        let Some(first) = frames.first() else {
            return Ok(());
        };
        if !self.has_chosen {
            self.compressor = self.compressor.choose(first.as_ref())?;
            self.has_chosen = true;
        }
        for frames in frames.chunks(self.together()) {
            let frames: Vec<&[V]> = frames.iter().map(AsRef::as_ref).collect();
            for stream in self.compressor.compress_batch(&frames) {
                self.put_frame(&stream?)?;
            }
        }
        self.flush()
    }

    /// Compresses and writes the frames that `next` gives, until it gives none. It runs on a thread of its own: while frames
    /// are compressed, the next ones come. Those that have come by then are compressed at the same time. No frame waits for a
    /// later one. In memory are twice as many frames as [`FrameWriter::write_all`] compresses at the same time, and one more:
    /// up to 64 MiB of values of 64 bits, but at least three frames.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::frames::FrameWriter;
    /// use ferrosz::{Bound, Codec, Compressor, Error};
    ///
    /// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.5)?);
    /// let mut writer = FrameWriter::new(compressor, &[64, 64], Vec::new())?;
    /// let mut number = 0;
    /// writer.write_each(|| {
    ///     number += 1;
    ///     Ok::<_, Error>((number <= 100).then(|| vec![number as u16; 64 * 64]))
    /// })?;
    /// assert_eq!(writer.frames(), 100);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of `next`, after which the frames before are written, and of [`FrameWriter::write_all`].
    pub fn write_each<E: From<Error> + Send>(
        &mut self,
        next: impl FnMut() -> Result<Option<Vec<V>>, E> + Send,
    ) -> Result<(), E> {
        let together = self.together();
        thread::scope(|scope| {
            let coming = ahead(scope, together, next);
            while let Ok(first) = coming.recv() {
                let (mut frames, mut ended) = (Vec::new(), Ok(()));
                for frame in iter::once(first).chain(coming.try_iter()).take(together) {
                    match frame {
                        Ok(frame) => frames.push(frame),
                        Err(error) => ended = Err(error),
                    }
                }
                self.write_all(&frames)?;
                ended?;
            }
            Ok(())
        })
    }

    /// Writes the last index and the end; returns the writer.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] from the writer.
    pub fn finish(mut self) -> Result<W, Error> {
        if !self.index.positions.is_empty() {
            self.put_index()?;
        }
        let end = FrameHead::End {
            frames: self.frames,
            index: self.index.previous,
        };
        self.put(&end.to_bytes())?;
        self.flush()?;
        Ok(self.writer)
    }

    /// The number of frames that were written.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The bytes that were written.
    pub fn bytes(&self) -> u64 {
        self.at
    }

    /// The compressor: once a frame was written, the one that was chosen by it.
    pub fn compressor(&self) -> &Compressor {
        &self.compressor
    }

    /// Frames that are compressed at the same time.
    fn together(&self) -> usize {
        (VALUES_TOGETHER / self.elements).clamp(1, MOST_TOGETHER) as usize
    }

    fn put_frame(&mut self, stream: &[u8]) -> Result<(), Error> {
        let position = self.at;
        let head = FrameHead::Frame {
            number: self.frames,
            bytes: stream.len() as u64,
        };
        self.put(&[&head.to_bytes(), stream].concat())?;
        self.frames += 1;
        self.index.positions.push(position);
        match self.index.positions.len() < INDEXED_FRAMES {
            true => Ok(()),
            false => self.put_index(),
        }
    }

    /// Writes the positions of the frames since the last index.
    fn put_index(&mut self) -> Result<(), Error> {
        let position = self.at;
        let record = self.index.to_bytes(self.frames);
        self.put(&record)?;
        self.index.previous = position;
        self.index.positions.clear();
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.writer.write_all(bytes).map_err(WRITE_FRAMES)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.writer.flush().map_err(WRITE_FRAMES)
    }
}
