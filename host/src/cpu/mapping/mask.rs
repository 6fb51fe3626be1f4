//! Masks: the chunks of the mask of a field, and its classes laid over decoded values.

use crate::cpu::lanes::Lanes;
use crate::cpu::mapping::signs;
use crate::cpu::output::Output;
use crate::cpu::version::{Version, Work};
use crate::encoded::EncodedChunks;
use crate::error::Error;
use crate::parallel;
use crate::stream_ref::{StoredChunk, StreamRef};
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::table::CHUNK_ALIGNMENT;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::mapping::mask::arithmetic::{Decoder, Encoder, Model};
use ferrosz_codec::mapping::mask::part::{
    MODELS, PartBox, PartCoder, WORD, class_bit, class_of, code_part,
};
use ferrosz_codec::mapping::mask::signs::SignForm;
use ferrosz_codec::mapping::mask::{CHUNK_PARTS, Classes, MaskLayout, PartForm, read_heads};
use ferrosz_codec::{Element, FormatError};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// The chunks of the mask of a field; none without classes.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(crate) fn encode_mask<T: Element>(
    layout: &Layout,
    classes: &Classes,
    values: &[T],
) -> Result<EncodedChunks, Error> {
    let mut chunks = EncodedChunks::default();
    let Some(mask) = layout.mask() else {
        return Ok(chunks);
    };
    let encode = |chunk| {
        let parts = mask.parts(chunk).map(|part| mask.part(part));
        encode_chunk(
            &mask,
            parts.map(|part| planes_of(&mask, classes, &part, values)),
        )
    };
    let encoded = parallel::map(0..mask.chunks(), encode);
    for (number, (form, bytes)) in (layout.field_entries()..).zip(encoded) {
        chunks.push(number, form, &bytes)?;
    }
    Ok(chunks)
}

/// A chunk of the mask with these parts.
fn encode_chunk(mask: &MaskLayout, parts: impl Iterator<Item = Planes>) -> (Form, Vec<u8>) {
    let mut image = vec![0; mask.heads_bytes() as usize];
    let parts: Vec<Planes> = parts.collect();
    let put_head = |image: &mut Vec<u8>, number: usize, head: u16| {
        image[2 * number..2 * number + 2].copy_from_slice(&head.to_le_bytes());
        head != 0
    };
    let mut has_any = false;
    for (number, planes) in (CHUNK_PARTS as usize..)
        .zip(&parts)
        .filter(|_| mask.has_signs)
    {
        let form = signs::encode(&planes.part, planes.signs(mask), &mut image);
        has_any |= put_head(&mut image, number, form.head());
    }
    for (number, planes) in parts.into_iter().enumerate() {
        let form = encode_part(mask, planes, &mut image);
        has_any |= put_head(&mut image, number, form.head());
    }
    if !has_any {
        return (Form::Zero, Vec::new());
    }
    image.resize(image.len().next_multiple_of(CHUNK_ALIGNMENT as usize), 0);
    (Form::Coded, image)
}

/// The bytes that a part with these values has in its chunk.
pub(crate) fn part_bytes<T: Element>(
    mask: &MaskLayout,
    classes: &Classes,
    part: &ChunkBox,
    values: &[T],
) -> u64 {
    let mut planes = Planes::new(mask, PartBox::new(part));
    planes.set_row(classes, 0, values);
    let mut image = Vec::new();
    if mask.has_signs {
        signs::encode(&planes.part, planes.signs(mask), &mut image);
    }
    encode_part(mask, planes, &mut image);
    image.len() as u64
}

/// Appends the bytes of the classes of a part to a chunk.
fn encode_part(mask: &MaskLayout, planes: Planes, image: &mut Vec<u8>) -> PartForm {
    if planes.is_empty() {
        return PartForm::Empty;
    }
    let part = planes.part;
    let start = image.len();
    let mut writer = Writer {
        planes,
        symbols: Vec::with_capacity(part.elements as usize + WORD as usize),
    };
    code_part(&mut writer, &part, mask.classes);
    let Writer { planes, symbols } = writer;
    encode_symbols(&symbols, image);
    while image.len() > start && image.last() == Some(&0) {
        image.pop();
    }
    let length = (image.len() - start) as u32;
    if length < mask.raw_bytes(&part) {
        return PartForm::Coded(length);
    }
    image.truncate(start);
    let raw = planes.words.iter().flat_map(|word| word.to_le_bytes());
    image.extend(raw.take(mask.raw_bytes(&part) as usize));
    PartForm::Raw
}

/// The planes of a part, one after the other, that of the signs last.
struct Planes {
    part: PartBox,
    /// Classes with a value.
    fills: u32,
    /// Their planes.
    class_planes: u32,
    words: Vec<u32>,
}

impl Planes {
    fn new(mask: &MaskLayout, part: PartBox) -> Self {
        Self {
            part,
            fills: mask.classes,
            class_planes: mask.class_planes(),
            words: vec![0; (mask.planes() * part.words()) as usize],
        }
    }

    /// The words of the signs of a mask that has any.
    fn signs(&self, mask: &MaskLayout) -> &[u32] {
        &self.words[self.at(mask.class_planes(), 0)..]
    }

    fn at(&self, plane: u32, word: u32) -> usize {
        (plane * self.part.words() + word) as usize
    }

    /// Whether no element belongs to a class with a value.
    fn is_empty(&self) -> bool {
        let words = self.part.words() as usize;
        self.words[..words].iter().all(|word| *word == 0)
    }

    /// Sets the classes of the elements from this one on, which have none so far.
    #[inline(always)]
    fn set_row<T: Element>(&mut self, classes: &Classes, first: u32, values: &[T]) {
        for (values, first) in values
            .chunks(WORD as usize)
            .zip((first..).step_by(WORD as usize))
        {
            // One class after the other: most fields have few.
            let mut known = 0;
            for (fill, class) in classes.fills().iter().zip(1..) {
                let of_fill = bits_of(values, |value| value.to_bits64() == *fill);
                self.add(first, of_fill, class);
                known |= of_fill;
            }
            if classes.has_signs() {
                let negative = bits_of(values, |value| classes.has_sign(value));
                self.add_to(self.class_planes, first, negative & !known);
            }
        }
    }

    /// Adds elements to a class: those of the bits of `members`, the lowest one for element `first`.
    fn add(&mut self, first: u32, members: u32, class: u32) {
        for plane in (0..self.class_planes).filter(|plane| class_bit(class, *plane) == 1) {
            self.add_to(plane, first, members);
        }
    }

    /// Sets bits of a plane, the lowest one for element `first`.
    fn add_to(&mut self, plane: u32, first: u32, members: u32) {
        if members == 0 {
            return;
        }
        let (at, shift) = (self.at(plane, first / WORD), first % WORD);
        let halves = u64::from(members) << shift;
        self.words[at] |= halves as u32;
        // Members are elements of the part, so the next word is there where it gets bits.
        if halves >> WORD != 0 {
            self.words[at + 1] |= (halves >> WORD) as u32;
        }
    }

    /// Sets the class of an element, counted from 1, or 0.
    fn set(&mut self, element: u32, class: u32) {
        let (word, bit) = (element / WORD, element % WORD);
        let is_negative = class > self.fills;
        let planes = self.words.len() as u32 / self.part.words();
        for plane in 0..planes {
            let is_set = match is_negative {
                _ if plane == self.class_planes => u32::from(is_negative),
                true => 0,
                false => class_bit(class, plane),
            };
            let at = self.at(plane, word);
            self.words[at] = self.words[at] & !(1 << bit) | is_set << bit;
        }
    }

    /// The class of an element, counted from 1; 0 if it has none.
    fn class(&self, element: u32) -> u32 {
        let (word, bit) = (element / WORD, element % WORD);
        let has = |plane| self.words[self.at(plane, word)] >> bit & 1;
        // A damaged mask may have classes that there are not.
        match class_of(self.class_planes, has).min(self.fills) {
            0 if self.words.len() > self.at(self.class_planes, 0) => {
                has(self.class_planes) * (self.fills + 1)
            }
            class => class,
        }
    }
}

/// A bit for each of at most 32 values.
#[inline(always)]
fn bits_of<T: Element>(values: &[T], has: impl Fn(T) -> bool) -> u32 {
    let mut bits = 0;
    for (bit, value) in values.iter().enumerate() {
        bits |= u32::from(has(*value)) << bit;
    }
    bits
}

/// The planes of a part of a field.
fn planes_of<T: Element>(
    mask: &MaskLayout,
    classes: &Classes,
    part: &ChunkBox,
    values: &[T],
) -> Planes {
    let mut planes = Planes::new(mask, PartBox::new(part));
    Version::best().run_apart(SetRows {
        grid: &mask.grid,
        classes,
        part,
        values,
        planes: &mut planes,
    });
    planes
}

/// Sets the classes of the elements of a part.
struct SetRows<'a, T> {
    grid: &'a Grid,
    classes: &'a Classes,
    part: &'a ChunkBox,
    values: &'a [T],
    planes: &'a mut Planes,
}

impl<T: Element> Work for SetRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        for (elements, row) in rows(self.part) {
            let at = self.grid.flat(row) as usize;
            let values = &self.values[at..at + elements.len()];
            (self.planes).set_row(self.classes, elements.start, values);
        }
    }
}

/// The rows of a part: the numbers of their elements in the part, and their positions in the field.
fn rows(part: &ChunkBox) -> impl Iterator<Item = (Range<u32>, [u64; 3])> {
    let [depth, height, width] = part.extents;
    let [z, y, x] = part.origin;
    (0..depth * height).map(move |row| {
        let at = [z + u64::from(row / height), y + u64::from(row % height), x];
        (row * width..(row + 1) * width, at)
    })
}

/// The bits of a part, and their models. They are encoded together: a short loop keeps the encoder in registers.
struct Writer {
    planes: Planes,
    /// The number of the model, and in the lowest place the bit.
    symbols: Vec<u8>,
}

const _: () = assert!(MODELS <= 1 << 7, "a symbol is a byte");

impl PartCoder for Writer {
    fn word(&self, plane: u32, word: u32) -> u32 {
        self.planes.words[self.planes.at(plane, word)]
    }

    fn set_word(&mut self, _: u32, _: u32, _: u32) {}

    fn code(&mut self, model: u32, bit: bool) -> bool {
        self.symbols.push((model << 1 | u32::from(bit)) as u8);
        bit
    }
}

/// Appends the bytes of symbols.
fn encode_symbols(symbols: &[u8], bytes: &mut Vec<u8>) {
    let mut models = [Model::NEW; 1 << 7];
    let mut encoder = Encoder::default();
    for symbol in symbols {
        let (model, bit) = (&mut models[usize::from(symbol >> 1)], symbol & 1 == 1);
        encoder.put_bit(*model, bit, &mut |byte| bytes.push(byte));
        *model = model.after(bit);
    }
    encoder.finish(&mut |byte| bytes.push(byte));
}

/// Decodes the planes of a part.
struct Reader<I> {
    planes: Planes,
    models: [Model; MODELS as usize],
    decoder: Decoder,
    bytes: I,
}

impl<I: Iterator<Item = u8>> PartCoder for Reader<I> {
    fn word(&self, plane: u32, word: u32) -> u32 {
        self.planes.words[self.planes.at(plane, word)]
    }

    fn set_word(&mut self, plane: u32, word: u32, bits: u32) {
        let at = self.planes.at(plane, word);
        self.planes.words[at] = bits;
    }

    fn code(&mut self, model: u32, _: bool) -> bool {
        let model = &mut self.models[model as usize];
        let bit = self
            .decoder
            .bit(*model, &mut || self.bytes.next().unwrap_or(0));
        *model = model.after(bit);
        bit
    }
}

/// The forms and the bytes of a part: of its classes, and of its signs.
#[derive(Clone, Copy)]
struct StoredPart<'a> {
    classes: (PartForm, &'a [u8]),
    signs: (SignForm, &'a [u8]),
}

impl StoredPart<'_> {
    /// Whether no element belongs to a class.
    fn is_empty(&self) -> bool {
        self.classes.0 == PartForm::Empty && self.signs.0 == SignForm::None
    }
}

/// The planes of a part from its bytes.
fn decode_part(mask: &MaskLayout, part: &ChunkBox, stored: StoredPart<'_>) -> Planes {
    let part = PartBox::new(part);
    let mut planes = Planes::new(mask, part);
    if mask.has_signs {
        let (form, bytes) = stored.signs;
        let first = planes.at(mask.class_planes(), 0);
        signs::decode(&part, form, bytes, &mut planes.words[first..]);
    }
    let (form, bytes) = stored.classes;
    match form {
        PartForm::Empty => planes,
        PartForm::Raw => {
            for (word, bytes) in planes.words.iter_mut().zip(bytes.as_chunks().0) {
                *word = u32::from_le_bytes(*bytes);
            }
            planes
        }
        PartForm::Coded(_) => {
            let mut bytes = bytes.iter().copied();
            let decoder = Decoder::new(&mut || bytes.next().unwrap_or(0));
            let mut reader = Reader {
                planes,
                models: [Model::NEW; MODELS as usize],
                decoder,
                bytes,
            };
            code_part(&mut reader, &part, mask.classes);
            reader.planes
        }
    }
}

/// The numbers of the chunks of a mask that have an element of a region.
pub(crate) fn chunks_of(mask: &MaskLayout, region: &Region) -> BTreeSet<u64> {
    let parts = region.chunk_numbers(&mask.grid);
    parts.map(|part| part / u64::from(CHUNK_PARTS)).collect()
}

/// Decodes the chunks of a stream's mask.
pub(crate) struct MaskDecoder<'a> {
    stream: &'a StreamRef<'a>,
    mask: MaskLayout,
    verify: bool,
}

impl<'a> MaskDecoder<'a> {
    /// The decoder of a stream's mask; none if it has no mask.
    pub(crate) fn new(stream: &'a StreamRef<'a>, verify: bool) -> Option<Self> {
        let mask = stream.header.layout().mask()?;
        Some(Self {
            stream,
            mask,
            verify,
        })
    }

    /// The number of a chunk's entry in the chunk table.
    fn entry(&self, chunk: u64) -> u64 {
        self.stream.header.layout().field_entries() + chunk
    }

    /// The parts of a chunk.
    fn parts(&self, chunk: u64) -> Result<[StoredPart<'a>; CHUNK_PARTS as usize], FormatError> {
        let number = self.entry(chunk);
        let StoredChunk { entry, seed, bytes } = self.stream.chunk(number)?;
        if self.verify && checksum(seed, bytes) != entry.checksum {
            return Err(ChunkFault::Checksum.in_chunk(number));
        }
        let parts = read_heads(&self.mask, chunk, entry.form, bytes);
        let parts = parts.map_err(|fault| fault.in_chunk(number))?;
        let stored = |range: Range<u32>| &bytes[range.start as usize..range.end as usize];
        Ok(parts.map(|part| StoredPart {
            classes: (part.classes.0, stored(part.classes.1)),
            signs: (part.signs.0, stored(part.signs.1)),
        }))
    }

    /// The faults of chunks that cannot be decoded, with the numbers of their entries.
    pub(crate) fn check(&self) -> Vec<(u64, FormatError)> {
        let faults = parallel::map(0..self.mask.chunks(), |chunk| {
            let fault = self.parts(chunk).err()?;
            Some((self.entry(chunk), fault))
        });
        faults.into_iter().flatten().collect()
    }

    /// Makes holes of the elements of the coded field that belong to the classes of fill values: `values` are those of rows, one
    /// behind the other.
    ///
    /// # Errors
    ///
    /// The fault of the first chunk that cannot be decoded.
    pub(crate) fn put_holes<T: Element>(
        &self,
        rows: impl Iterator<Item = Range<u64>>,
        values: &mut [T],
    ) -> Result<(), FormatError> {
        let grid = &self.mask.grid;
        let mut known = HashMap::new();
        for (flat, value) in rows.flatten().zip(values) {
            let at = grid.position(flat);
            let (number, inside) = grid.chunk_of(at);
            let planes = match known.entry(number) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(self.planes(number)?),
            };
            if self.stream.mapping.classes.is_fill(planes.class(inside)) {
                *value = T::HOLE;
            }
        }
        Ok(())
    }

    /// The planes of a part.
    fn planes(&self, number: u64) -> Result<Planes, FormatError> {
        let parts = self.parts(number / u64::from(CHUNK_PARTS))?;
        let stored = parts[(number % u64::from(CHUNK_PARTS)) as usize];
        Ok(decode_part(&self.mask, &self.mask.part(number), stored))
    }

    /// The parts of the mask.
    pub(crate) fn grid(&self) -> &Grid {
        &self.mask.grid
    }

    /// The numbers of the chunks that have an element of a region.
    pub(crate) fn chunks_of(&self, region: &Region) -> BTreeSet<u64> {
        chunks_of(&self.mask, region)
    }

    /// The boxes of the parts of the chunk with this entry; none if it is an entry of the field.
    pub(crate) fn boxes_of(&self, entry: u64) -> Option<Vec<ChunkBox>> {
        let chunk = entry.checked_sub(self.entry(0))?;
        Some(
            self.mask
                .parts(chunk)
                .map(|part| self.mask.part(part))
                .collect(),
        )
    }

    /// A chunk after the elements of regions were replaced by `values`, those of one region after the other: the
    /// number of its entry, and its bytes.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if the chunk is damaged.
    pub(crate) fn recode<T: Element>(
        &self,
        chunk: u64,
        regions: &[Region],
        values: &[T],
    ) -> Result<(u64, Form, Vec<u8>), FormatError> {
        let parts = self.parts(chunk)?;
        let mut all = Vec::new();
        for (number, stored) in self.mask.parts(chunk).zip(parts) {
            let part = self.mask.part(number);
            let mut planes = decode_part(&self.mask, &part, stored);
            let mut rest = values;
            for region in regions {
                self.replace(&part, region, rest, &mut planes);
                rest = &rest[region.elements() as usize..];
            }
            all.push(planes);
        }
        let (form, bytes) = encode_chunk(&self.mask, all.into_iter());
        Ok((self.entry(chunk), form, bytes))
    }

    /// Sets the classes of the elements of a part that are in a region.
    fn replace<T: Element>(
        &self,
        part: &ChunkBox,
        region: &Region,
        values: &[T],
        planes: &mut Planes,
    ) {
        for (elements, row) in rows(part) {
            let first = self.mask.grid.flat(row);
            region.cut(first, u64::from(part.extents[2]), |run, at| {
                let numbers = elements.start + run.start as u32..elements.start + run.end as u32;
                for (element, value) in numbers.zip(&values[at as usize..]) {
                    planes.set(element, self.stream.mapping.classes.of(*value));
                }
            });
        }
    }

    /// Writes the values of the classes over the elements of a region, which is one of the mask's dimensions. Returns
    /// the faults of chunks that cannot be decoded, with the numbers of their entries.
    pub(crate) fn lay_over<T: Element>(
        &self,
        region: &Region,
        values: &mut [T],
    ) -> Vec<(u64, FormatError)> {
        let output = Output::new(values);
        // The chunks of the region, with the numbers of their parts there.
        let mut chunks = BTreeMap::<u64, Vec<u64>>::new();
        for part in region.chunk_numbers(&self.mask.grid) {
            chunks
                .entry(part / u64::from(CHUNK_PARTS))
                .or_default()
                .push(part);
        }
        let chunks: Vec<_> = chunks.into_iter().collect();
        let faults = parallel::map(chunks.iter(), |(chunk, wanted)| {
            let result = self.lay_chunk_over(*chunk, wanted, region, &output);
            result.err().map(|fault| (self.entry(*chunk), fault))
        });
        faults.into_iter().flatten().collect()
    }

    fn lay_chunk_over<T: Element>(
        &self,
        chunk: u64,
        wanted: &[u64],
        region: &Region,
        output: &Output<'_, T>,
    ) -> Result<(), FormatError> {
        let parts = self.parts(chunk)?;
        for number in wanted {
            let stored = parts[(number % u64::from(CHUNK_PARTS)) as usize];
            if stored.is_empty() {
                continue;
            }
            let part = self.mask.part(*number);
            let planes = decode_part(&self.mask, &part, stored);
            for (elements, row) in rows(&part) {
                let first = self.mask.grid.flat(row);
                let width = u64::from(part.extents[2]);
                region.cut(first, width, |run, at| {
                    // SAFETY: these are elements of this part, which no other part has.
                    let values = unsafe { output.part(at, run.end - run.start) };
                    let numbers = elements.start + run.start as u32..;
                    for (value, element) in values.iter_mut().zip(numbers) {
                        match planes.class(element) {
                            0 => {}
                            class => {
                                *value = self.stream.mapping.classes.overlay(class, *value);
                            }
                        }
                    }
                });
            }
        }
        Ok(())
    }
}
