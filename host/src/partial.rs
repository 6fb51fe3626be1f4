//! Streams of which only some bytes are known: what a part of the field needs of a file far away.

use crate::error::Error;
use crate::level_reading::LevelReading;
use crate::memory::sparse;
use crate::part::Part;
use crate::reading::Reading;
use crate::statistics::Candidates;
use crate::stream_ref::StreamRef;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::record;
use ferrosz_codec::container::section::{self, HEAD_BYTES, SectionHead};
use ferrosz_codec::container::statistics;
use ferrosz_codec::container::table::{CHUNK_ALIGNMENT, ENTRY_BYTES};
use ferrosz_codec::container::tiles::max_prologue_bytes;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::mapping::wavelet::Wavelets;
use ferrosz_codec::safeguard::Safeguards;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_codec::{FormatError, ValueType};
use memmap2::MmapMut;
use std::alloc::{Layout, handle_alloc_error};
use std::collections::BTreeSet;
use std::iter;
use std::ops::{Range, RangeBounds};

/// A stream of which only some bytes are known, such as one behind a network.
///
/// It names the bytes that a part of the field needs, in at most two rounds after the first bytes: rows of the chunk
/// table, then chunks. The caller reads them, however it does that, and puts them in. Then the part is decompressed as one
/// of a whole stream. All that was put in stays known, for the next part.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Bound, Codec, Compressor, Decompressor, Part};
/// use ferrosz::stream::PartialStream;
///
/// let field: Vec<f32> = (0..200 * 200 * 20).map(|i| (i as f32).sqrt()).collect();
/// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(1e-3)?).extents(&[200, 200, 20])?;
/// let file = compressor.compress(&field)?;
///
/// let mut stream = PartialStream::new(&file[..PartialStream::FIRST_BYTES])?;
/// let part = Part::Box(vec![150..152, 0..10, 3..9]);
/// let mut read = 0;
/// loop {
///     let missing = stream.missing(&part)?;
///     if missing.is_empty() {
///         break;
///     }
///     for range in missing {
///         read += range.end - range.start;
///         stream.put(range.start, &file[range.start as usize..range.end as usize])?;
///     }
/// }
/// let values: Vec<f32> = Decompressor::new().decompress_part(stream.bytes(), &part)?;
/// assert_eq!(values, Decompressor::new().decompress_part::<f32>(&file, &part)?);
/// assert!(read < file.len() as u64 / 5);
/// # Ok::<(), ferrosz::Error>(())
/// ```
#[derive(Debug)]
pub struct PartialStream {
    /// The stream, with zeros where it is not known.
    image: MmapMut,
    header: Header,
    order: Order,
    has_safeguards: bool,
    /// Whether each value depends on all chunks.
    is_of_wavelets: bool,
    /// In ascending order, apart from each other.
    known: Vec<Range<u64>>,
}

impl PartialStream {
    /// The number of bytes to begin with: the header, and the table of some four thousand chunks.
    pub const FIRST_BYTES: usize = 1 << 16;

    /// The bytes that a stream of this many elements has at least, whatever its codec: its header, and an entry of the chunk
    /// table for each chunk, which has 1,048,576 elements at most. To begin with where a range beyond the end of a stream is
    /// an error, and the length of the stream is not known.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Preset};
    /// use ferrosz::stream::PartialStream;
    ///
    /// let file = Compressor::new(Preset::Small, Bound::abs(0.1)?).compress(&[7.0f32; 1_000_000])?;
    /// let first = PartialStream::least_bytes(1_000_000) as usize;
    /// assert!(file.len() < PartialStream::FIRST_BYTES && PartialStream::new(&file[..first]).is_ok());
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    pub const fn least_bytes(elements: u64) -> u64 {
        let chunks = elements.div_ceil(ChunkLength::SixtyFour.elements() as u64);
        HEADER_BYTES as u64 + chunks * ENTRY_BYTES as u64
    }

    /// Bytes between two ranges that are read with them: one request more would take longer.
    const GAP: u64 = 1 << 16;

    /// A stream that begins with these bytes: [`PartialStream::FIRST_BYTES`], or all of a shorter one. Fewer do, if they
    /// have the header and the records.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the header or the records are damaged or cut off; [`Error::OutOfMemory`].
    pub fn new(first: &[u8]) -> Result<Self, Error> {
        let header = Header::read(first)?;
        let records = usize::try_from(header.table_start()).ok();
        let records = records.and_then(|end| first.get(HEADER_BYTES..end));
        let records = records.ok_or(FormatError::Truncated {
            needed: header.table_start(),
            found: first.len() as u64,
        })?;
        record::check(records, &header)?;
        let is_of_wavelets = Wavelets::of_records(records)?.is_some();
        let mut stream = Self {
            image: sparse(header.stream_bytes())?,
            header,
            order: Order::of_records(records, &header)?,
            has_safeguards: !Safeguards::of_records(records)?.is_empty() || is_of_wavelets,
            is_of_wavelets,
            known: Vec::new(),
        };
        let within = first.len().min(stream.image.len());
        stream.put(0, &first[..within])?;
        Ok(stream)
    }

    /// The type of the field's values.
    pub fn dtype(&self) -> ValueType {
        self.header.value_type
    }

    /// Whether the values are the parts of complex numbers.
    pub fn is_complex(&self) -> bool {
        self.order.is_complex()
    }

    /// The field's extents, slowest dimension first.
    pub fn extents(&self) -> Vec<u64> {
        let extents = self.order.user_extents(&self.header.extents);
        extents.lengths().to_vec()
    }

    /// Puts in the bytes from number `start` on.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if they are beyond the end of the stream.
    pub fn put(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        let end = start.saturating_add(bytes.len() as u64);
        let stream_bytes = self.header.stream_bytes();
        if end > stream_bytes {
            return Err(FormatError::TrailingBytes(end - stream_bytes).into());
        }
        self.image[start as usize..end as usize].copy_from_slice(bytes);
        self.known.push(start..end);
        self.known = joined(std::mem::take(&mut self.known), 0);
        Ok(())
    }

    /// The bytes to put in before this part can be decompressed, or more of its needs be told; none if all are known. They
    /// are in ascending order.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if what is known of the stream is damaged; [`Error::BoxOutside`] and [`Error::RangeOutside`].
    pub fn missing(&self, part: &Part) -> Result<Vec<Range<u64>>, Error> {
        self.missing_of(&self.entries(part)?)
    }

    /// As [`PartialStream::missing`], before a level can be decompressed, in a box or whole:
    /// [`Decompressor::level`](crate::Decompressor::level).
    ///
    /// # Errors
    ///
    /// As [`PartialStream::missing`].
    pub fn missing_of_level(
        &self,
        level: u32,
        ranges: Option<&[Range<u64>]>,
    ) -> Result<Vec<Range<u64>>, Error> {
        let wanted = (level, ranges);
        let reading = LevelReading::new(&self.header, &self.order, self.has_safeguards, wanted)?;
        self.missing_of(&reading.entries(&self.header.layout(), &self.order)?)
    }

    /// As [`PartialStream::missing`], before [`Update::new`](crate::stream::Update::new) can replace the part. A chunk that the
    /// part only touches is coded again as a whole, so all of the mask is needed.
    ///
    /// # Errors
    ///
    /// As [`PartialStream::missing`].
    pub fn missing_to_update(&self, part: &Part) -> Result<Vec<Range<u64>>, Error> {
        let layout = self.header.layout();
        let mut entries = self.entries(part)?;
        if !entries.is_empty() {
            entries.extend(layout.field_entries()..layout.entries());
        }
        self.missing_of(&entries)
    }

    /// The entries of the chunk table that a part needs.
    fn entries(&self, part: &Part) -> Result<BTreeSet<u64>, Error> {
        if self.is_of_wavelets {
            return Ok((0..self.header.chunks()).collect());
        }
        let reading = Reading::new(&self.header.layout(), &self.order, Some(part))?;
        Ok(reading.entries())
    }

    /// The bytes to put in before the statistics of the stream can be read, if it has some.
    pub(crate) fn missing_statistics(&self) -> Result<Vec<Range<u64>>, Error> {
        let mut missing = self.missing_of(&BTreeSet::new())?;
        if missing.is_empty() && self.header.has_sections {
            missing = self.unknown([self.last_row()]);
            if missing.is_empty() {
                missing = self.missing_heads()?;
            }
        }
        if !missing.is_empty() {
            return Ok(missing);
        }
        let stream = StreamRef::read(&self.image)?;
        let sections = stream.sections.iter();
        let found = sections.filter(|one| one.head.kind == statistics::KIND);
        Ok(self.unknown(found.map(|one| self.range_of(one.padded()))))
    }

    /// The bytes to put in before the wanted values of the stream can be found, given its statistics.
    pub(crate) fn missing_to_find(
        &self,
        wanted: &impl RangeBounds<f64>,
    ) -> Result<Vec<Range<u64>>, Error> {
        let candidates = Candidates::of(&StreamRef::read(&self.image)?, wanted)?;
        self.missing_of(&candidates.entries)
    }

    /// The bytes to put in before these chunks can be decoded, or before the table says where they are.
    fn missing_of(&self, entries: &BTreeSet<u64>) -> Result<Vec<Range<u64>>, Error> {
        let header = &self.header;
        let row = |entry: &u64| {
            let start = header.table_start() + entry * ENTRY_BYTES as u64;
            start..start + ENTRY_BYTES as u64
        };
        // Its own bytes say how long the prologue is.
        let longest = header.layout().tiles().filter(|_| !entries.is_empty());
        let longest = longest.map_or(0, |tiles| max_prologue_bytes(&tiles, header.dtype));
        let prologue_end = header.payload_end().min(header.payload_start() + longest);
        let prologue = header.payload_start()..prologue_end;
        let updates = header.payload_end()..header.stream_bytes();
        let last = header.needs_sections.then(|| self.last_row());
        let rows = entries.iter().map(row).chain(last);
        let missing = self.unknown(rows.chain([prologue, updates]));
        if !missing.is_empty() {
            return Ok(missing);
        }
        if header.needs_sections {
            let missing = self.missing_heads()?;
            if !missing.is_empty() {
                return Ok(missing);
            }
        }
        let stream = StreamRef::read(&self.image)?;
        let mut chunks = Vec::new();
        if stream.is_mended() && !entries.is_empty() {
            let all = stream.sections.iter().map(|section| section.unchecked());
            chunks.extend(all.map(|contents| self.range_of(contents)));
        }
        for entry in entries {
            chunks.push(self.range_of(stream.chunk(*entry)?.bytes));
        }
        Ok(self.unknown(chunks))
    }

    /// Where bytes of the stream are in it, and the zeros behind them, up to a whole unit.
    fn range_of(&self, bytes: &[u8]) -> Range<u64> {
        let start = (bytes.as_ptr().addr() - self.image.as_ptr().addr()) as u64;
        start..(start + bytes.len() as u64).next_multiple_of(CHUNK_ALIGNMENT)
    }

    /// The bytes to put in before [`crate::info()`] can describe the stream; none if all are known.
    pub fn missing_table(&self) -> Vec<Range<u64>> {
        self.unknown(iter::once(0..self.header.payload_start()))
    }

    /// The bytes to put in before it is known where all chunks are.
    #[cfg(any(feature = "cuda", all(test, feature = "emulator")))]
    pub(crate) fn missing_places(&self) -> Result<Vec<Range<u64>>, Error> {
        let header = &self.header;
        let updates = header.payload_end()..header.stream_bytes();
        let missing = self.unknown([0..header.payload_start(), updates]);
        if !missing.is_empty() {
            return Ok(missing);
        }
        let sections = self
            .sections_start()
            .map(|start| start..header.payload_end());
        Ok(self.unknown(sections))
    }

    /// The last entry of the table, which says where sections start.
    fn last_row(&self) -> Range<u64> {
        let end = self.header.payload_start();
        end.saturating_sub(ENTRY_BYTES as u64)
            .max(self.header.table_start())..end
    }

    /// Where sections start, if there are some, given the last entry of the table.
    fn sections_start(&self) -> Option<u64> {
        let header = &self.header;
        let table = &self.image[header.table_start() as usize..header.payload_start() as usize];
        let start = section::start(header, table.as_chunks().0)?;
        Some(header.payload_start() + start)
    }

    /// The head of the first section whose head is not known; none if all are.
    fn missing_heads(&self) -> Result<Vec<Range<u64>>, Error> {
        let (header, cut_off) = (&self.header, "a head is cut off");
        let Some(mut start) = self.sections_start() else {
            return Ok(Vec::new());
        };
        while start < header.payload_end() {
            let range = start..start + HEAD_BYTES as u64;
            let head = self.image.get(start as usize..range.end as usize);
            let head = head.and_then(|head| head.first_chunk());
            let head = head.ok_or(FormatError::InvalidSections(cut_off))?;
            let missing = self.unknown([range]);
            if !missing.is_empty() {
                return Ok(missing);
            }
            let head = SectionHead::read(head, header.identity())
                .map_err(|error| error.in_version(header.version))?;
            let end = head.end(start, header.payload_end());
            start = end.ok_or(FormatError::InvalidSections(cut_off))?;
        }
        Ok(Vec::new())
    }

    /// All bytes that are not known.
    pub fn missing_all(&self) -> Vec<Range<u64>> {
        self.unknown(iter::once(0..self.header.stream_bytes()))
    }

    /// The stream, with zeros in place of unknown bytes. They are found as damage by what needs them.
    pub fn bytes(&self) -> &[u8] {
        &self.image
    }

    /// The bytes of these ranges that are not known, and what lies in the gaps between ranges near each other.
    fn unknown(&self, ranges: impl IntoIterator<Item = Range<u64>>) -> Vec<Range<u64>> {
        let mut unknown = Vec::new();
        for mut range in ranges {
            for known in &self.known {
                if known.end <= range.start || known.start >= range.end {
                    continue;
                }
                if known.start > range.start {
                    unknown.push(range.start..known.start);
                }
                range.start = known.end;
            }
            unknown.push(range);
        }
        unknown.retain(|range| range.start < range.end);
        joined(unknown, Self::GAP)
    }
}

impl Clone for PartialStream {
    /// Copies the known bytes. Without memory for them it ends the process, as a vector does.
    fn clone(&self) -> Self {
        let Ok(mut image) = sparse(self.image.len() as u64) else {
            handle_alloc_error(Layout::for_value(&self.image[..]));
        };
        for range in &self.known {
            let range = range.start as usize..range.end as usize;
            image[range.clone()].copy_from_slice(&self.image[range]);
        }
        Self {
            image,
            header: self.header,
            order: self.order,
            has_safeguards: self.has_safeguards,
            is_of_wavelets: self.is_of_wavelets,
            known: self.known.clone(),
        }
    }
}

/// Ranges in ascending order; those that are at most `gap` apart become one.
fn joined(mut ranges: Vec<Range<u64>>, gap: u64) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut all: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => {
                last.end = last.end.max(range.end);
            }
            _ => all.push(range),
        }
    }
    all
}
