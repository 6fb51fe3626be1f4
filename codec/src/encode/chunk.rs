//! One chunk on one CPU thread, both ways: what the CPU backend runs.

use crate::element::Element;
use crate::encode::block::{BODY_SCRATCH, SignedGroup, rate_of, read_body, write_body};
use crate::encode::rate::RateByte;
use crate::error::ChunkFault;
use crate::pipeline::Codec;
use crate::predict::{Group, MAX_REACH, difference, last_of};
use crate::quantize::Quantizer;
use crate::shape::{GROUP, Shape, WHOLE_GROUP};
use crate::stream::checksum::checksum;
use crate::stream::chunk::{CHUNK, CHUNK_GROUPS, Form, Sections, raw_words};
use crate::stream::grid::{BlockPlace, ChunkBox, Grid};
use crate::stream::table::{Entry, seed};

/// Bytes that [`encode`] may write: a raw chunk of the widest type, and a body begun too many.
pub const IMAGE_BYTES: usize = CHUNK * 8 + BODY_SCRATCH;

/// The values of a group that have no code: bit e for element e.
type ExceptionMask = u32;

/// A chunk of a field.
#[derive(Clone, Copy)]
pub struct Source<'a, T> {
    /// The whole field.
    pub field: &'a [T],
    /// How it is cut.
    pub grid: &'a Grid,
    /// The chunk's number, of those that the grid has.
    pub chunk: u64,
}

impl<'a, T: Element> Source<'a, T> {
    /// The rows of the chunk, in their order.
    fn rows(&self, chunk: ChunkBox) -> impl Iterator<Item = &'a [T]> {
        let [depth, height, width] = chunk.extents;
        let (field, grid) = (self.field, *self.grid);
        (0..depth * height).map(move |row| {
            let at = [u64::from(row / height), u64::from(row % height), 0];
            let first = grid.flat(core::array::from_fn(|i| chunk.origin[i] + at[i])) as usize;
            &field[first..first + width as usize]
        })
    }

    /// The elements of a block, and in which places it has any.
    #[inline(always)]
    fn block<const G: usize>(
        &self,
        chunk: &ChunkBox,
        place: &BlockPlace,
    ) -> ([[T; GROUP]; G], [u32; G]) {
        let shape = self.grid.shape();
        let mut values = [[T::ZERO; GROUP]; G];
        let inside = core::array::from_fn(|g| shape.inside(g as u32, place.inside));
        let (row, height) = (shape.row(), shape.slice() / shape.row());
        let width = row.min(place.inside[2] as usize);
        for (i, to) in values.as_flattened_mut().chunks_exact_mut(row).enumerate() {
            let (z, y) = ((i / height) as u32, (i % height) as u32);
            if z < place.inside[0] && y < place.inside[1] {
                let at = [z, y, 0];
                let first = self.grid.flat(core::array::from_fn(|i| {
                    chunk.origin[i] + u64::from(place.origin[i] + at[i])
                })) as usize;
                // Of constant length where that can be: then it is a few moves.
                match self.field[first..first + width].as_array::<4>() {
                    Some(four) if row == 4 => to.copy_from_slice(four),
                    _ => to[..width].copy_from_slice(&self.field[first..first + width]),
                }
            }
        }
        (values, inside)
    }
}

/// Encodes a chunk into the start of `image`, which holds at least [`IMAGE_BYTES`] bytes; its form, its
/// length in bytes, and its checksum.
pub fn encode<T: Element>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    source: Source<'_, T>,
    image: &mut [u8],
) -> (Form, usize, u64) {
    let (form, words) = match source.grid.shape().groups() {
        1 => write::<T, 1>(codec, quantizer, source, image),
        _ => write::<T, 2>(codec, quantizer, source, image),
    };
    let bytes = 4 * words as usize;
    let sum = checksum(seed(source.chunk, form.id()), &image[..bytes]);
    (form, bytes, sum)
}

fn write<T: Element, const G: usize>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    source: Source<'_, T>,
    image: &mut [u8],
) -> (Form, u32) {
    let (words, shape) = (T::WORDS as u32, source.grid.shape());
    let chunk = source.grid.chunk(source.chunk);
    let raw_bytes = 4 * raw_words(chunk.elements(), words) as usize;
    let mut sections = Sections::of(chunk.block_count(shape), shape, codec);
    let bodies = 4 * sections.bodies() as usize;
    image[..bodies].fill(0);
    let mut masks: [ExceptionMask; CHUNK_GROUPS] = [0; CHUNK_GROUPS];
    let mut layer = Layer::default();
    let mut end = bodies;
    for b in 0..sections.blocks {
        let (values, inside) = source.block::<G>(&chunk, &chunk.block(shape, b));
        let mut codes = quantize_block(quantizer, &values, inside, codec, shape, &mut layer);
        masks[b as usize * G..][..G].copy_from_slice(&codes.exceptions);
        if codec.is_layered() {
            layer.forward(&mut codes.groups);
        } else {
            codec.predictor().forward(shape, &mut codes.groups);
        }
        let signed = codes.groups.map(|group| SignedGroup::split(&group));
        let rate = rate_of(&signed, codec);
        image[b as usize] = rate.to_byte();
        if end > raw_bytes {
            // The chunk will be raw; what is written from here on does not matter.
            end = raw_bytes;
        }
        write_body(signed, rate, &mut image[end..end + BODY_SCRATCH]);
        end += rate.body_bytes(G as u32) as usize;
    }
    sections.body_bytes = (end - bodies) as u32;
    sections.flagged_groups = masks.iter().filter(|mask| **mask != 0).count() as u32;
    sections.exceptions = masks.iter().map(|mask| mask.count_ones()).sum();
    let initial = layer.initial();
    if codec.is_layered() {
        image[bodies - 4..bodies].copy_from_slice(&initial.to_le_bytes());
    }
    let is_constant = quantizer.is_lossless() && is_constant(source.rows(chunk));
    let (form, form_words) = sections.choose(chunk.elements(), words, initial, is_constant);
    let form_bytes = 4 * form_words as usize;
    match form {
        Form::Zero => {}
        Form::Constant => write_rows(
            source.rows(chunk).map(|row| &row[..1]).take(1),
            &mut image[..form_bytes],
        ),
        Form::Raw => write_rows(source.rows(chunk), &mut image[..raw_bytes]),
        Form::Coded => image[end..form_bytes].fill(0),
        Form::CodedWithExceptions => {
            image[end..form_bytes].fill(0);
            let values = |b| source.block::<G>(&chunk, &chunk.block(shape, b)).0;
            write_exceptions(&sections, &masks, values, image);
        }
    }
    (form, form_words)
}

/// The codes of a block, and which of its elements have none.
struct Codes<const G: usize> {
    groups: [Group; G],
    exceptions: [ExceptionMask; G],
}

/// The state of a prediction that runs from block to block.
#[derive(Default)]
struct Layer {
    /// The chunk's first code, once it is found.
    initial: Option<i32>,
    /// The code before the next one.
    last: i32,
}

impl Layer {
    fn initial(&self) -> i32 {
        self.initial.unwrap_or(0)
    }

    /// Takes note of the first code, if it is among these.
    #[inline(always)]
    fn begin(&mut self, codes: &Group, has_code: u32) {
        if self.initial.is_none() && has_code != 0 {
            self.last = codes[has_code.trailing_zeros() as usize];
            self.initial = Some(self.last);
        }
    }

    #[inline(always)]
    fn forward<const G: usize>(&mut self, groups: &mut [Group; G]) {
        for group in groups {
            let last = group[GROUP - 1];
            difference::forward(Shape::Line, group, self.last);
            self.last = last;
        }
    }
}

/// The codes of a block. Where an element has none, and in places without elements, the code is the
/// predicted one, so that the difference is 0.
#[inline(always)]
fn quantize_block<T: Element, const G: usize>(
    quantizer: &Quantizer<T>,
    values: &[[T; GROUP]; G],
    inside: [u32; G],
    codec: Codec,
    shape: Shape,
    layer: &mut Layer,
) -> Codes<G> {
    let mut codes = Codes {
        groups: values.map(|group| group.map(|value| quantizer.nearest_code(value))),
        exceptions: [0; G],
    };
    let mut clear = inside == [WHOLE_GROUP; G];
    for value in values.as_flattened() {
        clear &= quantizer.is_clearly_within(*value);
    }
    if !clear {
        quantize_with_care(quantizer, values, inside, codec, shape, layer, &mut codes);
    }
    layer.begin(&codes.groups[0], inside[0] & !codes.exceptions[0]);
    codes
}

#[cold]
fn quantize_with_care<T: Element, const G: usize>(
    quantizer: &Quantizer<T>,
    values: &[[T; GROUP]; G],
    inside: [u32; G],
    codec: Codec,
    shape: Shape,
    layer: &mut Layer,
    codes: &mut Codes<G>,
) {
    let mut before = [0; MAX_REACH];
    for (g, group) in codes.groups.iter_mut().enumerate() {
        let mut has_code = 0;
        for (e, value) in values[g]
            .iter()
            .enumerate()
            .filter(|(e, _)| inside[g] >> e & 1 == 1)
        {
            if let Some(code) = quantizer.quantize(*value) {
                group[e] = code;
                has_code |= 1 << e;
            }
        }
        codes.exceptions[g] = inside[g] & !has_code;
        if codec.is_layered() {
            layer.begin(group, has_code);
            before[0] = layer.last;
        }
        codec.predictor().fill(shape, group, has_code, &before);
        before = last_of(shape, group);
    }
}

fn is_constant<'a, T: Element>(mut rows: impl Iterator<Item = &'a [T]>) -> bool {
    let mut first = None;
    rows.all(|row| {
        row.iter()
            .all(|value| value.to_bits64() == *first.get_or_insert(value.to_bits64()))
    })
}

/// Writes elements, and zeros up to the end of `bytes`.
fn write_rows<'a, T: Element>(rows: impl Iterator<Item = &'a [T]>, bytes: &mut [u8]) {
    let mut at = 0;
    for value in rows.flatten() {
        bytes[at..at + T::BYTES].copy_from_slice(&value.to_bits64().to_le_bytes()[..T::BYTES]);
        at += T::BYTES;
    }
    bytes[at..].fill(0);
}

fn read_value<T: Element>(bytes: &[u8]) -> T {
    let mut bits = [0; 8];
    bits[..T::BYTES].copy_from_slice(&bytes[..T::BYTES]);
    T::from_bits64(u64::from_le_bytes(bits))
}

fn write_exceptions<T: Element, const G: usize>(
    sections: &Sections,
    masks: &[ExceptionMask; CHUNK_GROUPS],
    block: impl Fn(u32) -> [[T; GROUP]; G],
    image: &mut [u8],
) {
    let mut element_mask_at = 4 * sections.element_masks() as usize;
    let mut value_at = 4 * sections.values() as usize;
    let group_mask_at = 4 * sections.group_mask() as usize;
    for b in 0..sections.blocks {
        let masks = &masks[b as usize * G..][..G];
        if masks.iter().all(|mask| *mask == 0) {
            continue;
        }
        for (i, group) in block(b).iter().enumerate().filter(|(i, _)| masks[*i] != 0) {
            let g = b as usize * G + i;
            image[group_mask_at + g / 8] |= 1 << (g % 8);
            image[element_mask_at..element_mask_at + 4].copy_from_slice(&masks[i].to_le_bytes());
            element_mask_at += 4;
            for (_, value) in group
                .iter()
                .enumerate()
                .filter(|(e, _)| masks[i] >> e & 1 == 1)
            {
                write_rows(
                    [&[*value][..]].into_iter(),
                    &mut image[value_at..value_at + T::BYTES],
                );
                value_at += T::BYTES;
            }
        }
    }
}

/// Where a chunk's elements go: its rows one after the other.
struct Target<'a, T> {
    values: &'a mut [T],
    chunk: ChunkBox,
    shape: Shape,
}

impl<T: Element> Target<'_, T> {
    /// The place of element `e` of block number `b`; none if the chunk has no such element.
    fn place(&self, b: u32, e: u32) -> Option<usize> {
        let place = self.chunk.block(self.shape, b);
        let (row, slice) = (self.shape.row() as u32, self.shape.slice() as u32);
        let at = [e / slice, e % slice / row, e % row];
        let is_inside = (0..3).all(|i| at[i] < place.inside[i]);
        let [_, height, width] = self.chunk.extents;
        let [z, y, x] = core::array::from_fn(|i| place.origin[i] + at[i]);
        is_inside.then_some(((z * height + y) * width + x) as usize)
    }

    /// Sets what the chunk has of a block.
    #[inline(always)]
    fn set_block<const G: usize>(&mut self, b: u32, codes: &[Group; G], quantizer: &Quantizer<T>) {
        let place = self.chunk.block(self.shape, b);
        let [_, height, width] = self.chunk.extents;
        let (row, rows) = (
            self.shape.row(),
            (self.shape.slice() / self.shape.row()) as u32,
        );
        for (i, codes) in codes.as_flattened().chunks_exact(row).enumerate() {
            let (z, y) = (i as u32 / rows, i as u32 % rows);
            if z < place.inside[0] && y < place.inside[1] {
                let [z0, y0, x0] = place.origin;
                let first = (((z0 + z) * height + y0 + y) * width + x0) as usize;
                let count = row.min(place.inside[2] as usize);
                let values = &mut self.values[first..first + count];
                for (value, code) in values.iter_mut().zip(codes) {
                    *value = quantizer.dequantize(*code);
                }
            }
        }
    }
}

/// A chunk as a stream has it.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    /// Its number.
    pub chunk: u64,
    /// Its entry.
    pub entry: Entry,
    /// Its bytes, as many as the stream gives it.
    pub bytes: &'a [u8],
}

/// Decodes one chunk of a grid; `values` takes its elements row by row and has as many places. With
/// `verify`, its checksum is checked first.
///
/// # Errors
///
/// [`ChunkFault`]; `values` may then hold anything.
pub fn decode<T: Element>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    grid: &Grid,
    stored: Stored<'_>,
    verify: bool,
    values: &mut [T],
) -> Result<(), ChunkFault> {
    let Stored {
        chunk,
        entry,
        bytes,
    } = stored;
    let raw_bytes = 4 * raw_words(values.len() as u32, T::WORDS as u32) as usize;
    if !bytes.len().is_multiple_of(16) || bytes.len() > raw_bytes {
        return Err(ChunkFault::Place);
    }
    if verify && checksum(seed(chunk, entry.form), bytes) != entry.checksum {
        return Err(ChunkFault::Checksum);
    }
    let shape = grid.shape();
    let mut target = Target {
        values,
        chunk: grid.chunk(chunk),
        shape,
    };
    let read_blocks = match shape.groups() {
        1 => read_blocks::<T, 1>,
        _ => read_blocks::<T, 2>,
    };
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
            let sections = read_blocks(codec, quantizer, bytes, &mut target)?;
            expect_length(bytes, 4 * sections.words(T::WORDS as u32) as usize)?;
        }
        Form::CodedWithExceptions => {
            let sections = read_blocks(codec, quantizer, bytes, &mut target)?;
            read_exceptions(sections, bytes, &mut target)?;
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
fn read_blocks<T: Element, const G: usize>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    bytes: &[u8],
    target: &mut Target<'_, T>,
) -> Result<Sections, ChunkFault> {
    let shape = target.shape;
    let mut sections = Sections::of(target.chunk.block_count(shape), shape, codec);
    let bodies = 4 * sections.bodies() as usize;
    let head = bytes.get(..bodies).ok_or(ChunkFault::Length)?;
    let mut last = 0;
    if codec.is_layered() {
        let at = 4 * sections.initial() as usize;
        last = i32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    }
    let mut end = bodies;
    for (b, rate) in (0..sections.blocks).zip(head) {
        let rate = RateByte::from_byte(*rate, codec.stores_outliers(), codec.max_planes())
            .ok_or(ChunkFault::Rate)?;
        let start = end;
        end += rate.body_bytes(G as u32) as usize;
        let body = bytes.get(start..end).ok_or(ChunkFault::Length)?;
        let mut codes = read_body::<G>(rate, body);
        codec.predictor().backward(shape, &mut codes);
        if codec.is_layered() {
            for group in &mut codes {
                difference::add(group, last);
                last = group[GROUP - 1];
            }
        }
        target.set_block(b, &codes, quantizer);
    }
    sections.body_bytes = (end - bodies) as u32;
    Ok(sections)
}

fn read_exceptions<T: Element>(
    mut sections: Sections,
    bytes: &[u8],
    target: &mut Target<'_, T>,
) -> Result<(), ChunkFault> {
    let word = |at: u32| -> Result<u32, ChunkFault> {
        let at = 4 * at as usize;
        let bytes = bytes.get(at..at + 4).ok_or(ChunkFault::Length)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let group_mask = sections.group_mask();
    for g in 0..32 * sections.groups.div_ceil(32) {
        let flag = word(group_mask + g / 32)? >> (g % 32) & 1;
        if flag == 1 && g >= sections.groups {
            return Err(ChunkFault::Length);
        }
        sections.flagged_groups += flag;
    }
    let (mut mask_at, mut value_at) = (sections.element_masks(), 4 * sections.values() as usize);
    let groups = target.shape.groups() as u32;
    for g in 0..sections.groups {
        if word(group_mask + g / 32)? >> (g % 32) & 1 == 0 {
            continue;
        }
        let mut mask = word(mask_at)?;
        mask_at += 1;
        sections.exceptions += mask.count_ones();
        while mask != 0 {
            let e = g % groups * GROUP as u32 + mask.trailing_zeros();
            let place = target.place(g / groups, e).ok_or(ChunkFault::Length)?;
            let stored = bytes
                .get(value_at..value_at + T::BYTES)
                .ok_or(ChunkFault::Length)?;
            *target.values.get_mut(place).ok_or(ChunkFault::Length)? = read_value(stored);
            value_at += T::BYTES;
            mask &= mask - 1;
        }
    }
    if sections.exceptions == 0 {
        return Err(ChunkFault::Length);
    }
    expect_length(bytes, 4 * sections.words(T::WORDS as u32) as usize)
}
