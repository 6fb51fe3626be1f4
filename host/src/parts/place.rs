//! Where chunks lie in the stream, and who writes what.
//!
//! Chunks follow each other in the order of their numbers, and those of a member may be any. So each member keeps a slab
//! of the chunk table: it learns the lengths of the chunks of its slab from those who have them, and tells them the
//! starts. A member needs memory for its own chunks and its slab only.

use crate::encoded::{EncodedChunks, Listing};
use crate::error::Error;
use crate::memory;
use crate::parts::fetch::{bad_message, exchange};
use crate::peers::{Group, Piece, agree};
use crate::table::Table;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::table::ENTRY_BYTES;
use std::collections::BTreeMap;
use std::ops::Range;

/// Numbers of a message about a chunk: those of its listing.
const FIELDS: usize = 4;

/// Writes a stream with this header, in which the payload's length is missing, and these records, of the chunks of all
/// members. Each member has its own, in ascending order of their numbers. Returns the stream's length.
///
/// The header is written last, when all other bytes are written: until then no reader takes the file for a stream.
///
/// # Errors
///
/// [`Error::Group`]; [`Error::Io`]; [`Error::OutOfMemory`].
pub(super) fn write(
    group: &dyn Group,
    header: Header,
    records: &[u8],
    entries: u64,
    own: &EncodedChunks,
) -> Result<u64, Error> {
    let slabs = Slabs {
        entries,
        members: group.size() as u64,
    };
    // 1. The members of the table's slabs learn the lengths.
    let mut messages = BTreeMap::<usize, Vec<u8>>::new();
    for chunk in &own.listings {
        let to = messages.entry(slabs.member(chunk.number)).or_default();
        to.extend(to_message(chunk));
    }
    let told = exchange(group, messages)?;
    let slab = slabs.of(group.rank());
    let lengths = agree(group, slab_lengths(&slab, &told))?;
    // 2. The starts.
    let (starts, payload_bytes) = slab_starts(group, &lengths)?;
    let header = Header {
        payload_bytes,
        ..header
    };
    // 3. The entries of the slab, and messages with the starts.
    let table = agree(group, table(&header, &slab, &starts, &told))?;
    let replies = told.iter().map(|(rank, message)| {
        let starts = listings(message).map(|chunk| starts[(chunk.number - slab.start) as usize]);
        (*rank, starts.flat_map(u64::to_le_bytes).collect())
    });
    let starts = exchange(group, replies.collect())?;
    // 4. The pieces: the slab of the table, and the own chunks.
    let pieces = agree(group, pieces(&header, &slabs, &own.listings, &starts))?;
    let mut all = vec![Piece {
        start: header.table_start() + slab.start * ENTRY_BYTES as u64,
        bytes: &table,
    }];
    all.extend(pieces.into_iter().map(|(start, range)| Piece {
        start,
        bytes: &own.bytes[range],
    }));
    all.retain(|piece| !piece.bytes.is_empty());
    agree(group, group.write(&all))?;
    group.barrier()?;
    // 5. The header, and the records behind it.
    let bytes = [&header.to_bytes()[..], records].concat();
    let first = [Piece {
        start: 0,
        bytes: &bytes,
    }];
    let own_header = match group.rank() {
        0 => &first[..],
        _ => &[],
    };
    agree(group, group.write(own_header))?;
    Ok(header.payload_start() + header.payload_bytes)
}

/// The chunk table, in one slab for each member.
struct Slabs {
    entries: u64,
    members: u64,
}

impl Slabs {
    /// The entries of a member.
    fn of(&self, rank: usize) -> Range<u64> {
        let start = |rank: u64| {
            let entry = u128::from(self.entries) * u128::from(rank) / u128::from(self.members);
            entry as u64
        };
        start(rank as u64)..start(rank as u64 + 1)
    }

    /// The member that has an entry.
    fn member(&self, entry: u64) -> usize {
        let product = u128::from(entry) * u128::from(self.members);
        let mut member = (product / u128::from(self.entries.max(1))) as usize;
        // The starts of slabs are rounded down.
        while self.of(member).end <= entry {
            member += 1;
        }
        member
    }
}

/// The message about a chunk.
fn to_message(chunk: &Listing) -> impl Iterator<Item = u8> + use<> {
    let fields = [chunk.number, chunk.form.into(), chunk.bytes, chunk.sum];
    fields.into_iter().flat_map(u64::to_le_bytes)
}

/// The chunks of messages.
fn listings(bytes: &[u8]) -> impl Iterator<Item = Listing> {
    let (messages, _) = bytes.as_chunks::<{ 8 * FIELDS }>();
    messages.iter().map(|message| {
        let field =
            |i: usize| u64::from_le_bytes(std::array::from_fn(|byte| message[8 * i + byte]));
        Listing {
            number: field(0),
            form: field(1) as u32,
            bytes: field(2),
            sum: field(3),
        }
    })
}

/// The lengths of the chunks of a slab.
fn slab_lengths(slab: &Range<u64>, told: &BTreeMap<usize, Vec<u8>>) -> Result<Vec<u64>, Error> {
    let mut lengths: Vec<u64> = memory::try_zeroed(slab.end - slab.start)?;
    let mut found = 0;
    for chunk in told.values().flat_map(|message| listings(message)) {
        let at = chunk.number.checked_sub(slab.start).map(|at| at as usize);
        let length = at.and_then(|at| lengths.get_mut(at));
        *length.ok_or_else(bad_message)? = chunk.bytes;
        found += 1;
    }
    match found == slab.end - slab.start {
        true => Ok(lengths),
        false => Err(Error::Group {
            action: "write the chunk table",
            reason: format!(
                "members have {found} of the {} chunks of a slab",
                slab.end - slab.start
            ),
        }),
    }
}

/// Where the chunks of a slab start in the payload, and the length of the payload.
fn slab_starts(group: &dyn Group, lengths: &[u64]) -> Result<(Vec<u64>, u64), Error> {
    let own_bytes = lengths.iter().sum();
    let mut next = group.sum_before(own_bytes)?;
    let mut payload = [own_bytes];
    group.sum(&mut payload)?;
    let starts = lengths.iter().map(|length| {
        next += length;
        next - length
    });
    Ok((starts.collect(), payload[0]))
}

/// The bytes of a slab of the table.
fn table(
    header: &Header,
    slab: &Range<u64>,
    starts: &[u64],
    told: &BTreeMap<usize, Vec<u8>>,
) -> Result<Vec<u8>, Error> {
    let entries = Table::of(header);
    let mut table = memory::try_zeroed(ENTRY_BYTES as u64 * (slab.end - slab.start))?;
    for chunk in told.values().flat_map(|message| listings(message)) {
        let at = (chunk.number - slab.start) as usize;
        let entry = entries.entry(&chunk, starts[at]);
        table[at * ENTRY_BYTES..][..ENTRY_BYTES].copy_from_slice(&entry);
    }
    Ok(table)
}

/// The places of the own chunks in the stream, and the own bytes that belong there; chunks that follow each other are one
/// piece.
fn pieces(
    header: &Header,
    slabs: &Slabs,
    own: &[Listing],
    starts: &BTreeMap<usize, Vec<u8>>,
) -> Result<Vec<(u64, Range<usize>)>, Error> {
    let mut rest: BTreeMap<usize, &[u8]> = (starts.iter())
        .map(|(rank, starts)| (*rank, &starts[..]))
        .collect();
    let mut pieces: Vec<(u64, Range<usize>)> = Vec::new();
    let mut end = 0;
    for chunk in own {
        let from = rest.get_mut(&slabs.member(chunk.number));
        let from = from.and_then(|from| from.split_off(..8));
        let bytes = from.and_then(|bytes| bytes.first_chunk::<8>());
        let start = u64::from_le_bytes(*bytes.ok_or_else(bad_message)?);
        let start = header.payload_start() + start;
        let range = end..end + chunk.bytes as usize;
        end = range.end;
        match pieces.last_mut() {
            Some((first, piece)) if *first + piece.len() as u64 == start => piece.end = end,
            _ => pieces.push((start, range)),
        }
    }
    Ok(pieces)
}
