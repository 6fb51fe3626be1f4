//! Updates: chunks that replace other chunks, appended to a stream.
//!
//! The only bytes of a stream that are overwritten are its header's. The header's number of update bytes makes an
//! update part of the stream. So a stream is whole at every moment: until the header is written, the bytes behind the
//! stream's end are an unfinished update, which readers skip.
//!
//! ```text
//! update  =  head (32 bytes)  |  entries (32 bytes a chunk)  |  chunks
//! ```

use crate::container::checksum::checksum;
use crate::container::chunk::Form;
use crate::container::header::Header;
use crate::container::identity::Identity;
use crate::container::table::{Entry, Split};
use crate::container::update_words::{
    ENTRY_BYTES, HEAD_BYTES, MAGIC, SUMMED_WORDS, UpdateEntry, UpdateHead,
};
use crate::error::FormatError;
use alloc::vec::Vec;
use core::array::from_fn;

/// A chunk that replaces another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The number of the chunk that is replaced.
    pub chunk: u64,
    /// The entry of the new chunk; its start is counted from the start of all updates.
    pub entry: Entry,
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

    /// The number of replaced chunks.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads all updates of the stream with this header; `updates` are the bytes that the header counts.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidUpdate`] with the position of the update in the bytes of all updates.
    pub fn read(updates: &[u8], header: &Header) -> Result<Self, FormatError> {
        let mut all = Vec::new();
        let mut at = 0;
        while at < updates.len() {
            let invalid = FormatError::InvalidUpdate { at: at as u64 };
            at = read_one(updates, at, header, &mut all).ok_or(invalid)?;
        }
        // The last of several replacements of a chunk counts: the sort is stable, and the order is reversed.
        all.reverse();
        all.sort_by_key(|replacement: &Replacement| replacement.chunk);
        all.dedup_by_key(|replacement| replacement.chunk);
        Ok(Self(all))
    }
}

/// Reads the update at byte `at`; returns its end.
fn read_one(
    updates: &[u8],
    at: usize,
    header: &Header,
    all: &mut Vec<Replacement>,
) -> Option<usize> {
    let rest = updates.get(at..)?;
    let head_bytes = rest.get(..HEAD_BYTES)?;
    let head = UpdateHead::from_words(words(head_bytes));
    let [entries_end, end] = head.ends(rest.len() as u64)?.map(|end| end as usize);
    let entries = &rest[HEAD_BYTES..entries_end];
    if !head.has_magic || head.checksum != sum(header.identity(), head_bytes, entries) {
        return None;
    }
    let mut before: Option<UpdateEntry> = None;
    for entry in entries.chunks_exact(ENTRY_BYTES) {
        let found = UpdateEntry::from_words(words(entry));
        let UpdateEntry {
            chunk, mut entry, ..
        } = found;
        let is_known = chunk < header.chunks() && entry.bytes <= header.raw_chunk_bytes(chunk);
        if !found.follows(before.as_ref()) || !is_known {
            return None;
        }
        before = Some(found);
        entry.start += (at + entries_end) as u64;
        all.push(Replacement { chunk, entry });
    }
    let payload_end = before.map_or(0, |last| last.entry.range().end);
    (payload_end == head.payload_bytes).then_some(at + end)
}

/// The first words in bytes; 0 behind these.
fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let (words, _) = bytes.as_chunks();
    from_fn(|i| words.get(i).copied().map_or(0, u32::from_le_bytes))
}

/// A chunk that replaces another: the number of its entry, its form, its checksum and its bytes.
pub type NewChunk = (u64, Form, u64, Vec<u8>);

/// The bytes of an update of the stream with this identity. Each replaced chunk is given by number, form, checksum and
/// bytes, in ascending order of the numbers.
pub fn to_bytes(identity: Identity, chunks: &[NewChunk]) -> Vec<u8> {
    let mut entries = Vec::new();
    let mut payload = Vec::new();
    for (chunk, form, checksum, bytes) in chunks {
        entries.extend(chunk.to_le_bytes());
        entries.extend([0; 8]);
        let entry = Entry::new(payload.len() as u64, bytes.len() as u64, *form, *checksum);
        entries.extend(entry.to_bytes(Split::SHORT));
        payload.extend_from_slice(bytes);
    }
    let mut head = MAGIC.to_vec();
    head.extend((chunks.len() as u64).to_le_bytes());
    head.extend((payload.len() as u64).to_le_bytes());
    head.extend(sum(identity, &head, &entries).to_le_bytes());
    [head, entries, payload].concat()
}

/// The bytes behind the end of a stream, which are not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// There are no bytes.
    Nothing,
    /// They begin like an update, which was not finished.
    UnfinishedUpdate,
    /// They are zeros: some file systems leave zeros when an append was interrupted.
    Zeros,
}

impl Tail {
    /// The kind of these bytes; none if they cannot follow a stream.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let known = bytes.len().min(MAGIC.len());
        if bytes.is_empty() {
            Some(Self::Nothing)
        } else if bytes[..known] == MAGIC[..known] {
            Some(Self::UnfinishedUpdate)
        } else {
            bytes.iter().all(|byte| *byte == 0).then_some(Self::Zeros)
        }
    }
}

/// The checksum of a head up to its checksum, and of the entries.
fn sum(identity: Identity, head: &[u8], entries: &[u8]) -> u64 {
    checksum(checksum(identity.0, &head[..4 * SUMMED_WORDS]), entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Bound;
    use crate::container::extents::Extents;
    use crate::container::layout::Layout;
    use crate::element::Dtype;
    use crate::pipeline::Codec;
    use crate::shape::Shape;
    use alloc::vec;

    /// The header of a field of this many chunks.
    fn header(chunks: u64) -> Header {
        Layout::new(Codec::PLAIN, Shape::Line, Extents::line(8192 * chunks)).header(
            Dtype::F32,
            Bound::default(),
            0,
        )
    }

    #[test]
    fn the_last_update_of_a_chunk_counts_and_damage_is_found() {
        let header = header(10);
        let update = |chunks: &[_]| to_bytes(header.identity(), chunks);
        let first = update(&[
            (3, Form::Coded, 7, vec![1; 32]),
            (5, Form::Raw, 8, vec![2; 16]),
        ]);
        let second = update(&[(5, Form::Coded, 9, vec![3; 48]), (9, Form::Zero, 4, vec![])]);
        let updates = [first.clone(), second].concat();
        let found = Replacements::read(&updates, &header).unwrap();
        assert_eq!(found.len(), 3);
        let five = found.of(5).unwrap();
        assert_eq!((five.entry.form, five.entry.checksum), (1, 9));
        let range = five.entry.range();
        assert_eq!(updates[range.start as usize..range.end as usize], [3; 48]);
        assert!(found.of(4).is_none());
        assert!(Replacements::read(&updates, &self::header(9)).is_err());
        // Heads and entries only: the bytes of chunks have their own checksums.
        for at in (0..96).chain(first.len()..first.len() + 96) {
            let mut damaged = updates.clone();
            damaged[at] ^= 4;
            assert!(Replacements::read(&damaged, &header).is_err(), "{at}");
        }
        for length in (1..updates.len()).filter(|length| *length != first.len()) {
            let cut = &updates[..length];
            assert!(Replacements::read(cut, &header).is_err(), "{length}");
        }
    }

    #[test]
    fn chunks_of_an_update_share_no_bytes_and_are_not_longer_than_raw() {
        let header = header(10);
        let identity = header.identity();
        let sound = |chunks: &[_]| Replacements::read(&to_bytes(identity, chunks), &header).is_ok();
        let chunk = |number, bytes: usize| (number, Form::Raw, 0, vec![0; bytes]);
        assert!(sound(&[chunk(0, 32_768), chunk(1, 16)]));
        assert!(!sound(&[chunk(0, 32_784)]));
        assert!(!sound(&[chunk(1, 16), chunk(0, 16)]));
        assert!(!sound(&[chunk(1, 16), chunk(1, 16)]));
        // Other entries, with the right checksum of the update.
        let is_sound = |change: fn(&mut [u8])| {
            let mut update = to_bytes(identity, &[chunk(0, 16), chunk(1, 16)]);
            let (head, rest) = update.split_at_mut(HEAD_BYTES);
            let entries = &mut rest[..2 * ENTRY_BYTES];
            change(entries);
            let sum = sum(identity, head, entries);
            head[24..].copy_from_slice(&sum.to_le_bytes());
            Replacements::read(&update, &header).is_ok()
        };
        assert!(is_sound(|_| ()));
        let share = |entries: &mut [u8]| entries.copy_within(16..24, ENTRY_BYTES + 16);
        assert!(!is_sound(share));
        assert!(!is_sound(|entries| entries[8] = 1));
        assert!(!is_sound(|entries| entries[ENTRY_BYTES + 15] = 1));
    }

    #[test]
    fn an_update_belongs_to_its_stream() {
        let header = header(10);
        let other = Header {
            error_bits: 1,
            ..header
        };
        let update = to_bytes(header.identity(), &[(0, Form::Zero, 0, vec![])]);
        assert!(Replacements::read(&update, &header).is_ok());
        assert!(Replacements::read(&update, &other).is_err());
    }

    #[test]
    fn only_unfinished_updates_and_zeros_may_follow() {
        assert_eq!(Tail::of(&[]), Some(Tail::Nothing));
        assert_eq!(Tail::of(&MAGIC[..5]), Some(Tail::UnfinishedUpdate));
        assert_eq!(Tail::of(&[0; 4096]), Some(Tail::Zeros));
        assert_eq!(Tail::of(&MAGIC[1..]), None);
        assert_eq!(Tail::of(&[0, 0, 1]), None);
    }
}
