//! A coded chunk's image in shared memory, as its threads write it, and the bodies of its blocks, both
//! ways: see FORMAT.md, section 4.

use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::staged_chunk::UNIT_WORDS;
use crate::primitives::bits::BitsOf;
use crate::primitives::unaligned::{UnalignedReader, UnalignedWriter};
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::block::{SignedGroup, join, join_first};
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::container::chunk::Sections;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, Shape};
use ferrosz_simt::{Shared, Thread};

/// The image of a coded chunk.
pub struct Image {
    /// Its words in shared memory.
    pub memory: Shared<u32>,
    /// The sections of the chunk.
    pub sections: Sections,
    /// Words of the whole chunk.
    pub words: u32,
}

impl Image {
    /// Zeros whatever the sections leave open, or are or-ed into. Ends with a barrier if later
    /// steps rely on it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn clear<T: Thread, E: Element>(&self, t: T, codec: BlockCodec) {
        if codec.stores_outliers() {
            let mut unit = t.thread_index();
            while unit < self.words / UNIT_WORDS {
                self.memory.store4(t, UNIT_WORDS * unit, [0; 4]);
                unit += CHUNK_THREADS;
            }
            t.barrier();
        } else {
            let word = self.sections.end(E::WORDS as u32) + t.thread_index();
            if word < self.words {
                self.memory.store(t, word, 0);
            }
        }
    }

    /// Writes the rate bytes: those of four blocks make a word. All threads of a block have the same.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn write_rate<T: Thread>(&self, t: T, shape: Shape, rate: RateByte) {
        let groups = shape.groups() as u32;
        let mut word = u32::from(rate.to_byte()) << (8 * (t.lane() / groups % 4));
        word |= t.shuffle_xor(word, groups);
        word |= t.shuffle_xor(word, 2 * groups);
        let at = t.thread_index() / (4 * groups);
        if t.lane().is_multiple_of(4 * groups) && at < self.sections.initial() {
            self.memory.store(t, at, word);
        }
    }

    /// Writes the initial code of a layered chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn write_initial<T: Thread>(&self, t: T, initial: i32) {
        if t.thread_index() == 0 {
            self.memory
                .store(t, self.sections.initial(), initial.cast_unsigned());
        }
    }

    /// Writes the masks, and this thread's exceptions behind the `values_before` of others;
    /// `input_word` gives the words of the elements in their slots.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn write_exceptions<T: Thread, E: Element>(
        &self,
        t: T,
        input_word: impl Fn(u32) -> u32,
        mask: u32,
        masks_before: u32,
        values_before: u32,
    ) {
        let flagged = t.ballot(mask != 0);
        if t.lane() == 0 && t.thread_index() < self.sections.groups {
            self.memory
                .store(t, self.sections.group_mask() + t.warp(), flagged);
        }
        if mask != 0 {
            self.memory
                .store(t, self.sections.element_masks() + masks_before, mask);
        }
        let mut to = self.sections.values() + values_before * E::WORDS as u32;
        let mut left = mask;
        while left != 0 {
            let element = t.thread_index() * GROUP as u32 + left.trailing_zeros();
            for i in 0..E::WORDS as u32 {
                let word = input_word(element * E::WORDS as u32 + i);
                self.memory.store(t, to + i, word);
            }
            to += E::WORDS as u32;
            left &= left - 1;
        }
    }
}

/// Writes this thread's part of its block's body, which starts at byte `at` of the image. For whole
/// warps.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn write_body<T: Thread>(
    t: T,
    image: Shared<u32>,
    shape: Shape,
    mut group: SignedGroup,
    rate: RateByte,
    at: u32,
    codec: BlockCodec,
) {
    let groups = shape.groups() as u32;
    let number = t.lane() % groups;
    let has_body = rate.body_bytes(groups) > 0;
    if codec.stores_outliers() {
        let mut outlier = 0;
        if number == 0 {
            outlier = group.take_outlier(rate);
        }
        if number == 0 && rate.outlier_bytes() > 0 {
            let mut bytes = UnalignedWriter::new(t, image, at);
            bytes.push_first(outlier);
            bytes.finish();
        }
        let rows_at = at + rate.outlier_bytes();
        if groups == 2 {
            write_rows_of_two(t, image, &group, rate, has_body, rows_at);
        } else if has_body {
            let mut rows = UnalignedWriter::new(t, image, rows_at);
            rows.push_first(group.signs);
            for_rows(t, &group, rate.planes(), |_, row| rows.push(row));
            rows.finish();
        }
    } else if has_body {
        let rows = image.from(at / 4 + number);
        rows.store(t, 0, group.signs);
        for_rows(t, &group, rate.planes(), |plane, row| {
            rows.store(t, groups * (1 + plane), row);
        });
    }
}

/// Writes the rows of a block of two groups at any byte of a zeroed image: the words of two lanes by
/// turns. Each word that is stored is made of a lane's own and of the one before it, which is the
/// other lane's. For whole warps.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn write_rows_of_two<T: Thread>(
    t: T,
    image: Shared<u32>,
    group: &SignedGroup,
    rate: RateByte,
    has_body: bool,
    at: u32,
) {
    let number = t.lane() % 2;
    let (rows, shift) = (image.from(at / 4 + number), 8 * (at % 4));
    let planes = rate.planes();
    let shifted = |word: u32| u64::from(word) << shift;
    let mut before = 0;
    let mut last = 0;
    let mut write = |row: u32, own: u32| {
        let other = t.shuffle_xor(own, 1);
        let left = if number == 1 { other } else { before };
        before = other;
        if has_body && row <= planes {
            let word = shifted(own) as u32 | (shifted(left) >> 32) as u32;
            if row == 0 && number == 0 {
                // Its low bytes may be the neighbour's.
                rows.or(t, 0, word);
            } else {
                rows.store(t, 2 * row, word);
            }
            last = own;
        }
    };
    write(0, group.signs);
    for_rows(t, group, t.reduce_max(planes), |plane, row| {
        write(1 + plane, row)
    });
    let carry = (shifted(last) >> 32) as u32;
    if number == 1 && carry != 0 {
        rows.or(t, 1 + 2 * planes, carry);
    }
}

/// Gives each of so many bit planes to `take`, from the lowest.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn for_rows<T: Thread>(t: T, group: &SignedGroup, planes: u32, mut take: impl FnMut(u32, u32)) {
    for byte in 0..4 {
        if planes > 8 * byte {
            let rows = group.planes(BitsOf(t), byte);
            for (i, row) in (0..).zip(&rows) {
                if 8 * byte + i < planes {
                    take(8 * byte + i, *row);
                }
            }
        }
    }
}

/// Reads group number `number` of a body at byte `at` of the image.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn read_body<T: Thread>(
    t: T,
    image: Shared<u32>,
    shape: Shape,
    number: u32,
    rate: RateByte,
    at: u32,
    codec: BlockCodec,
) -> Group {
    let groups = shape.groups() as u32;
    if rate.body_bytes(groups) == 0 {
        return [0; GROUP];
    }
    let planes = rate.planes();
    if !codec.stores_outliers() {
        let first = at / 4 + number;
        let row = |row| image.load(t, first + groups * row);
        return join(BitsOf(t), row(0), planes, |plane| row(1 + plane));
    }
    let rows = UnalignedReader::new(t, image, at + rate.outlier_bytes());
    let row = |row| rows.get(groups * row + number);
    let signs = row(0);
    let mut differences = join(BitsOf(t), signs, planes, |plane| row(1 + plane));
    let bits = 8 * rate.outlier_bytes();
    if bits > 0 && number == 0 {
        let magnitude = UnalignedReader::new(t, image, at).get(0) & u32::MAX >> (32 - bits);
        differences[0] = join_first(signs, magnitude);
    }
    differences
}
