//! The chunk table: the position, length, form and checksum of each chunk, in 16 bytes.
//!
//! Entries are independent: a damaged entry makes no other chunk unreadable. The starts and lengths of chunks are
//! multiples of 16 bytes, so 64 bits hold form, start and length. [`Split`] says how many bits each of the last two has.

use crate::container::chunk::Form;
use core::ops::Range;

/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 16;

/// Chunks start, and the payload ends, at multiples of this many bytes.
pub const CHUNK_ALIGNMENT: u64 = 16;

const FORM_BITS: u32 = 4;

/// The most bytes of a payload of short chunks.
pub const MAX_PAYLOAD: u64 = Split::SHORT.max_payload();

/// The division of an entry's first 64 bits between the start and the length of the chunk, both in units of
/// [`CHUNK_ALIGNMENT`]. The form is below the start, the length above it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Bits of the start.
    start_bits: u32,
}

impl Split {
    /// For chunks of at most a mebibyte.
    pub const SHORT: Self = Self { start_bits: 44 };
    /// For longer chunks, of which a stream has fewer.
    pub const LONG: Self = Self { start_bits: 36 };

    /// The first bit of the length.
    #[inline(always)]
    const fn length_at(self) -> u32 {
        FORM_BITS + self.start_bits
    }

    /// The most bytes of a payload: no chunk starts behind them.
    #[inline(always)]
    pub const fn max_payload(self) -> u64 {
        CHUNK_ALIGNMENT << self.start_bits
    }

    /// The most bytes of a chunk.
    pub const fn max_chunk_bytes(self) -> u64 {
        CHUNK_ALIGNMENT * ((1 << (u64::BITS - self.length_at())) - 1)
    }
}

/// One chunk's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The start of the chunk, in bytes from the payload's start; a multiple of 16, less than [`Split::max_payload`].
    pub start: u64,
    /// The bytes of the chunk, a multiple of 16, at most [`Split::max_chunk_bytes`]. 0 in the entry of a prologue, whose
    /// contents give its length.
    pub bytes: u64,
    /// The number of the chunk's form in the stream; may be unknown.
    pub form: u32,
    /// The checksum of the chunk's bytes, seeded by
    /// [`Identity::seed`](crate::container::identity::Identity::seed).
    pub checksum: u64,
}

impl Entry {
    /// An entry for a chunk of a known form.
    #[inline(always)]
    pub fn new(start: u64, bytes: u64, form: Form, checksum: u64) -> Self {
        Self {
            start,
            bytes,
            form: form.id(),
            checksum,
        }
    }

    /// The chunk's bytes in the payload.
    #[inline(always)]
    pub const fn range(&self) -> Range<u64> {
        self.start..self.start + self.bytes
    }

    /// The entry in these words.
    #[inline(always)]
    pub fn from_words(words: [u32; 4], split: Split) -> Self {
        let place = u64::from(words[0]) | u64::from(words[1]) << 32;
        Self {
            start: (place >> FORM_BITS & ((1 << split.start_bits) - 1)) * CHUNK_ALIGNMENT,
            bytes: (place >> split.length_at()) * CHUNK_ALIGNMENT,
            form: words[0] & ((1 << FORM_BITS) - 1),
            checksum: u64::from(words[2]) | u64::from(words[3]) << 32,
        }
    }

    /// The entry's words.
    #[inline(always)]
    pub fn to_words(self, split: Split) -> [u32; 4] {
        let units = |bytes: u64| bytes / CHUNK_ALIGNMENT;
        let [start, bytes] = [units(self.start), units(self.bytes)];
        let place = start << FORM_BITS | bytes << split.length_at() | u64::from(self.form);
        [
            place as u32,
            (place >> 32) as u32,
            self.checksum as u32,
            (self.checksum >> 32) as u32,
        ]
    }

    /// The entry in these bytes.
    pub fn from_bytes(bytes: &[u8; ENTRY_BYTES], split: Split) -> Self {
        let (words, _) = bytes.as_chunks::<4>();
        let words = core::array::from_fn(|i| u32::from_le_bytes(words[i]));
        Self::from_words(words, split)
    }

    /// The entry's bytes.
    pub fn to_bytes(self, split: Split) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        for (to, word) in bytes.chunks_exact_mut(4).zip(self.to_words(split)) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back() {
        for split in [Split::SHORT, Split::LONG] {
            let last = split.max_payload() - CHUNK_ALIGNMENT;
            for (start, bytes) in [
                (0, 0),
                (0x23_4567_89a0, 65_552),
                (last, split.max_chunk_bytes()),
            ] {
                let entry = Entry::new(start, bytes, Form::Raw, 0xfedc_ba98_7654_3210);
                assert_eq!(Entry::from_bytes(&entry.to_bytes(split), split), entry);
            }
        }
    }
}
