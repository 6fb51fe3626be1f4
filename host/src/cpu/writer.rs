//! A stream while it is written: chunks are appended as they are encoded, and the header comes last.

use crate::cpu::sink::Sink;
use crate::encoded::EncodedChunks;
use crate::error::Error;
use crate::memory;
use crate::table::Table;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::record_kind::RecordKind;
use ferrosz_codec::container::section;
use ferrosz_codec::container::table::ENTRY_BYTES;

/// A stream while it is written. Until [`Writer::finish`] its header is zero, so that no reader takes it for a stream.
pub(crate) struct Writer<'s> {
    header: Header,
    /// Header, records and chunk table; the header and the entries to come are zero.
    start: Vec<u8>,
    table: Table,
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
            table: Table::of(&header),
            payload_bytes: 0,
            header,
            sink,
        })
    }

    /// Appends chunks, which follow each other in the payload in this order.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub(crate) fn append<B: AsRef<[u8]>>(
        &mut self,
        chunks: &[EncodedChunks<B>],
    ) -> Result<(), Error> {
        for listing in chunks.iter().flat_map(|chunks| &chunks.listings) {
            let at = self.header.table_start() + listing.number * ENTRY_BYTES as u64;
            let entry = self.table.entry(listing, self.payload_bytes);
            self.start[at as usize..][..ENTRY_BYTES].copy_from_slice(&entry);
            self.payload_bytes += listing.bytes;
        }
        let parts: Vec<&[u8]> = chunks.iter().map(|chunks| chunks.bytes.as_ref()).collect();
        debug_assert!(chunks.iter().all(EncodedChunks::is_complete));
        self.sink.append_all(&parts)
    }

    /// Appends the chunks of a wave. From the bytes of a first one follow those of so many waves, for which memory is reserved,
    /// with a small reserve.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub(crate) fn put(&mut self, wave: &[EncodedChunks], waves: u64) -> Result<(), Error> {
        self.append(wave)?;
        let bytes: u64 = wave.iter().map(|chunks| chunks.bytes.len() as u64).sum();
        self.sink
            .expect(bytes.saturating_mul(waves + waves.div_ceil(16)));
        Ok(())
    }

    /// Appends a section, behind all chunks.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "no encoder writes sections yet")
    )]
    pub(crate) fn append_section(
        &mut self,
        kind: RecordKind,
        contents: &[u8],
    ) -> Result<(), Error> {
        let bytes = section::to_bytes(kind, contents, self.header.identity());
        self.payload_bytes += bytes.len() as u64;
        self.header.has_sections = true;
        self.header.needs_sections |= kind.is_critical();
        self.sink.append(&bytes)
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
