//! Sections: data behind the last chunk of the payload, which are known only when the field is encoded.
//!
//! As with records, a kind whose first letter is a capital changes the meaning of the stream. FORMAT.md, section 29.

use crate::container::checksum::checksum;
use crate::container::header::Header;
use crate::container::identity::Identity;
use crate::container::record_kind::RecordKind;
use crate::container::table::{CHUNK_ALIGNMENT, ENTRY_BYTES, Entry};
use crate::container::version::VERSION;
use crate::error::{FormatError, Unknown};

/// Bytes before the contents of a section.
pub const HEAD_BYTES: usize = 32;

/// The bytes of a head that its own checksum covers.
const SUMMED_BYTES: usize = 24;

/// The kinds of sections that this library knows.
const KNOWN: [RecordKind; 2] = [RecordKind::CORR, RecordKind::EXAC];

/// The head of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionHead {
    /// Its kind.
    pub kind: RecordKind,
    /// Bytes of its contents, without padding.
    pub bytes: u64,
    /// The checksum of its contents with their padding, which starts from the identity of the stream.
    pub checksum: u64,
}

impl SectionHead {
    /// Reads a head of a stream with this identity.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidSections`]; [`FormatError::Unknown`], with [`VERSION`].
    pub fn read(head: &[u8; HEAD_BYTES], identity: Identity) -> Result<Self, FormatError> {
        let wide = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&head[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        if checksum(identity.0, &head[..SUMMED_BYTES]) != wide(SUMMED_BYTES) {
            let fault = "the checksum of a head does not match";
            return Err(FormatError::InvalidSections(fault));
        }
        let [a, b, c, d, zeros @ ..] = wide(0).to_le_bytes();
        let kind = RecordKind([a, b, c, d]);
        if zeros != [0; 4] || !kind.is_letters() {
            return Err(FormatError::InvalidSections("a kind is not four letters"));
        }
        match kind.is_known(&KNOWN) {
            true => Ok(Self {
                kind,
                bytes: wide(8),
                checksum: wide(16),
            }),
            false => Err(FormatError::Unknown {
                what: Unknown::Section(kind),
                version: VERSION,
            }),
        }
    }

    /// The bytes of the head in a stream with this identity.
    pub fn to_bytes(self, identity: Identity) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        head[..4].copy_from_slice(&self.kind.0);
        head[8..16].copy_from_slice(&self.bytes.to_le_bytes());
        head[16..24].copy_from_slice(&self.checksum.to_le_bytes());
        let sum = checksum(identity.0, &head[..SUMMED_BYTES]);
        head[SUMMED_BYTES..].copy_from_slice(&sum.to_le_bytes());
        head
    }

    /// Where the section ends whose head starts at byte `start` of the payload; none if that is behind its end.
    pub fn end(&self, start: u64, payload_bytes: u64) -> Option<u64> {
        let contents = self.bytes.checked_next_multiple_of(CHUNK_ALIGNMENT)?;
        let end = contents.checked_add(start + HEAD_BYTES as u64)?;
        (end <= payload_bytes).then_some(end)
    }
}

/// A section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// Its head.
    pub head: SectionHead,
    /// Its contents and their padding.
    padded: &'a [u8],
    identity: Identity,
}

impl<'a> Section<'a> {
    /// The contents, which may be damaged, or not be known.
    pub fn unchecked(&self) -> &'a [u8] {
        &self.padded[..self.head.bytes as usize]
    }

    /// The contents and their padding, whatever they are.
    pub fn padded(&self) -> &'a [u8] {
        self.padded
    }

    /// The contents.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidSections`] if they are damaged.
    pub fn contents(&self) -> Result<&'a [u8], FormatError> {
        if checksum(self.identity.0, self.padded) != self.head.checksum {
            let fault = "the checksum of a section does not match";
            return Err(FormatError::InvalidSections(fault));
        }
        Ok(self.unchecked())
    }
}

/// The byte of the payload at which sections start, if a stream has some, given its table.
pub fn start(header: &Header, table: &[[u8; ENTRY_BYTES]]) -> Option<u64> {
    let end = |entry| {
        Entry::from_bytes(entry, header.layout().split())
            .range()
            .end
    };
    header.has_sections.then(|| table.last().map_or(0, end))
}

/// The sections of a payload, which start at this byte, in their order. Checks their heads and not their contents.
///
/// # Errors
///
/// [`FormatError::InvalidSections`]; [`FormatError::Unknown`], with [`VERSION`].
#[cfg(feature = "alloc")]
pub fn read(
    payload: &[u8],
    start: u64,
    identity: Identity,
) -> Result<alloc::vec::Vec<Section<'_>>, FormatError> {
    let invalid = FormatError::InvalidSections;
    let mut sections = alloc::vec::Vec::<Section<'_>>::new();
    let (mut at, length) = (start, payload.len() as u64);
    while at != length {
        let rest = usize::try_from(at).ok().and_then(|at| payload.get(at..));
        let head = rest.and_then(|rest| rest.first_chunk());
        let head = SectionHead::read(head.ok_or(invalid("a head is cut off"))?, identity)?;
        let end = head.end(at, length);
        let end = end.ok_or(invalid("a section ends behind the payload"))?;
        if sections.iter().any(|other| other.head.kind == head.kind) {
            return Err(invalid("two sections are of one kind"));
        }
        sections.push(Section {
            head,
            padded: &payload[at as usize + HEAD_BYTES..end as usize],
            identity,
        });
        at = end;
    }
    Ok(sections)
}

/// The bytes of a section of a stream with this identity.
#[cfg(feature = "alloc")]
pub fn to_bytes(kind: RecordKind, contents: &[u8], identity: Identity) -> alloc::vec::Vec<u8> {
    let mut bytes = alloc::vec![0; HEAD_BYTES];
    bytes.extend_from_slice(contents);
    bytes.resize(bytes.len().next_multiple_of(CHUNK_ALIGNMENT as usize), 0);
    let head = SectionHead {
        kind,
        bytes: contents.len() as u64,
        checksum: checksum(identity.0, &bytes[HEAD_BYTES..]),
    };
    bytes[..HEAD_BYTES].copy_from_slice(&head.to_bytes(identity));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const OWN: Identity = Identity(77);

    fn note(kind: &[u8; 4], contents: &[u8]) -> Vec<u8> {
        to_bytes(RecordKind(*kind), contents, OWN)
    }

    #[test]
    fn sections_come_back_and_unknown_ones_are_passed_over_or_refused_by_name() {
        let payload = [&[9; 48][..], &note(b"note", b"hello"), &note(b"more", b"")].concat();
        assert_eq!(payload.len(), 48 + 48 + 32);
        let found = read(&payload, 48, OWN).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].contents(), Ok(&b"hello"[..]));
        assert_eq!(found[1].contents(), Ok(&b""[..]));
        let needed = FormatError::Unknown {
            what: Unknown::Section(RecordKind(*b"MORE")),
            version: VERSION,
        };
        assert_eq!(read(&note(b"MORE", b""), 0, OWN), Err(needed));
        assert!(read(&payload, 64, OWN).is_err());
        assert!(read(&payload, 144, OWN).is_err());
        let twice = [note(b"note", b"1"), note(b"note", b"2")].concat();
        assert!(read(&twice, 0, OWN).is_err());
    }

    #[test]
    fn damage_and_sections_of_other_streams_are_found() {
        let payload = [note(b"note", b"hello"), note(b"more", &[7; 24])].concat();
        let is_sound = |payload: &[u8], identity| {
            let found = read(payload, 0, identity)?;
            found.iter().try_for_each(|one| one.contents().map(|_| ()))
        };
        assert_eq!(is_sound(&payload, OWN), Ok(()));
        assert!(is_sound(&payload, Identity(78)).is_err());
        for at in 0..payload.len() {
            for bit in 0..8 {
                let mut damaged = payload.clone();
                damaged[at] ^= 1 << bit;
                assert!(is_sound(&damaged, OWN).is_err(), "{at}");
            }
        }
        for length in (1..payload.len()).filter(|length| *length != 48) {
            assert!(is_sound(&payload[..length], OWN).is_err(), "{length}");
        }
    }
}
