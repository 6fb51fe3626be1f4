//! Updates: chunks that replace others, appended to a stream.
//!
//! Nothing that a stream has is ever overwritten but its header, whose count of update bytes is what
//! makes an update part of it. So a stream is whole at every moment: until the header is written, the
//! bytes behind its end are an unfinished update, which readers pass over.
//!
//! ```text
//! update  =  head (32 bytes)  |  entries (32 bytes a chunk)  |  chunks
//! ```

use crate::error::FormatError;
use crate::stream::checksum::checksum;
use crate::stream::table::{CHUNK_ALIGNMENT, Entry};
use alloc::vec::Vec;
use core::ops::Range;

/// The first bytes of an update.
pub const MAGIC: [u8; 8] = *b"\x89FSU\r\n\x1a\n";

/// Bytes of an update's head.
const HEAD_BYTES: usize = 32;

/// Bytes of an entry.
const ENTRY_BYTES: usize = 32;

/// A chunk that replaces another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The number of the chunk that is replaced.
    pub chunk: u64,
    /// Form and checksum; the start counts from the start of all updates.
    pub entry: Entry,
    /// Bytes of the chunk.
    pub bytes: u64,
}

impl Replacement {
    /// Where the chunk lies among the bytes of all updates.
    pub fn range(&self) -> Range<u64> {
        self.entry.start..self.entry.start + self.bytes
    }
}

/// The chunks that updates replace, in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replacements(Vec<Replacement>);

impl Replacements {
    /// The replacement of a chunk, if it has one.
    pub fn of(&self, chunk: u64) -> Option<&Replacement> {
        let at = self
            .0
            .binary_search_by_key(&chunk, |found| found.chunk)
            .ok()?;
        self.0.get(at)
    }

    /// Chunks that are replaced.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads all updates of a stream of `chunks` chunks; `updates` is what the header says belongs to
    /// it.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidUpdate`], with its place among the bytes of all updates.
    pub fn read(updates: &[u8], chunks: u64) -> Result<Self, FormatError> {
        let mut all = Vec::new();
        let mut at = 0;
        while at < updates.len() {
            let invalid = FormatError::InvalidUpdate { at: at as u64 };
            at = read_one(updates, at, chunks, &mut all).ok_or(invalid)?;
        }
        // Of several for one chunk the last counts: the sort keeps their order, reversed.
        all.reverse();
        all.sort_by_key(|replacement: &Replacement| replacement.chunk);
        all.dedup_by_key(|replacement| replacement.chunk);
        Ok(Self(all))
    }
}

/// Reads the update at byte `at`; where it ends.
fn read_one(updates: &[u8], at: usize, chunks: u64, all: &mut Vec<Replacement>) -> Option<usize> {
    let rest = updates.get(at..)?;
    let head = rest.get(..HEAD_BYTES)?;
    let count = usize::try_from(get(head, 8)?).ok()?;
    let payload = usize::try_from(get(head, 16)?).ok()?;
    let entries_end = count.checked_mul(ENTRY_BYTES)?.checked_add(HEAD_BYTES)?;
    let entries = rest.get(HEAD_BYTES..entries_end)?;
    let is_sound = head[..8] == MAGIC && get(head, 24)? == sum(head, entries);
    let end = entries_end.checked_add(payload)?;
    if !is_sound || end > rest.len() {
        return None;
    }
    for entry in entries.chunks_exact(ENTRY_BYTES) {
        let (chunk, bytes) = (get(entry, 0)?, get(entry, 8)?);
        let (words, _) = entry.get(16..)?.as_chunks::<4>();
        let mut entry = Entry::from_words(core::array::from_fn(|i| u32::from_le_bytes(words[i])));
        let last = entry.start.checked_add(bytes)?;
        if chunk >= chunks || last > payload as u64 || !bytes.is_multiple_of(CHUNK_ALIGNMENT) {
            return None;
        }
        entry.start += (at + entries_end) as u64;
        all.push(Replacement {
            chunk,
            entry,
            bytes,
        });
    }
    Some(at + end)
}

/// The bytes of an update that replaces chunks, given by their numbers in ascending order, forms,
/// checksums and bytes.
pub fn to_bytes(chunks: &[(u64, u32, u64, Vec<u8>)]) -> Vec<u8> {
    let mut entries = Vec::new();
    let mut payload = Vec::new();
    for (chunk, form, checksum, bytes) in chunks {
        entries.extend(chunk.to_le_bytes());
        entries.extend((bytes.len() as u64).to_le_bytes());
        let entry = Entry {
            start: payload.len() as u64,
            form: *form,
            checksum: *checksum,
        };
        entries.extend(entry.to_bytes());
        payload.extend_from_slice(bytes);
    }
    let mut head = MAGIC.to_vec();
    head.extend((chunks.len() as u64).to_le_bytes());
    head.extend((payload.len() as u64).to_le_bytes());
    head.extend(sum(&head, &entries).to_le_bytes());
    [head, entries, payload].concat()
}

/// Whether bytes behind the end of a stream begin as an update does: one that was not finished.
pub fn is_unfinished(trailing: &[u8]) -> bool {
    let known = trailing.len().min(MAGIC.len());
    trailing[..known] == MAGIC[..known]
}

/// The checksum of a head up to its checksum, and of the entries.
fn sum(head: &[u8], entries: &[u8]) -> u64 {
    checksum(checksum(0, &head[..24]), entries)
}

fn get(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(*bytes.as_array()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn the_last_update_of_a_chunk_counts_and_damage_is_found() {
        let first = to_bytes(&[(3, 1, 7, vec![1; 32]), (5, 3, 8, vec![2; 16])]);
        let second = to_bytes(&[(5, 1, 9, vec![3; 48]), (9, 0, 4, vec![])]);
        let updates = [first.clone(), second].concat();
        let found = Replacements::read(&updates, 10).unwrap();
        assert_eq!(found.len(), 3);
        let five = found.of(5).unwrap();
        assert_eq!((five.entry.form, five.entry.checksum), (1, 9));
        let range = five.range();
        assert_eq!(updates[range.start as usize..range.end as usize], [3; 48]);
        assert!(found.of(4).is_none());
        assert!(Replacements::read(&updates, 9).is_err());
        // Heads and entries; the chunks' bytes have their own checksums.
        for at in (0..96).chain(first.len()..first.len() + 96) {
            let mut damaged = updates.clone();
            damaged[at] ^= 4;
            assert!(Replacements::read(&damaged, 10).is_err(), "{at}");
        }
        for length in (1..updates.len()).filter(|length| *length != first.len()) {
            assert!(
                Replacements::read(&updates[..length], 10).is_err(),
                "{length}"
            );
        }
        assert!(is_unfinished(&first[..5]) && !is_unfinished(&first[1..]));
    }
}
