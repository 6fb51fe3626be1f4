//! Information in a stream's header and chunk table, without decoding.

use crate::error::Error;
use crate::nearby::is_neighbour;
use crate::stream_ref::{absolute_error, conversion, mapping, order, table, wavelets};
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::container::section;
use ferrosz_codec::container::table::{ENTRY_BYTES, Entry, Split};
use ferrosz_codec::container::tiles::FIRST_ENTRY;
use ferrosz_codec::mapping::Scale;
use ferrosz_codec::mapping::axes::Axes;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::mapping::mask::Classes;
use ferrosz_codec::safeguard::{Safeguard, Safeguards};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile;
use ferrosz_codec::with_value;
use ferrosz_codec::{Bound, Codec, Element, Value, ValueType};

/// The properties of a stream in its header and chunk table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Info {
    /// Type of the field's values.
    pub dtype: ValueType,
    /// Whether the values are the parts of complex numbers: along the last axis, of length 2, the real and the imaginary
    /// part.
    pub is_complex: bool,
    /// Codec.
    pub codec: Codec,
    /// Dimensions of a coding block or tile.
    pub rank: u8,
    /// Extents in the user's order, slowest dimension first.
    pub extents: Vec<u64>,
    /// Which axes are coded together, and which are axes of slices.
    pub axes: Axes,
    /// Whether axes have other roles or another order than the default.
    has_roles: bool,
    /// Number of elements.
    pub elements: u64,
    /// The error bound as the user gave it.
    pub bound: Bound,
    /// The absolute error that follows from it; 0 is lossless. With [`BoundMode::Pwrel`](crate::BoundMode::Pwrel) there
    /// is none, unless the stream is lossless: infinity.
    pub absolute_error: f64,
    /// Whether the signs of all values come back, by a class of the mask.
    pub keeps_signs: bool,
    /// Elements in a full chunk.
    pub chunk_elements: u64,
    /// A full chunk's extents, slowest dimension first, in the dimensions longer than 1. If a chunk is
    /// [`Info::chunk_tiles`] tiles, the extents of a tile.
    pub chunk_extents: Vec<u64>,
    /// Tiles of a full chunk; none for codecs of blocks.
    pub chunk_tiles: Option<u32>,
    /// How many levels are coded apart: [`Compressor::levels_apart`](crate::Compressor::levels_apart).
    pub levels_apart: u8,
    /// The absolute error of coefficients of wavelets, if these are coded: [`Compressor::wavelets`](crate::Compressor::wavelets).
    pub coefficient_error: Option<f64>,
    /// Number of chunks, including those of a coarse field of anchors.
    pub chunks: u64,
    /// The fill values of the mask, as `f64`; none without a mask. If there are some, the quiet NaN is among them. Kept
    /// zeros are not.
    pub fills: Vec<f64>,
    /// Whether zeros of both signs come back, by classes of the mask.
    pub keeps_zeros: bool,
    /// Bytes of the mask: its record, its entries in the chunk table, and its chunks.
    pub mask_bytes: u64,
    /// The safeguards.
    pub safeguards: Vec<Safeguard>,
    /// Whether each value has a bound of its own, which the stream does not have.
    pub has_bounds_of_values: bool,
    /// Bytes of the sections behind the chunks, which hold the corrections for safeguards.
    pub section_bytes: u64,
    /// Bytes of updates, which are chunks that replaced others.
    pub update_bytes: u64,
    /// Bytes of the whole stream.
    pub stream_bytes: u64,
    /// Bytes of the uncompressed field.
    pub field_bytes: u64,
    /// The number of chunks of each form. Replaced chunks count with their old form.
    pub forms: ChunkForms,
}

/// The number of chunks of each form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ChunkForms {
    /// All codes are zero.
    pub zero: u64,
    /// Coded.
    pub coded: u64,
    /// Coded, with separate values that have no code.
    pub coded_with_exceptions: u64,
    /// Not compressed.
    pub raw: u64,
    /// All elements are equal.
    pub constant: u64,
}

impl Info {
    /// Whether axes have other roles or another order than those that a codec takes by default.
    pub fn has_roles(&self) -> bool {
        self.has_roles
    }

    /// The name of the type of the field's numbers: `complex64` and `complex128` of complex ones, otherwise that of the values.
    pub fn type_name(&self) -> &'static str {
        match (self.is_complex, self.dtype) {
            (true, ValueType::F32) => "complex64",
            (true, _) => "complex128",
            (false, real) => real.name(),
        }
    }

    /// The extents of the field's numbers: those of complex ones are without the axis of their parts.
    pub fn number_extents(&self) -> &[u64] {
        match (self.is_complex, self.extents.split_last()) {
            (true, Some((_, numbers))) => numbers,
            _ => &self.extents,
        }
    }

    /// Whether every value comes back bit for bit.
    pub fn is_lossless(&self) -> bool {
        self.absolute_error == 0.0
    }

    /// Field bytes over stream bytes.
    pub fn ratio(&self) -> f64 {
        self.field_bytes as f64 / self.stream_bytes as f64
    }

    /// Bits of the stream for each element.
    pub fn bits_per_value(&self) -> f64 {
        8.0 * self.stream_bytes as f64 / self.elements as f64
    }
}

/// Reads header and chunk table of a stream; the payload may be missing.
///
/// # Errors
///
/// [`Error::Format`] if the header is damaged or the table is cut off.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Bound, Codec, Compressor};
///
/// let field = [1.0f32, 1.5, 2.0, 2.5];
/// let stream = Compressor::new(Codec::PLAIN, Bound::abs(0.01)?).compress(&field)?;
/// let info = ferrosz::info(&stream)?;
/// assert_eq!(info.elements, 4);
/// assert_eq!(info.codec, Codec::PLAIN);
/// assert_eq!(info.stream_bytes, stream.len() as u64);
/// # Ok::<(), ferrosz::Error>(())
/// ```
pub fn info(stream: &[u8]) -> Result<Info, Error> {
    let header = Header::read(stream)?;
    let entries = table(&header, stream)?;
    let (of_field, of_mask) = entries.split_at(header.layout().field_entries() as usize);
    let order = order(&header, stream)?;
    let chunks = match header.codec.tiles() {
        Some(_) => of_field.get(FIRST_ENTRY as usize..).unwrap_or_default(),
        None => of_field,
    };
    let records = &stream[HEADER_BYTES..header.table_start() as usize];
    let mapping = mapping(&header, records)?;
    let conversion = conversion(&header, records)?;
    let safeguards = Safeguards::of_records(records)?;
    let wavelets = wavelets(&header, records)?;
    let (fills, keeps_zeros) = fills(&conversion, &mapping.classes);
    Ok(Info {
        dtype: header.value_type,
        is_complex: order.is_complex(),
        codec: header.codec,
        rank: header.shape.rank(),
        extents: order.user_extents(&header.extents).lengths().to_vec(),
        axes: Axes::of(&header.layout(), &order),
        has_roles: !(order.is_identity() && header.extents.roles().is_default()),
        elements: header.elements(),
        bound: header.bound,
        absolute_error: match mapping.scale {
            Scale::Linear => absolute_error(&header, &conversion, wavelets),
            Scale::Logarithm => f64::INFINITY,
        },
        keeps_signs: mapping.classes.has_signs(),
        chunk_elements: u64::from(header.layout().chunk_elements()),
        chunk_extents: chunk_extents(&header),
        chunk_tiles: header.codec.tiles().map(|_| header.chunk.tiles()),
        levels_apart: header.levels,
        coefficient_error: wavelets.map(|_| header.absolute_error()),
        chunks: chunks.len() as u64,
        fills,
        keeps_zeros,
        mask_bytes: mask_bytes(&header, of_mask),
        safeguards: safeguards.list().collect(),
        has_bounds_of_values: safeguards.has_bounds(),
        section_bytes: section::start(&header, entries)
            .map_or(0, |start| header.payload_bytes.saturating_sub(start)),
        update_bytes: header.update_bytes,
        stream_bytes: header.stream_bytes(),
        field_bytes: header.elements() * header.value_type.bytes() as u64,
        forms: count_forms(chunks),
    })
}

/// The numbers of a field with this conversion and a mask of these classes that stand for missing values.
pub(crate) fn fill_values(conversion: &Conversion, classes: &Classes) -> Vec<f64> {
    fills(conversion, classes).0
}

/// The fill values of a mask, and whether zeros are kept. Types without NaN have no hole.
fn fills(conversion: &Conversion, classes: &Classes) -> (Vec<f64>, bool) {
    with_value!(conversion.value_type(), V => {
        let mut elements: Vec<<V as Value>::Coded> = Vec::new();
        elements.extend(classes.fills().iter().map(|bits| <V as Value>::Coded::from_bits64(*bits)));
        let zeros = [0, <V as Value>::Coded::SIGN_BIT];
        let keeps_zeros = zeros.iter().all(|zero| classes.fills().contains(zero));
        if keeps_zeros {
            elements.retain(|element| !zeros.contains(&element.to_bits64()));
        }
        // The hole has a class wherever something is missing.
        let is_only = keeps_zeros && elements.len() == 1;
        elements.retain(|element| !(element.is_hole() && (is_only || V::TYPE.is_integer())));
        let values = elements.into_iter().map(|element| conversion.to_value::<V>(element));
        let values: Vec<V> = values.collect();
        let bits: Vec<u64> = values.iter().map(|value| value.to_value_bits()).collect();
        // The neighbours of a fill value stand for valid values: the first of all are fill values.
        let is_fill = |at: &usize| !is_neighbour::<V>(&bits[..*at], bits[*at]);
        let fills = (0..values.len()).filter(is_fill);
        (fills.map(|at| values[at].to_number()).collect(), keeps_zeros)
    })
}

/// The extents of a chunk, without the leading dimensions in which it has one element.
fn chunk_extents(header: &Header) -> Vec<u64> {
    let extents = match header.layout().family() {
        Family::Blocks(layout) => layout.grid.tile().map(|bits| 1u64 << bits),
        Family::Tiles(layout) => tile::extents(layout.shape()).map(u64::from),
    };
    let leading = extents
        .iter()
        .take(2)
        .take_while(|extent| **extent == 1)
        .count();
    extents[leading..].to_vec()
}

/// The bytes of a mask with these entries.
fn mask_bytes(header: &Header, entries: &[[u8; ENTRY_BYTES]]) -> u64 {
    let split = header.layout().split();
    let chunks = entries
        .iter()
        .map(|entry| Entry::from_bytes(entry, split).bytes);
    let table = (entries.len() * ENTRY_BYTES) as u64;
    Classes::record_bytes(header.classes) + table + chunks.sum::<u64>()
}

fn count_forms(table: &[[u8; ENTRY_BYTES]]) -> ChunkForms {
    let mut forms = ChunkForms::default();
    for entry in table {
        // The form is at the same place with every split.
        match Form::from_id(Entry::from_bytes(entry, Split::SHORT).form) {
            Some(Form::Zero) => forms.zero += 1,
            Some(Form::Coded) => forms.coded += 1,
            Some(Form::CodedWithExceptions) => forms.coded_with_exceptions += 1,
            Some(Form::Raw) => forms.raw += 1,
            Some(Form::Constant) => forms.constant += 1,
            // The decoder reports this error.
            None => {}
        }
    }
    forms
}

/// A strict upper bound on the bytes of the stream of `elements` elements, coded in blocks of rank 1, whatever their
/// values: 0.05 % and 188 bytes over a field of `f32` or `f64`. Other types have twice the bytes of the field, and 32 bytes
/// more. Saturates if it exceeds a `u64`. For other ranks see
/// [`Compressor::max_compressed_len`](crate::Compressor::max_compressed_len).
pub fn max_compressed_len(elements: u64, value_type: impl Into<ValueType>) -> u64 {
    let value_type = value_type.into();
    let layout = Layout::new(Codec::PLAIN, Shape::Line, Extents::line(elements));
    let most = layout.max_stream_bytes(value_type.coded());
    let of_conversion = Conversion::record_bytes(value_type);
    most.map_or(u64::MAX, |most| most.saturating_add(of_conversion))
}
