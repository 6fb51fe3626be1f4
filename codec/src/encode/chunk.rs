//! One chunk on one CPU thread, both ways: what the CPU backend runs.

use crate::element::Element;
use crate::encode::block::{BODY_SCRATCH, SignedBlock};
use crate::encode::rate::{BLOCK, RateByte};
use crate::error::ChunkFault;
use crate::pipeline::Codec;
use crate::predict::difference;
use crate::quantize::Quantizer;
use crate::stream::checksum::checksum;
use crate::stream::chunk::{CHUNK, CHUNK_BLOCKS, Form, Sections, raw_words};
use crate::stream::table::{Entry, seed};

/// Bytes that [`encode`] may write: a raw chunk of the widest type, and a body begun too many.
pub const IMAGE_BYTES: usize = CHUNK * 8 + BODY_SCRATCH;

/// The values of a block that have no code: bit e for element e.
type ExceptionMask = u32;

/// Encodes chunk number `chunk` into the start of `image`; its form, its length in bytes, and its
/// checksum. `values` holds 1 to [`CHUNK`] elements, `image` at least [`IMAGE_BYTES`] bytes.
pub fn encode<T: Element>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    chunk: u64,
    values: &[T],
    image: &mut [u8],
) -> (Form, usize, u64) {
    let (form, words) = write(codec, quantizer, values, image);
    let bytes = 4 * words as usize;
    let sum = checksum(seed(chunk, form.id()), &image[..bytes]);
    (form, bytes, sum)
}

fn write<T: Element>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    values: &[T],
    image: &mut [u8],
) -> (Form, u32) {
    let words = T::WORDS as u32;
    let raw_bytes = 4 * raw_words(values.len() as u32, words) as usize;
    let blocks = values.len().div_ceil(BLOCK);
    let bodies = 4 * blocks.div_ceil(4);
    image[..bodies].fill(0);
    let mut masks: [ExceptionMask; CHUNK_BLOCKS] = [0; CHUNK_BLOCKS];
    let mut end = bodies;
    for (b, block) in values.chunks(BLOCK).enumerate() {
        let (mut codes, mask) = quantize_block(quantizer, block, codec);
        masks[b] = mask;
        if codec.predicts() {
            difference::forward(&mut codes);
        }
        let signed = SignedBlock::split(&codes);
        let rate = signed.rate(codec);
        image[b] = rate.to_byte();
        if end > raw_bytes {
            // The chunk will be raw; what is written from here on does not matter.
            end = raw_bytes;
        }
        signed.write_body(rate, &mut image[end..end + BODY_SCRATCH]);
        end += rate.body_bytes() as usize;
    }
    let sections = Sections {
        blocks: blocks as u32,
        body_bytes: (end - bodies) as u32,
        flagged_blocks: masks.iter().filter(|mask| **mask != 0).count() as u32,
        exceptions: masks.iter().map(|mask| mask.count_ones()).sum(),
    };
    let is_constant = quantizer.is_lossless() && is_constant(values);
    let (form, form_words) = sections.choose(values.len() as u32, words, is_constant);
    match form {
        Form::Zero => {}
        Form::Constant => write_values(&values[..1], &mut image[..4 * form_words as usize]),
        Form::Raw => write_values(values, &mut image[..raw_bytes]),
        Form::Coded => image[end..4 * form_words as usize].fill(0),
        Form::CodedWithExceptions => {
            image[end..4 * form_words as usize].fill(0);
            write_exceptions(&sections, &masks, values, image);
        }
    }
    (form, form_words)
}

/// The codes of a block, and which elements have none. Those repeat the code before them where
/// codes are predicted, and are 0 where not, so that their difference is 0; so are the places
/// behind the end of the field.
#[inline(always)]
fn quantize_block<T: Element>(
    quantizer: &Quantizer<T>,
    block: &[T],
    codec: Codec,
) -> ([i32; BLOCK], ExceptionMask) {
    if let Some(block) = block.as_array::<BLOCK>() {
        let codes = block.map(|value| quantizer.nearest_code(value));
        let mut clear = true;
        for (value, code) in block.iter().zip(codes) {
            clear &= quantizer.is_clearly_within(*value, code);
        }
        if clear {
            return (codes, 0);
        }
    }
    let mut codes = [0; BLOCK];
    let mut mask = 0;
    let mut previous = 0;
    for (e, code) in codes.iter_mut().enumerate() {
        let neutral = if codec.predicts() { previous } else { 0 };
        *code = match block.get(e) {
            None => neutral,
            Some(value) => quantizer.quantize(*value).unwrap_or_else(|| {
                mask |= 1 << e;
                neutral
            }),
        };
        previous = *code;
    }
    (codes, mask)
}

fn is_constant<T: Element>(values: &[T]) -> bool {
    values
        .iter()
        .all(|value| value.to_bits64() == values[0].to_bits64())
}

/// Writes elements, and zeros up to the end of `bytes`.
fn write_values<T: Element>(values: &[T], bytes: &mut [u8]) {
    let (written, padding) = bytes.split_at_mut(values.len() * T::BYTES);
    for (to, value) in written.chunks_exact_mut(T::BYTES).zip(values) {
        to.copy_from_slice(&value.to_bits64().to_le_bytes()[..T::BYTES]);
    }
    padding.fill(0);
}

fn read_value<T: Element>(bytes: &[u8]) -> T {
    let mut bits = [0; 8];
    bits[..T::BYTES].copy_from_slice(&bytes[..T::BYTES]);
    T::from_bits64(u64::from_le_bytes(bits))
}

fn write_exceptions<T: Element>(
    sections: &Sections,
    masks: &[ExceptionMask; CHUNK_BLOCKS],
    values: &[T],
    image: &mut [u8],
) {
    let mut element_mask_at = 4 * sections.element_masks() as usize;
    let mut value_at = 4 * sections.values() as usize;
    let block_mask_at = 4 * sections.block_mask() as usize;
    for (b, block) in values.chunks(BLOCK).enumerate() {
        let mut mask = masks[b];
        if mask == 0 {
            continue;
        }
        image[block_mask_at + b / 8] |= 1 << (b % 8);
        image[element_mask_at..element_mask_at + 4].copy_from_slice(&mask.to_le_bytes());
        element_mask_at += 4;
        while mask != 0 {
            let value = block[mask.trailing_zeros() as usize];
            write_values(&[value], &mut image[value_at..value_at + T::BYTES]);
            value_at += T::BYTES;
            mask &= mask - 1;
        }
    }
}

/// Decodes one chunk: `bytes` is what the table gives it, `values` has its number of elements.
/// With `verify`, its checksum is checked first.
///
/// # Errors
///
/// [`ChunkFault`]; `values` may then hold anything.
pub fn decode<T: Element>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    chunk: u64,
    entry: &Entry,
    bytes: &[u8],
    verify: bool,
    values: &mut [T],
) -> Result<(), ChunkFault> {
    let raw_bytes = 4 * raw_words(values.len() as u32, T::WORDS as u32) as usize;
    if !bytes.len().is_multiple_of(16) || bytes.len() > raw_bytes {
        return Err(ChunkFault::Place);
    }
    if verify && checksum(seed(chunk, entry.form), bytes) != entry.checksum {
        return Err(ChunkFault::Checksum);
    }
    match Form::from_id(entry.form).ok_or(ChunkFault::Form)? {
        Form::Zero => {
            expect_length(bytes, 0)?;
            values.fill(quantizer.dequantize(0));
        }
        Form::Constant => {
            expect_length(bytes, 16)?;
            values.fill(read_value(bytes));
        }
        Form::Raw => {
            expect_length(bytes, raw_bytes)?;
            for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
                *value = read_value(bytes);
            }
        }
        Form::Coded => {
            let sections = read_blocks(codec, quantizer, bytes, values)?;
            expect_length(bytes, 4 * sections.words(T::WORDS as u32) as usize)?;
        }
        Form::CodedWithExceptions => {
            let sections = read_blocks(codec, quantizer, bytes, values)?;
            read_exceptions(sections, bytes, values)?;
        }
    }
    Ok(())
}

fn expect_length(bytes: &[u8], length: usize) -> Result<(), ChunkFault> {
    if bytes.len() == length {
        Ok(())
    } else {
        Err(ChunkFault::Length)
    }
}

/// Decodes the blocks; the sections as far as rate bytes tell.
fn read_blocks<T: Element>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    bytes: &[u8],
    values: &mut [T],
) -> Result<Sections, ChunkFault> {
    let blocks = values.len().div_ceil(BLOCK);
    let rates = bytes.get(..blocks).ok_or(ChunkFault::Length)?;
    let bodies = 4 * blocks.div_ceil(4);
    let mut end = bodies;
    for (rate, block) in rates.iter().zip(values.chunks_mut(BLOCK)) {
        let rate = RateByte::from_byte(*rate, codec.stores_outliers()).ok_or(ChunkFault::Rate)?;
        let start = end;
        end += rate.body_bytes() as usize;
        let body = bytes.get(start..end).ok_or(ChunkFault::Length)?;
        let mut codes = SignedBlock::read_body(rate, body).join();
        if codec.predicts() {
            difference::backward(&mut codes);
        }
        for (value, code) in block.iter_mut().zip(codes) {
            *value = quantizer.dequantize(code);
        }
    }
    Ok(Sections {
        blocks: blocks as u32,
        body_bytes: (end - bodies) as u32,
        flagged_blocks: 0,
        exceptions: 0,
    })
}

fn read_exceptions<T: Element>(
    mut sections: Sections,
    bytes: &[u8],
    values: &mut [T],
) -> Result<(), ChunkFault> {
    let word = |at: u32| -> Result<u32, ChunkFault> {
        let at = 4 * at as usize;
        let bytes = bytes.get(at..at + 4).ok_or(ChunkFault::Length)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let block_mask = sections.block_mask();
    for b in 0..32 * sections.blocks.div_ceil(32) {
        let flag = word(block_mask + b / 32)? >> (b % 32) & 1;
        if flag == 1 && b >= sections.blocks {
            return Err(ChunkFault::Length);
        }
        sections.flagged_blocks += flag;
    }
    let (mut mask_at, mut value_at) = (sections.element_masks(), 4 * sections.values() as usize);
    for b in 0..sections.blocks {
        if word(block_mask + b / 32)? >> (b % 32) & 1 == 0 {
            continue;
        }
        let mut mask = word(mask_at)?;
        mask_at += 1;
        sections.exceptions += mask.count_ones();
        while mask != 0 {
            let element = b as usize * BLOCK + mask.trailing_zeros() as usize;
            let stored = bytes
                .get(value_at..value_at + T::BYTES)
                .ok_or(ChunkFault::Length)?;
            *values.get_mut(element).ok_or(ChunkFault::Length)? = read_value(stored);
            value_at += T::BYTES;
            mask &= mask - 1;
        }
    }
    if sections.exceptions == 0 {
        return Err(ChunkFault::Length);
    }
    expect_length(bytes, 4 * sections.words(T::WORDS as u32) as usize)
}
