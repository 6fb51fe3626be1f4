//! Encoding of a chunk's elements.

use crate::cpu::code::fixed_length::quantizer::{BlockQuantizer, ExceptionMask};
use crate::cpu::code::fixed_length::{Source, blocks, is_whole};
use crate::cpu::lanes::Lanes;
use ferrosz_codec::code::fixed_length::block::{BODY_SCRATCH, choose_rate};
use ferrosz_codec::container::chunk::{CHUNK_GROUPS, Form, Sections, raw_words};
use ferrosz_codec::container::grid::{BlockPosition, ChunkBox};
use ferrosz_codec::element::Element;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{GROUP, StaticShape, WHOLE_GROUP};

/// The values of a block, and masks of the positions that hold one.
pub(super) type Values<T, const G: usize> = ([[T; GROUP]; G], [u32; G]);

impl<'a, T: Element> Source<'a, T> {
    /// The rows of the chunk, in their order.
    pub(super) fn rows(&self, chunk: ChunkBox) -> impl Iterator<Item = &'a [T]> {
        let [depth, height, width] = chunk.extents;
        let (field, grid) = (self.field, *self.grid);
        (0..depth * height).map(move |row| {
            let at = [u64::from(row / height), u64::from(row % height), 0];
            let first = grid.flat(core::array::from_fn(|i| chunk.origin[i] + at[i])) as usize;
            &field[first..first + width as usize]
        })
    }

    #[inline(always)]
    pub(super) fn block<S: StaticShape, const G: usize>(
        &self,
        chunk: &ChunkBox,
        position: &BlockPosition,
    ) -> Values<T, G> {
        if !is_whole(position, S::SHAPE) {
            return self.cut_block::<S, G>(chunk, position);
        }
        let mut values = [[T::ZERO; GROUP]; G];
        let first = self.first(chunk, position);
        let [_, lines, columns] = self.grid.lengths().map(|length| length as usize);
        let (row, slice) = (S::SHAPE.row(), S::SHAPE.slice());
        let slices = values.as_flattened_mut().chunks_exact_mut(slice);
        for (z, to) in slices.enumerate() {
            let first = first + z * lines * columns;
            for (y, to) in to.chunks_exact_mut(row).enumerate() {
                let at = first + y * columns;
                to.copy_from_slice(&self.field[at..at + row]);
            }
        }
        (values, [WHOLE_GROUP; G])
    }

    /// A block that has positions without elements.
    #[cold]
    fn cut_block<S: StaticShape, const G: usize>(
        &self,
        chunk: &ChunkBox,
        position: &BlockPosition,
    ) -> Values<T, G> {
        let mut values = [[T::ZERO; GROUP]; G];
        let first = self.first(chunk, position);
        let [_, lines, columns] = self.grid.lengths().map(|length| length as usize);
        let (row, height) = (S::SHAPE.row(), S::SHAPE.slice() / S::SHAPE.row());
        let width = row.min(position.inside[2] as usize);
        for (i, to) in values.as_flattened_mut().chunks_exact_mut(row).enumerate() {
            let (z, y) = (i / height, i % height);
            if z < position.inside[0] as usize && y < position.inside[1] as usize {
                let at = first + (z * lines + y) * columns;
                to[..width].copy_from_slice(&self.field[at..at + width]);
            }
        }
        let inside = core::array::from_fn(|g| S::SHAPE.inside(g as u32, position.inside));
        (values, inside)
    }

    /// The number in the field of a block's first element.
    #[inline(always)]
    fn first(&self, chunk: &ChunkBox, position: &BlockPosition) -> usize {
        let at = core::array::from_fn(|i| chunk.origin[i] + u64::from(position.origin[i]));
        self.grid.flat(at) as usize
    }
}

/// Encodes a chunk into the start of `image`; returns its form and its length in words.
#[inline(always)]
pub(super) fn write<L: Lanes, S: StaticShape, T: Element, const G: usize>(
    lanes: L,
    codec: BlockCodec,
    quantizer: &Quantizer<T>,
    source: Source<'_, T>,
    image: &mut [u8],
) -> (Form, u32) {
    let chunk = source.grid.chunk(source.chunk);
    let mut sections = Sections::of(chunk.block_count(S::SHAPE), S::SHAPE, codec);
    let bodies = 4 * sections.bodies() as usize;
    image[..bodies].fill(0);
    let raw_bytes = 4 * raw_words(chunk.elements(), T::WORDS as u32) as usize;
    let mut exceptions = Exceptions::default();
    let mut quantize = BlockQuantizer::new(codec, quantizer);
    let mut end = bodies;
    for (b, position) in blocks(chunk, S::SHAPE).enumerate() {
        let (values, inside) = source.block::<S, G>(&chunk, &position);
        let nearest = quantize.nearest(&values);
        let (codes, masks) = quantize.block::<S, G>(&values, &inside, nearest);
        exceptions.note(b, masks);
        let groups = quantize.differences::<L, S, G>(lanes, &codes, &inside);
        let (first, others) = lanes.magnitude_bits(&groups);
        let rate = choose_rate(first, others, G as u32, codec);
        image[b] = rate.to_byte();
        if end > raw_bytes {
            // The chunk will be raw, so the bytes written from here on are not used.
            end = raw_bytes;
        }
        if rate.to_byte() != 0 {
            lanes.write_body(&groups, rate, &mut image[end..end + BODY_SCRATCH]);
            end += rate.body_bytes(G as u32) as usize;
        }
    }
    sections.body_bytes = (end - bodies) as u32;
    let mut initial = 0;
    if codec.is_layered() {
        initial = quantize.initial();
        image[bodies - 4..bodies].copy_from_slice(&initial.to_le_bytes());
    }
    finish::<S, T, G>(sections, initial, quantizer, source, &exceptions, image)
}

/// Chooses the chunk's form and writes its other sections. The bodies are written, and nothing behind them.
fn finish<S: StaticShape, T: Element, const G: usize>(
    mut sections: Sections,
    initial: i32,
    quantizer: &Quantizer<T>,
    source: Source<'_, T>,
    exceptions: &Exceptions,
    image: &mut [u8],
) -> (Form, u32) {
    let chunk = source.grid.chunk(source.chunk);
    let end = 4 * sections.bodies() as usize + sections.body_bytes as usize;
    exceptions.count(&mut sections);
    let is_constant = quantizer.is_lossless() && is_constant(source.rows(chunk));
    let words = T::WORDS as u32;
    let (form, form_words) = sections.choose(chunk.elements(), words, initial, is_constant);
    let bytes = &mut image[..4 * form_words as usize];
    match form {
        Form::Zero => {}
        Form::Constant => write_rows(source.rows(chunk).map(|row| &row[..1]).take(1), bytes),
        Form::Raw => write_rows(source.rows(chunk), bytes),
        Form::Coded => bytes[end..].fill(0),
        Form::CodedWithExceptions => {
            bytes[end..].fill(0);
            let positions =
                blocks(chunk, S::SHAPE).map(|position| source.block::<S, G>(&chunk, &position).0);
            exceptions.write::<T, G>(&sections, positions, bytes);
        }
    }
    (form, form_words)
}

/// The values of a chunk that have no code.
struct Exceptions {
    any: bool,
    masks: [ExceptionMask; CHUNK_GROUPS],
}

impl Default for Exceptions {
    fn default() -> Self {
        Self {
            any: false,
            masks: [0; CHUNK_GROUPS],
        }
    }
}

impl Exceptions {
    /// Records the exceptions of block number `b`.
    #[inline(always)]
    fn note<const G: usize>(&mut self, b: usize, masks: [ExceptionMask; G]) {
        if masks != [0; G] {
            self.any = true;
            self.masks[b * G..][..G].copy_from_slice(&masks);
        }
    }

    fn count(&self, sections: &mut Sections) {
        if self.any {
            let flagged = self.masks.iter().filter(|mask| **mask != 0);
            sections.flagged_groups = flagged.count() as u32;
            sections.exceptions = self.masks.iter().map(|mask| mask.count_ones()).sum();
        }
    }

    /// Writes the masks, and the values of the exceptions, which are selected from the values of all blocks.
    fn write<T: Element, const G: usize>(
        &self,
        sections: &Sections,
        blocks: impl Iterator<Item = [[T; GROUP]; G]>,
        image: &mut [u8],
    ) {
        let mut mask_at = 4 * sections.element_masks() as usize;
        let mut value_at = 4 * sections.values() as usize;
        let group_mask_at = 4 * sections.group_mask() as usize;
        for (b, block) in blocks.enumerate() {
            for (i, group) in block.iter().enumerate() {
                let g = b * G + i;
                let mut mask = self.masks[g];
                if mask == 0 {
                    continue;
                }
                image[group_mask_at + g / 8] |= 1 << (g % 8);
                image[mask_at..mask_at + 4].copy_from_slice(&mask.to_le_bytes());
                mask_at += 4;
                while mask != 0 {
                    let value = group[mask.trailing_zeros() as usize];
                    put(value, &mut image[value_at..value_at + T::BYTES]);
                    value_at += T::BYTES;
                    mask &= mask - 1;
                }
            }
        }
    }
}

/// Whether all elements have the same bits.
pub(super) fn is_constant<'a, T: Element>(mut rows: impl Iterator<Item = &'a [T]>) -> bool {
    let mut first = None;
    rows.all(|row| {
        row.iter()
            .all(|value| value.to_bits64() == *first.get_or_insert(value.to_bits64()))
    })
}

/// Writes a value to the bytes of its type.
#[inline(always)]
fn put<T: Element>(value: T, bytes: &mut [u8]) {
    bytes.copy_from_slice(&value.to_bits64().to_le_bytes()[..T::BYTES]);
}

/// Writes elements, and zeros up to the end of `bytes`.
fn write_rows<'a, T: Element>(rows: impl Iterator<Item = &'a [T]>, bytes: &mut [u8]) {
    let mut rest = bytes;
    for row in rows {
        let (own, behind) = rest.split_at_mut(size_of_val(row));
        for (value, to) in row.iter().zip(own.chunks_exact_mut(T::BYTES)) {
            put(*value, to);
        }
        rest = behind;
    }
    rest.fill(0);
}
