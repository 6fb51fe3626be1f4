//! The header of the container. `FORMAT.md` has its layout in one table.

use crate::bound::{Bound, BoundMode};
use crate::container::checksum::{checksum, term};
use crate::container::chunk::{CHUNK, raw_words};
use crate::container::extents::{Extents, MAX_RANK};
use crate::container::grid::Grid;
use crate::container::identity::Identity;
use crate::container::layout::{Family, Layout};
use crate::container::roles::Roles;
use crate::container::table::{CHUNK_ALIGNMENT, ENTRY_BYTES, MAX_PAYLOAD};
use crate::container::version::{VERSION, Version};
use crate::element::{Dtype, Element};
use crate::error::{FormatError, Unknown};
use crate::mapping::Scale;
use crate::mapping::conversion::Kind;
use crate::mapping::mask::ClassCount;
use crate::pipeline::{Codec, CodecId};
use crate::quantize::field::Quantizer;
use crate::shape::Shape;
use crate::tile::ChunkLength;
use crate::value::{Value, ValueType};

/// The first bytes of every stream. The first byte is not text, and the line ends reveal a transfer that changed them.
pub const MAGIC: [u8; 8] = *b"\x89FSZ\r\n\x1a\n";

/// Bytes of the header.
pub const HEADER_BYTES: usize = 160;

/// 32-bit words of the header.
pub const HEADER_WORDS: usize = HEADER_BYTES / 4;

/// The seed of the header's checksums.
pub(super) const HEADER_SEED: u64 = 0;

const MAGIC_AT: usize = 0;
pub(super) const VERSION_AT: usize = 8;
pub(super) const DTYPE_AT: usize = 10;
pub(super) const PREDICTOR_AT: usize = 11;
pub(super) const CODER_AT: usize = 12;
pub(super) const MODE_AT: usize = 13;
const RANK_AT: usize = 14;
const SHAPE_AT: usize = 15;
pub(super) const EXTENTS_AT: usize = 16;
pub(super) const BOUND_AT: usize = EXTENTS_AT + 8 * MAX_RANK;
pub(super) const ERROR_AT: usize = 88;
const CHUNK_ELEMENTS_AT: usize = 96;
/// The number of elements has three bytes.
const LEVELS_AT: usize = 99;
pub(super) const ROLES_AT: usize = 100;
const CLASSES_AT: usize = 102;
pub(super) const CONVERSION_AT: usize = 103;
pub(super) const ENTRIES_AT: usize = 104;
pub(super) const RECORDS_AT: usize = 112;
pub(super) const RECORDS_SUM_AT: usize = 120;
pub(super) const IDENTITY_AT: usize = 128;
pub(super) const PAYLOAD_AT: usize = 136;
pub(super) const UPDATES_AT: usize = 144;

/// The bit of the payload's length that says that there are sections.
pub(super) const SECTIONS: u64 = 1;

/// The bit of the payload's length that says that a reader must understand a section.
pub(super) const NEEDED: u64 = 2;

pub(super) const CHECKSUM_AT: usize = HEADER_BYTES - 8;

/// The first word of the checksum, which covers all words before it.
pub const CHECKSUM_WORD: usize = CHECKSUM_AT / 4;

/// The number of words before the identity, which covers them.
pub const IDENTITY_WORDS: usize = IDENTITY_AT / 4;

/// The header of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Header {
    /// The version of the format. A writer that changes a stream keeps it.
    pub version: Version,
    /// Element type of the coded field.
    pub dtype: Dtype,
    /// Type of the user's values, whose elements have type `dtype`.
    pub value_type: ValueType,
    /// How values become elements.
    pub conversion: Kind,
    /// Codec of the chunks.
    pub codec: Codec,
    /// Shape of the blocks, as [`Grid::new`] gives it.
    pub shape: Shape,
    /// Extents of the coded field, and the roles of its axes.
    pub extents: Extents,
    /// The bound as the user gave it.
    pub bound: Bound,
    /// The bits of the absolute error in the element type; 0 is lossless.
    pub error_bits: u64,
    /// Classes of the mask; none without a mask.
    pub classes: ClassCount,
    /// The length of chunks of tiles.
    pub chunk: ChunkLength,
    /// How many levels are coded apart.
    pub levels: u8,
    /// Bytes of the records behind the header.
    pub record_bytes: u64,
    /// Checksum of the records.
    pub record_sum: u64,
    /// Bytes of all chunks, and of the sections behind them.
    pub payload_bytes: u64,
    /// Whether there are sections: see [`section`](crate::container::section).
    pub has_sections: bool,
    /// Whether a reader must understand one of them.
    pub needs_sections: bool,
    /// Bytes of the updates behind the payload.
    pub update_bytes: u64,
}

impl Layout {
    /// A strict upper bound on the bytes of a stream without records. None if a payload could be longer than
    /// [`Split::max_payload`](crate::container::table::Split::max_payload).
    pub fn max_stream_bytes(&self, dtype: Dtype) -> Option<u64> {
        let of_field = match self.family() {
            Family::Blocks(layout) => max_chunk_bytes(&layout.grid, dtype)?,
            Family::Tiles(layout) => layout.max_bytes(dtype)?,
        };
        let of_mask = self.mask().map_or(Some(0), |mask| mask.max_bytes())?;
        let behind = of_field.checked_add(of_mask)?;
        (behind <= self.split().max_payload()).then_some(behind + HEADER_BYTES as u64)
    }

    /// The header of a stream whose payload is not yet known.
    pub fn header(self, dtype: Dtype, bound: Bound, error_bits: u64) -> Header {
        Header {
            version: VERSION,
            dtype,
            value_type: dtype.into(),
            conversion: Kind::Widened,
            codec: self.codec,
            shape: self.shape,
            extents: self.extents,
            bound,
            error_bits,
            classes: self.classes,
            chunk: self.chunk,
            levels: self.levels,
            record_bytes: 0,
            record_sum: HEADER_SEED,
            payload_bytes: 0,
            has_sections: false,
            needs_sections: false,
            update_bytes: 0,
        }
    }
}

impl Header {
    /// The layout of the stream.
    pub fn layout(&self) -> Layout {
        Layout {
            codec: self.codec,
            shape: self.shape,
            extents: self.extents,
            classes: self.classes,
            chunk: self.chunk,
            levels: self.levels,
        }
    }

    /// The number of elements.
    pub fn elements(&self) -> u64 {
        self.extents.elements()
    }

    /// The division of the field into chunks.
    pub fn grid(&self) -> Grid {
        Grid::new(self.shape, &self.extents)
    }

    /// The number of entries of the chunk table.
    pub fn chunks(&self) -> u64 {
        self.layout().entries()
    }

    /// The start of the chunk table and end of the records, in bytes.
    pub fn table_start(&self) -> u64 {
        HEADER_BYTES as u64 + self.record_bytes
    }

    /// The start of the payload, in bytes.
    pub fn payload_start(&self) -> u64 {
        self.table_start() + self.chunks() * ENTRY_BYTES as u64
    }

    /// The end of the payload and start of the updates, in bytes.
    pub fn payload_end(&self) -> u64 {
        self.payload_start() + self.payload_bytes
    }

    /// The most bytes of a chunk of a codec of blocks, or of the mask behind them: the bytes of its raw form.
    pub fn raw_chunk_bytes(&self, chunk: u64) -> u64 {
        if let Some(mask) = self.layout().mask()
            && let Some(chunk) = chunk.checked_sub(self.layout().field_entries())
        {
            return mask.max_chunk_bytes(chunk);
        }
        let elements = self.grid().chunk(chunk).elements();
        4 * u64::from(raw_words(elements, self.dtype.bytes() as u32 / 4))
    }

    /// Bytes of the whole stream.
    pub fn stream_bytes(&self) -> u64 {
        self.payload_end() + self.update_bytes
    }

    /// The scale of the coded field.
    pub fn scale(&self) -> Scale {
        Scale::of(self.bound.mode().id(), self.error_bits == 0)
    }

    /// The absolute error of the coded field, which follows from the bound; 0 is lossless.
    pub fn absolute_error(&self) -> f64 {
        absolute_error(self.dtype, self.error_bits)
    }

    /// The quantiser of the stream.
    ///
    /// # Errors
    ///
    /// [`FormatError::WrongDtype`] if the coded field does not hold `T`.
    pub fn quantizer<T: Element>(&self) -> Result<Quantizer<T>, FormatError> {
        if self.dtype == T::DTYPE {
            Ok(Quantizer::from_error(T::from_bits64(self.error_bits)))
        } else {
            Err(FormatError::WrongDtype {
                wanted: T::TYPE,
                found: self.value_type,
            })
        }
    }

    /// Checks that the stream holds values of a type.
    ///
    /// # Errors
    ///
    /// [`FormatError::WrongDtype`] if it does not.
    pub fn check_values<V: Value>(&self) -> Result<(), FormatError> {
        let (wanted, found) = (V::TYPE, self.value_type);
        match wanted == found {
            true => Ok(()),
            false => Err(FormatError::WrongDtype { wanted, found }),
        }
    }

    /// The header of the field of elements, without conversion.
    #[must_use]
    pub fn of_elements(self) -> Self {
        Self {
            value_type: self.dtype.into(),
            conversion: Kind::Widened,
            ..self
        }
    }

    /// The identity, with which the checksums of the chunks start.
    pub fn identity(&self) -> Identity {
        let bytes = self.to_bytes();
        Identity(get_u64(&bytes, IDENTITY_AT))
    }

    /// The header's bytes.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let CodecId { predictor, coder } = self.codec.id();
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(MAGIC_AT, &MAGIC);
        put(VERSION_AT, &self.version.0.to_le_bytes());
        put(DTYPE_AT, &[self.value_type.id()]);
        put(PREDICTOR_AT, &[predictor]);
        put(CODER_AT, &[coder]);
        put(MODE_AT, &[self.bound.mode().id()]);
        put(RANK_AT, &[self.extents.rank]);
        put(SHAPE_AT, &[self.shape.id()]);
        for (i, length) in self.extents.lengths.iter().enumerate() {
            put(EXTENTS_AT + 8 * i, &length.to_le_bytes());
        }
        put(BOUND_AT, &self.bound.value().to_le_bytes());
        put(
            CHUNK_ELEMENTS_AT,
            &self.layout().chunk_elements().to_le_bytes(),
        );
        put(LEVELS_AT, &[self.levels]);
        put(CLASSES_AT, &[self.classes.to_byte()]);
        put(CONVERSION_AT, &[self.conversion.id()]);
        put(ROLES_AT, &self.extents.roles.bits().to_le_bytes());
        put(ENTRIES_AT, &self.chunks().to_le_bytes());
        put(RECORDS_AT, &self.record_bytes.to_le_bytes());
        put(RECORDS_SUM_AT, &self.record_sum.to_le_bytes());
        put(ERROR_AT, &self.error_bits.to_le_bytes());
        let payload = self.payload_bytes
            | (SECTIONS * u64::from(self.has_sections))
            | (NEEDED * u64::from(self.needs_sections));
        put(PAYLOAD_AT, &payload.to_le_bytes());
        put(UPDATES_AT, &self.update_bytes.to_le_bytes());
        let mut words = to_words(&bytes);
        seal(&mut words);
        to_bytes(&words)
    }

    /// Reads the header of a stream, of which at least the first [`HEADER_BYTES`] must be present.
    ///
    /// # Errors
    ///
    /// [`FormatError`] that says which field is wrong.
    pub fn read(stream: &[u8]) -> Result<Self, FormatError> {
        let Some(bytes) = stream.first_chunk::<HEADER_BYTES>() else {
            let start = stream.len().min(MAGIC.len());
            return Err(if stream[..start] == MAGIC[..start] {
                FormatError::Truncated {
                    needed: HEADER_BYTES as u64,
                    found: stream.len() as u64,
                }
            } else {
                FormatError::NotFerrosz
            });
        };
        if bytes[..MAGIC.len()] != MAGIC {
            return Err(FormatError::NotFerrosz);
        }
        let version = Version(u16::from_le_bytes([
            bytes[VERSION_AT],
            bytes[VERSION_AT + 1],
        ]));
        if !version.is_read() {
            return Err(FormatError::UnknownVersion(version));
        }
        if checksum(HEADER_SEED, &bytes[..CHECKSUM_AT]) != get_u64(bytes, CHECKSUM_AT) {
            return Err(FormatError::HeaderChecksum);
        }
        let header = Self::parse(bytes, version).and_then(|header| {
            // The bytes that are not parsed above follow from the others.
            let wanted = header.to_bytes();
            let wrong = (wanted.iter().zip(bytes)).position(|(wanted, found)| wanted != found);
            wrong.map_or(Ok(header), |at| {
                Err(FormatError::InvalidHeader(fault_at(at)))
            })
        });
        header.map_err(|error| error.in_version(version))
    }

    fn parse(bytes: &[u8; HEADER_BYTES], version: Version) -> Result<Self, FormatError> {
        let invalid = FormatError::InvalidHeader;
        let unknown = |what| FormatError::Unknown { what, version };
        let value_type = ValueType::from_id(bytes[DTYPE_AT])
            .ok_or(unknown(Unknown::ValueType(bytes[DTYPE_AT])))?;
        let dtype = value_type.coded();
        let conversion = Kind::from_id(bytes[CONVERSION_AT])
            .ok_or(unknown(Unknown::Conversion(bytes[CONVERSION_AT])))?;
        if !conversion.takes(value_type) {
            return Err(invalid("the type of the values has no such conversion"));
        }
        let id = CodecId {
            predictor: bytes[PREDICTOR_AT],
            coder: bytes[CODER_AT],
        };
        let codec = Codec::from_id(id).ok_or(unknown(Unknown::Codec(id)))?;
        let mode = BoundMode::from_id(bytes[MODE_AT])
            .ok_or(unknown(Unknown::BoundMode(bytes[MODE_AT])))?;
        let value = f64::from_bits(get_u64(bytes, BOUND_AT));
        let bound = Bound::new(mode, value).map_err(|_| invalid("impossible error bound"))?;
        let layout = parse_layout(bytes, codec)?;
        let error_bits = get_u64(bytes, ERROR_AT);
        // The bits of numbers without a sign are in the order of the numbers.
        let most_bits = with_element!(dtype, E => (E::MAX * E::HALF).to_bits64());
        if error_bits > most_bits {
            return Err(invalid("impossible absolute error"));
        }
        if Scale::of(mode.id(), error_bits == 0) == Scale::Logarithm && layout.classes.all() == 0 {
            return Err(invalid("logarithms without a mask, which has the signs"));
        }
        let header = Self {
            version,
            value_type,
            conversion,
            record_bytes: get_u64(bytes, RECORDS_AT),
            record_sum: get_u64(bytes, RECORDS_SUM_AT),
            payload_bytes: get_u64(bytes, PAYLOAD_AT) & !(SECTIONS | NEEDED),
            has_sections: get_u64(bytes, PAYLOAD_AT) & SECTIONS != 0,
            needs_sections: get_u64(bytes, PAYLOAD_AT) & NEEDED != 0,
            update_bytes: get_u64(bytes, UPDATES_AT),
            ..layout.header(dtype, bound, error_bits)
        };
        check_lengths(&header, &layout)?;
        Ok(header)
    }
}

/// The error of a header whose fields can all be read, but whose byte number `at` does not follow from them.
const fn fault_at(at: usize) -> &'static str {
    match at {
        EXTENTS_AT..BOUND_AT => "extents beyond the rank are not 1",
        BOUND_AT..ERROR_AT => "impossible error bound",
        CHUNK_ELEMENTS_AT..LEVELS_AT => "impossible number of elements in a chunk",
        LEVELS_AT => "impossible number of levels that are coded apart",
        ROLES_AT..CLASSES_AT => "the roles of axes are those of a field without roles",
        ENTRIES_AT..RECORDS_AT => "wrong number of entries of the chunk table",
        IDENTITY_AT..PAYLOAD_AT => "wrong identity",
        _ => "a reserved field is set",
    }
}

/// The layout of a stream with this codec.
fn parse_layout(bytes: &[u8; HEADER_BYTES], codec: Codec) -> Result<Layout, FormatError> {
    let invalid = FormatError::InvalidHeader;
    let rank = usize::from(bytes[RANK_AT]);
    if rank > MAX_RANK {
        return Err(invalid("impossible rank"));
    }
    let lengths: [u64; MAX_RANK] = core::array::from_fn(|i| get_u64(bytes, EXTENTS_AT + 8 * i));
    let mut extents = lengths
        .get(..rank)
        .and_then(Extents::new)
        .ok_or(invalid("impossible extents"))?;
    let roles = u16::from_le_bytes([bytes[ROLES_AT], bytes[ROLES_AT + 1]]);
    extents.roles = Roles::from_bits(roles, rank).ok_or(invalid("impossible roles of axes"))?;
    let shape = Shape::from_id(bytes[SHAPE_AT]).ok_or(invalid("unknown shape of blocks"))?;
    let classes = ClassCount::from_byte(bytes[CLASSES_AT]);
    let classes = classes.ok_or(invalid("impossible number of classes of a mask"))?;
    let layout = Layout::new(codec, shape, extents)
        .with_classes(classes)
        .with_chunk(chunk_of(bytes))
        .with_levels(bytes[LEVELS_AT]);
    if layout.shape != shape {
        return Err(invalid("impossible shape of blocks"));
    }
    if shape == Shape::Line && !extents.roles.is_default() {
        return Err(invalid("axes have roles, but the field is a line"));
    }
    Ok(layout)
}

/// Refuses lengths of records, updates and payload that no stream has: so sums of them do not overflow.
fn check_lengths(header: &Header, layout: &Layout) -> Result<(), FormatError> {
    let invalid = FormatError::InvalidHeader;
    let most = (layout.max_stream_bytes(header.dtype)).ok_or(invalid("the field is too large"))?;
    let is_whole = |bytes: u64| bytes.is_multiple_of(CHUNK_ALIGNMENT);
    let with_records = most.checked_add(header.record_bytes);
    if with_records.is_none() || !is_whole(header.record_bytes) {
        return Err(invalid("impossible length of records"));
    }
    let before = HEADER_BYTES as u64 + layout.entries() * ENTRY_BYTES as u64;
    let most_payload = match header.has_sections {
        true => MAX_PAYLOAD,
        false => most - before,
    };
    let is_in_vain = header.needs_sections && !header.has_sections;
    if header.payload_bytes > most_payload || !is_whole(header.payload_bytes) || is_in_vain {
        return Err(invalid("impossible payload length"));
    }
    let whole = with_records
        .and_then(|bytes| bytes.checked_add(header.update_bytes))
        .and_then(|bytes| bytes.checked_add(most_payload));
    if whole.is_none() || !is_whole(header.update_bytes) {
        return Err(invalid("impossible length of updates"));
    }
    if header.update_bytes != 0 && header.codec.tiles().is_some() {
        return Err(invalid("a stream of tiles has no updates"));
    }
    if header.update_bytes != 0 && header.elements() == 0 {
        return Err(invalid("a stream without elements has no updates"));
    }
    Ok(())
}

/// The length of chunks of tiles; the default one if the field has another number of elements.
fn chunk_of(bytes: &[u8; HEADER_BYTES]) -> ChunkLength {
    let elements = to_words(bytes)[CHUNK_ELEMENTS_AT / 4] & 0xff_ffff;
    let found = ChunkLength::ALL
        .into_iter()
        .find(|chunk| chunk.elements() == elements);
    found.unwrap_or_default()
}

fn absolute_error(dtype: Dtype, bits: u64) -> f64 {
    with_element!(dtype, E => E::from_bits64(bits).to_f64())
}

/// Sets the identity of a header and its checksum.
fn seal(words: &mut [u32; HEADER_WORDS]) {
    let Identity(identity) = Identity::of_sum(sum_of_words(&words[..IDENTITY_WORDS]));
    put_wide(words, IDENTITY_AT, identity);
    let sum = sum_of_words(&words[..CHECKSUM_WORD]);
    put_wide(words, CHECKSUM_AT, sum);
}

/// The checksum of the first words of a header.
pub(super) fn sum_of_words(words: &[u32]) -> u64 {
    let mut sum = HEADER_SEED;
    for (i, word) in words.iter().enumerate() {
        sum = sum.wrapping_add(term(i as u32, *word));
    }
    sum
}

#[inline(always)]
pub(super) fn put_wide(words: &mut [u32; HEADER_WORDS], at: usize, value: u64) {
    words[at / 4] = value as u32;
    words[at / 4 + 1] = (value >> 32) as u32;
}

/// As [`Layout::max_stream_bytes`], for a codec of blocks and a line of elements of `element_bytes` bytes, 4 or 8; also
/// for kernels.
#[inline(always)]
pub const fn max_line_bytes(elements: u64, element_bytes: u64) -> Option<u64> {
    // No sum below can overflow.
    if elements > MAX_PAYLOAD / element_bytes {
        return None;
    }
    let entries = elements.div_ceil(CHUNK as u64) * ENTRY_BYTES as u64;
    let behind = (elements * element_bytes).next_multiple_of(CHUNK_ALIGNMENT) + entries;
    if behind <= MAX_PAYLOAD {
        Some(behind + HEADER_BYTES as u64)
    } else {
        None
    }
}

/// A strict upper bound on the bytes of chunks and their entries, with all chunks raw. None if it does not fit in a
/// `u64`.
fn max_chunk_bytes(grid: &Grid, dtype: Dtype) -> Option<u64> {
    let words = dtype.bytes() as u32 / 4;
    let raw = |elements| ENTRY_BYTES as u64 + 4 * u64::from(raw_words(elements, words));
    grid.sum_over_chunks(raw)
}

fn get_u64(bytes: &[u8; HEADER_BYTES], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

/// The bytes as little-endian words.
pub fn to_words(bytes: &[u8; HEADER_BYTES]) -> [u32; HEADER_WORDS] {
    let (words, _) = bytes.as_chunks::<4>();
    core::array::from_fn(|i| u32::from_le_bytes(words[i]))
}

fn to_bytes(words: &[u32; HEADER_WORDS]) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stream_of_a_line_is_that_of_its_layout() {
        let most = MAX_PAYLOAD / 4;
        let long = [
            most / 2,
            most - (1 << 30),
            most,
            most + 1,
            1 << 60,
            u64::MAX,
        ];
        for elements in (0..40).chain(8180..8200).chain(16_370..16_400).chain(long) {
            let layout = Layout::new(Codec::PLAIN, Shape::Line, Extents::line(elements));
            for dtype in [Dtype::F32, Dtype::F64] {
                let wanted = layout.max_stream_bytes(dtype);
                let found = max_line_bytes(elements, dtype.bytes() as u64);
                assert_eq!(found, wanted, "{elements} {dtype}");
            }
        }
    }
}
