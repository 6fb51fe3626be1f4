//! Entries of a chunk table on their way from the stream of a field to that of a slab.

use crate::table::Table;
use ferrosz_codec::container::table::{CHUNK_ALIGNMENT, ENTRY_BYTES, Entry, Split};
use std::ops::Range;

/// The start of a chunk that is in no stream.
fn nowhere(split: Split) -> u64 {
    split.max_payload() - CHUNK_ALIGNMENT
}

/// Where the chunks of a slab are in a stream.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The table of the stream.
    pub(crate) table: Table,
    /// The number of the slab's first chunk.
    pub(crate) first: u64,
    /// The bytes of the payload that have the slab's chunks.
    pub(crate) bytes: Range<u64>,
}

/// Turns entries of the chunks of a slab in one stream into those in another, where the chunks are in as many bytes. A chunk
/// that is elsewhere, which only damaged streams have, stays a fault.
pub(crate) fn move_entries(
    entries: &mut [[u8; ENTRY_BYTES]],
    split: Split,
    from: &Place,
    to: &Place,
) {
    for (number, bytes) in (0..).zip(entries) {
        let entry = Entry::from_bytes(bytes, split);
        let is_inside = entry.start >= from.bytes.start && entry.range().end <= from.bytes.end;
        let start = match is_inside {
            true => entry.start - from.bytes.start + to.bytes.start,
            false => nowhere(split),
        };
        let sum = from.table.unsealed(from.first + number, &entry);
        let moved = Entry {
            start,
            checksum: to.table.sealed(to.first + number, entry.form, sum),
            ..entry
        };
        *bytes = moved.to_bytes(split);
    }
}

/// The bytes of a payload of so many bytes that have the chunks of these entries, wherever they are.
pub(crate) fn extent(
    entries: &[[u8; ENTRY_BYTES]],
    split: Split,
    payload_bytes: u64,
) -> Range<u64> {
    let ranges = entries
        .iter()
        .map(|bytes| Entry::from_bytes(bytes, split).range());
    let inside = ranges.filter(|range| range.end <= payload_bytes);
    let all = inside.reduce(|all, range| all.start.min(range.start)..all.end.max(range.end));
    all.unwrap_or(0..0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::container::identity::Identity;

    fn table(identity: Identity) -> Table {
        Table {
            identity,
            split: Split::SHORT,
            has_prologue: false,
        }
    }

    fn entry(start: u64, bytes: u64, form: u32, checksum: u64) -> [u8; ENTRY_BYTES] {
        let entry = Entry {
            start,
            bytes,
            form,
            checksum,
        };
        entry.to_bytes(Split::SHORT)
    }

    #[test]
    fn entries_go_there_and_back() {
        let of_slab = Place {
            table: table(Identity(77)),
            first: 0,
            bytes: 0..4096,
        };
        let of_field = Place {
            table: table(Identity(u64::MAX - 5)),
            first: 123,
            bytes: 65_536..69_632,
        };
        let table = [
            entry(0, 1024, 1, of_slab.table.sealed(0, 1, 9)),
            // A form that nobody knows, and no bytes.
            entry(1024, 0, 15, of_slab.table.sealed(1, 15, 0)),
            entry(1024, 3072, 3, 5),
        ];
        let mut moved = table;
        move_entries(&mut moved, Split::SHORT, &of_slab, &of_field);
        let first = Entry::from_bytes(&moved[0], Split::SHORT);
        assert_eq!((first.start, first.bytes, first.form), (65_536, 1024, 1));
        assert_eq!(
            first.checksum,
            Identity(u64::MAX - 5).seed(123, 1).wrapping_add(9)
        );
        assert_eq!(extent(&moved, Split::SHORT, 70_000), of_field.bytes);
        move_entries(&mut moved, Split::SHORT, &of_field, &of_slab);
        assert_eq!(moved, table);
    }

    #[test]
    fn a_chunk_outside_of_the_payload_stays_outside() {
        let place = |bytes| Place {
            table: table(Identity(1)),
            first: 0,
            bytes,
        };
        let mut table = [
            entry(160, 320, 1, 0),
            entry(4800, 32, 1, 0),
            entry(16, 16, 1, 0),
        ];
        assert_eq!(extent(&table, Split::SHORT, 4816), 16..480);
        move_entries(&mut table, Split::SHORT, &place(16..480), &place(0..464));
        let starts = table.map(|bytes| Entry::from_bytes(&bytes, Split::SHORT).start);
        assert_eq!(starts, [144, nowhere(Split::SHORT), 0]);
        assert_eq!(extent(&[], Split::SHORT, 100), 0..0);
    }
}
