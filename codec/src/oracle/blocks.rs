//! Streams of blocks: the cut of a field into chunks and blocks, their codes and bodies (FORMAT.md, sections 2 to 5).

use crate::container::chunk::Form;
use crate::container::table::Entry;
use crate::element::Element;
use crate::error::{ChunkFault, FormatError};
use crate::oracle::bytes::{Reader, element_bytes, pad, row};
use crate::oracle::exceptions::Exceptions;
use crate::pipeline::BlockCodec;
use crate::quantize::field::Quantizer;
use crate::shape::{GROUP, Shape};
use alloc::vec;
use alloc::vec::Vec;
/// A field of slices of these lengths, whose blocks have a codec.
pub(super) struct Blocks {
    pub codec: BlockCodec,
    pub shape: Shape,
    pub slices: u64,
    pub lengths: [u64; 3],
}

impl Blocks {
    /// The chunks of a field.
    pub(super) fn compress<T: Element>(
        &self,
        quantizer: &Quantizer<T>,
        values: &[T],
    ) -> Vec<(Form, Vec<u8>)> {
        let encode = |chunk: &Chunk| {
            let elements: Vec<T> = chunk.elements().map(|at| values[at]).collect();
            chunk.encode(quantizer, &elements)
        };
        self.chunks().iter().map(encode).collect()
    }

    /// The field of these chunks.
    pub(super) fn decompress<T: Element>(
        &self,
        quantizer: &Quantizer<T>,
        chunks: &[(Entry, &[u8])],
    ) -> Result<Vec<T>, FormatError> {
        let mut values =
            vec![T::ZERO; (self.slices * self.lengths.iter().product::<u64>()) as usize];
        for (number, (chunk, (entry, bytes))) in (0..).zip(self.chunks().iter().zip(chunks)) {
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

    /// The numbers of the elements of each block that are in the field, in the order of its positions.
    pub(super) fn positions(&self) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        for chunk in self.chunks() {
            let elements: Vec<usize> = chunk.elements().collect();
            for block in chunk.blocks() {
                all.push(block.into_iter().flatten().map(|at| elements[at]).collect());
            }
        }
        all
    }

    /// The numbers of the elements of each chunk, row by row, and the elements of its rows and slices.
    pub(super) fn boxes(&self) -> (Vec<Vec<usize>>, Vec<[usize; 2]>) {
        let chunks = self.chunks();
        let size = |chunk: &Chunk| {
            let [_, height, width] = chunk.extents.map(|extent| extent as usize);
            [width, height * width]
        };
        let elements = chunks.iter().map(|chunk| chunk.elements().collect());
        (elements.collect(), chunks.iter().map(size).collect())
    }

    /// The chunks of a field, in C order.
    fn chunks(&self) -> Vec<Chunk> {
        let Self {
            codec,
            shape,
            slices,
            lengths,
        } = *self;
        let whole = chunk_extents(shape, lengths);
        let mut chunks = Vec::new();
        let in_slices = (0..slices).flat_map(|slice| {
            let first = slice * lengths[0];
            let of_slice = (0..lengths[0]).step_by(whole[0] as usize);
            of_slice.map(move |z| (first, z))
        });
        for (first, z) in in_slices {
            for y in (0..lengths[1]).step_by(whole[1] as usize) {
                for x in (0..lengths[2]).step_by(whole[2] as usize) {
                    let origin = [z, y, x];
                    let end = |axis: usize| (origin[axis] + whole[axis]).min(lengths[axis]);
                    chunks.push(Chunk {
                        lengths,
                        origin: [first + z, y, x],
                        extents: core::array::from_fn(|axis| end(axis) - origin[axis]),
                        codec,
                        shape,
                    });
                }
            }
        }
        chunks
    }
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
            #[cfg(feature = "toy")]
            BlockCodec::ToyPredictor => match (z, y, e % GROUP) {
                (0, 0, 0) => 0,
                (0, _, 0) => at(0, y - 1, 0),
                (_, _, 0) => at(z - 1, 0, 0),
                _ => codes[e / GROUP * GROUP],
            },
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
            exceptions.add(b * self.shape.groups(), block, &codes, values, quantizer);
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
