//! The oracle: whole arrays compressed and decompressed in plain loops.
//!
//! It shares the types, the quantiser's arithmetic on one value, the header, the chunk table, checksums and updates
//! with the backends; docs/testing.md has the list. It has its own code to divide fields, order positions, count tokens
//! and tune parameters. Bits are set one by one; there are no tables, no words of planes, no parallel chunks and no
//! positions summed from parts. It is slow, and meant to be read beside FORMAT.md.

use crate::bound::{Bound, BoundMode, Extremes};
use crate::container::checksum::checksum;
use crate::container::chunk::Form;
use crate::container::header::{HEADER_BYTES, Header};
use crate::container::layout::Layout;
use crate::container::record::{self, Record};
use crate::container::record_kind::RecordKind;
use crate::container::roles::Role;
use crate::container::section;
use crate::container::table::Entry;
use crate::container::tiles::prologue_bytes;
use crate::container::update::{Replacements, Tail};
use crate::element::Element;
use crate::error::{ChunkFault, FormatError};
use crate::mapping::axes::Order;
use crate::mapping::conversion::Conversion;
use crate::mapping::mask::{Classes, MAX_CLASSES};
use crate::mapping::wavelet::Wavelets;
use crate::mapping::{Keep, Scale, ValueMapping};
use crate::oracle::order::Field;
use crate::pipeline::{BlockCodec, Codec, TileCodec};
use crate::shape::Shape;
use crate::value::Value;
use alloc::vec;
use alloc::vec::Vec;
use blocks::Blocks;
use tiles::Tiles;

mod axes;
mod bit_planes;
mod blocks;
mod bytes;
mod conversion;
mod direct;
pub mod entropy;
mod exceptions;
mod frequencies;
pub mod interp;
mod logarithm;
mod mask;
mod nearby;
mod order;
mod parameters;
mod safeguards;
mod signs;
mod slices;
mod stencil;
mod tile_lorenzo;
mod tiles;
mod tuning;
pub mod wavelet;

/// Compresses a field.
///
/// `values` must have as many elements as the layout says; this is not checked.
pub fn compress<T: Element>(layout: Layout, bound: Bound, values: &[T]) -> Vec<u8> {
    compress_with_radius(layout, bound, tuning::RADIUS, values)
}

/// As [`compress`], with this mapping of values. The layout has as many classes.
pub fn compress_mapped<T: Element>(
    layout: Layout,
    bound: Bound,
    mapping: &ValueMapping,
    values: &[T],
) -> Vec<u8> {
    encode(layout, bound, tuning::RADIUS, mapping, values)
}

/// As [`compress`], with codes of interpolation less than `radius`, 1 to 32,768, in magnitude. Other encoders of
/// ferrosz do not make them.
pub fn compress_with_radius<T: Element>(
    layout: Layout,
    bound: Bound,
    radius: u32,
    values: &[T],
) -> Vec<u8> {
    encode(layout, bound, radius, &ValueMapping::default(), values)
}

fn encode<T: Element>(
    layout: Layout,
    bound: Bound,
    radius: u32,
    mapping: &ValueMapping,
    values: &[T],
) -> Vec<u8> {
    let classes = &mapping.classes;
    let found: Vec<u32> = values.iter().map(|value| classes.of(*value)).collect();
    let mut extremes = Extremes::default();
    let is_missing: Vec<bool> = found.iter().map(|class| classes.is_fill(*class)).collect();
    for (value, is_missing) in values.iter().zip(&is_missing) {
        if !is_missing {
            extremes.see(*value);
        }
    }
    let mut coded = values.to_vec();
    if mapping.scale == Scale::Logarithm {
        coded = values
            .iter()
            .map(|value| logarithm::to_coded(*value))
            .collect();
    }
    let has_holes = !classes.fills().is_empty();
    if has_holes {
        coded = mask::coded_field(&layout, &is_missing, &coded);
    }
    let values = &coded[..];
    let quantizer = bound.resolve(&extremes).with_holes(has_holes);
    let mut chunks = match layout.codec {
        Codec::Blocks(codec) => blocks_of(codec, &layout).compress(&quantizer, values),
        Codec::Tiles(codec) => tiles_of(codec, &layout).compress(&quantizer, radius, values),
    };
    chunks.extend(mask::chunks(&layout, &found));
    let records = mask::records(classes);
    let header = Header {
        record_bytes: records.len() as u64,
        record_sum: checksum(0, &records),
        ..layout.header(T::DTYPE, bound, quantizer.error().to_bits64())
    };
    whole(&header, &records, chunks)
}

/// As [`compress_mapped`], of a field whose axes have another order than those of the layout. `values` have the user's
/// order.
pub fn compress_in_order<T: Element>(
    layout: Layout,
    order: &Order,
    bound: Bound,
    mapping: &ValueMapping,
    values: &[T],
) -> Vec<u8> {
    let user = order.user_extents(&layout.extents);
    let coded = axes::to_coded(order.axes(), user.lengths(), values);
    let stream = compress_mapped(layout, bound, mapping, &coded);
    if order.is_identity() && !order.is_complex() {
        return stream;
    }
    let mut records = mask::records(&mapping.classes);
    records.extend(records_of(order));
    with_records(&stream, &records, |header| header).unwrap_or_default()
}

/// As [`compress_in_order`], with fill values of these bits and what else is kept. Valid values that are close to a fill
/// value do not become it. The layout has no classes.
pub fn compress_masked<T: Element + Value<Coded = T>>(
    layout: Layout,
    order: &Order,
    bound: Bound,
    keep: Keep,
    fills: &[u64],
    values: &[T],
) -> Vec<u8> {
    let mut extremes = Extremes::default();
    for value in values
        .iter()
        .filter(|value| !fills.contains(&value.to_bits64()))
    {
        extremes.see(*value);
    }
    let absolute = bound.absolute(&extremes);
    let is_pointwise = bound.mode() == BoundMode::Pwrel;
    let reach = |x: f64| match is_pointwise {
        true => (bound.value() * x.abs()).next_up(),
        false => absolute,
    };
    let mut values = values.to_vec();
    let own = ValueMapping::new::<T>(bound, keep, fills.iter().copied());
    let room = MAX_CLASSES - own.map_or(0, |own| usize::from(own.classes.count().all()));
    let neighbours = nearby::apart(fills, reach, room, &mut values);
    let resolved = match neighbours.is_empty() || is_pointwise {
        true => Ok(bound),
        false => Bound::abs(absolute),
    };
    let fills = fills.iter().chain(&neighbours).copied();
    let (Some(mapping), Ok(resolved)) = (ValueMapping::new::<T>(bound, keep, fills), resolved)
    else {
        return Vec::new();
    };
    let layout = layout.with_classes(mapping.classes.count());
    let stream = compress_in_order(layout, order, resolved, &mapping, &values);
    if resolved == bound {
        return stream;
    }
    let mut records = mask::records(&mapping.classes);
    records.extend(records_of(order));
    with_records(&stream, &records, |header| Header { bound, ..header }).unwrap_or_default()
}

/// The records of the order of axes, and of complex numbers.
fn records_of(order: &Order) -> Vec<u8> {
    let mut records = Vec::new();
    if !order.is_identity() {
        records.push(Record {
            kind: RecordKind::AXES,
            contents: order.axes(),
        });
    }
    if order.is_complex() {
        records.push(Record {
            kind: RecordKind::CPLX,
            contents: &[],
        });
    }
    record::to_bytes(&records)
}

/// As [`compress_in_order`], of values of any type, with fill values of these bits. The layout has no classes.
pub fn compress_values<V: Value>(
    layout: Layout,
    order: &Order,
    bound: Bound,
    fills: &[u64],
    values: &[V],
) -> Vec<u8> {
    let is_missing = |value: &V| fills.contains(&value.to_value_bits());
    let present: Vec<V> = values
        .iter()
        .copied()
        .filter(|value| !is_missing(value))
        .collect();
    let chosen = conversion::choose(bound, &present);
    let to_element = |value| conversion::to_element::<V>(chosen.kind, chosen.offset, value);
    let mut values = values.to_vec();
    let own = fills
        .iter()
        .map(|bits| to_element(V::from_value_bits(*bits)).to_bits64());
    let own = Classes::new::<V::Coded>(own).map_or(0, |classes| classes.count().all());
    let room = MAX_CLASSES - usize::from(own);
    let neighbours = nearby::apart(fills, |_| chosen.absolute, room, &mut values);
    let elements: Vec<V::Coded> = values.iter().map(|value| to_element(*value)).collect();
    let fills = fills
        .iter()
        .chain(&neighbours)
        .map(|bits| to_element(V::from_value_bits(*bits)).to_bits64());
    let Some(classes) = Classes::new::<V::Coded>(fills) else {
        return Vec::new();
    };
    let Ok(of_elements) = Bound::abs(chosen.error) else {
        return Vec::new();
    };
    let layout = layout.with_classes(classes.count());
    let mapping = ValueMapping {
        classes,
        scale: Scale::Linear,
    };
    let stream = compress_in_order(layout, order, of_elements, &mapping, &elements);
    let mut records = mask::records(&classes);
    records.extend(records_of(order));
    records.extend(conversion::record(&chosen));
    let heading = |header| Header {
        value_type: V::TYPE,
        conversion: chosen.kind,
        bound,
        ..header
    };
    with_records(&stream, &records, heading).unwrap_or_default()
}

/// A stream with these records instead of its own, and with another header; none if it is damaged.
fn with_records(
    stream: &[u8],
    records: &[u8],
    heading: impl Fn(Header) -> Header,
) -> Option<Vec<u8>> {
    let header = Header::read(stream).ok()?;
    let chunks = read_chunks(&header, stream).ok()?;
    let forms = chunks.into_iter().map(|(entry, bytes)| {
        let form = Form::from_id(entry.form).unwrap_or(Form::Raw);
        (form, bytes.to_vec())
    });
    let header = Header {
        record_bytes: records.len() as u64,
        record_sum: checksum(0, records),
        ..heading(header)
    };
    Some(whole(&header, records, forms.collect()))
}

/// The stream of these chunks.
fn whole(header: &Header, records: &[u8], chunks: Vec<(Form, Vec<u8>)>) -> Vec<u8> {
    let has_prologue = header.layout().tiles().is_some();
    let mut table = Vec::new();
    let mut payload = Vec::new();
    for (index, (form, bytes)) in (0..).zip(chunks) {
        let sum = checksum(header.identity().seed(index, form.id()), &bytes);
        let length = match (has_prologue, index) {
            (true, 0) => 0,
            _ => bytes.len() as u64,
        };
        let entry = Entry::new(payload.len() as u64, length, form, sum);
        table.extend(entry.to_bytes(header.layout().split()));
        payload.extend(bytes);
    }
    let header = Header {
        payload_bytes: payload.len() as u64,
        ..*header
    };
    [&header.to_bytes()[..], records, &table, &payload].concat()
}

/// Decompresses a stream.
///
/// # Errors
///
/// [`FormatError`] if it is not a whole, undamaged stream of `V`.
pub fn decompress<V: Value>(stream: &[u8]) -> Result<Vec<V>, FormatError> {
    let header = Header::read(stream)?;
    header.check_values::<V>()?;
    let (needed, found) = (header.stream_bytes(), stream.len() as u64);
    if found < needed {
        return Err(FormatError::Truncated { needed, found });
    }
    let (stream, tail) = stream.split_at(needed as usize);
    if Tail::of(tail).is_none() {
        return Err(FormatError::TrailingBytes(found - needed));
    }
    let records = &stream[HEADER_BYTES..header.table_start() as usize];
    record::check(records, &header)?;
    let conversion = Conversion::from_records(records, header.value_type, header.conversion)?;
    let elements = decode(&header, records, stream)?;
    let (kind, offset) = (conversion.kind(), conversion.offset());
    let mut values = conversion::to_values(kind, offset, &elements);
    safeguards::mend(&header, records, &conversion, stream, &mut values)?;
    Ok(values)
}

/// The elements of a stream that ends here, with these records, in the order of the user's axes.
fn decode<T: Element>(
    header: &Header,
    records: &[u8],
    stream: &[u8],
) -> Result<Vec<T>, FormatError> {
    let quantizer = header.quantizer::<T>()?;
    let chunks = read_chunks(header, stream)?;
    let layout = header.layout();
    let (of_field, of_mask) = chunks.split_at(layout.field_entries() as usize);
    let mut values = match header.codec {
        Codec::Blocks(codec) => blocks_of(codec, &layout).decompress(&quantizer, of_field),
        Codec::Tiles(codec) => tiles_of(codec, &layout).decompress(&quantizer, of_field),
    }?;
    if let Some(wavelets) = Wavelets::of_records(records)? {
        values = wavelet::field(&header.extents, wavelets.order, &values);
    }
    let classes = Classes::from_records(records, header.classes, header.dtype)?;
    let found = mask::decode(&layout, of_mask)?;
    for (value, class) in values.iter_mut().zip(found) {
        if header.scale() == Scale::Logarithm {
            *value = logarithm::from_coded(*value);
        }
        if classes.has_signs() && value.is_finite() {
            *value = value.abs();
        }
        if class > 0 {
            *value = classes.overlay(class, *value);
        }
    }
    let order = Order::of_records(records, header)?;
    let user = order.user_extents(&header.extents);
    Ok(axes::to_user(order.axes(), user.lengths(), &values))
}

/// The entries of a whole stream and the bytes of their chunks, after a check of their checksums.
fn read_chunks<'a>(
    header: &Header,
    stream: &'a [u8],
) -> Result<Vec<(Entry, &'a [u8])>, FormatError> {
    let (stream, updates) = stream.split_at(header.payload_end() as usize);
    let replacements = Replacements::read(updates, header)?;
    let (start, payload) = stream.split_at(header.payload_start() as usize);
    let table = &start[header.table_start() as usize..];
    let mut chunks = Vec::new();
    for (number, entry) in (0..).zip(table.as_chunks().0) {
        let mut entry = Entry::from_bytes(entry, header.layout().split());
        let mut source = payload;
        if let Some(replacement) = replacements.of(number) {
            (source, entry) = (updates, replacement.entry);
        }
        let mut range = entry.range();
        if let (0, Some(layout)) = (number, header.layout().tiles()) {
            // The prologue says itself how long it is, and its entry nothing: FORMAT.md, section 15.
            if !range.is_empty() {
                return Err(ChunkFault::Length.in_chunk(0));
            }
            let length = prologue_bytes(&layout, header.dtype, payload);
            range.end = entry.start + length.ok_or(ChunkFault::Length.in_chunk(0))?;
        }
        let bytes = source
            .get(range.start as usize..range.end as usize)
            .ok_or(ChunkFault::Place.in_chunk(number))?;
        if checksum(header.identity().seed(number, entry.form), bytes) != entry.checksum {
            return Err(FormatError::ChunkChecksum { chunk: number });
        }
        chunks.push((entry, bytes));
    }
    if let Some(start) = section::start(header, table.as_chunks().0) {
        section::read(payload, start, header.identity())
            .map_err(|error| error.in_version(header.version))?;
    }
    Ok(chunks)
}

/// A field in the dimensions of blocks and tiles: slices of the same lengths.
#[derive(Clone, Copy)]
struct Dimensions {
    slices: u64,
    lengths: [u64; 3],
}

/// The dimensions of a field for blocks and tiles of a shape (FORMAT.md, sections 2 and 22).
fn dimensions_of(layout: &Layout) -> Dimensions {
    let extents = layout.extents.lengths();
    let roles = layout.extents.roles();
    if layout.shape == Shape::Line {
        let lengths = [1, 1, extents.iter().product()];
        return Dimensions { slices: 1, lengths };
    }
    if roles.is_default() {
        let mut lengths = vec![1; 3];
        lengths.extend(extents.iter().filter(|length| **length != 1));
        let (slower, last) = lengths.split_at(lengths.len() - 2);
        let lengths = [slower.iter().product(), last[0], last[1]];
        return Dimensions { slices: 1, lengths };
    }
    let of_role = |role| {
        let axes = (0..extents.len()).filter(|axis| roles.of(*axis) == role);
        axes.map(|axis| extents[axis]).product::<u64>()
    };
    let lengths = [Role::Z, Role::Y, Role::X].map(of_role);
    let slices = of_role(Role::Slice);
    match layout.shape {
        Shape::Cube => Dimensions { slices, lengths },
        _ => Dimensions {
            slices: 1,
            lengths: [slices * lengths[0], lengths[1], lengths[2]],
        },
    }
}

fn blocks_of(codec: BlockCodec, layout: &Layout) -> Blocks {
    let Dimensions { slices, lengths } = dimensions_of(layout);
    Blocks {
        codec,
        shape: layout.shape,
        slices,
        lengths,
    }
}

fn tiles_of(codec: TileCodec, layout: &Layout) -> Tiles {
    let Dimensions { slices, lengths } = dimensions_of(layout);
    let field = Field {
        shape: layout.shape,
        slices,
        lengths,
    };
    let chunk = layout.chunk.tiles() as usize;
    Tiles::new(codec, field, chunk, layout.levels.into())
}
