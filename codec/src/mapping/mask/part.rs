//! The classes of the elements of a part, word by word: one source for encoder and decoder, on every machine.
//!
//! The elements of a part are numbered in C order of its box. *Plane* 0 has a bit for each: whether the element is of a
//! class. The planes behind it have the bits of the class, less one; they are there if a mask has more than one class.
//! Bit i mod 32 of word i div 32 belongs to element i.

use crate::container::chunk::CHUNK;
use crate::container::grid::ChunkBox;
use crate::mapping::mask::arithmetic::Model;

/// Elements of a word.
pub const WORD: u32 = u32::BITS;

/// Models of flags: a word is like the words before it.
const FLAGS_AT: u32 = 0;
/// Models of the bits of plane 0, by neighbours: 8 patterns of the nearest three, 5 counts of the other four.
const BITS_AT: u32 = FLAGS_AT + 8;
/// Models of flags: the classes of a word are all the last one.
const SAME_CLASS_AT: u32 = BITS_AT + 40;
/// Models of a class: two for each step from one class to the next.
const CLASSES_AT: u32 = SAME_CLASS_AT + 2;

/// The number of models of a mask of so many classes, at most 7.
pub const MODELS: u32 = CLASSES_AT + 2 * 6;

/// The most planes behind plane 0.
const MOST_CLASS_PLANES: usize = 3;

/// The most planes of a part.
pub const MOST_PLANES: usize = 1 + MOST_CLASS_PLANES;

/// The box of a part, as its coder needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartBox {
    /// Elements of a row.
    pub width: u32,
    /// Elements of a slice.
    pub slice: u32,
    /// All elements.
    pub elements: u32,
}

impl PartBox {
    /// A part that does not exist.
    pub const NONE: Self = Self {
        width: 0,
        slice: 0,
        elements: 0,
    };

    /// The box of a part.
    #[inline(always)]
    pub const fn new(part: &ChunkBox) -> Self {
        let [depth, height, width] = part.extents;
        Self {
            width,
            slice: height * width,
            elements: depth * height * width,
        }
    }

    /// The coordinates in the part of an element.
    #[inline(always)]
    pub const fn position(&self, element: u32) -> [u32; 3] {
        // A part has elements; the bits say that to the compiler, which else would keep a check of the divisors.
        let slice = self.slice | (self.slice == 0) as u32;
        let width = self.width | (self.width == 0) as u32;
        let (z, in_slice) = (element / slice, element % slice);
        [z, in_slice / width, in_slice % width]
    }

    /// Whether no edge of the field cuts the part off. Then its edges are powers of two.
    #[inline(always)]
    pub const fn is_whole(&self) -> bool {
        self.elements == CHUNK as u32
    }

    /// Words of a plane.
    #[inline(always)]
    pub const fn words(&self) -> u32 {
        self.elements.div_ceil(WORD)
    }
}

/// The planes of a part, and a coder of bits. An encoder's planes are complete; a decoder's are 0 and become complete.
pub trait PartCoder {
    /// A word of a plane.
    fn word(&self, plane: u32, word: u32) -> u32;
    /// Sets a word of a plane. An encoder need not do anything.
    fn set_word(&mut self, plane: u32, word: u32, bits: u32);
    /// Codes a bit by a model, which learns it. An encoder writes `bit` and returns it; a decoder ignores `bit` and
    /// returns the one it reads.
    fn code(&mut self, model: u32, bit: bool) -> bool;
}

/// Codes all words of a part of a mask of `classes` classes with values.
#[inline(always)]
pub fn code_part<C: PartCoder>(coder: &mut C, part: &PartBox, classes: u32) {
    let mut history = 0;
    let mut last_class = 0;
    for word in 0..part.words() {
        let masked = code_mask_word(coder, part, word, &mut history);
        coder.set_word(0, word, masked);
        if classes > 1 && masked != 0 {
            code_class_word(coder, word, masked, classes, &mut last_class);
        }
    }
}

/// Codes a word of plane 0.
#[inline(always)]
fn code_mask_word<C: PartCoder>(
    coder: &mut C,
    part: &PartBox,
    word: u32,
    history: &mut u32,
) -> u32 {
    let first = word * WORD;
    let inside = low_bits(part.elements - first);
    let own = coder.word(0, word) & inside;
    let before = if word > 0 {
        coder.word(0, word - 1) >> (WORD - 1)
    } else {
        0
    };
    let row = if first >= part.width {
        back(coder, word, part.width) & inside
    } else {
        0u32.wrapping_sub(before) & inside
    };
    // 1. Is the word the one a row before?
    let is_uniform = row == 0 || row == inside;
    let flag = FLAGS_AT + 4 * u32::from(is_uniform) + *history;
    let is_same = coder.code(flag, own == row);
    *history = (2 * *history + u32::from(is_same)) & 3;
    if is_same {
        return row;
    }
    // 2. If not, each bit is coded by its neighbours.
    let around = Neighbours::of(coder, part, word, before);
    let (mut masked, mut contexts) = (0, 0);
    let mut last = before;
    for i in 0..WORD.min(part.elements - first) {
        if i % 4 == 0 {
            contexts = around.contexts(i);
        }
        let model = BITS_AT + 20 * last + (contexts & 0xff);
        contexts >>= 8;
        last = u32::from(coder.code(model, own >> i & 1 == 1));
        masked |= last << i;
    }
    masked
}

/// The neighbours of the elements of a word, one word for each direction.
struct Neighbours {
    /// One row back, then one slice back.
    near: [u32; 2],
    /// One row back, to the left and to the right; one slice back, to the right and one row ahead.
    far: [u32; 4],
}

impl Neighbours {
    #[inline(always)]
    fn of<C: PartCoder>(coder: &C, part: &PartBox, word: u32, before: u32) -> Self {
        let (row, left, right) = if word * WORD >= part.width {
            let width = part.width;
            (
                back(coder, word, width),
                back(coder, word, width + 1),
                back(coder, word, width - 1),
            )
        } else {
            let row = 0u32.wrapping_sub(before);
            (row, row, row)
        };
        let slice = part.slice;
        if word * WORD >= slice {
            Self {
                near: [row, back(coder, word, slice)],
                far: [
                    left,
                    right,
                    back(coder, word, slice - 1),
                    back(coder, word, slice - part.width),
                ],
            }
        } else {
            Self {
                near: [row, row],
                far: [left, right, right, row],
            }
        }
    }

    /// The contexts of four bits from bit `i` on, a byte each, without the 20 that the bit before adds.
    #[inline(always)]
    fn contexts(&self, i: u32) -> u32 {
        // Copies of four bits, 7 bits apart, put bit j into byte j.
        let spread = |word: u32| ((word >> i & 0xf) * 0x0020_4081) & 0x0101_0101;
        let near = 2 * spread(self.near[0]) + spread(self.near[1]);
        let far = self.far.iter().map(|word| spread(*word)).sum::<u32>();
        5 * near + far
    }
}

/// The bits `distance` elements before those of a word. Bits of the word itself, and bits before the first word, count
/// as 0.
#[inline(always)]
fn back<C: PartCoder>(coder: &C, word: u32, distance: u32) -> u32 {
    let first = (word * WORD).wrapping_sub(distance).cast_signed();
    let (at, shift) = (first >> WORD.ilog2(), first.cast_unsigned() % WORD);
    let low = word_before(coder, word, at) >> shift;
    if shift == 0 {
        low
    } else {
        low | word_before(coder, word, at + 1) << (WORD - shift)
    }
}

/// Word `at` of plane 0, if it is before `word`; else 0.
#[inline(always)]
fn word_before<C: PartCoder>(coder: &C, word: u32, at: i32) -> u32 {
    match u32::try_from(at) {
        Ok(at) if at < word => coder.word(0, at),
        _ => 0,
    }
}

/// Codes the classes of the elements of a word that have one.
#[inline(always)]
fn code_class_word<C: PartCoder>(
    coder: &mut C,
    word: u32,
    masked: u32,
    classes: u32,
    last_class: &mut u32,
) {
    let planes = class_planes(classes);
    let mut own = [0; MOST_CLASS_PLANES];
    // Constant bounds, so that a GPU's compiler keeps the words in registers.
    for (plane, bits) in (0..).zip(&mut own) {
        if plane < planes {
            *bits = coder.word(1 + plane, word);
        }
    }
    let mut is_last = true;
    let mut rest = masked;
    while rest != 0 {
        is_last &= number_in(&own, rest.trailing_zeros()) == *last_class;
        rest &= rest - 1;
    }
    let all = u32::from(masked & (masked - 1) == 0);
    let is_last = coder.code(SAME_CLASS_AT + all, is_last);
    let mut found = [0; MOST_CLASS_PLANES];
    let mut rest = masked;
    while rest != 0 {
        let i = rest.trailing_zeros();
        rest &= rest - 1;
        if !is_last {
            *last_class = code_class(coder, number_in(&own, i), classes, *last_class);
        }
        for (plane, bits) in found.iter_mut().enumerate() {
            *bits |= (*last_class >> plane & 1) << i;
        }
    }
    for (plane, bits) in (0..).zip(&found) {
        if plane < planes {
            coder.set_word(1 + plane, word, *bits);
        }
    }
}

/// The number whose bits are bit `i` of these words.
#[inline(always)]
fn number_in(words: &[u32; MOST_CLASS_PLANES], i: u32) -> u32 {
    let mut number = 0;
    for (plane, bits) in words.iter().enumerate() {
        number |= (bits >> i & 1) << plane;
    }
    number
}

/// Codes a class, less one: for each class in order, whether it is a later one.
#[inline(always)]
fn code_class<C: PartCoder>(coder: &mut C, own: u32, classes: u32, last: u32) -> u32 {
    let mut class = 0;
    while class + 1 < classes {
        let model = CLASSES_AT + 2 * class + u32::from(last == class);
        if !coder.code(model, own > class) {
            break;
        }
        class += 1;
    }
    class
}

/// The bit in a plane of an element of this class, counted from 1; 0 if it has none.
#[inline(always)]
pub const fn class_bit(class: u32, plane: u32) -> u32 {
    match (class, plane) {
        (0, _) => 0,
        (_, 0) => 1,
        (class, plane) => (class - 1) >> (plane - 1) & 1,
    }
}

/// The class of an element, counted from 1, by its bits in the planes; 0 if it has none. `bit` gives that in a plane.
#[inline(always)]
pub fn class_of(planes: u32, bit: impl Fn(u32) -> u32) -> u32 {
    if bit(0) == 0 {
        return 0;
    }
    let mut class = 1;
    for plane in 1..planes {
        class += bit(plane) << (plane - 1);
    }
    class
}

/// The planes behind plane 0 of a mask of so many classes.
#[inline(always)]
pub const fn class_planes(classes: u32) -> u32 {
    match classes {
        0 | 1 => 0,
        _ => u32::BITS - (classes - 1).leading_zeros(),
    }
}

/// The lowest `count` bits, or all 32.
#[inline(always)]
const fn low_bits(count: u32) -> u32 {
    if count >= WORD {
        u32::MAX
    } else {
        (1 << count) - 1
    }
}

/// A model before the first bit.
pub const NEW_MODEL: u32 = Model::NEW.0;
