//! The chunk table: for each chunk its place, its form and its checksum, in 16 bytes.
//!
//! Chunks start at multiples of 16 bytes of the payload, so the low four bits of a start are free
//! for the form. A chunk ends where the next one starts, the last where the payload ends.

use crate::stream::chunk::Form;

/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 16;

/// Chunks start, and the payload ends, at multiples of so many bytes.
pub const CHUNK_ALIGNMENT: u64 = 16;

/// One chunk's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Where the chunk starts, in bytes from the payload's start; a multiple of 16.
    pub start: u64,
    /// The chunk's form, as its number in the stream, which may be unknown.
    pub form: u32,
    /// The checksum of the chunk's bytes, seeded by [`seed`].
    pub checksum: u64,
}

impl Entry {
    /// An entry for a chunk of a known form.
    pub fn new(start: u64, form: Form, checksum: u64) -> Self {
        Self {
            start,
            form: form.id(),
            checksum,
        }
    }

    /// The entry in these words.
    #[inline(always)]
    pub fn from_words(words: [u32; 4]) -> Self {
        let place = u64::from(words[0]) | u64::from(words[1]) << 32;
        Self {
            start: place & !(CHUNK_ALIGNMENT - 1),
            form: words[0] & (CHUNK_ALIGNMENT as u32 - 1),
            checksum: u64::from(words[2]) | u64::from(words[3]) << 32,
        }
    }

    /// The entry's words.
    #[inline(always)]
    pub fn to_words(self) -> [u32; 4] {
        [
            self.start as u32 | self.form,
            (self.start >> 32) as u32,
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

/// What the checksum of a chunk starts from: a chunk in another's place, or taken for another
/// form, does not have its checksum.
#[inline(always)]
pub const fn seed(chunk: u64, form: u32) -> u64 {
    (chunk.wrapping_mul(CHUNK_ALIGNMENT) + form as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back() {
        let entry = Entry::new(0x0123_4567_89ab_cde0, Form::Raw, 0xfedc_ba98_7654_3210);
        assert_eq!(Entry::from_bytes(&entry.to_bytes()), entry);
    }
}
