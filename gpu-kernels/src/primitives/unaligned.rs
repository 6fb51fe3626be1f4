//! Words at any byte of shared memory.

use ferrosz_simt::{Shared, Thread};

/// Words written one after the other at any byte of a zeroed image. The first and the last touch
/// words that hold neighbours' bytes too, and are or-ed in; those between are this thread's alone.
pub struct UnalignedWriter<T> {
    thread: T,
    image: Shared<u32>,
    word: u32,
    shift: u32,
    carry: u32,
}

impl<T: Thread> UnalignedWriter<T> {
    /// From byte `at` of the image on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn new(thread: T, image: Shared<u32>, at: u32) -> Self {
        Self {
            thread,
            image,
            word: at / 4,
            shift: 8 * (at % 4),
            carry: 0,
        }
    }

    /// The word that is due, after `value` has come in.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn shift_in(&mut self, value: u32) -> u32 {
        let wide = u64::from(value) << self.shift;
        let due = self.carry | wide as u32;
        self.carry = (wide >> 32) as u32;
        due
    }

    /// Writes the first word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn push_first(&mut self, value: u32) {
        let due = self.shift_in(value);
        self.image.or(self.thread, self.word, due);
        self.word += 1;
    }

    /// Writes the next word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn push(&mut self, value: u32) {
        let due = self.shift_in(value);
        self.image.store(self.thread, self.word, due);
        self.word += 1;
    }

    /// Writes the remaining bits.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn finish(&mut self) {
        if self.carry != 0 {
            self.image.or(self.thread, self.word, self.carry);
        }
    }
}

/// Words at any byte of the image, which has a word of slack.
pub struct UnalignedReader<T> {
    thread: T,
    image: Shared<u32>,
    word: u32,
    shift: u32,
}

impl<T: Thread> UnalignedReader<T> {
    /// From byte `at` of the image on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn new(thread: T, image: Shared<u32>, at: u32) -> Self {
        Self {
            thread,
            image,
            word: at / 4,
            shift: 8 * (at % 4),
        }
    }

    /// Word number `index` from there on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn get(&self, index: u32) -> u32 {
        let low = self.image.load(self.thread, self.word + index);
        let high = self.image.load(self.thread, self.word + index + 1);
        ((u64::from(high) << 32 | u64::from(low)) >> self.shift) as u32
    }
}
