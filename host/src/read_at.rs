//! Places of bytes that are read by ranges.

use std::fs::File;
use std::io;
use std::ops::Range;

/// A place of bytes that is read by ranges: memory, a file, or an object on a server.
///
/// Programs implement it for their own storage; [`StreamAt`](crate::stream::StreamAt) reads streams from it.
pub trait ReadAt {
    /// The number of bytes.
    ///
    /// # Errors
    ///
    /// Those of the place.
    fn byte_len(&self) -> io::Result<u64>;

    /// The bytes of these ranges, in their order. A range that ends behind the end of the place has fewer bytes.
    ///
    /// All ranges are known at once, so a place that is far away asks for them at the same time: this is one round of
    /// requests.
    ///
    /// # Errors
    ///
    /// Those of the place.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>>;
}

impl<R: ReadAt + ?Sized> ReadAt for Box<R> {
    fn byte_len(&self) -> io::Result<u64> {
        (**self).byte_len()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        (**self).read_ranges(ranges)
    }
}

impl<R: ReadAt + ?Sized> ReadAt for &R {
    fn byte_len(&self) -> io::Result<u64> {
        (**self).byte_len()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        (**self).read_ranges(ranges)
    }
}

impl ReadAt for [u8] {
    fn byte_len(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let within = |at: u64| usize::try_from(at).map_or(self.len(), |at| at.min(self.len()));
        let part = |range: &Range<u64>| {
            let part = self.get(within(range.start)..within(range.end));
            part.unwrap_or_default().to_vec()
        };
        Ok(ranges.iter().map(part).collect())
    }
}

#[cfg(any(unix, windows))]
impl ReadAt for File {
    fn byte_len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let end = self.byte_len()?;
        let read = |range: &Range<u64>| {
            let start = range.start.min(end);
            let length = range.end.min(end).saturating_sub(start);
            let mut bytes = crate::memory::try_zeroed(length)
                .map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?;
            let mut done = 0;
            while done < bytes.len() {
                match read_at(self, &mut bytes[done..], start + done as u64) {
                    // Another process made the file shorter.
                    Ok(0) => break,
                    Ok(count) => done += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            bytes.truncate(done);
            Ok(bytes)
        };
        ranges.iter().map(read).collect()
    }
}

#[cfg(unix)]
use std::os::unix::fs::FileExt as _;

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<usize> {
    file.read_at(bytes, start)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, start)
}
