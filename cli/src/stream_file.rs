//! Streams in files and pipes.

use crate::{failure::Failure, location::Location, remote, scratch};
use ferrosz::codec::container::header::{HEADER_BYTES, Header};
use ferrosz::codec::container::update::Tail;
use ferrosz::codec::container::update_words::MAGIC;
use ferrosz::frames::FRAMES_MAGIC;
use ferrosz::scratch::LARGE;
use ferrosz::stream::ReadAt;
use ferrosz::{Error, FormatError, Info};
use memmap2::Mmap;
use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Deref;

/// Bytes of the first read; more than the header and chunk table of most streams.
const FIRST_LOOK: u64 = 1 << 16;

/// The smallest file that is worth mapping.
const SMALLEST_MAPPED: u64 = 1 << 16;

/// The bytes of a stream.
pub enum Stream {
    /// Bytes in memory.
    Read(Vec<u8>),
    /// A mapped file; the operating system reads pages when they are accessed.
    Mapped(Mmap),
}

impl Deref for Stream {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Mapped(bytes) => bytes,
        }
    }
}

/// Reads a stream; a large file is mapped, so that only accessed pages are read. Of a pipe no more is read than its first
/// bytes say: what is no stream ends with them, and a stream with its last byte and a few more.
///
/// # Errors
///
/// If the input cannot be read.
pub fn read(location: &Location) -> Result<Stream, Failure> {
    read_until(location, end_of)
}

/// Reads all bytes, whatever they are, as [`read`] does.
///
/// # Errors
///
/// If the input cannot be read.
pub fn read_whole(location: &Location) -> Result<Stream, Failure> {
    read_until(location, |_| u64::MAX)
}

/// The most bytes that are read of an input with these first ones.
type EndOf = fn(&[u8]) -> u64;

/// The end of a stream, and of as many bytes behind it as tell what follows. Frames end with their pipe.
fn end_of(first: &[u8]) -> u64 {
    if is_frames(first) {
        return u64::MAX;
    }
    Header::read(first).map_or(0, |header| header.stream_bytes().saturating_add(FIRST_LOOK))
}

fn read_until(location: &Location, end: EndOf) -> Result<Stream, Failure> {
    match location {
        Location::File(path) => File::open(path).and_then(|mut file| map_or_read(&mut file, end)),
        Location::Pipe => read_all(&mut io::stdin().lock(), end),
        Location::Url(url) => {
            let mut stream = remote::open(url)?;
            let bytes = stream
                .read_all()
                .map_err(|error| remote::explain(url, error))?;
            return Ok(Stream::Read(bytes.to_vec()));
        }
        other => return Err(other.is_no_file("a stream is")),
    }
    .map_err(|error| Failure::io("read", location, &error))
}

/// Reads a stream as [`read`] does, from a pipe.
///
/// # Errors
///
/// The errors of the operating system.
pub fn read_pipe(mut reader: impl Read) -> io::Result<Stream> {
    read_all(&mut reader, end_of)
}

/// Reads what is left of an input. If it is large, it is put into a temporary file, which is mapped.
///
/// # Errors
///
/// The errors of the operating system.
pub fn read_rest(mut reader: impl Read) -> io::Result<Stream> {
    read_all(&mut reader, |_| u64::MAX)
}

/// Reads a stream as [`read`] does, from a file whose position is its start.
///
/// # Errors
///
/// The errors of the operating system.
pub fn read_file(file: &mut File) -> io::Result<Stream> {
    map_or_read(file, end_of)
}

fn map_or_read(file: &mut File, end: EndOf) -> io::Result<Stream> {
    let found = file.metadata()?;
    if found.is_file() && found.len() >= SMALLEST_MAPPED {
        // SAFETY: the bytes must not change while they are mapped. This command changes no file that it maps. Other ferrosz
        // commands replace whole files, or append to one and then write its header: see `update`. If bytes change, the
        // decoder, which trusts none, finds wrong checksums; if another program truncates the file, a signal ends the
        // process: see `signals.rs`.
        if let Ok(mapped) = unsafe { Mmap::map(&*file) } {
            return Ok(Stream::Mapped(mapped));
        }
    }
    read_all(file, end)
}

/// Reads an input up to what its first bytes say. A large one is put into a temporary file, which is mapped.
fn read_all(reader: &mut impl Read, end: EndOf) -> io::Result<Stream> {
    let mut bytes = Vec::new();
    reader.take(HEADER_BYTES as u64).read_to_end(&mut bytes)?;
    let mut reader = reader.take(end(&bytes).saturating_sub(bytes.len() as u64));
    (&mut reader).take(LARGE).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < LARGE {
        return Ok(Stream::Read(bytes));
    }
    let mut file = tempfile::tempfile().map_err(scratch::fault)?;
    while !bytes.is_empty() {
        file.write_all(&bytes).map_err(scratch::fault)?;
        bytes.clear();
        (&mut reader).take(LARGE).read_to_end(&mut bytes)?;
    }
    // SAFETY: the file has no name, so nothing changes or shortens it.
    let mapped = unsafe { Mmap::map(&file) }.map_err(scratch::fault)?;
    Ok(Stream::Mapped(mapped))
}

/// Whether bytes begin as a file of frames.
pub fn is_frames(bytes: &[u8]) -> bool {
    bytes.starts_with(&FRAMES_MAGIC)
}

/// The description of a stream, for a command.
///
/// # Errors
///
/// If the bytes are no stream.
pub fn info(location: &Location, stream: &[u8], command: &str) -> Result<Info, Failure> {
    ferrosz::info(stream).map_err(|error| explain_first(location, stream, error, command))
}

/// As [`explain`], for a look at a stream with these first bytes: frames, or one without a header, may be for another command.
pub fn explain_first(location: &Location, first: &[u8], error: Error, command: &str) -> Failure {
    match error {
        Error::Io { kind, reason, .. } => {
            Failure::io(command, location, &io::Error::new(kind, reason))
        }
        _ if is_frames(first) => Failure::failed(format_args!(
            "{location} holds frames, not one stream: decompress, info, check and verify take it"
        )),
        Error::Format(FormatError::NotFerrosz) => Failure::failed(format_args!(
            "{location} is not a ferrosz stream: it has no ferrosz header. If it is a stream of cuSZp or AATROX, use \
             `ferrosz cuszp {command}` or `ferrosz aatrox {command}`, which must be told what it does not hold"
        )),
        error => explain(location, error),
    }
}

/// Adds the stream's name to an error.
pub fn explain(location: &Location, error: Error) -> Failure {
    match error {
        Error::Format(FormatError::NotFerrosz) => Failure::failed(format_args!(
            "{location}: {error}; streams of other compressors are read by `ferrosz cuszp` and `ferrosz aatrox`, which must \
             be told what those do not hold"
        )),
        Error::Format(_) | Error::OutOfMemory { .. } => {
            Failure::failed(format_args!("{location}: {error}"))
        }
        error => error.into(),
    }
}

/// What is known of an input without decoding.
pub enum Known {
    /// The outline of a stream.
    Stream(Box<Outline>),
    /// A file of frames.
    Frames(Stream),
}

/// The description of a stream in a file, and how the file ends.
pub struct Outline {
    /// Shape, codec, error bound and sizes.
    pub info: Info,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// The end of the file relative to the end of the stream.
    pub end: End,
}

/// The end of a file relative to the end of the stream at its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The file ends with the stream.
    Stream,
    /// The file ends before the stream does.
    Missing,
    /// The stream is followed by an update that was not finished.
    UnfinishedUpdate,
    /// The stream is followed by zeros, as a power loss may leave them while a file grows.
    Zeros,
    /// The stream is followed by other bytes.
    Foreign,
}

impl Outline {
    /// `trailing`: the first bytes behind the stream's end; `is_zero`: whether all bytes there are 0.
    fn new(info: Info, file_bytes: u64, trailing: &[u8], is_zero: bool) -> Self {
        let end = match (file_bytes.cmp(&info.stream_bytes), Tail::of(trailing)) {
            (Ordering::Less, _) => End::Missing,
            (Ordering::Equal, _) | (_, Some(Tail::Nothing)) => End::Stream,
            (Ordering::Greater, Some(Tail::UnfinishedUpdate)) => End::UnfinishedUpdate,
            (Ordering::Greater, Some(Tail::Zeros)) if is_zero => End::Zeros,
            (Ordering::Greater, _) => End::Foreign,
        };
        Self {
            info,
            file_bytes,
            end,
        }
    }
}

/// Reads the outline of a stream; of a file, no more than the header, the chunk table, and the bytes behind the stream. A file
/// of frames is mapped.
///
/// # Errors
///
/// If the input cannot be read or is no stream.
pub fn read_outline(location: &Location) -> Result<Known, Failure> {
    let path = match location {
        Location::File(path) if path.is_file() => path,
        Location::Url(url) => return remote_outline(url).map(Box::new).map(Known::Stream),
        // The size of a pipe is known only after reading it. A missing file fails here, too.
        _ => {
            let stream = read(location)?;
            if is_frames(&stream) {
                return Ok(Known::Frames(stream));
            }
            let info = info(location, &stream, "info")?;
            let end = usize::try_from(info.stream_bytes).unwrap_or(usize::MAX);
            let trailing = stream.get(end..).unwrap_or_default();
            let is_zero = trailing.iter().all(|byte| *byte == 0);
            let outline = Outline::new(info, stream.len() as u64, trailing, is_zero);
            return Ok(Known::Stream(Box::new(outline)));
        }
    };
    let reading = |error: io::Error| Failure::io("read", location, &error);
    let mut file = File::open(path).map_err(reading)?;
    let mut start = Vec::new();
    let mut wanted = FIRST_LOOK;
    let info = loop {
        let missing = wanted.saturating_sub(start.len() as u64);
        let more = (&mut file)
            .take(missing)
            .read_to_end(&mut start)
            .map_err(reading)?;
        if is_frames(&start) {
            return read(location).map(Known::Frames);
        }
        match ferrosz::info(&start) {
            Err(Error::Format(FormatError::Truncated { needed, .. })) if more > 0 => {
                wanted = needed;
            }
            Err(error) => return Err(explain_first(location, &start, error, "info")),
            Ok(info) => break info,
        }
    };
    let trailing = read_at(&mut file, info.stream_bytes, MAGIC.len()).map_err(reading)?;
    let file_bytes = file.metadata().map_err(reading)?.len();
    let is_zero = is_zero_from(&mut file, info.stream_bytes).map_err(reading)?;
    let outline = Outline::new(info, file_bytes, &trailing, is_zero);
    Ok(Known::Stream(Box::new(outline)))
}

fn remote_outline(url: &str) -> Result<Outline, Failure> {
    let mut stream = remote::open(url)?;
    let info = stream.info().map_err(|error| remote::explain(url, error))?;
    let reading = |error: io::Error| Failure::io("read", url, &error);
    let file_bytes = stream.place().byte_len().map_err(reading)?;
    if file_bytes <= info.stream_bytes {
        return Ok(Outline::new(info, file_bytes, &[], false));
    }
    let behind = info.stream_bytes..file_bytes.min(info.stream_bytes + FIRST_LOOK);
    let trailing = stream
        .place()
        .read_ranges(std::slice::from_ref(&behind))
        .map_err(reading)?;
    let trailing = trailing.concat();
    // Of more bytes than these it is not known whether all are 0.
    let is_zero = behind.end == file_bytes && trailing.iter().all(|byte| *byte == 0);
    Ok(Outline::new(info, file_bytes, &trailing, is_zero))
}

/// Whether all bytes from position `at` to the end are 0.
fn is_zero_from(file: &mut File, at: u64) -> io::Result<bool> {
    let mut block = vec![0; FIRST_LOOK as usize];
    file.seek(SeekFrom::Start(at))?;
    loop {
        let count = file.read(&mut block)?;
        if count == 0 || block[..count].iter().any(|byte| *byte != 0) {
            return Ok(count == 0);
        }
    }
}

/// Bytes from position `at`, fewer at the end of the file.
fn read_at(file: &mut File, at: u64, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(count as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
