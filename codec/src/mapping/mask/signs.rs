//! The signs of a part: a bit for each element, coded without a chain from one bit to the next (FORMAT.md, section 23).
//!
//! The bits of a part are taken in C order or in *order of bricks*, in which neighbours in all dimensions stay together.
//! Each bit becomes its difference from the one before. Only the nibbles of differences are stored that are not 0, below
//! three levels of bits that say which these are. So all threads of a warp find their nibbles by sums.

use crate::mapping::mask::part::{PartBox, WORD};

/// Words of a group, which has a byte of the second level.
pub const GROUP: u32 = 8;

/// The most words of the signs of a part, and those of a whole part.
pub const SIGN_WORDS: u32 = 256;

/// The bits of the number of an element of a whole part.
const INDEX_BITS: u32 = 13;

/// The bits of a number of an element that are within a word.
const WORD_BITS: u32 = WORD.ilog2();

/// Bits of a head below the number of words.
const KIND_BITS: u32 = 3;

/// How the signs of a part are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignForm {
    /// No element is negative.
    None,
    /// All elements are.
    All,
    /// A bit for each element.
    Raw,
    /// So many words of differences in C order.
    Rows(u32),
    /// So many words of differences in order of bricks.
    Bricks(u32),
}

impl SignForm {
    /// The form of this head, if a part of this box can have it.
    #[inline(always)]
    pub const fn from_head(head: u16, part: &PartBox) -> Option<Self> {
        let (kind, words) = (head & 7, (head >> KIND_BITS) as u32);
        let is_coded = words > 0 && words < part.words();
        match kind {
            0 if words == 0 => Some(Self::None),
            1 if words == 0 && part.elements > 0 => Some(Self::All),
            2 if words == 0 && part.elements > 0 => Some(Self::Raw),
            3 if is_coded => Some(Self::Rows(words)),
            4 if is_coded && part.is_whole() => Some(Self::Bricks(words)),
            _ => None,
        }
    }

    /// The head.
    #[inline(always)]
    pub const fn head(self) -> u16 {
        match self {
            Self::None => 0,
            Self::All => 1,
            Self::Raw => 2,
            Self::Rows(words) => 3 | (words as u16) << KIND_BITS,
            Self::Bricks(words) => 4 | (words as u16) << KIND_BITS,
        }
    }

    /// The words of a part.
    #[inline(always)]
    pub const fn words(self, part: &PartBox) -> u32 {
        match self {
            Self::None | Self::All => 0,
            Self::Raw => part.words(),
            Self::Rows(words) | Self::Bricks(words) => words,
        }
    }

    /// The form that an encoder takes for a part with negative elements: differences of these sizes, the latter those of
    /// bricks.
    #[inline(always)]
    pub const fn shortest(part: &PartBox, is_all: bool, rows: SignSize, bricks: SignSize) -> Self {
        let (rows, bricks) = (rows.words(), bricks.words());
        let is_bricks = part.is_whole() && bricks < rows;
        match if is_bricks { bricks } else { rows } {
            _ if is_all => Self::All,
            words if words >= part.words() => Self::Raw,
            words if is_bricks => Self::Bricks(words),
            words => Self::Rows(words),
        }
    }
}

/// The numbers of groups, words and nibbles of a part that have differences: only these are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SignSize {
    /// Groups with differences.
    pub groups: u32,
    /// Words with differences.
    pub words: u32,
    /// Nibbles with differences.
    pub nibbles: u32,
}

impl SignSize {
    /// The first byte of the bits of words, in the bytes of a part.
    pub const GROUPS_AT: u32 = 4;

    /// The first byte of the bits of nibbles.
    #[inline(always)]
    pub const fn words_at(&self) -> u32 {
        Self::GROUPS_AT + self.groups
    }

    /// The first nibble.
    #[inline(always)]
    pub const fn nibbles_at(&self) -> u32 {
        2 * (self.words_at() + self.words)
    }

    /// The words that are stored.
    #[inline(always)]
    pub const fn words(&self) -> u32 {
        (self.nibbles_at() + self.nibbles).div_ceil(8)
    }
}

/// The bits of a word that belong to elements.
#[inline(always)]
pub const fn inside(part: &PartBox, word: u32) -> u32 {
    match part.elements.saturating_sub(word * WORD) {
        0 => 0,
        left if left >= WORD => u32::MAX,
        left => (1 << left) - 1,
    }
}

/// The differences of the bits of a word, each from the one before; `before` is the word before.
#[inline(always)]
pub const fn differences(word: u32, before: u32) -> u32 {
    word ^ (word << 1 | before >> (WORD - 1))
}

/// The bits of a word whose differences are these, behind a bit that is 0. The last one is their parity.
#[inline(always)]
pub const fn sums(differences: u32) -> u32 {
    let mut sums = differences;
    sums ^= sums << 1;
    sums ^= sums << 2;
    sums ^= sums << 4;
    sums ^= sums << 8;
    sums ^ sums << 16
}

/// A bit for each nibble of a word: whether it is not 0.
#[inline(always)]
pub const fn nibble_flags(word: u32) -> u32 {
    let any = word | word >> 1;
    let any = (any | any >> 2) & 0x1111_1111;
    let any = (any | any >> 3) & 0x0303_0303;
    let any = (any | any >> 6) & 0x000f_000f;
    (any | any >> 12) & 0xff
}

/// The nibbles of a word that have flags, side by side from the lowest one on.
#[inline(always)]
pub const fn gather(word: u32, flags: u32) -> u32 {
    let (mut rest, mut gathered, mut at) = (flags, 0, 0);
    while rest != 0 {
        gathered |= (word >> (4 * rest.trailing_zeros()) & 0xf) << at;
        rest &= rest - 1;
        at += 4;
    }
    gathered
}

/// The inverse of [`gather`]: a word with these nibbles at the places of its flags, which are 8 bits at most.
#[inline(always)]
pub const fn scatter(nibbles: u32, flags: u32) -> u32 {
    let (mut rest, mut word, mut left) = (flags, 0, nibbles);
    while rest != 0 {
        word |= (left & 0xf) << (4 * rest.trailing_zeros());
        rest &= rest - 1;
        left >>= 4;
    }
    word
}

/// The way from C order to the order of bricks and back, for the bits of a whole part: swaps of the bits of the elements'
/// numbers.
///
/// In C order the lowest bits of a number are those of x, then those of y, then those of z. In the order of bricks the
/// bits of x, y and z take turns, as long as there are any.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrickOrder(u64);

impl BrickOrder {
    /// The order of a whole part.
    pub fn new(part: &PartBox) -> Self {
        let ends = [part.width, part.slice, part.elements].map(|count| count.max(1).ilog2());
        // The next bit of each dimension in C order, and which of these bits each place holds after the swaps so far.
        let mut next = [0, ends[0], ends[1]];
        let mut held: [u32; 16] = core::array::from_fn(|place| place as u32);
        let (mut swaps, mut to) = (0, 0);
        for turn in 0..3 * INDEX_BITS as usize {
            let axis = turn % 3;
            if next[axis] < ends[axis] {
                let from = held.iter().position(|bit| *bit == next[axis]);
                let from = from.unwrap_or(to);
                held.swap(to, from);
                swaps |= (from as u64) << (4 * to);
                next[axis] += 1;
                to += 1;
            }
        }
        Self(swaps)
    }

    /// The swaps, in order.
    #[inline(always)]
    pub const fn swap(self, number: u32) -> Swap {
        let (low, high) = (number, (self.0 >> (4 * number)) as u32 & 0xf);
        Swap { low, high }
    }
}

/// The number of swaps of an order.
pub const SWAPS: u32 = INDEX_BITS;

/// The swap of two bits of the numbers of a part's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swap {
    low: u32,
    high: u32,
}

impl Swap {
    /// Whether nothing changes.
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.low == self.high
    }

    /// Pair `number` of the words that the swap goes through, of half as many as there are words.
    #[inline(always)]
    pub const fn pair(self, number: u32) -> [u32; 2] {
        let high = 1 << self.high.saturating_sub(WORD_BITS);
        let first = number + (number & !(high - 1));
        let low = match self.low < WORD_BITS {
            true => 0,
            false => 1 << (self.low - WORD_BITS),
        };
        [first, first ^ high ^ low]
    }

    /// The words of a pair after the swap; the first one has number `first`.
    #[inline(always)]
    pub const fn apply(self, first: u32, words: [u32; 2]) -> [u32; 2] {
        let [a, b] = words;
        if self.high < WORD_BITS {
            return [self.within(a), self.within(b)];
        }
        if self.low < WORD_BITS {
            let distance = 1 << self.low;
            let moved = (a >> distance ^ b) & zeros_of(self.low);
            return [a ^ moved << distance, b ^ moved];
        }
        match first >> (self.low - WORD_BITS) & 1 {
            0 => words,
            _ => [b, a],
        }
    }

    /// The word whose bits are exchanged.
    #[inline(always)]
    const fn within(self, word: u32) -> u32 {
        let distance = (1 << self.high) - (1 << self.low);
        let moved = (word ^ word >> distance) & !zeros_of(self.low) & zeros_of(self.high);
        word ^ moved ^ moved << distance
    }
}

/// The bits of a word whose numbers have a 0 at bit `bit`, at most 4.
#[inline(always)]
const fn zeros_of(bit: u32) -> u32 {
    match bit {
        0 => 0x5555_5555,
        1 => 0x3333_3333,
        2 => 0x0f0f_0f0f,
        3 => 0x00ff_00ff,
        _ => 0x0000_ffff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn swaps_lead_to_bricks_and_back() {
        for extents in [
            [16, 16, 32],
            [1, 64, 128],
            [1, 1, 8192],
            [4, 8, 256],
            [512, 16, 1],
            [2, 2, 2048],
        ] {
            let [depth, height, width] = extents;
            let part = PartBox {
                width,
                slice: height * width,
                elements: depth * height * width,
            };
            let order = BrickOrder::new(&part);
            // Thirteen planes have the bits of each element's number.
            for bit in 0..INDEX_BITS {
                let has = |number: u32| {
                    (0..WORD).fold(0, |word, i| word | ((number * WORD + i) >> bit & 1) << i)
                };
                let before: Vec<u32> = (0..SIGN_WORDS).map(has).collect();
                let mut words = before.clone();
                let mut swap = |number| {
                    let swap = order.swap(number);
                    for pair in (0..SIGN_WORDS / 2).filter(|_| !swap.is_none()) {
                        let numbers = swap.pair(pair);
                        let after =
                            swap.apply(numbers[0], numbers.map(|number| words[number as usize]));
                        for (number, word) in numbers.iter().zip(after) {
                            words[*number as usize] = word;
                        }
                    }
                    words.clone()
                };
                let bricks = (0..SWAPS).map(&mut swap).last().unwrap_or_default();
                for place in 0..part.elements {
                    let element = element_at(place, extents);
                    let found = bricks[(place / WORD) as usize] >> (place % WORD) & 1;
                    assert_eq!(found, element >> bit & 1, "{extents:?} {place}");
                }
                let rows = (0..SWAPS).rev().map(swap).last();
                assert_eq!(rows.as_ref(), Some(&before));
            }
        }
    }

    /// The number of the element at a place of the order of bricks.
    fn element_at(place: u32, extents: [u32; 3]) -> u32 {
        let (mut at, mut weights, mut rest) = ([0; 3], [1; 3], place);
        while weights != extents {
            for axis in [2, 1, 0] {
                if weights[axis] < extents[axis] {
                    at[axis] += weights[axis] * (rest % 2);
                    (weights[axis], rest) = (2 * weights[axis], rest / 2);
                }
            }
        }
        (at[0] * extents[1] + at[1]) * extents[2] + at[2]
    }

    #[test]
    fn words_come_back_from_their_differences_and_nibbles() {
        for word in (0..32)
            .map(|i| 1 << i)
            .chain([0, u32::MAX, 0x0ff0_1001, 0x8000_0001])
        {
            for before in [0, u32::MAX] {
                let own = differences(word, before);
                assert_eq!(sums(own) ^ before, word);
                let nibbles: u32 = (0..8)
                    .map(|i| u32::from(own >> (4 * i) & 15 != 0) << i)
                    .sum();
                assert_eq!(nibble_flags(own), nibbles);
                assert_eq!(scatter(gather(own, nibbles), nibbles), own);
            }
        }
    }

    #[test]
    fn heads_are_those_of_forms_that_a_part_can_have() {
        let part = |elements| PartBox {
            width: elements,
            slice: elements,
            elements,
        };
        for elements in [0, 1, 33, 8191, 8192] {
            let part = part(elements);
            let found = (0..=u16::MAX).filter_map(|head| {
                let form = SignForm::from_head(head, &part)?;
                assert_eq!(form.head(), head);
                assert!(form.words(&part) <= part.words());
                Some(form)
            });
            let kinds = 3 * (elements.min(1) as usize);
            let coded = part.words().saturating_sub(1) as usize;
            let of_bricks = if elements == 8192 { coded } else { 0 };
            assert_eq!(found.count(), kinds.max(1) + coded + of_bricks);
        }
    }
}
