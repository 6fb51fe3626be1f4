//! Encoding of a chunk's elements.

use crate::cpu::code::fixed_length::{Source, blocks, is_whole};
use crate::cpu::lanes::Lanes;
use ferrosz_codec::code::fixed_length::block::{BODY_SCRATCH, choose_rate};
use ferrosz_codec::container::chunk::{CHUNK_GROUPS, Form, Sections, raw_words};
use ferrosz_codec::container::grid::{BlockPosition, ChunkBox};
use ferrosz_codec::element::Element;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::group::{Group, MAX_REACH, last_of};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{GROUP, StaticShape, WHOLE_GROUP};

/// The values of a group that have no code: bit e is set for element e.
type ExceptionMask = u32;

/// The values of a block, and masks of the positions that hold one.
type Values<T, const G: usize> = ([[T; GROUP]; G], [u32; G]);

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

    #[inline(always)]
    fn block<S: StaticShape, const G: usize>(
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
        let mut codes = [[0; GROUP]; G];
        quantize.block::<S, G>(&values, inside, b, &mut exceptions, &mut codes);
        let before = if codec.is_layered() {
            quantize.layer.next(&codes[0])
        } else {
            0
        };
        let groups = lanes.forward::<S, G>(codec.predictor(), &codes, before);
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
        initial = quantize.layer.initial.unwrap_or(0);
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

/// The state of a prediction that runs from block to block.
#[derive(Default)]
struct Layer {
    /// The chunk's first code, if it was found.
    initial: Option<i32>,
    /// The last code before the next one.
    last: i32,
}

impl Layer {
    /// The code before the first code of this group.
    #[inline(always)]
    fn next(&mut self, codes: &Group) -> i32 {
        core::mem::replace(&mut self.last, codes[GROUP - 1])
    }

    /// Records the chunk's first code, if it is in this group.
    #[inline(always)]
    fn begin(&mut self, codes: &Group, has_code: u32) {
        if self.initial.is_none() && has_code != 0 {
            self.last = codes[has_code.trailing_zeros() as usize];
            self.initial = Some(self.last);
        }
    }
}

/// Quantises the blocks of a chunk, one after the other.
struct BlockQuantizer<'a, T> {
    codec: BlockCodec,
    quantizer: &'a Quantizer<T>,
    error: T,
    step: T,
    inverse: T,
    layer: Layer,
}

impl<'a, T: Element> BlockQuantizer<'a, T> {
    #[inline(always)]
    fn new(codec: BlockCodec, quantizer: &'a Quantizer<T>) -> Self {
        let [error, step, inverse] = quantizer.to_bits().map(T::from_bits64);
        Self {
            codec,
            quantizer,
            error,
            step,
            inverse,
            layer: Layer::default(),
        }
    }

    /// Sets the codes of block number `b`. Elements without a code, and positions without elements, have the predicted
    /// code, so that the difference is 0.
    #[inline(always)]
    fn block<S: StaticShape, const G: usize>(
        &mut self,
        values: &[[T; GROUP]; G],
        inside: [u32; G],
        b: usize,
        exceptions: &mut Exceptions,
        codes: &mut [Group; G],
    ) {
        let mut clear = inside == [WHOLE_GROUP; G];
        for (values, codes) in values.iter().zip(&mut *codes) {
            clear &= self.nearest_codes(values, codes);
        }
        let mut has_code = inside[0];
        if !clear {
            let masks;
            (masks, has_code) = self.with_care::<S, G>(values, inside, codes);
            exceptions.note(b, masks);
        }
        if self.codec.is_layered() {
            self.layer.begin(&codes[0], has_code);
        }
    }

    /// Sets the [`Quantizer::nearest_code`] of all values; returns whether [`Quantizer::is_clearly_within`] holds for
    /// all.
    #[inline(always)]
    fn nearest_codes(&self, values: &[T; GROUP], codes: &mut Group) -> bool {
        let mut clear = true;
        for (value, code) in values.iter().zip(codes) {
            let scaled = *value * self.inverse;
            let rounded = scaled + T::ROUNDING_MAGIC;
            *code = rounded
                .low_bits()
                .wrapping_sub(T::ROUNDING_MAGIC.low_bits()) as i32;
            // Below the limit this is exactly the code, so no conversion is necessary.
            let decoded = (rounded - T::ROUNDING_MAGIC) * self.step;
            clear &= scaled.abs() < T::ROUNDING_LIMIT;
            clear &= (*value - decoded).abs() < self.error;
        }
        clear
    }

    /// Sets the codes of a block in which a value is not clearly within the bound; returns the exceptions, and the
    /// positions of the first group that have a code.
    #[cold]
    #[inline(never)]
    fn with_care<S: StaticShape, const G: usize>(
        &mut self,
        values: &[[T; GROUP]; G],
        inside: [u32; G],
        codes: &mut [Group; G],
    ) -> ([ExceptionMask; G], u32) {
        let predictor = self.codec.predictor();
        let mut exceptions = [0; G];
        let mut of_first = 0;
        let mut before = [0; MAX_REACH];
        for (g, group) in codes.iter_mut().enumerate() {
            let (mut has_code, mut is_hole) = (0, 0);
            for (e, value) in values[g].iter().enumerate() {
                if inside[g] >> e & 1 == 0 {
                    continue;
                }
                if let Some(code) = self.quantizer.quantize(*value) {
                    group[e] = code;
                    has_code |= 1 << e;
                }
                is_hole |= u32::from(self.quantizer.is_hole(*value)) << e;
            }
            exceptions[g] = inside[g] & !has_code & !is_hole;
            if g == 0 {
                of_first = has_code;
            }
            if self.codec.is_layered() {
                self.layer.begin(group, has_code);
                before[0] = self.layer.last;
            }
            predictor.fill(S::SHAPE, group, has_code, &before);
            before = last_of(S::SHAPE, group);
        }
        (exceptions, of_first)
    }
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
    fn note<const G: usize>(&mut self, b: usize, masks: [ExceptionMask; G]) {
        self.any |= masks != [0; G];
        self.masks[b * G..][..G].copy_from_slice(&masks);
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

fn is_constant<'a, T: Element>(mut rows: impl Iterator<Item = &'a [T]>) -> bool {
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
