//! Decoding of a chunk's elements.

use crate::cpu::code::fixed_length::{blocks, is_whole};
use crate::cpu::lanes::Lanes;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::container::chunk::{Form, Sections, raw_words};
use ferrosz_codec::container::grid::{BlockPosition, ChunkBox};
use ferrosz_codec::element::Element;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{GROUP, Shape, StaticShape};

/// Checks that a chunk of these elements can have this many bytes.
#[inline(always)]
pub(super) fn check_length<T: Element>(bytes: &[u8], values: &[T]) -> Result<(), ChunkFault> {
    if bytes.len().is_multiple_of(16) && bytes.len() <= raw_bytes(values) {
        Ok(())
    } else {
        Err(ChunkFault::Place)
    }
}

/// Bytes of the raw chunk of these elements.
#[inline(always)]
fn raw_bytes<T: Element>(values: &[T]) -> usize {
    4 * raw_words(values.len() as u32, T::WORDS as u32) as usize
}

/// A chunk's bytes, and the data to decode them.
#[derive(Clone, Copy)]
pub(super) struct Coded<'a, T> {
    pub codec: BlockCodec,
    /// By value: a reference would be read once more after every written value.
    pub quantizer: Quantizer<T>,
    pub position: ChunkBox,
    pub bytes: &'a [u8],
}

impl<T: Element> Coded<'_, T> {
    /// Reads the chunk's elements, row by row.
    #[inline(always)]
    pub fn read<L: Lanes, S: StaticShape, const G: usize>(
        &self,
        lanes: L,
        form: Form,
        values: &mut [T],
    ) -> Result<(), ChunkFault> {
        match form {
            Form::Zero => {
                expect_length(self.bytes, 0)?;
                values.fill(self.quantizer.dequantize(0));
            }
            Form::Constant => {
                expect_length(self.bytes, 16)?;
                values.fill(read_value(self.bytes));
            }
            Form::Raw => {
                expect_length(self.bytes, raw_bytes(values))?;
                for (value, bytes) in values.iter_mut().zip(self.bytes.chunks_exact(T::BYTES)) {
                    *value = read_value(bytes);
                }
            }
            Form::Coded => {
                let sections = self.read_blocks::<L, S, G>(lanes, values)?;
                expect_length(self.bytes, 4 * sections.words(T::WORDS as u32) as usize)?;
            }
            Form::CodedWithExceptions => {
                let sections = self.read_blocks::<L, S, G>(lanes, values)?;
                self.read_exceptions(S::SHAPE, sections, values)?;
            }
        }
        Ok(())
    }

    /// Decodes the blocks; returns the sections, as far as rate bytes determine them.
    #[inline(always)]
    fn read_blocks<L: Lanes, S: StaticShape, const G: usize>(
        &self,
        lanes: L,
        values: &mut [T],
    ) -> Result<Sections, ChunkFault> {
        let (codec, bytes) = (self.codec, self.bytes);
        let mut sections = Sections::of(self.position.block_count(S::SHAPE), S::SHAPE, codec);
        let bodies = 4 * sections.bodies() as usize;
        let head = bytes.get(..bodies).ok_or(ChunkFault::Length)?;
        // The code before the next block; without layers every block starts from 0.
        let mut last = 0;
        if codec.is_layered() {
            let at = 4 * sections.initial() as usize;
            last = i32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        }
        let mut end = bodies;
        for (position, rate) in blocks(self.position, S::SHAPE).zip(head) {
            let rate = RateByte::from_byte(*rate, codec.stores_outliers(), codec.max_planes())
                .ok_or(ChunkFault::Rate)?;
            let start = end;
            end += rate.body_bytes(G as u32) as usize;
            if end > bytes.len() {
                return Err(ChunkFault::Length);
            }
            let mut codes = [[last; GROUP]; G];
            if rate.to_byte() != 0 {
                let mut before = last;
                codes = lanes.read_body::<G>(rate, &bytes[start..]);
                lanes.backward::<S, G>(codec.predictor(), &mut codes, &mut before);
                if codec.is_layered() {
                    last = before;
                }
            }
            self.set_block::<S, G>(&position, &codes, values);
        }
        sections.body_bytes = (end - bodies) as u32;
        Ok(sections)
    }

    /// Sets the values of a block.
    #[inline(always)]
    fn set_block<S: StaticShape, const G: usize>(
        &self,
        position: &BlockPosition,
        codes: &[Group; G],
        values: &mut [T],
    ) {
        if !is_whole(position, S::SHAPE) {
            return self.set_cut_block::<S, G>(position, codes, values);
        }
        let [_, lines, columns] = self.position.extents.map(|extent| extent as usize);
        let [z, y, x] = position.origin.map(|at| at as usize);
        let first = (z * lines + y) * columns + x;
        let (row, slice) = (S::SHAPE.row(), S::SHAPE.slice());
        // All values are decoded before they are copied, as stores to arbitrary positions prevent vectorisation.
        let mut decoded = [[T::ZERO; GROUP]; G];
        for (values, codes) in decoded.iter_mut().zip(codes) {
            self.set_row(codes, values);
        }
        for (z, decoded) in decoded.as_flattened().chunks_exact(slice).enumerate() {
            let first = first + z * lines * columns;
            for (y, decoded) in decoded.chunks_exact(row).enumerate() {
                let at = first + y * columns;
                values[at..at + row].copy_from_slice(decoded);
            }
        }
    }

    /// As [`Coded::set_block`], for a block that has positions without elements.
    #[cold]
    fn set_cut_block<S: StaticShape, const G: usize>(
        &self,
        position: &BlockPosition,
        codes: &[Group; G],
        values: &mut [T],
    ) {
        let [_, lines, columns] = self.position.extents.map(|extent| extent as usize);
        let [z0, y0, x0] = position.origin.map(|at| at as usize);
        let (row, height) = (S::SHAPE.row(), S::SHAPE.slice() / S::SHAPE.row());
        let width = row.min(position.inside[2] as usize);
        for (i, codes) in codes.as_flattened().chunks_exact(row).enumerate() {
            let (z, y) = (i / height, i % height);
            if z < position.inside[0] as usize && y < position.inside[1] as usize {
                let at = ((z0 + z) * lines + y0 + y) * columns + x0;
                self.set_row(codes, &mut values[at..at + width]);
            }
        }
    }

    #[inline(always)]
    fn set_row(&self, codes: &[i32], values: &mut [T]) {
        let quantizer = self.quantizer;
        for (value, code) in values.iter_mut().zip(codes) {
            *value = quantizer.dequantize(*code);
        }
    }

    /// Sets the exceptions, and checks the chunk's length.
    fn read_exceptions(
        &self,
        shape: Shape,
        mut sections: Sections,
        values: &mut [T],
    ) -> Result<(), ChunkFault> {
        let group_mask = sections.group_mask();
        for g in 0..32 * sections.groups.div_ceil(32) {
            let flag = self.word(group_mask + g / 32)? >> (g % 32) & 1;
            if flag == 1 && g >= sections.groups {
                return Err(ChunkFault::Length);
            }
            sections.flagged_groups += flag;
        }
        let mut mask_at = sections.element_masks();
        let mut value_at = 4 * sections.values() as usize;
        let groups = shape.groups() as u32;
        for g in 0..sections.groups {
            if self.word(group_mask + g / 32)? >> (g % 32) & 1 == 0 {
                continue;
            }
            let mut mask = self.word(mask_at)?;
            mask_at += 1;
            sections.exceptions += mask.count_ones();
            let block = self.position.block(shape, g / groups);
            while mask != 0 {
                let e = g % groups * GROUP as u32 + mask.trailing_zeros();
                let at = self
                    .position_in(shape, &block, e)
                    .ok_or(ChunkFault::Length)?;
                let stored = self.bytes.get(value_at..value_at + T::BYTES);
                let stored = stored.ok_or(ChunkFault::Length)?;
                *values.get_mut(at).ok_or(ChunkFault::Length)? = read_value(stored);
                value_at += T::BYTES;
                mask &= mask - 1;
            }
        }
        if sections.exceptions == 0 {
            return Err(ChunkFault::Length);
        }
        expect_length(self.bytes, 4 * sections.words(T::WORDS as u32) as usize)
    }

    fn word(&self, at: u32) -> Result<u32, ChunkFault> {
        let at = 4 * at as usize;
        let bytes = self.bytes.get(at..at + 4).ok_or(ChunkFault::Length)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// The position of element `e` of a block; none if the chunk has no such element.
    fn position_in(&self, shape: Shape, block: &BlockPosition, e: u32) -> Option<usize> {
        let (row, slice) = (shape.row() as u32, shape.slice() as u32);
        let at = [e / slice, e % slice / row, e % row];
        let is_inside = (0..3).all(|i| at[i] < block.inside[i]);
        let [_, height, width] = self.position.extents;
        let [z, y, x] = core::array::from_fn(|i| block.origin[i] + at[i]);
        is_inside.then_some(((z * height + y) * width + x) as usize)
    }
}

fn expect_length(bytes: &[u8], length: usize) -> Result<(), ChunkFault> {
    if bytes.len() == length {
        Ok(())
    } else {
        Err(ChunkFault::Length)
    }
}

#[inline(always)]
fn read_value<T: Element>(bytes: &[u8]) -> T {
    let mut bits = [0; 8];
    bits[..T::BYTES].copy_from_slice(&bytes[..T::BYTES]);
    T::from_bits64(u64::from_le_bytes(bits))
}
