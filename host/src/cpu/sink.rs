//! The destination of a stream.

use crate::error::Error;
use crate::memory;

/// The destination of a stream.
pub(crate) trait Sink: Send {
    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]; [`Error::Io`].
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error>;
    /// Appends parts, one behind the other.
    ///
    /// # Errors
    ///
    /// As [`Sink::append`].
    fn append_all(&mut self, parts: &[&[u8]]) -> Result<(), Error>;
    /// Replaces the first bytes.
    ///
    /// # Errors
    ///
    /// As [`Sink::append`].
    fn set_start(&mut self, bytes: &[u8]) -> Result<(), Error>;
    /// Reserves memory for the bytes that are expected to follow.
    fn expect(&mut self, _bytes: u64) {}
    /// Takes a whole stream.
    ///
    /// # Errors
    ///
    /// As [`Sink::append`].
    fn take(&mut self, stream: Vec<u8>) -> Result<(), Error> {
        self.append(&stream)
    }
}

impl Sink for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        memory::append(self, bytes)
    }

    fn append_all(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        memory::append_all(self, parts)
    }

    fn set_start(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self[..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn expect(&mut self, bytes: u64) {
        memory::reserve(self, usize::try_from(bytes).unwrap_or(0));
    }

    fn take(&mut self, stream: Vec<u8>) -> Result<(), Error> {
        *self = stream;
        Ok(())
    }
}
