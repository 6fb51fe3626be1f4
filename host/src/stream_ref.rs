//! A stream in memory: header, records, chunk table, payload with the sections at its end, and the updates behind it.

use crate::cpu::writer::Writer;
use crate::encoded::EncodedChunks;
use crate::error::Error;
use crate::table::Table;
use ferrosz_codec::Codec;
use ferrosz_codec::FormatError;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::container::record;
use ferrosz_codec::container::section::{self, Section};
use ferrosz_codec::container::table::{ENTRY_BYTES, Entry};
use ferrosz_codec::container::tiles::prologue_bytes;
use ferrosz_codec::container::update::{Replacements, Tail};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::mapping::mask::Classes;
use ferrosz_codec::mapping::wavelet::Wavelets;
use ferrosz_codec::safeguard::Safeguards;

/// A complete stream.
pub(crate) struct StreamRef<'a> {
    pub(crate) header: Header,
    /// The order of the coded field's axes.
    pub(crate) order: Order,
    identity: Identity,
    pub(crate) records: &'a [u8],
    /// The classes of the mask, and the scale.
    pub(crate) mapping: ValueMapping,
    /// The conversion of values.
    pub(crate) conversion: Conversion,
    /// Whether the coded field has the coefficients of wavelets.
    pub(crate) wavelets: Option<Wavelets>,
    /// The safeguards, which the values that are decoded of chunks do not have yet.
    pub(crate) safeguards: Safeguards,
    table: &'a [[u8; ENTRY_BYTES]],
    payload: &'a [u8],
    /// None if they are damaged.
    pub(crate) sections: Vec<Section<'a>>,
    /// The damage of the heads of sections that no reader must understand.
    pub(crate) section_fault: Option<FormatError>,
    updates: &'a [u8],
    pub(crate) replacements: Replacements,
}

/// A chunk of a stream.
pub(crate) struct StoredChunk<'a> {
    pub(crate) entry: Entry,
    /// The seed of its checksum.
    pub(crate) seed: u64,
    pub(crate) bytes: &'a [u8],
}

impl<'a> StreamRef<'a> {
    /// Reads a complete stream. Bytes that an interrupted process left may follow it: see [`Tail`].
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let header = Header::read(bytes)?;
        let (needed, found) = (header.stream_bytes(), bytes.len() as u64);
        if found < needed {
            return Err(FormatError::Truncated { needed, found });
        }
        let (bytes, tail) = bytes.split_at(needed as usize);
        if Tail::of(tail).is_none() {
            return Err(FormatError::TrailingBytes(found - needed));
        }
        let (bytes, updates) = bytes.split_at(header.payload_end() as usize);
        let (bytes, payload) = bytes.split_at(header.payload_start() as usize);
        let table = table(&header, bytes)?;
        let records = &bytes[HEADER_BYTES..header.table_start() as usize];
        Self::of_parts(header, [records, payload, updates], table)
    }

    /// A stream with these records, payload and updates.
    fn of_parts(
        header: Header,
        [records, payload, updates]: [&'a [u8]; 3],
        table: &'a [[u8; ENTRY_BYTES]],
    ) -> Result<Self, FormatError> {
        let known = |error: FormatError| error.in_version(header.version);
        let found = match section::start(&header, table) {
            Some(start) => section::read(payload, start, header.identity()).map_err(known),
            None => Ok(Vec::new()),
        };
        let (sections, section_fault) = match found {
            Err(fault) if header.needs_sections => return Err(fault),
            Err(fault) => (Vec::new(), Some(fault)),
            Ok(sections) => (sections, None),
        };
        Ok(Self {
            header,
            order: Order::of_records(records, &header).map_err(known)?,
            identity: header.identity(),
            records,
            mapping: mapping(&header, records).map_err(known)?,
            conversion: conversion(&header, records).map_err(known)?,
            wavelets: wavelets(&header, records).map_err(known)?,
            safeguards: Safeguards::of_records(records).map_err(known)?,
            table,
            payload,
            sections,
            section_fault,
            updates,
            replacements: Replacements::read(updates, &header)?,
        })
    }

    /// The start of a stream without updates: its records, the first entries of its table, and their chunks.
    pub(crate) fn of_start(
        header: Header,
        records: &'a [u8],
        table: &'a [[u8; ENTRY_BYTES]],
        payload: &'a [u8],
    ) -> Result<Self, FormatError> {
        Self::of_parts(header, [records, payload, &[]], table)
    }

    /// Reads the rest of a stream whose header is undamaged. Bytes may be missing at its end, and any bytes may follow
    /// it.
    ///
    /// # Errors
    ///
    /// The errors of the header, and of updates and sections that a reader must understand, if they are damaged or cut off.
    pub(crate) fn read_remains(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let header = Header::read(bytes)?;
        let (needed, found) = (header.stream_bytes(), bytes.len() as u64);
        let is_behind_chunks = header.update_bytes > 0 || header.needs_sections;
        if is_behind_chunks && found < needed {
            return Err(FormatError::Truncated { needed, found });
        }
        let part = |from: u64, to: u64| &bytes[from.min(found) as usize..to.min(found) as usize];
        let updates = part(header.payload_end(), needed);
        let records = part(HEADER_BYTES as u64, header.table_start());
        record::check(records, &header)?;
        let table = part(header.table_start(), header.payload_start());
        let payload = part(header.payload_start(), header.payload_end());
        Self::of_parts(header, [records, payload, updates], table.as_chunks().0)
    }

    /// The entries of the table; fewer if the stream is cut off.
    pub(crate) fn table(&self) -> &'a [[u8; ENTRY_BYTES]] {
        self.table
    }

    /// The bytes of all chunks but replaced ones, and of the sections.
    pub(crate) fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The chunk of the table's entry with this number.
    pub(crate) fn chunk(&self, number: u64) -> Result<StoredChunk<'a>, FormatError> {
        let (entry, bytes) = match self.replacements.of(number) {
            Some(replacement) => (replacement.entry, self.updates),
            None => (self.entry(number)?, self.payload),
        };
        let mut range = entry.range();
        if let (0, Some(layout)) = (number, self.header.layout().tiles()) {
            let length = prologue_bytes(&layout, self.header.dtype, self.payload);
            range.end = length.ok_or(ChunkFault::Length.in_chunk(0))?;
        }
        let bounds = usize::try_from(range.start)
            .ok()
            .zip(usize::try_from(range.end).ok());
        let bytes = bounds.and_then(|(start, end)| bytes.get(start..end));
        Ok(StoredChunk {
            entry,
            seed: self.identity.seed(number, entry.form),
            bytes: bytes.ok_or(ChunkFault::Place.in_chunk(number))?,
        })
    }

    fn entry(&self, number: u64) -> Result<Entry, FormatError> {
        let index = usize::try_from(number).ok();
        let entry = index.and_then(|index| self.table.get(index));
        let entry = Entry::from_bytes(
            entry.ok_or(ChunkFault::Place.in_chunk(number))?,
            self.header.layout().split(),
        );
        let is_prologue = number == 0 && self.header.codec.tiles().is_some();
        if is_prologue && entry.range() != (0..0) {
            return Err(ChunkFault::Place.in_chunk(number));
        }
        Ok(entry)
    }

    /// The chunks of these numbers, for another stream.
    pub(crate) fn encoded(
        &self,
        numbers: impl Iterator<Item = u64>,
    ) -> Result<Vec<EncodedChunks<&'a [u8]>>, FormatError> {
        let of_this = Table::of(&self.header);
        let chunk = |number| {
            let StoredChunk { entry, bytes, .. } = self.chunk(number)?;
            Ok(EncodedChunks {
                listings: vec![of_this.listing(number, &entry, bytes.len() as u64)],
                bytes,
            })
        };
        numbers.map(chunk).collect()
    }

    /// The absolute error that no value's error exceeds, unless bounds are relative to each value.
    pub(crate) fn absolute_error(&self) -> f64 {
        absolute_error(&self.header, &self.conversion, self.wavelets)
    }

    /// Whether what is decoded of chunks becomes values by sections.
    pub(crate) fn is_mended(&self) -> bool {
        !self.safeguards.is_empty() || self.wavelets.is_some()
    }

    /// A stream without updates and sections, with this header except for the length of its payload, and with these records. It has
    /// the bytes of the chunks with these numbers, and of no other chunks. Checksums are not checked: the checksum of a
    /// damaged chunk stays wrong.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if a chunk has an impossible position, and [`Error::OutOfMemory`].
    pub(crate) fn rewrite(
        &self,
        header: Header,
        records: &[u8],
        numbers: impl Iterator<Item = u64>,
    ) -> Result<Vec<u8>, Error> {
        let header = Header {
            record_bytes: records.len() as u64,
            record_sum: checksum(0, records),
            payload_bytes: 0,
            has_sections: false,
            needs_sections: false,
            update_bytes: 0,
            ..header
        };
        let chunks = self.encoded(numbers)?;
        let mut stream = Vec::new();
        let mut writer = Writer::new(header, records, &mut stream)?;
        writer.append(&chunks)?;
        writer.finish()?;
        Ok(stream)
    }
}

/// The absolute error that no value's error exceeds of a stream with these, unless bounds are relative to each value.
pub(crate) fn absolute_error(
    header: &Header,
    conversion: &Conversion,
    wavelets: Option<Wavelets>,
) -> f64 {
    let of_elements = || wavelets.map_or(header.absolute_error(), |wavelets| wavelets.error);
    conversion.absolute_error().unwrap_or_else(of_elements)
}

/// Whether the coded field of a stream with this header and these records has coefficients.
pub(crate) fn wavelets(header: &Header, records: &[u8]) -> Result<Option<Wavelets>, FormatError> {
    let found = Wavelets::of_records(records)?;
    match found.is_none() || header.codec == Codec::DIRECT_RANS && header.error_bits != 0 {
        true => Ok(found),
        false => Err(FormatError::InvalidRecords(
            "coefficients of wavelets have another codec, or no error",
        )),
    }
}

/// The conversion of a stream with this header and these records.
pub(crate) fn conversion(header: &Header, records: &[u8]) -> Result<Conversion, FormatError> {
    Conversion::from_records(records, header.value_type, header.conversion)
}

/// The order of the axes of a stream whose header this is; the payload may be missing.
pub(crate) fn order(header: &Header, stream: &[u8]) -> Result<Order, FormatError> {
    let start = usize::try_from(header.table_start()).ok();
    let records = start.and_then(|start| stream.get(HEADER_BYTES..start));
    Order::of_records(records.unwrap_or_default(), header)
}

/// The mapping of the values of a stream with this header and these records.
pub(crate) fn mapping(header: &Header, records: &[u8]) -> Result<ValueMapping, FormatError> {
    Ok(ValueMapping {
        classes: Classes::from_records(records, header.classes, header.dtype)?,
        scale: header.scale(),
    })
}

/// The chunk table's entries as bytes. The records before it must have been checked; the payload may be missing.
pub(crate) fn table<'a>(
    header: &Header,
    stream: &'a [u8],
) -> Result<&'a [[u8; ENTRY_BYTES]], FormatError> {
    let truncated = FormatError::Truncated {
        needed: header.payload_start(),
        found: stream.len() as u64,
    };
    let ends = [header.table_start(), header.payload_start()].map(|at| usize::try_from(at).ok());
    let [Some(start), Some(end)] = ends else {
        return Err(truncated);
    };
    let records = stream.get(HEADER_BYTES..start).ok_or(truncated)?;
    record::check(records, header)?;
    Ok(stream.get(start..end).ok_or(truncated)?.as_chunks().0)
}
