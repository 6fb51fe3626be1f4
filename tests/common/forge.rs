//! Streams that no encoder of this version writes, with right checksums.

use ferrosz::codec::container::checksum::checksum;
use ferrosz::codec::container::header::{HEADER_BYTES, Header};
use ferrosz::codec::container::identity::Identity;
use ferrosz::codec::container::record::{Record, to_bytes};
use ferrosz::codec::container::record_kind::RecordKind;
use ferrosz::codec::container::section;
use ferrosz::codec::container::version::Version;

/// Puts bytes into a header, whatever they say, and makes its identity and checksum right. Those of chunks stay.
pub fn forge(stream: &mut [u8], at: usize, bytes: &[u8]) {
    stream[at..at + bytes.len()].copy_from_slice(bytes);
    let identity = Identity::of_sum(checksum(0, &stream[..128])).0;
    stream[128..136].copy_from_slice(&identity.to_le_bytes());
    let sum = checksum(0, &stream[..HEADER_BYTES - 8]);
    stream[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
}

/// A stream of this version, with a record of this kind in place of the stream's records.
pub fn with_record(stream: &[u8], version: Version, kind: &[u8; 4]) -> Vec<u8> {
    let before = Header::read(stream).expect("a header");
    let records = to_bytes(&[Record {
        kind: RecordKind(*kind),
        contents: b"something",
    }]);
    let header = Header {
        version,
        record_bytes: records.len() as u64,
        record_sum: checksum(0, &records),
        ..before
    };
    // Version and records are part of the identity, so each seed is another.
    let mut rest = stream[before.table_start() as usize..].to_vec();
    let delta = header.identity().0.wrapping_sub(before.identity().0);
    for entry in rest[..16 * before.chunks() as usize].chunks_exact_mut(16) {
        let sum = u64::from_le_bytes(entry[8..].try_into().expect("8 bytes"));
        entry[8..].copy_from_slice(&sum.wrapping_add(delta).to_le_bytes());
    }
    [&header.to_bytes()[..], &records, &rest].concat()
}

/// A stream without updates, with a section of this kind behind its last.
pub fn with_section(stream: &[u8], kind: &[u8; 4]) -> Vec<u8> {
    let mut header = Header::read(stream).expect("a header");
    let kind = RecordKind(*kind);
    let section = section::to_bytes(kind, b"something else", header.identity());
    header.payload_bytes += section.len() as u64;
    header.has_sections = true;
    header.needs_sections |= kind.is_critical();
    [&header.to_bytes()[..], &stream[HEADER_BYTES..], &section].concat()
}
