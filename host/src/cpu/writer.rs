//! A stream while it is written: chunks are appended as they are encoded, and the header comes last.

use crate::cpu::sink::Sink;
use crate::error::Error;
use crate::memory;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::container::table::{ENTRY_BYTES, Entry, Split};

/// A stream while it is written. Until [`Writer::finish`] its header is zero, so that no reader takes it for a stream.
pub(crate) struct Writer<'s> {
    header: Header,
    /// Header, records and chunk table; the header and the entries to come are zero.
    start: Vec<u8>,
    identity: Identity,
    split: Split,
    /// The number of the next chunk.
    next: u64,
    payload_bytes: u64,
    sink: &'s mut dyn Sink,
}

impl<'s> Writer<'s> {
    /// Begins a stream with this header, in which the payload's length is missing, and these records.
    ///
    /// # Errors
    ///
    /// Those of the sink; [`Error::OutOfMemory`].
    pub(crate) fn new(
        header: Header,
        records: &[u8],
        sink: &'s mut dyn Sink,
    ) -> Result<Self, Error> {
        let mut start = memory::try_zeroed(header.payload_start())?;
        start[HEADER_BYTES..HEADER_BYTES + records.len()].copy_from_slice(records);
        sink.append(&start)?;
        Ok(Self {
            start,
            identity: header.identity(),
            split: header.layout().split(),
            next: 0,
            payload_bytes: 0,
            header,
            sink,
        })
    }

    /// Sets the entry of the next chunk, which has this many bytes and this checksum without a seed.
    pub(crate) fn enter(&mut self, form: u32, bytes: u64, sum: u64) {
        self.enter_as(form, bytes, bytes, sum);
    }

    /// As [`Writer::enter`], for the prologue, whose contents give its length.
    pub(crate) fn enter_prologue(&mut self, bytes: u64, sum: u64) {
        self.enter_as(Form::Coded.id(), bytes, 0, sum);
    }

    fn enter_as(&mut self, form: u32, bytes: u64, listed: u64, sum: u64) {
        let entry = Entry {
            start: self.payload_bytes,
            bytes: listed,
            form,
            checksum: self.identity.seed(self.next, form).wrapping_add(sum),
        };
        let at = (self.header.table_start() + self.next * ENTRY_BYTES as u64) as usize;
        self.start[at..at + ENTRY_BYTES].copy_from_slice(&entry.to_bytes(self.split));
        self.next += 1;
        self.payload_bytes += bytes;
    }

    /// Appends the bytes of chunks whose entries are set.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub(crate) fn append(&mut self, chunks: &[&[u8]]) -> Result<(), Error> {
        self.sink.append_all(chunks)
    }

    /// Sets the entries of chunks, and appends them.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub(crate) fn append_chunks(&mut self, chunks: &[(Form, Vec<u8>)]) -> Result<(), Error> {
        for (form, bytes) in chunks {
            self.enter(form.id(), bytes.len() as u64, checksum(0, bytes));
            self.sink.append(bytes)?;
        }
        Ok(())
    }

    /// Extrapolates the bytes of a first wave to all waves, with a small reserve, and asks for memory for them.
    pub(crate) fn expect(&mut self, bytes: u64, waves: u64) {
        self.sink
            .expect(bytes.saturating_mul(waves + waves.div_ceil(16)));
    }

    /// Writes header, records and chunk table.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let header = Header {
            payload_bytes: self.payload_bytes,
            ..self.header
        };
        self.start[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        self.sink.set_start(&self.start)
    }
}
