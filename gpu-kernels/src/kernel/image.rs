//! A coded chunk's image in shared memory, as its threads write it: see FORMAT.md, section 4.

use crate::kernel::CHUNK_THREADS;
use crate::kernel::tile::UNIT_WORDS;
use crate::simt::Thread;
use ferrosz_codec::Element;
use ferrosz_codec::encode::block::SignedBlock;
use ferrosz_codec::encode::rate::{BLOCK, RateByte};
use ferrosz_codec::pipeline::Codec;
use ferrosz_codec::stream::chunk::Sections;

/// The image of a coded chunk, from word 0 of shared memory on.
pub struct Image {
    /// Where everything lies.
    pub sections: Sections,
    /// Words of the whole chunk.
    pub words: u32,
}

impl Image {
    /// Zeros whatever the sections leave open, or are or-ed into. Ends with a barrier if later
    /// steps rely on it.
    #[inline(always)]
    pub fn clear<T: Thread, E: Element>(&self, t: T, codec: Codec) {
        if codec.stores_outliers() {
            let mut unit = t.thread_index();
            while unit < self.words / UNIT_WORDS {
                t.shared_store4(UNIT_WORDS * unit, [0; 4]);
                unit += CHUNK_THREADS;
            }
            t.barrier();
        } else {
            let word = self.sections.end(E::WORDS as u32) + t.thread_index();
            if word < self.words {
                t.shared_store(word, 0);
            }
        }
    }

    /// Four threads' rate bytes make a word.
    #[inline(always)]
    pub fn write_rate<T: Thread>(&self, t: T, rate: RateByte) {
        let mut word = u32::from(rate.to_byte()) << (8 * (t.lane() % 4));
        word |= t.shuffle_xor(word, 1);
        word |= t.shuffle_xor(word, 2);
        let at = t.thread_index() / 4;
        if t.lane().is_multiple_of(4) && at < self.sections.bodies() {
            t.shared_store(at, word);
        }
    }

    /// Writes the masks, and this thread's exceptions behind the `values_before` of others;
    /// `input_word` gives the words of the chunk's elements.
    #[inline(always)]
    pub fn write_exceptions<T: Thread, E: Element>(
        &self,
        t: T,
        input_word: impl Fn(u32) -> u32,
        mask: u32,
        masks_before: u32,
        values_before: u32,
    ) {
        let flagged = t.ballot(mask != 0);
        if t.lane() == 0 && t.thread_index() < self.sections.blocks {
            t.shared_store(self.sections.block_mask() + t.warp(), flagged);
        }
        if mask != 0 {
            t.shared_store(self.sections.element_masks() + masks_before, mask);
        }
        let mut to = self.sections.values() + values_before * E::WORDS as u32;
        let mut left = mask;
        while left != 0 {
            let element = t.thread_index() * BLOCK as u32 + left.trailing_zeros();
            for i in 0..E::WORDS as u32 {
                let word = input_word(element * E::WORDS as u32 + i);
                t.shared_store(to + i, word);
            }
            to += E::WORDS as u32;
            left &= left - 1;
        }
    }
}

/// Writes a body at byte `at` of the image.
#[inline(always)]
pub fn write_body<T: Thread>(t: T, mut block: SignedBlock, rate: RateByte, at: u32, codec: Codec) {
    if rate.body_bytes() == 0 {
        return;
    }
    if codec.stores_outliers() {
        let outlier = block.take_outlier(rate);
        let mut bytes = UnalignedWords::new(t, at);
        if rate.outlier_bytes() > 0 {
            bytes.push_first(outlier);
            bytes.finish();
            bytes = UnalignedWords::new(t, at + rate.outlier_bytes());
        }
        bytes.push_first(block.signs);
        for_rows(&block, rate, |_, row| bytes.push(row));
        bytes.finish();
    } else {
        let first = at / 4;
        t.shared_store(first, block.signs);
        for_rows(&block, rate, |plane, row| {
            t.shared_store(first + 1 + plane, row)
        });
    }
}

/// Gives each bit plane to `take`, from the lowest.
#[inline(always)]
fn for_rows(block: &SignedBlock, rate: RateByte, mut take: impl FnMut(u32, u32)) {
    let planes = rate.planes();
    for byte in 0..4 {
        if planes > 8 * byte {
            let rows = block.planes(byte as usize);
            for (i, row) in (0..).zip(&rows) {
                if 8 * byte + i < planes {
                    take(8 * byte + i, *row);
                }
            }
        }
    }
}

/// Words written one after the other at any byte of a zeroed image. The first and the last touch
/// words that hold neighbours' bytes too, and are or-ed in; those between are this thread's alone.
struct UnalignedWords<T> {
    thread: T,
    word: u32,
    shift: u32,
    carry: u32,
}

impl<T: Thread> UnalignedWords<T> {
    #[inline(always)]
    fn new(thread: T, at: u32) -> Self {
        Self {
            thread,
            word: at / 4,
            shift: 8 * (at % 4),
            carry: 0,
        }
    }

    /// The word that is due, after `value` has come in.
    #[inline(always)]
    fn shift_in(&mut self, value: u32) -> u32 {
        let wide = u64::from(value) << self.shift;
        let due = self.carry | wide as u32;
        self.carry = (wide >> 32) as u32;
        due
    }

    #[inline(always)]
    fn push_first(&mut self, value: u32) {
        let due = self.shift_in(value);
        self.thread.shared_or(self.word, due);
        self.word += 1;
    }

    #[inline(always)]
    fn push(&mut self, value: u32) {
        let due = self.shift_in(value);
        self.thread.shared_store(self.word, due);
        self.word += 1;
    }

    #[inline(always)]
    fn finish(&mut self) {
        if self.carry != 0 {
            self.thread.shared_or(self.word, self.carry);
        }
    }
}
