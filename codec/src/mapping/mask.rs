//! Masks: elements that belong to a *class*, such as a fill value, which is stored apart (FORMAT.md, section 23).
//!
//! The coded field has another value in place of such an element, which suits its predictor ([`fill`], [`shell`]), or a *hole*:
//! [`Element::HOLE`]. An encoder predicts over holes and stores nothing for them. A decoder writes the class's value
//! over its decoded value. So the mask is an overlay, and a decoder of the coded field does not know it.
//!
//! The field is cut into boxes of at most 8192 elements, its *parts*. The mask of a part is coded without reference to
//! other parts. Eight parts are a *mask chunk*. The chunk table has an entry for each mask chunk, behind the entries of
//! the field's chunks.

use crate::container::chunk::Form;
use crate::container::extents::Extents;
use crate::container::grid::{ChunkBox, Grid};
use crate::container::record;
use crate::container::record_kind::RecordKind;
use crate::container::table::{CHUNK_ALIGNMENT, ENTRY_BYTES};
use crate::element::{Dtype, Element};
use crate::error::{ChunkFault, FormatError};
use crate::mapping::mask::part::{PartBox, class_planes};
use crate::mapping::mask::signs::SignForm;
use crate::shape::Shape;
use core::ops::Range;

pub mod arithmetic;
pub mod fill;
pub mod part;
pub mod shell;
pub mod signs;

/// The most classes of a mask.
pub const MAX_CLASSES: usize = 7;

/// Parts of a mask chunk.
pub const CHUNK_PARTS: u32 = 8;

/// Bytes of the heads of a mask chunk's parts, or of those of their signs: 16 bits each.
pub const HEADS_BYTES: u32 = 2 * CHUNK_PARTS;

/// The head of a part whose planes are stored word by word.
pub const RAW_HEAD: u16 = u16::MAX;

/// Bytes of a class in the record.
const CLASS_BYTES: usize = 16;

/// The first word of the value of a class, counted from 1, in the record of the classes: behind the record's head, and
/// the kind of the class.
#[inline(always)]
pub const fn value_word(class: u32) -> u64 {
    let first = (record::HEAD_BYTES / 4 + 2) as u64;
    first + (CLASS_BYTES / 4) as u64 * (class as u64 - 1)
}

/// The word of the kind of a class, counted from 1, in the record of the classes.
#[inline(always)]
pub const fn kind_word(class: u32) -> u64 {
    value_word(class) - 2
}

/// The kind of a class in the record: a value that comes back bit for bit.
const FILL: u32 = 1;

/// The kind of the class of negative elements.
pub const NEGATIVE: u32 = 2;

/// The number of classes of a mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassCount {
    /// Classes with a value.
    pub fills: u8,
    /// Whether negative elements are a class, too.
    pub has_signs: bool,
}

impl ClassCount {
    /// The bit of the header's byte that is set with a class of negative elements.
    const SIGNS: u8 = 8;

    /// The most classes of a mask with signs or without.
    pub const fn most(has_signs: bool) -> Self {
        Self {
            fills: MAX_CLASSES as u8 - has_signs as u8,
            has_signs,
        }
    }

    /// All classes; 0 without a mask.
    #[inline(always)]
    pub const fn all(self) -> u8 {
        self.fills + self.has_signs as u8
    }

    /// The byte of the header.
    pub const fn to_byte(self) -> u8 {
        self.all() + Self::SIGNS * self.has_signs as u8
    }

    /// The number that a byte of the header means, if it means any.
    pub fn from_byte(byte: u8) -> Option<Self> {
        let has_signs = byte & Self::SIGNS != 0;
        let all = byte & !Self::SIGNS;
        let fills = all.checked_sub(u8::from(has_signs))?;
        (usize::from(all) <= MAX_CLASSES).then_some(Self { fills, has_signs })
    }
}

/// The classes of a mask: values that come back bit for bit, and, behind them, possibly the class of all other negative
/// elements. An element belongs to the first class that it fits.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Classes {
    /// The values' bits, and behind them the first one again.
    fills: [u64; MAX_CLASSES],
    /// Values among the classes.
    fill_count: u8,
    has_signs: bool,
}

impl Classes {
    /// The classes of these values, given as bits of the element type. The hole is always among them, as an encoder
    /// could not tell it from an element otherwise; so it is added. None if they are more than [`MAX_CLASSES`]. No
    /// values are no classes.
    pub fn new<T: Element>(fills: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut classes = Self::default();
        for bits in fills {
            classes = classes.with(bits)?;
        }
        match classes.fill_count {
            0 => Some(classes),
            _ => classes.with(T::HOLE.to_bits64()),
        }
    }

    /// These classes and another value; the same if they have it.
    fn with(mut self, bits: u64) -> Option<Self> {
        if !self.fills().contains(&bits) {
            *self.fills.get_mut(usize::from(self.fill_count))? = bits;
            self.fill_count += 1;
            let [first, ..] = self.fills;
            self.fills[usize::from(self.fill_count)..].fill(first);
        }
        Some(self)
    }

    /// These classes and that of the finite elements with a sign. None if they are more than [`MAX_CLASSES`].
    pub fn with_signs(self) -> Option<Self> {
        let has_room = usize::from(self.fill_count) < MAX_CLASSES;
        has_room.then_some(Self {
            has_signs: true,
            ..self
        })
    }

    /// The values' bits, in order.
    #[inline(always)]
    pub fn fills(&self) -> &[u64] {
        &self.fills[..usize::from(self.fill_count)]
    }

    /// Whether there is a class of negative elements. Then the signs of all finite elements come back.
    #[inline(always)]
    pub const fn has_signs(&self) -> bool {
        self.has_signs
    }

    /// The number of classes.
    #[inline(always)]
    pub const fn count(&self) -> ClassCount {
        ClassCount {
            fills: self.fill_count,
            has_signs: self.has_signs,
        }
    }

    /// Whether an element has the bits of a value.
    #[inline(always)]
    pub fn has_fill<T: Element>(&self, value: T) -> bool {
        let is_any = |found, fill: &u64| found | is_equal(*fill, value);
        self.fill_count > 0 && self.fills.iter().fold(false, is_any)
    }

    /// Whether an element belongs to the class of negative elements, if it has the bits of no value.
    #[inline(always)]
    pub fn has_sign<T: Element>(&self, value: T) -> bool {
        self.has_signs && value.is_finite() && value.to_bits64() & T::SIGN_BIT != 0
    }

    /// The number of the class of an element, counted from 1; 0 if it belongs to none.
    #[inline(always)]
    pub fn of<T: Element>(&self, value: T) -> u32 {
        let mut class = match self.has_sign(value) {
            true => u32::from(self.count().all()),
            false => 0,
        };
        for (index, fill) in self.fills.iter().enumerate().rev() {
            if self.fill_count > 0 && is_equal(*fill, value) {
                class = 1 + index as u32;
            }
        }
        class
    }

    /// Whether the elements of class `number`, counted from 1, are missing in the coded field.
    #[inline(always)]
    pub const fn is_fill(&self, number: u32) -> bool {
        number > 0 && number <= self.fill_count as u32
    }

    /// An element of class `number`, counted from 1, whose decoded value is `decoded`.
    #[inline(always)]
    pub fn overlay<T: Element>(&self, number: u32, decoded: T) -> T {
        match self.fills().get((number as usize).wrapping_sub(1)) {
            Some(bits) => T::from_bits64(*bits),
            None => T::from_bits64(decoded.to_bits64() | T::SIGN_BIT),
        }
    }

    /// Bytes of the record of so many classes; 0 without a mask.
    pub const fn record_bytes(count: ClassCount) -> u64 {
        match count.all() {
            0 => 0,
            all => (CLASS_BYTES * (all as usize + 1)) as u64,
        }
    }

    /// The record of the classes; no bytes without a mask.
    #[cfg(feature = "alloc")]
    pub fn to_records(&self) -> alloc::vec::Vec<u8> {
        if self.count().all() == 0 {
            return alloc::vec::Vec::new();
        }
        let mut contents = alloc::vec::Vec::new();
        let fills = self.fills().iter().map(|bits| (FILL, *bits));
        for (kind, bits) in fills.chain(self.has_signs.then_some((NEGATIVE, 0))) {
            contents.extend(kind.to_le_bytes());
            contents.extend([0; 4]);
            contents.extend(bits.to_le_bytes());
        }
        let record = record::Record {
            kind: RecordKind::MASK,
            contents: &contents,
        };
        record::to_bytes(&[record])
    }

    /// The classes of a stream with these records, which must be whole, and with classes `count` by its header.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidRecords`] if the records have no such mask.
    pub fn from_records(
        records: &[u8],
        count: ClassCount,
        dtype: Dtype,
    ) -> Result<Self, FormatError> {
        let disagree =
            FormatError::InvalidRecords("the mask does not have the classes of the header");
        let mut found = None;
        let mut rest = records;
        while let Some(record) = record::take(&mut rest) {
            if record.kind == RecordKind::MASK && found.replace(record.contents).is_some() {
                return Err(FormatError::InvalidRecords("there are two masks"));
            }
        }
        let contents = found.unwrap_or_default();
        let all = usize::from(count.all());
        if contents.len() != CLASS_BYTES * all || found.is_some() != (all > 0) {
            return Err(disagree);
        }
        let mut classes = Self::default();
        for class in contents.as_chunks::<CLASS_BYTES>().0 {
            let [kind, zero, low, high] = words_of(class);
            let bits = u64::from(low) | u64::from(high) << 32;
            let is_of_type = with_element!(dtype, E => E::from_bits64(bits).to_bits64() == bits);
            let known = classes.count();
            if zero == 0 && kind == FILL && is_of_type && !classes.has_signs {
                classes = classes.with(bits).unwrap_or(classes);
            } else if zero == 0 && kind == NEGATIVE && bits == 0 {
                classes = classes.with_signs().unwrap_or(classes);
            } else {
                return Err(FormatError::InvalidRecords("an unknown class of a mask"));
            }
            if classes.count() == known {
                return Err(FormatError::InvalidRecords(
                    "two classes of a mask are equal",
                ));
            }
        }
        let agree = classes.count() == count;
        agree.then_some(classes).ok_or(disagree)
    }
}

/// Whether an element has these bits. In words, as a GPU compares them.
#[inline(always)]
fn is_equal<T: Element>(bits: u64, value: T) -> bool {
    let [low, high] = value.to_words();
    bits as u32 == low && (T::WORDS == 1 || (bits >> 32) as u32 == high)
}

fn words_of(bytes: &[u8; CLASS_BYTES]) -> [u32; 4] {
    let (words, _) = bytes.as_chunks::<4>();
    core::array::from_fn(|i| u32::from_le_bytes(words[i]))
}

/// The parts and chunks of the mask of a field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaskLayout {
    /// The parts: the chunks of cubes, or of fewer dimensions if the field has fewer.
    pub grid: Grid,
    /// Classes with a value.
    pub classes: u32,
    /// Whether negative elements are a class.
    pub has_signs: bool,
}

impl MaskLayout {
    /// The mask of a field with these extents.
    pub fn new(extents: &Extents, classes: ClassCount) -> Self {
        Self {
            grid: Grid::new(Shape::Cube, extents),
            classes: u32::from(classes.fills),
            has_signs: classes.has_signs,
        }
    }

    /// Chunks of the mask.
    #[inline(always)]
    pub fn chunks(&self) -> u64 {
        self.grid.chunk_count().div_ceil(u64::from(CHUNK_PARTS))
    }

    /// The numbers of the parts of a chunk.
    #[inline(always)]
    pub fn parts(&self, chunk: u64) -> Range<u64> {
        let first = chunk * u64::from(CHUNK_PARTS);
        first..self.grid.chunk_count().min(first + u64::from(CHUNK_PARTS))
    }

    /// The box of a part.
    #[inline(always)]
    pub fn part(&self, part: u64) -> ChunkBox {
        self.grid.chunk(part)
    }

    /// The most words of a plane of a part: those of the first part, which is the largest.
    pub fn plane_words(&self) -> u32 {
        PartBox::new(&self.part(0)).words()
    }

    /// Planes of the classes with a value of a part. That of its signs, if there is one, follows them.
    #[inline(always)]
    pub const fn class_planes(&self) -> u32 {
        1 + class_planes(self.classes)
    }

    /// All planes of a part.
    #[inline(always)]
    pub const fn planes(&self) -> u32 {
        self.class_planes() + self.has_signs as u32
    }

    /// Bytes of a chunk before those of its parts.
    #[inline(always)]
    pub const fn heads_bytes(&self) -> u32 {
        HEADS_BYTES << self.has_signs as u32
    }

    /// The most bytes of the classes of a part: those of their raw planes.
    #[inline(always)]
    pub const fn raw_bytes(&self, part: &PartBox) -> u32 {
        4 * self.class_planes() * part.words()
    }

    /// The most bytes of a chunk.
    pub fn max_chunk_bytes(&self, chunk: u64) -> u64 {
        let parts = self.parts(chunk).map(|part| {
            let part = PartBox::new(&self.part(part));
            u64::from(4 * self.planes() * part.words())
        });
        (u64::from(self.heads_bytes()) + parts.sum::<u64>()).next_multiple_of(CHUNK_ALIGNMENT)
    }

    /// A strict upper bound on the bytes of all chunks and their entries; none if it does not fit in a `u64`.
    pub fn max_bytes(&self) -> Option<u64> {
        let parts = self.grid.sum_over_chunks(|elements| {
            4 * u64::from(self.planes()) * u64::from(elements.div_ceil(part::WORD))
        })?;
        let of_chunk = ENTRY_BYTES as u64 + u64::from(self.heads_bytes()) + CHUNK_ALIGNMENT;
        self.chunks().checked_mul(of_chunk)?.checked_add(parts)
    }
}

/// The bytes of the classes of a part within its chunk, by its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartForm {
    /// No element belongs to a class with a value.
    Empty,
    /// So many bytes of the arithmetic coder.
    Coded(u32),
    /// The planes, word by word.
    Raw,
}

impl PartForm {
    /// The form of this head.
    #[inline(always)]
    pub const fn from_head(head: u16) -> Self {
        match head {
            0 => Self::Empty,
            RAW_HEAD => Self::Raw,
            length => Self::Coded(length as u32 - 1),
        }
    }

    /// The head.
    #[inline(always)]
    pub const fn head(self) -> u16 {
        match self {
            Self::Empty => 0,
            Self::Raw => RAW_HEAD,
            Self::Coded(bytes) => bytes as u16 + 1,
        }
    }

    /// The bytes of a part.
    #[inline(always)]
    pub const fn bytes(self, mask: &MaskLayout, part: &PartBox) -> u32 {
        match self {
            Self::Empty => 0,
            Self::Coded(bytes) => bytes,
            Self::Raw => mask.raw_bytes(part),
        }
    }
}

/// A part of a chunk: the forms of its classes and of its signs, and where the bytes of each are in the chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartPlace {
    /// Classes with a value.
    pub classes: (PartForm, Range<u32>),
    /// Negative elements.
    pub signs: (SignForm, Range<u32>),
}

/// The parts of a chunk.
///
/// # Errors
///
/// [`ChunkFault`] if form or length of the chunk disagree with the heads of its parts.
pub fn read_heads(
    mask: &MaskLayout,
    chunk: u64,
    form: u32,
    bytes: &[u8],
) -> Result<[PartPlace; CHUNK_PARTS as usize], ChunkFault> {
    let mut parts = core::array::from_fn(|_| PartPlace {
        classes: (PartForm::Empty, 0..0),
        signs: (SignForm::None, 0..0),
    });
    match Form::from_id(form) {
        Some(Form::Zero) if bytes.is_empty() => return Ok(parts),
        Some(Form::Coded) => {}
        Some(Form::Zero) => return Err(ChunkFault::Length),
        _ => return Err(ChunkFault::Form),
    }
    let (heads, _) = bytes.as_chunks::<2>();
    let head = |i: usize| heads.get(i).map(|head| u16::from_le_bytes(*head));
    let box_of = |i: usize| {
        let number = mask.parts(chunk).start + i as u64;
        let exists = mask.parts(chunk).contains(&number);
        exists.then(|| PartBox::new(&mask.part(number)))
    };
    let mut end = mask.heads_bytes();
    for (i, part) in parts.iter_mut().enumerate().filter(|_| mask.has_signs) {
        let head = head(CHUNK_PARTS as usize + i).ok_or(ChunkFault::Length)?;
        let of = box_of(i).unwrap_or(PartBox::NONE);
        let form = SignForm::from_head(head, &of).ok_or(ChunkFault::Length)?;
        part.signs = (form, end..end + 4 * form.words(&of));
        end = part.signs.1.end;
    }
    for (i, part) in parts.iter_mut().enumerate() {
        let form = PartForm::from_head(head(i).ok_or(ChunkFault::Length)?);
        let length = match box_of(i) {
            Some(of) => form.bytes(mask, &of),
            None if form == PartForm::Empty => 0,
            None => return Err(ChunkFault::Length),
        };
        part.classes = (form, end..end + length);
        end += length;
    }
    let is_whole = u64::from(end).next_multiple_of(CHUNK_ALIGNMENT) == bytes.len() as u64;
    is_whole.then_some(parts).ok_or(ChunkFault::Length)
}
