//! The oracle: whole arrays compressed and decompressed in plain loops.
//!
//! It shares with the backends the types, the quantiser's arithmetic on one value and the
//! structures of the stream; bits are set one by one, and there are no tables, words of planes,
//! chunks in parallel or positions summed from parts. Slow, and meant to be read beside FORMAT.md.

use crate::bound::{Bound, Extremes};
use crate::element::Element;
use crate::encode::rate::BLOCK;
use crate::error::{ChunkFault, FormatError};
use crate::pipeline::Codec;
use crate::quantize::Quantizer;
use crate::stream::checksum::checksum;
use crate::stream::chunk::{CHUNK, Form};
use crate::stream::container::{Extents, HEADER_BYTES, Header};
use crate::stream::table::{ENTRY_BYTES, Entry, seed};
use alloc::vec;
use alloc::vec::Vec;

/// Compresses a field.
///
/// The product of `extents` must be the number of `values`; the stream claims it unchecked.
pub fn compress<T: Element>(codec: Codec, bound: Bound, extents: Extents, values: &[T]) -> Vec<u8> {
    let mut extremes = Extremes::default();
    for value in values {
        extremes.see(*value);
    }
    let quantizer = bound.resolve(&extremes);
    let mut table = Vec::new();
    let mut payload = Vec::new();
    for (index, chunk) in (0..).zip(values.chunks(CHUNK)) {
        let (form, bytes) = encode_chunk(codec, &quantizer, chunk);
        let sum = checksum(seed(index, form.id()), &bytes);
        table.extend(Entry::new(payload.len() as u64, form, sum).to_bytes());
        payload.extend(bytes);
    }
    let header = Header {
        dtype: T::DTYPE,
        codec,
        extents,
        bound,
        error_bits: quantizer.error().to_bits64(),
        payload_bytes: payload.len() as u64,
    };
    [&header.to_bytes()[..], &table, &payload].concat()
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
    if found > needed {
        return Err(FormatError::TrailingBytes(found - needed));
    }
    let (table, payload) = stream[HEADER_BYTES..].split_at(header.chunks() as usize * ENTRY_BYTES);
    let (table, _) = table.as_chunks();
    let mut values = Vec::new();
    for (index, entry) in table.iter().enumerate() {
        let entry = Entry::from_bytes(entry);
        let end = match table.get(index + 1) {
            Some(next) => Entry::from_bytes(next).start,
            None => payload.len() as u64,
        };
        let chunk = index as u64;
        let bytes = payload
            .get(entry.start as usize..end as usize)
            .ok_or(ChunkFault::Place.in_chunk(chunk))?;
        if checksum(seed(chunk, entry.form), bytes) != entry.checksum {
            return Err(FormatError::ChunkChecksum { chunk });
        }
        let elements = (header.elements() as usize - index * CHUNK).min(CHUNK);
        if bytes.len() > (elements * T::BYTES).next_multiple_of(16) {
            return Err(ChunkFault::Place.in_chunk(chunk));
        }
        let decoded = decode_chunk(header.codec, &quantizer, entry.form, bytes, elements);
        values.extend(decoded.map_err(|fault| fault.in_chunk(chunk))?);
    }
    Ok(values)
}

fn encode_chunk<T: Element>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    values: &[T],
) -> (Form, Vec<u8>) {
    let mut rates = Vec::new();
    let mut bodies = Vec::new();
    let mut block_mask = vec![0u8; 4 * values.len().div_ceil(BLOCK).div_ceil(32)];
    let mut element_masks = Vec::new();
    let mut exceptions = Vec::new();
    for (b, block) in values.chunks(BLOCK).enumerate() {
        let mut differences = [0i64; BLOCK];
        let mut predicted = 0;
        let mut mask = 0u32;
        for (e, value) in block.iter().enumerate() {
            match quantizer.quantize(*value) {
                Some(code) => {
                    differences[e] = i64::from(code) - predicted;
                    if codec.predicts() {
                        predicted = i64::from(code);
                    }
                }
                None => {
                    mask |= 1 << e;
                    exceptions.extend(element_bytes(*value));
                }
            }
        }
        if mask != 0 {
            block_mask[b / 8] |= 1 << (b % 8);
            element_masks.extend(mask.to_le_bytes());
        }
        let (rate, body) = encode_block(codec, &differences);
        rates.push(rate);
        bodies.extend(body);
    }
    let mut raw: Vec<u8> = values.iter().flat_map(|v| element_bytes(*v)).collect();
    pad(&mut raw, 16);
    if bodies.is_empty() && exceptions.is_empty() {
        return (Form::Zero, Vec::new());
    }
    let same = values
        .iter()
        .all(|v| v.to_bits64() == values[0].to_bits64());
    if quantizer.is_lossless() && same && raw.len() > 16 {
        let mut constant = element_bytes(values[0]);
        pad(&mut constant, 16);
        return (Form::Constant, constant);
    }
    pad(&mut rates, 4);
    pad(&mut bodies, 4);
    let mut coded = [rates, bodies].concat();
    let mut form = Form::Coded;
    if !exceptions.is_empty() {
        form = Form::CodedWithExceptions;
        coded.extend([block_mask, element_masks, exceptions].concat());
    }
    pad(&mut coded, 16);
    if coded.len() < raw.len() {
        (form, coded)
    } else {
        (Form::Raw, raw)
    }
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

/// Rate byte and body of a block.
fn encode_block(codec: Codec, differences: &[i64; BLOCK]) -> (u8, Vec<u8>) {
    let mut magnitudes = differences.map(i64::unsigned_abs);
    let largest = |m: &[u64]| m.iter().copied().max().unwrap_or(0);
    let planes = bits_of(largest(&magnitudes));
    let other_planes = bits_of(largest(&magnitudes[1..]));
    let outlier_bytes = bits_of(magnitudes[0]).div_ceil(8);
    let plain_size = if planes == 0 { 0 } else { 4 * (1 + planes) };
    let outlier_size = outlier_bytes + 4 * (1 + other_planes);
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
    body.extend(row(|e| differences[e] < 0));
    for plane in 0..planes {
        body.extend(row(|e| magnitudes[e] >> plane & 1 == 1));
    }
    (rate as u8, body)
}

/// The four bytes in which element e is bit 7 - e % 8 of byte e / 8.
fn row(bit: impl Fn(usize) -> bool) -> [u8; 4] {
    let mut bytes = [0; 4];
    for e in 0..BLOCK {
        if bit(e) {
            bytes[e / 8] |= 0x80 >> (e % 8);
        }
    }
    bytes
}

/// Bytes taken one after the other.
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

fn decode_chunk<T: Element>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    form: u32,
    bytes: &[u8],
    elements: usize,
) -> Result<Vec<T>, ChunkFault> {
    let mut reader = Reader(bytes);
    let mut values = Vec::new();
    match Form::from_id(form).ok_or(ChunkFault::Form)? {
        Form::Zero => values.resize(elements, quantizer.dequantize(0)),
        Form::Constant => values.resize(elements, reader.element()?),
        Form::Raw => {
            for _ in 0..elements {
                values.push(reader.element()?);
            }
        }
        Form::Coded => decode_blocks(codec, quantizer, &mut reader, elements, &mut values)?,
        Form::CodedWithExceptions => {
            decode_blocks(codec, quantizer, &mut reader, elements, &mut values)?;
            decode_exceptions(&mut reader, &mut values)?;
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
    codec: Codec,
    quantizer: &Quantizer<T>,
    reader: &mut Reader<'_>,
    elements: usize,
    values: &mut Vec<T>,
) -> Result<(), ChunkFault> {
    let blocks = elements.div_ceil(BLOCK);
    let rates = &reader.take(4 * blocks.div_ceil(4))?[..blocks];
    let mut body_bytes = 0;
    for (b, rate) in rates.iter().enumerate() {
        let before = reader.0.len();
        let differences = decode_block(codec, *rate, reader)?;
        body_bytes += before - reader.0.len();
        let mut code = 0i32;
        for difference in differences.iter().take(elements - b * BLOCK) {
            code = if codec.predicts() {
                code.wrapping_add(*difference)
            } else {
                *difference
            };
            values.push(quantizer.dequantize(code));
        }
    }
    reader.take(body_bytes.next_multiple_of(4) - body_bytes)?;
    Ok(())
}

fn decode_block(
    codec: Codec,
    rate: u8,
    reader: &mut Reader<'_>,
) -> Result<[i32; BLOCK], ChunkFault> {
    let mut magnitudes = [0u32; BLOCK];
    if rate == 0 {
        return Ok([0; BLOCK]);
    }
    let mut planes = u32::from(rate);
    let mut outlier = None;
    if rate >= 0x80 && codec.stores_outliers() {
        outlier = Some(reader.number(usize::from(rate >> 5 & 3) + 1)? as u32);
        planes = u32::from(rate & 31);
    }
    if planes > 31 {
        return Err(ChunkFault::Rate);
    }
    let bit = |row: &[u8], e: usize| u32::from(row[e / 8] >> (7 - e % 8) & 1);
    let signs = reader.take(4)?;
    for plane in 0..planes {
        let row = reader.take(4)?;
        for (e, magnitude) in magnitudes.iter_mut().enumerate() {
            *magnitude |= bit(row, e) << plane;
        }
    }
    if let Some(outlier) = outlier {
        magnitudes[0] = outlier;
    }
    Ok(core::array::from_fn(|e| {
        let value = magnitudes[e] as i32;
        if bit(signs, e) == 1 {
            value.wrapping_neg()
        } else {
            value
        }
    }))
}

fn decode_exceptions<T: Element>(
    reader: &mut Reader<'_>,
    values: &mut [T],
) -> Result<(), ChunkFault> {
    let blocks = values.len().div_ceil(BLOCK);
    let block_mask = reader.take(4 * blocks.div_ceil(32))?;
    if (blocks..8 * block_mask.len()).any(|b| block_mask[b / 8] >> (b % 8) & 1 == 1) {
        return Err(ChunkFault::Length);
    }
    let flagged = (0..blocks).filter(|b| block_mask[b / 8] >> (b % 8) & 1 == 1);
    let mut masks = Vec::new();
    for block in flagged {
        masks.push((block, reader.number(4)? as u32));
    }
    if masks.iter().all(|(_, mask)| *mask == 0) {
        return Err(ChunkFault::Length);
    }
    for (block, mask) in masks {
        for e in (0..BLOCK).filter(|e| mask >> e & 1 == 1) {
            let value = reader.element()?;
            *values
                .get_mut(block * BLOCK + e)
                .ok_or(ChunkFault::Length)? = value;
        }
    }
    Ok(())
}
