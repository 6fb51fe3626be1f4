//! Values of 16 bits in global memory. Each is the low half of a word of its own while its chunk is in shared memory, where
//! an element needs the word before or after.

use ferrosz_codec::container::header_words;
use ferrosz_codec::mapping::short::Short;
use ferrosz_simt::{Thread, View};

/// The words of values of 16 bits, two in each, the low one first; 16-byte aligned.
#[derive(Clone, Copy)]
pub struct Shorts(pub View<u32>);

/// Values that are read or written together.
pub const UNIT: usize = 4;

impl Shorts {
    /// Reads unit number `number`.
    #[inline(always)]
    pub fn unit<T: Thread>(self, t: T, number: u64) -> [u32; UNIT] {
        let bits = t.load_u64(self.0.pairs(), number);
        let [low, high] = [bits as u32, (bits >> 32) as u32];
        [low & 0xffff, low >> 16, high & 0xffff, high >> 16]
    }

    /// Writes unit number `number`.
    #[inline(always)]
    pub fn set_unit<T: Thread>(self, t: T, number: u64, values: [u32; UNIT]) {
        let [a, b, c, d] = values;
        let bits = u64::from(a | b << 16) | u64::from(c | d << 16) << 32;
        t.store_u64(self.0.pairs(), number, bits);
    }

    /// Reads value number `at`.
    #[inline(always)]
    pub fn value<T: Thread>(self, t: T, at: u64) -> u32 {
        t.load_half(self.0, at)
    }

    /// Writes value number `at`.
    #[inline(always)]
    pub fn set_value<T: Thread>(self, t: T, at: u64, value: u32) {
        t.store_half(self.0, at, value as u16);
    }
}

/// The conversion of the values of a stream with this header; none if they are not of 16 bits.
#[inline(always)]
pub fn conversion_of<T: Thread>(t: T, header: View<u32>) -> Option<Short> {
    let word = |word: usize| t.load(header, word as u64);
    Short::from_ids(
        header_words::value_type(word),
        header_words::conversion(word),
    )
}
