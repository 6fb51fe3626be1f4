//! Masks in plain loops, element by element (FORMAT.md, section 23).

use crate::container::chunk::Form;
use crate::container::layout::Layout;
use crate::container::table::Entry;
use crate::element::Element;
use crate::error::{ChunkFault, FormatError};
use crate::mapping::mask::Classes;
use crate::oracle::order::{Field, tile_extents};
use crate::oracle::{Dimensions, blocks_of, dimensions_of, signs};
use crate::pipeline::{BlockCodec, Codec, TilePredictor};
use crate::shape::Shape;
use crate::tile::TileBox;
use alloc::vec;
use alloc::vec::Vec;
use core::array::from_fn;

/// The record of the classes.
pub(super) fn records(classes: &Classes) -> Vec<u8> {
    if classes.count().all() == 0 {
        return Vec::new();
    }
    let mut record = b"MASK".to_vec();
    record.extend((16 * u32::from(classes.count().all())).to_le_bytes());
    for bits in classes.fills() {
        record.extend(1u64.to_le_bytes());
        record.extend(bits.to_le_bytes());
    }
    if classes.has_signs() {
        record.extend(2u64.to_le_bytes());
        record.extend(0u64.to_le_bytes());
    }
    while !record.len().is_multiple_of(16) {
        record.push(0);
    }
    record
}

/// The field with other values, or holes, in place of missing elements.
pub(super) fn coded_field<T: Element>(
    layout: &Layout,
    is_missing: &[bool],
    values: &[T],
) -> Vec<T> {
    let Dimensions { slices, lengths } = dimensions_of(layout);
    let levels = Cells {
        lengths: [slices * lengths[0], lengths[1], lengths[2]],
        first: 3 - usize::from(layout.shape.rank()),
    };
    let mut known = values.to_vec();
    for (value, is_missing) in known.iter_mut().zip(is_missing) {
        if *is_missing {
            *value = T::HOLE;
        }
    }
    if matches!(layout.codec, Codec::Tiles(codec) if !matches!(codec.predictor, TilePredictor::Lorenzo | TilePredictor::Direct))
    {
        return filled(&levels, &known);
    }
    let valid = |at: &usize| !is_missing[*at] && known[*at].is_finite();
    let mut coded = known.clone();
    for unit in units(layout) {
        let first = unit.iter().copied().find(valid);
        if let (true, Some(first)) = (is_missing[unit[0]], first) {
            coded[unit[0]] = known[first];
        }
    }
    for flat in (0..coded.len()).filter(|flat| is_missing[*flat]) {
        let around = levels.around(levels.position(flat));
        let around: Vec<usize> = around.into_iter().filter(valid).collect();
        if around.len() >= 2 {
            let mean = mean(around.iter().map(|other| known[*other]));
            coded[flat] = mean.unwrap_or(coded[flat]);
        }
    }
    coded
}

/// The positions of the blocks or tiles of a field, each in C order.
fn units(layout: &Layout) -> Vec<Vec<usize>> {
    match layout.codec {
        Codec::Blocks(codec) => {
            let mut blocks = blocks_of(codec, layout).positions();
            blocks.iter_mut().for_each(|block| block.sort_unstable());
            blocks
        }
        Codec::Tiles(_) => {
            let Dimensions { slices, lengths } = dimensions_of(layout);
            let field = Field {
                shape: layout.shape,
                slices,
                lengths,
            };
            let extents = tile_extents(layout.shape);
            let positions = |tile: &TileBox| {
                let [depth, height, width] =
                    from_fn(|axis| extents[axis].min(tile.left[axis].into()));
                let [z, y, x] = tile.origin;
                let rows = (z..z + depth).flat_map(|z| (y..y + height).map(move |y| (z, y)));
                rows.flat_map(|(z, y)| (x..x + width).map(move |x| [z, y, x]))
                    .map(|at| field.flat(at))
                    .collect()
            };
            field.tiles().iter().map(positions).collect()
        }
    }
}

/// The cells of a level, halved from dimension `first` on.
struct Cells {
    lengths: [u64; 3],
    first: usize,
}

impl Cells {
    fn flat(&self, at: [u64; 3]) -> usize {
        ((at[0] * self.lengths[1] + at[1]) * self.lengths[2] + at[2]) as usize
    }

    fn position(&self, flat: usize) -> [u64; 3] {
        let [_, height, width] = self.lengths;
        let flat = flat as u64;
        [flat / width / height, flat / width % height, flat % width]
    }

    /// The neighbours of a cell, in order.
    fn around(&self, at: [u64; 3]) -> Vec<usize> {
        let mut cells = Vec::new();
        for axis in self.first..3 {
            for step in [-1i64, 1] {
                let mut other = at.map(|at| at as i64);
                other[axis] += step;
                if other[axis] >= 0 && other[axis] < self.lengths[axis] as i64 {
                    cells.push(self.flat(other.map(|at| at as u64)));
                }
            }
        }
        cells
    }
}

/// The mean of the finite ones of these values.
fn mean<T: Element>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut sum = T::ZERO;
    let mut count = 0;
    for value in values.filter(|value| value.is_finite()) {
        sum = sum + value;
        count += 1;
    }
    let mean = sum / T::from_i32(count);
    (count > 0 && mean.is_finite()).then_some(mean)
}

/// A level with values in its holes.
fn filled<T: Element>(cells: &Cells, known: &[T]) -> Vec<T> {
    let holes: Vec<usize> = (0..known.len())
        .filter(|cell| known[*cell].is_hole())
        .collect();
    let mut values = known.to_vec();
    if holes.is_empty() {
        return values;
    }
    if (cells.first..3).all(|axis| cells.lengths[axis] == 1) {
        for cell in &holes {
            values[*cell] = T::ZERO;
        }
    } else {
        let coarser = Cells {
            lengths: from_fn(|axis| match axis >= cells.first {
                true => cells.lengths[axis].div_ceil(2),
                false => cells.lengths[axis],
            }),
            ..*cells
        };
        let mut inside = vec![Vec::new(); coarser.lengths.iter().product::<u64>() as usize];
        for (flat, value) in known.iter().enumerate() {
            let mut at = cells.position(flat);
            for at in &mut at[cells.first..] {
                *at /= 2;
            }
            inside[coarser.flat(at)].push(*value);
        }
        let means = inside.into_iter().map(|values| mean(values.into_iter()));
        let means: Vec<T> = means.map(|mean| mean.unwrap_or(T::HOLE)).collect();
        let coarse = filled(&coarser, &means);
        for cell in &holes {
            values[*cell] = between(cells, &coarser, cells.position(*cell), &coarse);
        }
    }
    for _ in 0..2 {
        for colour in [0, 1] {
            for cell in &holes {
                let at = cells.position(*cell);
                if at.iter().sum::<u64>() % 2 == colour {
                    let around = cells.around(at).into_iter().map(|other| values[other]);
                    values[*cell] = mean(around).unwrap_or(values[*cell]);
                }
            }
        }
    }
    values
}

/// The value at a cell by linear interpolation between those of the coarser level: three quarters of the cell that it
/// is in, and one quarter of that cell's neighbour on its side, in each dimension.
fn between<T: Element>(cells: &Cells, coarser: &Cells, at: [u64; 3], coarse: &[T]) -> T {
    let mut sum = T::ZERO;
    let choices = |axis: usize| match axis >= cells.first {
        true => vec![false, true],
        false => vec![false],
    };
    for z in choices(0) {
        for y in choices(1) {
            for x in choices(2) {
                let mut from = at;
                let mut weight = 1.0;
                for axis in cells.first..3 {
                    let own = at[axis] / 2;
                    let side = if at[axis].is_multiple_of(2) {
                        own.max(1) - 1
                    } else {
                        (own + 1).min(coarser.lengths[axis] - 1)
                    };
                    let is_side = [z, y, x][axis];
                    from[axis] = if is_side { side } else { own };
                    weight *= if is_side { 0.25 } else { 0.75 };
                }
                sum = sum + T::from_f64(weight) * coarse[coarser.flat(from)];
            }
        }
    }
    if sum.is_finite() { sum } else { T::ZERO }
}

/// The parts of the mask of a layout, in order: the positions of their elements.
fn parts(layout: &Layout) -> (Vec<Vec<usize>>, Vec<[usize; 2]>) {
    let shapes = [Shape::Cube, Shape::Plane, Shape::Line];
    let layouts = shapes.map(|shape| Layout::new(Codec::PLAIN, shape, layout.extents));
    let takes = |(layout, shape): (&Layout, Shape)| layout.shape == shape;
    let found = layouts.iter().zip(shapes).find(|pair| takes(*pair));
    let blocks = blocks_of(BlockCodec::Plain, found.map_or(layout, |(found, _)| found));
    blocks.boxes()
}

/// The chunks of the mask.
pub(super) fn chunks(layout: &Layout, classes: &[u32]) -> Vec<(Form, Vec<u8>)> {
    if layout.classes.all() == 0 {
        return Vec::new();
    }
    let (parts, sizes) = parts(layout);
    let mut chunks = Vec::new();
    for (parts, sizes) in parts.chunks(8).zip(sizes.chunks(8)) {
        let mut heads = vec![0u16; if layout.classes.has_signs { 16 } else { 8 }];
        let (mut of_classes, mut of_signs) = (Vec::new(), Vec::new());
        for (i, (part, size)) in parts.iter().zip(sizes).enumerate() {
            let fills = u32::from(layout.classes.fills);
            if layout.classes.has_signs {
                let negative: Vec<bool> = part.iter().map(|at| classes[*at] > fills).collect();
                let (head, bytes) = signs::encode(&negative, *size);
                heads[8 + i] = head;
                of_signs.extend(bytes);
            }
            let class = |at: &usize| {
                if classes[*at] > fills {
                    0
                } else {
                    classes[*at]
                }
            };
            let symbols: Vec<u32> = part.iter().map(class).collect();
            if symbols.iter().all(|class| *class == 0) {
                continue;
            }
            let coded = encode_part(&symbols, *size, fills);
            let raw = raw_part(&symbols, fills);
            if coded.len() < raw.len() {
                heads[i] = coded.len() as u16 + 1;
                of_classes.extend(coded);
            } else {
                heads[i] = 0xffff;
                of_classes.extend(raw);
            }
        }
        if heads.iter().all(|head| *head == 0) {
            chunks.push((Form::Zero, Vec::new()));
            continue;
        }
        let mut bytes: Vec<u8> = heads.iter().flat_map(|head| head.to_le_bytes()).collect();
        bytes.extend(of_signs);
        bytes.extend(of_classes);
        while !bytes.len().is_multiple_of(16) {
            bytes.push(0);
        }
        chunks.push((Form::Coded, bytes));
    }
    chunks
}

/// The bits of the planes of a mask of so many classes with values.
fn planes(classes: u32) -> u32 {
    1 + (0..3)
        .filter(|bit| classes.saturating_sub(1) >> bit != 0)
        .count() as u32
}

fn raw_part(symbols: &[u32], classes: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for plane in 0..planes(classes) {
        for word in symbols.chunks(32) {
            let mut bits = 0u32;
            for (i, symbol) in word.iter().enumerate() {
                let is_set = match (*symbol, plane) {
                    (0, _) => 0,
                    (_, 0) => 1,
                    (symbol, plane) => (symbol - 1) >> (plane - 1) & 1,
                };
                bits |= is_set << i;
            }
            bytes.extend(bits.to_le_bytes());
        }
    }
    bytes
}

/// The classes of all elements, from the mask's chunks; 0 for elements of none.
pub(super) fn decode(layout: &Layout, chunks: &[(Entry, &[u8])]) -> Result<Vec<u32>, FormatError> {
    let mut classes = vec![0; layout.extents.elements() as usize];
    if layout.classes.all() == 0 {
        return Ok(classes);
    }
    let (parts, sizes) = parts(layout);
    let all = parts.chunks(8).zip(sizes.chunks(8)).zip(chunks);
    for (number, ((parts, sizes), (entry, bytes))) in (layout.field_entries()..).zip(all) {
        let fault = |fault: ChunkFault| fault.in_chunk(number);
        match Form::from_id(entry.form) {
            Some(Form::Zero) if bytes.is_empty() => continue,
            Some(Form::Zero) => return Err(fault(ChunkFault::Length)),
            Some(Form::Coded) => {}
            _ => return Err(fault(ChunkFault::Form)),
        }
        let found = decode_chunk(layout, (parts, sizes), bytes);
        let found = found.ok_or(fault(ChunkFault::Length))?;
        for (at, class) in parts.iter().flatten().zip(found) {
            classes[*at] = class;
        }
    }
    Ok(classes)
}

/// The classes of the elements of a chunk, part by part; none if its length or a head is wrong.
fn decode_chunk(
    layout: &Layout,
    (parts, sizes): (&[Vec<usize>], &[[usize; 2]]),
    bytes: &[u8],
) -> Option<Vec<u32>> {
    let fills = u32::from(layout.classes.fills);
    let head = |i: usize| {
        let head = bytes.get(2 * i..2 * i + 2)?;
        Some(u16::from_le_bytes([head[0], head[1]]))
    };
    let count = |i: usize| parts.get(i).map_or(0, Vec::len);
    let size = |i: usize| sizes.get(i).copied().unwrap_or([1, 1]);
    let mut negative = vec![Vec::new(); 8];
    let mut at = 16;
    if layout.classes.has_signs {
        at = 32;
        for (i, negative) in negative.iter_mut().enumerate() {
            let head = head(8 + i)?;
            let length = 4 * signs::words(head, count(i))?;
            *negative = signs::decode(head, bytes.get(at..at + length)?, count(i), size(i));
            at += length;
        }
    }
    let mut classes = Vec::new();
    for (i, negative) in negative.iter().enumerate() {
        let head = usize::from(head(i)?);
        let planes = planes(fills) as usize;
        let length = match head {
            0 => 0,
            _ if count(i) == 0 => return None,
            0xffff => 4 * planes * count(i).div_ceil(32),
            _ => head - 1,
        };
        let body = bytes.get(at..at + length)?;
        at += length;
        let symbols = match head {
            0 => vec![0; count(i)],
            0xffff => raw_symbols(body, count(i), planes),
            _ => decode_part(body, count(i), size(i), fills),
        };
        for (element, symbol) in symbols.iter().enumerate() {
            let is_negative = *negative.get(element).unwrap_or(&false);
            classes.push(match symbol.min(&fills) {
                0 if is_negative => fills + 1,
                class => *class,
            });
        }
    }
    (at.next_multiple_of(16) == bytes.len()).then_some(classes)
}

fn raw_symbols(bytes: &[u8], count: usize, planes: usize) -> Vec<u32> {
    let words = count.div_ceil(32);
    let bit = |plane: usize, i: usize| {
        let byte = bytes[4 * (plane * words + i / 32) + i % 32 / 8];
        u32::from(byte >> (i % 8) & 1)
    };
    (0..count)
        .map(|i| match bit(0, i) {
            0 => 0,
            _ => {
                1 + (1..planes)
                    .map(|plane| bit(plane, i) << (plane - 1))
                    .sum::<u32>()
            }
        })
        .collect()
}

/// A probability that learns: of 65,536, and the number of bits that it has seen.
#[derive(Clone, Copy)]
struct Model {
    one: u32,
    seen: u32,
}

impl Model {
    const NEW: Self = Self {
        one: 32_768,
        seen: 0,
    };

    fn learn(&mut self, bit: bool) {
        let shift = match self.seen {
            0 => 1,
            1..=2 => 2,
            3..=6 => 3,
            7..=14 => 4,
            15..=30 => 5,
            31..=62 => 6,
            _ => 7,
        };
        if bit {
            self.one += (65_536 - 32 - self.one) >> shift;
        } else {
            self.one -= (self.one - 32) >> shift;
        }
        self.seen = (self.seen + 1).min(63);
    }
}

/// The coder of bits: an interval of a number with as many digits as needed, in bytes.
enum Coder<'a> {
    /// The digits of the interval's start, and its length in units of the last four digits.
    Write { digits: Vec<u8>, range: u32 },
    /// Bytes that follow, the interval's length, and the number less the interval's start.
    Read {
        rest: &'a [u8],
        range: u32,
        number: u32,
    },
}

impl Coder<'_> {
    fn bit(&mut self, model: &mut Model, bit: bool) -> bool {
        let range = match self {
            Self::Write { range, .. } | Self::Read { range, .. } => *range,
        };
        let of_one = (range >> 16) * model.one;
        let bit = match self {
            Self::Write { .. } => bit,
            Self::Read { number, .. } => *number < of_one,
        };
        let left = if bit { of_one } else { range - of_one };
        match self {
            Self::Write { digits, range } => {
                if !bit {
                    add(digits, of_one);
                }
                *range = left;
                while *range < 1 << 24 {
                    *range <<= 8;
                    digits.push(0);
                }
            }
            Self::Read {
                rest,
                range,
                number,
            } => {
                if !bit {
                    *number -= of_one;
                }
                *range = left;
                while *range < 1 << 24 {
                    *range <<= 8;
                    *number = *number << 8 | u32::from(next(rest));
                }
            }
        }
        model.learn(bit);
        bit
    }
}

fn next(rest: &mut &[u8]) -> u8 {
    let Some((first, others)) = rest.split_first() else {
        return 0;
    };
    *rest = others;
    *first
}

/// Adds a number to the last four digits, with carries into the digits before.
fn add(digits: &mut [u8], number: u32) {
    let mut carry = u64::from(number);
    for digit in digits.iter_mut().rev() {
        carry += u64::from(*digit);
        *digit = carry as u8;
        carry >>= 8;
    }
}

/// The bytes of the number in the interval that ends in the most zero bits, without zero bytes at its end.
fn finished(mut digits: Vec<u8>, range: u32) -> Vec<u8> {
    let last = u64::from(u32::from_be_bytes(from_fn(|i| {
        digits[digits.len() - 4 + i]
    })));
    let end = last + u64::from(range);
    let zeros = (0..=32u32).rev().find(|zeros| {
        let unit = 1u64 << zeros;
        last.div_ceil(unit) * unit < end
    });
    let unit = 1u64 << zeros.unwrap_or(0);
    add(&mut digits, (last.div_ceil(unit) * unit - last) as u32);
    while digits.last() == Some(&0) {
        digits.pop();
    }
    digits
}

fn encode_part(symbols: &[u32], size: [usize; 2], classes: u32) -> Vec<u8> {
    let mut coder = Coder::Write {
        digits: vec![0; 4],
        range: u32::MAX,
    };
    let mut symbols = symbols.to_vec();
    code_part(&mut coder, &mut symbols, size, classes);
    match coder {
        Coder::Write { digits, range } => finished(digits, range),
        Coder::Read { .. } => Vec::new(),
    }
}

fn decode_part(bytes: &[u8], count: usize, size: [usize; 2], classes: u32) -> Vec<u32> {
    let mut rest = bytes;
    let number = u32::from_be_bytes(from_fn(|_| next(&mut rest)));
    let mut coder = Coder::Read {
        rest,
        range: u32::MAX,
        number,
    };
    let mut symbols = vec![0; count];
    code_part(&mut coder, &mut symbols, size, classes);
    symbols
}

/// What a decoder knows of a part before a word of it: which elements before it are masked.
struct Neighbours<'a> {
    known: &'a [bool],
    row: usize,
    slice: usize,
}

impl Neighbours<'_> {
    fn last(&self) -> bool {
        self.known.last().copied().unwrap_or(false)
    }

    fn back(&self, i: usize, distance: usize) -> bool {
        let at = i.checked_sub(distance);
        at.and_then(|at| self.known.get(at))
            .copied()
            .unwrap_or(false)
    }

    fn above(&self, i: usize) -> bool {
        match self.known.len() >= self.row {
            true => self.back(i, self.row),
            false => self.last(),
        }
    }

    /// The numbers of the model of an element, behind one that is masked or not.
    fn model(&self, i: usize, last: bool) -> [usize; 2] {
        let Self { known, row, slice } = *self;
        let before = self.last();
        let [north, left, right] = match known.len() >= row {
            true => [row, row + 1, row - 1].map(|distance| self.back(i, distance)),
            false => [before; 3],
        };
        let [behind, behind_right, behind_south] = match known.len() >= slice {
            true => [slice, slice - 1, slice - row].map(|distance| self.back(i, distance)),
            false => [north, right, north],
        };
        let near = 4 * usize::from(last) + 2 * usize::from(north) + usize::from(behind);
        let far = [left, right, behind_right, behind_south];
        [near, far.iter().filter(|bit| **bit).count()]
    }
}

/// Codes the symbols of a part whose rows and slices have these sizes, 32 at a time.
fn code_part(coder: &mut Coder<'_>, symbols: &mut [u32], [row, slice]: [usize; 2], classes: u32) {
    let (mut flags, mut bits) = ([Model::NEW; 8], [[Model::NEW; 5]; 8]);
    let (mut all_last, mut steps) = ([Model::NEW; 2], [[Model::NEW; 2]; 6]);
    let (mut same, mut same_before) = (0, 0);
    let mut last_class = 1;
    for first in (0..symbols.len()).step_by(32) {
        let end = symbols.len().min(first + 32);
        // A decoder of this word knows only the elements before it.
        let known: Vec<bool> = symbols[..first].iter().map(|symbol| *symbol > 0).collect();
        let known = Neighbours {
            known: &known,
            row,
            slice,
        };
        let is_uniform = (first..end).all(|i| known.above(i) == known.above(first));
        let is_same = (first..end).all(|i| (symbols[i] > 0) == known.above(i));
        let flag = 4 * usize::from(is_uniform) + 2 * same_before + same;
        let is_same = coder.bit(&mut flags[flag], is_same);
        (same_before, same) = (same, usize::from(is_same));
        let mut masked = Vec::new();
        for (i, symbol) in (first..end).zip(&symbols[first..end]) {
            if is_same {
                masked.push(known.above(i));
                continue;
            }
            let last = masked.last().copied().unwrap_or(known.last());
            let [near, far] = known.model(i, last);
            masked.push(coder.bit(&mut bits[near][far], *symbol > 0));
        }
        let count = masked.iter().filter(|masked| **masked).count();
        let is_last = (first..end).all(|i| !masked[i - first] || symbols[i] == last_class);
        let is_last =
            classes <= 1 || count > 0 && coder.bit(&mut all_last[usize::from(count == 1)], is_last);
        for (symbol, is_masked) in symbols[first..end].iter_mut().zip(masked) {
            if !is_masked {
                *symbol = 0;
                continue;
            }
            if !is_last {
                let mut class = 1;
                while class < classes {
                    let model = &mut steps[class as usize - 1][usize::from(last_class == class)];
                    if !coder.bit(model, *symbol > class) {
                        break;
                    }
                    class += 1;
                }
                last_class = class;
            }
            *symbol = last_class;
        }
    }
}
