//! The oracle: whole arrays compressed and decompressed in plain loops.
//!
//! It shares the types, the quantiser's arithmetic on one value, the header, the chunk table, checksums and updates
//! with the backends; docs/testing.md has the list. It has its own code to divide fields, order positions, count tokens
//! and tune parameters. Bits are set one by one; there are no tables, no words of planes, no parallel chunks and no
//! positions summed from parts. It is slow, and meant to be read beside FORMAT.md.

use crate::bound::{Bound, Extremes};
use crate::container::checksum::checksum;
use crate::container::chunk::Form;
use crate::container::header::{HEADER_BYTES, Header, Layout};
use crate::container::record;
use crate::container::table::Entry;
use crate::container::tiles::prologue_bytes;
use crate::container::update::{Replacements, Tail};
use crate::element::Element;
use crate::error::{ChunkFault, FormatError};
use crate::pipeline::{BlockCodec, Codec, TileCodec};
use crate::quantize::field::Quantizer;
use crate::shape::{GROUP, Shape};
use alloc::vec;
use alloc::vec::Vec;
use exceptions::Exceptions;

mod bit_planes;
pub mod entropy;
mod exceptions;
mod frequencies;
pub mod interp;
mod order;
mod tiles;
mod tuning;

/// Compresses a field.
///
/// `values` must have as many elements as the layout says; this is not checked.
pub fn compress<T: Element>(layout: Layout, bound: Bound, values: &[T]) -> Vec<u8> {
    compress_with_radius(layout, bound, tuning::RADIUS, values)
}

/// As [`compress`], with codes of interpolation less than `radius`, 1 to 32,768, in magnitude. Other encoders of
/// ferrosz do not make them.
pub fn compress_with_radius<T: Element>(
    layout: Layout,
    bound: Bound,
    radius: u32,
    values: &[T],
) -> Vec<u8> {
    let mut extremes = Extremes::default();
    for value in values {
        extremes.see(*value);
    }
    let quantizer = bound.resolve(&extremes);
    let chunks = match layout.codec {
        Codec::Blocks(codec) => compress_blocks(codec, &layout, &quantizer, values),
        Codec::Tiles(codec) => tiles_of(codec, &layout).compress(&quantizer, radius, values),
    };
    let header = layout.header(T::DTYPE, bound, quantizer.error().to_bits64());
    let has_prologue = layout.tiles().is_some();
    let mut table = Vec::new();
    let mut payload = Vec::new();
    for (index, (form, bytes)) in (0..).zip(chunks) {
        let sum = checksum(header.identity().seed(index, form.id()), &bytes);
        let length = match (has_prologue, index) {
            (true, 0) => 0,
            _ => bytes.len() as u64,
        };
        table.extend(Entry::new(payload.len() as u64, length, form, sum).to_bytes());
        payload.extend(bytes);
    }
    let header = Header {
        payload_bytes: payload.len() as u64,
        ..header
    };
    [&header.to_bytes()[..], &table, &payload].concat()
}

fn compress_blocks<T: Element>(
    codec: BlockCodec,
    layout: &Layout,
    quantizer: &Quantizer<T>,
    values: &[T],
) -> Vec<(Form, Vec<u8>)> {
    let encode = |chunk: &Chunk| {
        let elements: Vec<T> = chunk.elements().map(|at| values[at]).collect();
        chunk.encode(quantizer, &elements)
    };
    chunks_of(codec, layout).iter().map(encode).collect()
}

/// Decompresses a stream.
///
/// # Errors
///
/// [`FormatError`] if it is not a whole, undamaged stream of `T`.
pub fn decompress<T: Element>(stream: &[u8]) -> Result<Vec<T>, FormatError> {
    let header = Header::read(stream)?;
    let quantizer = header.quantizer::<T>()?;
    let (needed, found) = (header.stream_bytes(), stream.len() as u64);
    if found < needed {
        return Err(FormatError::Truncated { needed, found });
    }
    let (stream, tail) = stream.split_at(needed as usize);
    if Tail::of(tail).is_none() {
        return Err(FormatError::TrailingBytes(found - needed));
    }
    let chunks = read_chunks(&header, stream)?;
    match header.codec {
        Codec::Blocks(codec) => decompress_blocks(codec, &header, &quantizer, &chunks),
        Codec::Tiles(codec) => tiles_of(codec, &header.layout()).decompress(&quantizer, &chunks),
    }
}

/// The entries of a whole stream and the bytes of their chunks, after a check of their checksums.
fn read_chunks<'a>(
    header: &Header,
    stream: &'a [u8],
) -> Result<Vec<(Entry, &'a [u8])>, FormatError> {
    let (stream, updates) = stream.split_at(header.payload_end() as usize);
    let replacements = Replacements::read(updates, header)?;
    let (start, payload) = stream.split_at(header.payload_start() as usize);
    let (start, table) = start.split_at(header.table_start() as usize);
    record::check(&start[HEADER_BYTES..], header.record_sum)?;
    let mut chunks = Vec::new();
    for (number, entry) in (0..).zip(table.as_chunks().0) {
        let mut entry = Entry::from_bytes(entry);
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
    Ok(chunks)
}

fn decompress_blocks<T: Element>(
    codec: BlockCodec,
    header: &Header,
    quantizer: &Quantizer<T>,
    chunks: &[(Entry, &[u8])],
) -> Result<Vec<T>, FormatError> {
    let mut values = vec![T::ZERO; header.elements() as usize];
    let of_layout = chunks_of(codec, &header.layout());
    for (number, (chunk, (entry, bytes))) in (0..).zip(of_layout.iter().zip(chunks)) {
        if bytes.len() > (chunk.elements().count() * T::BYTES).next_multiple_of(16) {
            return Err(ChunkFault::Place.in_chunk(number));
        }
        let decoded = chunk.decode(quantizer, entry.form, bytes);
        let decoded = decoded.map_err(|fault| fault.in_chunk(number))?;
        for (at, value) in chunk.elements().zip(decoded) {
            values[at] = value;
        }
    }
    Ok(values)
}

/// The field's extents in the dimensions of blocks and tiles of a shape (FORMAT.md, section 2).
fn lengths_of(layout: &Layout) -> [u64; 3] {
    let extents = layout.extents.lengths();
    if layout.shape == Shape::Line {
        return [1, 1, extents.iter().product()];
    }
    let mut lengths = vec![1; 3];
    lengths.extend(extents.iter().filter(|length| **length != 1));
    let (slower, last) = lengths.split_at(lengths.len() - 2);
    [slower.iter().product(), last[0], last[1]]
}

fn tiles_of(codec: TileCodec, layout: &Layout) -> tiles::Tiles {
    tiles::Tiles::new(codec, layout.shape, lengths_of(layout))
}

/// The extents of a whole chunk of blocks.
fn chunk_extents(shape: Shape, lengths: [u64; 3]) -> [u64; 3] {
    let mut extents = match shape {
        Shape::Line => return [1, 1, 8192],
        Shape::Plane => [1, 8, 8],
        Shape::Cube => [4, 4, 4],
    };
    while extents.iter().product::<u64>() < 8192 {
        // Of equally short dimensions, x before y before z.
        let longer = [2, 1, 0]
            .into_iter()
            .filter(|axis| lengths[*axis] > extents[*axis]);
        extents[longer.min_by_key(|axis| extents[*axis]).unwrap_or(2)] *= 2;
    }
    extents
}

/// The chunks of a field, in C order.
fn chunks_of(codec: BlockCodec, layout: &Layout) -> Vec<Chunk> {
    let lengths = lengths_of(layout);
    let whole = chunk_extents(layout.shape, lengths);
    let mut chunks = Vec::new();
    for z in (0..lengths[0]).step_by(whole[0] as usize) {
        for y in (0..lengths[1]).step_by(whole[1] as usize) {
            for x in (0..lengths[2]).step_by(whole[2] as usize) {
                let origin = [z, y, x];
                let end = |axis: usize| (origin[axis] + whole[axis]).min(lengths[axis]);
                chunks.push(Chunk {
                    lengths,
                    origin,
                    extents: core::array::from_fn(|axis| end(axis) - origin[axis]),
                    codec,
                    shape: layout.shape,
                });
            }
        }
    }
    chunks
}

/// A chunk of a field of these lengths, and the codec of its blocks.
struct Chunk {
    lengths: [u64; 3],
    origin: [u64; 3],
    extents: [u64; 3],
    codec: BlockCodec,
    shape: Shape,
}

impl Chunk {
    /// The numbers of the chunk's elements in the field, row by row.
    fn elements(&self) -> impl Iterator<Item = usize> {
        let ([z, y, x], [depth, height, width]) = (self.origin, self.extents);
        let [_, rows, columns] = self.lengths;
        (0..depth * height * width).map(move |i| {
            let at = [
                z + i / width / height,
                y + i / width % height,
                x + i % width,
            ];
            ((at[0] * rows + at[1]) * columns + at[2]) as usize
        })
    }

    /// For each block and each of its positions, the number of the chunk's element there; none outside the chunk.
    fn blocks(&self) -> Vec<Vec<Option<usize>>> {
        let [depth, height, width] = self.extents.map(|length| length as usize);
        let [z_step, y_step, x_step] = self.shape.extents().map(|length| length as usize);
        let mut blocks = Vec::new();
        for z0 in (0..depth).step_by(z_step) {
            for y0 in (0..height).step_by(y_step) {
                for x0 in (0..width).step_by(x_step) {
                    let mut block = Vec::new();
                    for z in z0..z0 + z_step {
                        for y in y0..y0 + y_step {
                            for x in x0..x0 + x_step {
                                let is_inside = z < depth && y < height && x < width;
                                block.push(is_inside.then_some((z * height + y) * width + x));
                            }
                        }
                    }
                    blocks.push(block);
                }
            }
        }
        blocks
    }

    /// The prediction of position `e` of a block from the codes before it; for a layered codec, `last` is the code
    /// before the block.
    fn prediction(&self, codes: &[i32], e: usize, last: i32) -> i32 {
        let (row, slice) = (self.shape.row(), self.shape.slice());
        let (z, y, x) = (e / slice, e % slice / row, e % row);
        let at = |z: usize, y: usize, x: usize| codes[z * slice + y * row + x];
        // 0 for a coordinate of -1, outside the block.
        let behind = |dz: usize, dy: usize, dx: usize| {
            if z < dz || y < dy || x < dx {
                0
            } else {
                at(z - dz, y - dy, x - dx)
            }
        };
        match self.codec {
            BlockCodec::Fixed => 0,
            BlockCodec::Plain | BlockCodec::Outlier => match (z, y, x) {
                (0, 0, 0) => 0,
                (_, 0, 0) => at(z - 1, 0, 0),
                (_, _, 0) => at(z, y - 1, 0),
                _ => at(z, y, x - 1),
            },
            BlockCodec::Lorenzo => behind(0, 0, 1)
                .wrapping_add(behind(0, 1, 0))
                .wrapping_add(behind(1, 0, 0))
                .wrapping_sub(behind(0, 1, 1))
                .wrapping_sub(behind(1, 0, 1))
                .wrapping_sub(behind(1, 1, 0))
                .wrapping_add(behind(1, 1, 1)),
            BlockCodec::Layered => e.checked_sub(1).map_or(last, |e| codes[e]),
        }
    }

    /// The codes of a block's positions, and their differences from the predictions. Positions without a code, or
    /// outside the field, have the predicted code.
    fn differences(
        &self,
        block: &[Option<usize>],
        codes: &[Option<i32>],
        last: i32,
    ) -> (Vec<i32>, Vec<i64>) {
        let mut found = vec![0i32; block.len()];
        let mut differences = vec![0i64; block.len()];
        for (e, position) in block.iter().enumerate() {
            let predicted = self.prediction(&found, e, last);
            found[e] = position
                .and_then(|position| codes[position])
                .unwrap_or(predicted);
            differences[e] = i64::from(found[e].wrapping_sub(predicted));
        }
        (found, differences)
    }

    fn encode<T: Element>(&self, quantizer: &Quantizer<T>, values: &[T]) -> (Form, Vec<u8>) {
        let blocks = self.blocks();
        let codes: Vec<Option<i32>> = values.iter().map(|v| quantizer.quantize(*v)).collect();
        let is_layered = self.codec.is_layered();
        let first_code = codes.iter().flatten().next().copied().unwrap_or(0);
        let initial = if is_layered { first_code } else { 0 };
        let mut rates = Vec::new();
        let mut bodies = Vec::new();
        let mut exceptions = Exceptions::new(blocks.len() * self.shape.groups());
        let mut last = first_code;
        for (b, block) in blocks.iter().enumerate() {
            let (found, differences) = self.differences(block, &codes, last);
            last = found[block.len() - 1];
            exceptions.add(b * self.shape.groups(), block, &codes, values);
            let (rate, body) = encode_block(self.codec, &differences);
            rates.push(rate);
            bodies.extend(body);
        }
        let mut raw: Vec<u8> = values.iter().flat_map(|v| element_bytes(*v)).collect();
        pad(&mut raw, 16);
        if bodies.is_empty() && exceptions.is_empty() && initial == 0 {
            return (Form::Zero, Vec::new());
        }
        if quantizer.is_lossless() && are_same(values) && raw.len() > 16 {
            let mut constant = element_bytes(values[0]);
            pad(&mut constant, 16);
            return (Form::Constant, constant);
        }
        pad(&mut rates, 4);
        if is_layered {
            rates.extend(initial.to_le_bytes());
        }
        pad(&mut bodies, 4);
        let mut coded = [rates, bodies].concat();
        let mut form = Form::Coded;
        if !exceptions.is_empty() {
            form = Form::CodedWithExceptions;
            coded.extend(exceptions.to_bytes());
        }
        pad(&mut coded, 16);
        if coded.len() < raw.len() {
            (form, coded)
        } else {
            (Form::Raw, raw)
        }
    }
}

fn are_same<T: Element>(values: &[T]) -> bool {
    values
        .iter()
        .all(|v| v.to_bits64() == values[0].to_bits64())
}

/// The little-endian bytes of an element.
fn element_bytes<T: Element>(value: T) -> Vec<u8> {
    value.to_bits64().to_le_bytes()[..T::BYTES].to_vec()
}

fn pad(bytes: &mut Vec<u8>, alignment: usize) {
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
}

fn bits_of(value: u64) -> usize {
    (0..64).filter(|bit| value >> bit != 0).count()
}

/// The rate byte and body of a block.
fn encode_block(codec: BlockCodec, differences: &[i64]) -> (u8, Vec<u8>) {
    let mut magnitudes: Vec<u64> = differences.iter().map(|d| d.unsigned_abs()).collect();
    let largest = |m: &[u64]| m.iter().copied().max().unwrap_or(0);
    let planes = bits_of(largest(&magnitudes));
    let other_planes = bits_of(largest(&magnitudes[1..]));
    let outlier_bytes = bits_of(magnitudes[0]).div_ceil(8);
    let row_bytes = differences.len() / 8;
    let plain_size = if planes == 0 {
        0
    } else {
        row_bytes * (1 + planes)
    };
    let outlier_size = outlier_bytes + row_bytes * (1 + other_planes);
    let mut body = Vec::new();
    if planes == 0 {
        return (0, body);
    }
    let (rate, planes) = if codec.stores_outliers() && outlier_size < plain_size {
        body.extend(&magnitudes[0].to_le_bytes()[..outlier_bytes]);
        magnitudes[0] = 0;
        (0x80 + 32 * (outlier_bytes - 1) + other_planes, other_planes)
    } else {
        (planes, planes)
    };
    body.extend(row(row_bytes, |e| differences[e] < 0));
    for plane in 0..planes {
        body.extend(row(row_bytes, |e| magnitudes[e] >> plane & 1 == 1));
    }
    (rate as u8, body)
}

/// The bytes in which element e is bit 7 - e % 8 of byte e / 8.
fn row(bytes: usize, bit: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut row = vec![0; bytes];
    for e in 0..8 * bytes {
        if bit(e) {
            row[e / 8] |= 0x80 >> (e % 8);
        }
    }
    row
}

/// Takes bytes one after the other.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], ChunkFault> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(ChunkFault::Length)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Up to eight bytes as a little-endian number.
    fn number(&mut self, count: usize) -> Result<u64, ChunkFault> {
        let bytes = self.take(count)?;
        Ok(bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
    }

    fn element<T: Element>(&mut self) -> Result<T, ChunkFault> {
        Ok(T::from_bits64(self.number(T::BYTES)?))
    }
}

impl Chunk {
    fn decode<T: Element>(
        &self,
        quantizer: &Quantizer<T>,
        form: u32,
        bytes: &[u8],
    ) -> Result<Vec<T>, ChunkFault> {
        let mut reader = Reader(bytes);
        let elements = self.elements().count();
        let mut values = vec![quantizer.dequantize(0); elements];
        match Form::from_id(form).ok_or(ChunkFault::Form)? {
            Form::Zero => {}
            Form::Constant => values.fill(reader.element()?),
            Form::Raw => {
                for value in &mut values {
                    *value = reader.element()?;
                }
            }
            Form::Coded => self.decode_blocks(quantizer, &mut reader, &mut values)?,
            Form::CodedWithExceptions => {
                self.decode_blocks(quantizer, &mut reader, &mut values)?;
                self.decode_exceptions(&mut reader, &mut values)?;
            }
        }
        let read = bytes.len() - reader.0.len();
        if read.next_multiple_of(16) == bytes.len() {
            Ok(values)
        } else {
            Err(ChunkFault::Length)
        }
    }

    fn decode_blocks<T: Element>(
        &self,
        quantizer: &Quantizer<T>,
        reader: &mut Reader<'_>,
        values: &mut [T],
    ) -> Result<(), ChunkFault> {
        let blocks = self.blocks();
        let rates = &reader.take(4 * blocks.len().div_ceil(4))?[..blocks.len()];
        let mut last = 0;
        if self.codec.is_layered() {
            last = reader.number(4)? as u32 as i32;
        }
        let mut body_bytes = 0;
        for (rate, block) in rates.iter().zip(&blocks) {
            let before = reader.0.len();
            let differences = decode_block(self.codec, *rate, block.len(), reader)?;
            body_bytes += before - reader.0.len();
            let mut codes = vec![0i32; block.len()];
            for (e, position) in block.iter().enumerate() {
                let predicted = self.prediction(&codes, e, last);
                codes[e] = predicted.wrapping_add(differences[e]);
                if let Some(position) = position {
                    values[*position] = quantizer.dequantize(codes[e]);
                }
            }
            last = codes[block.len() - 1];
        }
        reader.take(body_bytes.next_multiple_of(4) - body_bytes)?;
        Ok(())
    }

    fn decode_exceptions<T: Element>(
        &self,
        reader: &mut Reader<'_>,
        values: &mut [T],
    ) -> Result<(), ChunkFault> {
        let blocks = self.blocks();
        let groups: Vec<&[Option<usize>]> = blocks
            .iter()
            .flat_map(|block| block.chunks(GROUP))
            .collect();
        let group_mask = reader.take(4 * groups.len().div_ceil(32))?;
        let is_flagged = |g: usize| group_mask[g / 8] >> (g % 8) & 1 == 1;
        if (groups.len()..8 * group_mask.len()).any(is_flagged) {
            return Err(ChunkFault::Length);
        }
        let mut masks = Vec::new();
        for group in (0..groups.len()).filter(|g| is_flagged(*g)) {
            masks.push((group, reader.number(4)? as u32));
        }
        if masks.iter().all(|(_, mask)| *mask == 0) {
            return Err(ChunkFault::Length);
        }
        for (group, mask) in masks {
            for e in (0..GROUP).filter(|e| mask >> e & 1 == 1) {
                let value = reader.element()?;
                values[groups[group][e].ok_or(ChunkFault::Length)?] = value;
            }
        }
        Ok(())
    }
}

fn decode_block(
    codec: BlockCodec,
    rate: u8,
    elements: usize,
    reader: &mut Reader<'_>,
) -> Result<Vec<i32>, ChunkFault> {
    let mut magnitudes = vec![0u32; elements];
    if rate == 0 {
        return Ok(vec![0; elements]);
    }
    let mut planes = u32::from(rate);
    let mut outlier = None;
    if rate >= 0x80 && codec.stores_outliers() {
        outlier = Some(reader.number(usize::from(rate >> 5 & 3) + 1)? as u32);
        planes = u32::from(rate & 31);
    }
    if planes > codec.max_planes() {
        return Err(ChunkFault::Rate);
    }
    let bit = |row: &[u8], e: usize| u32::from(row[e / 8] >> (7 - e % 8) & 1);
    let signs = reader.take(elements / 8)?;
    for plane in 0..planes {
        let row = reader.take(elements / 8)?;
        for (e, magnitude) in magnitudes.iter_mut().enumerate() {
            *magnitude |= bit(row, e) << plane;
        }
    }
    if let Some(outlier) = outlier {
        magnitudes[0] = outlier;
    }
    let value = |e: usize| {
        let value = magnitudes[e] as i32;
        if bit(signs, e) == 1 {
            value.wrapping_neg()
        } else {
            value
        }
    };
    Ok((0..elements).map(value).collect())
}
