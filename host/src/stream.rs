//! A stream in memory: header, chunk table, payload, and the updates behind them.

use ferrosz_codec::FormatError;
use ferrosz_codec::stream::container::{HEADER_BYTES, Header};
use ferrosz_codec::stream::table::{ENTRY_BYTES, Entry};
use ferrosz_codec::stream::update::{Replacements, is_unfinished};

/// A stream of which all bytes are there.
pub(crate) struct StreamRef<'a> {
    pub(crate) header: Header,
    table: &'a [[u8; ENTRY_BYTES]],
    payload: &'a [u8],
    updates: &'a [u8],
    pub(crate) replacements: Replacements,
}

impl<'a> StreamRef<'a> {
    /// Reads a whole stream. An update that was not finished may follow it.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let header = Header::read(bytes)?;
        let (needed, found) = (header.stream_bytes(), bytes.len() as u64);
        if found < needed {
            return Err(FormatError::Truncated { needed, found });
        }
        let (bytes, trailing) = bytes.split_at(needed as usize);
        if !is_unfinished(trailing) {
            return Err(FormatError::TrailingBytes(found - needed));
        }
        let (bytes, updates) = bytes.split_at(header.payload_end() as usize);
        let (bytes, payload) = bytes.split_at(header.payload_start() as usize);
        Ok(Self {
            header,
            table: bytes[HEADER_BYTES..].as_chunks().0,
            payload,
            updates,
            replacements: Replacements::read(updates, header.chunks())?,
        })
    }

    /// Reads what is left of a stream whose header is whole: bytes may be missing at its end, and any may follow it.
    ///
    /// # Errors
    ///
    /// Those of the header, and of updates that are damaged or cut off: which chunks they replace is then unknown.
    pub(crate) fn read_remains(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let header = Header::read(bytes)?;
        let (needed, found) = (header.stream_bytes(), bytes.len() as u64);
        if header.update_bytes > 0 && found < needed {
            return Err(FormatError::Truncated { needed, found });
        }
        let start_of = |at: u64| usize::try_from(at.min(found)).unwrap_or(bytes.len());
        let (payload, updates) = (header.payload_start(), header.payload_end());
        let table = bytes.get(HEADER_BYTES..start_of(payload));
        let updates = &bytes[start_of(updates)..start_of(needed)];
        Ok(Self {
            header,
            table: table.unwrap_or_default().as_chunks().0,
            payload: &bytes[start_of(payload)..start_of(header.payload_end())],
            updates,
            replacements: Replacements::read(updates, header.chunks())?,
        })
    }

    /// A chunk's entry and bytes; none if they are not where they can be.
    pub(crate) fn chunk(&self, chunk: u64) -> Option<(Entry, &'a [u8])> {
        let (entry, range, bytes) = match self.replacements.of(chunk) {
            Some(replacement) => (replacement.entry, replacement.range(), self.updates),
            None => {
                let index = usize::try_from(chunk).ok()?;
                let entry = Entry::from_bytes(self.table.get(index)?);
                let end = match self.table.get(index + 1) {
                    Some(next) => Entry::from_bytes(next).start,
                    None => self.header.payload_bytes,
                };
                (entry, entry.start..end, self.payload)
            }
        };
        let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
        Some((entry, bytes.get(range)?))
    }
}

/// The chunk table's entries as bytes; the payload need not be there.
pub(crate) fn table<'a>(
    header: &Header,
    stream: &'a [u8],
) -> Result<&'a [[u8; ENTRY_BYTES]], FormatError> {
    let truncated = FormatError::Truncated {
        needed: header.payload_start(),
        found: stream.len() as u64,
    };
    let end = usize::try_from(header.payload_start()).map_err(|_| truncated)?;
    let table = stream.get(HEADER_BYTES..end).ok_or(truncated)?;
    Ok(table.as_chunks().0)
}
