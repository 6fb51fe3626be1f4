//! The chunk table: the position, length, form and checksum of each chunk, in 16 bytes.
//!
//! Entries are independent: a damaged entry makes no other chunk unreadable. The starts and lengths of chunks are
//! multiples of 16 bytes, so 64 bits hold form, start and length.

use crate::container::chunk::Form;
use core::ops::Range;

/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 16;

/// Chunks start, and the payload ends, at multiples of this many bytes.
pub const CHUNK_ALIGNMENT: u64 = 16;

/// Bits of an entry's start, in units of [`CHUNK_ALIGNMENT`]; the form is below them.
const START_BITS: u32 = 44;

/// The first bit of the length, which is in the same units.
const LENGTH_AT: u32 = FORM_BITS + START_BITS;

const FORM_BITS: u32 = 4;

/// The most bytes of a payload.
pub const MAX_PAYLOAD: u64 = CHUNK_ALIGNMENT << START_BITS;

/// The most bytes of a chunk.
pub const MAX_CHUNK_BYTES: u64 = CHUNK_ALIGNMENT * ((1 << (u64::BITS - LENGTH_AT)) - 1);

/// One chunk's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The start of the chunk, in bytes from the payload's start; a multiple of 16, less than [`MAX_PAYLOAD`].
    pub start: u64,
    /// The bytes of the chunk, a multiple of 16, at most [`MAX_CHUNK_BYTES`]. 0 in the entry of a prologue, whose
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
    pub fn from_words(words: [u32; 4]) -> Self {
        let place = u64::from(words[0]) | u64::from(words[1]) << 32;
        Self {
            start: (place >> FORM_BITS & ((1 << START_BITS) - 1)) * CHUNK_ALIGNMENT,
            bytes: (place >> LENGTH_AT) * CHUNK_ALIGNMENT,
            form: words[0] & ((1 << FORM_BITS) - 1),
            checksum: u64::from(words[2]) | u64::from(words[3]) << 32,
        }
    }

    /// The entry's words.
    #[inline(always)]
    pub fn to_words(self) -> [u32; 4] {
        let units = |bytes: u64| bytes / CHUNK_ALIGNMENT;
        let place =
            units(self.start) << FORM_BITS | units(self.bytes) << LENGTH_AT | u64::from(self.form);
        [
            place as u32,
            (place >> 32) as u32,
            self.checksum as u32,
            (self.checksum >> 32) as u32,
        ]
    }

    /// The entry in these bytes.
    pub fn from_bytes(bytes: &[u8; ENTRY_BYTES]) -> Self {
        let (words, _) = bytes.as_chunks::<4>();
        Self::from_words(core::array::from_fn(|i| u32::from_le_bytes(words[i])))
    }

    /// The entry's bytes.
    pub fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        for (to, word) in bytes.chunks_exact_mut(4).zip(self.to_words()) {
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
        for (start, bytes) in [
            (0, 0),
            (0x0123_4567_89a0, 65_552),
            (MAX_PAYLOAD - CHUNK_ALIGNMENT, MAX_CHUNK_BYTES),
        ] {
            let entry = Entry::new(start, bytes, Form::Raw, 0xfedc_ba98_7654_3210);
            assert_eq!(Entry::from_bytes(&entry.to_bytes()), entry);
        }
    }
}
