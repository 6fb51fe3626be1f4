//! The head and the entries of an update as 32-bit words, which kernels read, too.

use crate::container::table::{Entry, Split};

/// The first bytes of an update.
pub const MAGIC: [u8; 8] = *b"\x89FSU\r\n\x1a\n";

/// Bytes of an update's head.
pub const HEAD_BYTES: usize = 32;

/// Bytes of an update's entry.
pub const ENTRY_BYTES: usize = 32;

/// Words of a head.
pub const HEAD_WORDS: usize = HEAD_BYTES / 4;

/// Words of an entry.
pub const ENTRY_WORDS: usize = ENTRY_BYTES / 4;

/// Words of a head that its checksum covers, which is behind them.
pub const SUMMED_WORDS: usize = HEAD_WORDS - 2;

/// The head of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateHead {
    /// Whether it has the first bytes of an update.
    pub has_magic: bool,
    /// Chunks that the update replaces, each with an entry.
    pub chunks: u64,
    /// Bytes of the new chunks.
    pub payload_bytes: u64,
    /// The checksum of the words before it and of the entries, from the identity of the stream on.
    pub checksum: u64,
}

impl UpdateHead {
    /// The head in these words.
    #[inline(always)]
    pub fn from_words(words: [u32; HEAD_WORDS]) -> Self {
        let wide = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        Self {
            has_magic: wide(0) == u64::from_le_bytes(MAGIC),
            chunks: wide(2),
            payload_bytes: wide(4),
            checksum: wide(SUMMED_WORDS),
        }
    }

    /// The ends of the entries and of the update, in bytes from its start; none if it has more than `bytes`.
    #[inline(always)]
    pub fn ends(&self, bytes: u64) -> Option<[u64; 2]> {
        let room = bytes.checked_sub(HEAD_BYTES as u64)?;
        if self.chunks > room / ENTRY_BYTES as u64 {
            return None;
        }
        let of_entries = self.chunks * ENTRY_BYTES as u64;
        if self.payload_bytes > room - of_entries {
            return None;
        }
        let entries_end = HEAD_BYTES as u64 + of_entries;
        Some([entries_end, entries_end + self.payload_bytes])
    }
}

/// An entry of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateEntry {
    /// The number of the chunk that is replaced.
    pub chunk: u64,
    /// The reserved bytes, which are zero.
    pub reserved: u64,
    /// The new chunk; its start is counted from the end of the update's entries.
    pub entry: Entry,
}

impl UpdateEntry {
    /// The entry in these words.
    #[inline(always)]
    pub fn from_words(words: [u32; ENTRY_WORDS]) -> Self {
        let [low, high, reserved, zero, a, b, c, d] = words;
        Self {
            chunk: u64::from(low) | u64::from(high) << 32,
            reserved: u64::from(reserved) | u64::from(zero) << 32,
            entry: Entry::from_words([a, b, c, d], Split::SHORT),
        }
    }

    /// Whether the entry can stand behind the one before it: numbers ascend, no byte is between the chunks or in both, and
    /// reserved bytes are zero.
    #[inline(always)]
    pub fn follows(&self, before: Option<&Self>) -> bool {
        let is_next = match before {
            None => self.entry.start == 0,
            Some(before) => {
                self.chunk > before.chunk && self.entry.start == before.entry.range().end
            }
        };
        is_next && self.reserved == 0
    }
}
