//! Records: data behind the header for which the header has no field.
//!
//! A record's kind is four letters. If the first is a capital, the record changes the meaning of the stream, and a
//! reader that does not know it must refuse the stream. Readers skip other records that they do not know. FORMAT.md,
//! section 1.

use crate::container::checksum::checksum;
use crate::container::header::Header;
use crate::container::record_kind::RecordKind;
use crate::error::{FormatError, Unknown};

/// Records begin at multiples of this many bytes.
const ALIGNMENT: usize = 16;

/// Bytes before the contents of a record.
pub const HEAD_BYTES: usize = 8;

/// The kinds of records that this library knows.
const KNOWN: [RecordKind; 7] = [
    RecordKind::AXES,
    RecordKind::CONV,
    RecordKind::CORR,
    RecordKind::CPLX,
    RecordKind::MASK,
    RecordKind::SAFE,
    RecordKind::WAVE,
];

/// A record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its kind.
    pub kind: RecordKind,
    /// Its contents.
    pub contents: &'a [u8],
}

/// Checks the records of a stream with this header: each must be whole, and this library must know each that a reader
/// must know.
///
/// # Errors
///
/// [`FormatError::InvalidRecords`] and [`FormatError::Unknown`].
pub fn check(records: &[u8], header: &Header) -> Result<(), FormatError> {
    if checksum(0, records) != header.record_sum {
        return Err(FormatError::InvalidRecords("their checksum does not match"));
    }
    let mut rest = records;
    while !rest.is_empty() {
        let record = take(&mut rest).ok_or(FormatError::InvalidRecords(
            "a record ends behind their end",
        ))?;
        if !record.kind.is_letters() {
            return Err(FormatError::InvalidRecords("a kind is not four letters"));
        }
        if !record.kind.is_known(&KNOWN) {
            return Err(FormatError::Unknown {
                what: Unknown::Record(record.kind),
                version: header.version,
            });
        }
    }
    Ok(())
}

/// Removes the first record from `records` and returns it.
pub fn take<'a>(records: &mut &'a [u8]) -> Option<Record<'a>> {
    let (head, rest) = records.split_first_chunk::<HEAD_BYTES>()?;
    let [a, b, c, d, length @ ..] = *head;
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
    let contents = rest.get(..length)?;
    let padded = HEAD_BYTES
        .checked_add(length)?
        .checked_next_multiple_of(ALIGNMENT)?;
    *records = records.get(padded..)?;
    Some(Record {
        kind: RecordKind([a, b, c, d]),
        contents,
    })
}

/// The bytes of records.
#[cfg(feature = "alloc")]
pub fn to_bytes(records: &[Record<'_>]) -> alloc::vec::Vec<u8> {
    let mut bytes = alloc::vec::Vec::new();
    for record in records {
        bytes.extend(record.kind.0);
        bytes.extend((record.contents.len() as u32).to_le_bytes());
        bytes.extend_from_slice(record.contents);
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Bound;
    use crate::container::extents::Extents;
    use crate::container::layout::Layout;
    use crate::container::version::{VERSION, Version};
    use crate::element::Dtype;
    use crate::pipeline::Codec;
    use crate::shape::Shape;
    use alloc::string::ToString;

    fn header_of(records: &[u8]) -> Header {
        let layout = Layout::new(Codec::PLAIN, Shape::Line, Extents::line(1));
        Header {
            record_sum: checksum(0, records),
            ..layout.header(Dtype::F32, Bound::default(), 0)
        }
    }

    fn record<'a>(kind: &[u8; 4], contents: &'a [u8]) -> Record<'a> {
        Record {
            kind: RecordKind(*kind),
            contents,
        }
    }

    fn check_all(records: &[u8]) -> Result<(), FormatError> {
        check(records, &header_of(records))
    }

    #[test]
    fn unknown_records_are_passed_over_or_refused_by_name() {
        let skipped = to_bytes(&[record(b"note", b"hello"), record(b"more", &[7; 24])]);
        assert_eq!(skipped.len(), 16 + 32);
        assert_eq!(check_all(&skipped), Ok(()));
        let needed = to_bytes(&[record(b"note", b""), record(b"FILL", &[1])]);
        let error = |version| {
            let header = Header {
                version,
                ..header_of(&needed)
            };
            check(&needed, &header).unwrap_err().to_string()
        };
        let start = "the stream has a record 'FILL', which this library does not know";
        assert_eq!(error(VERSION), start);
        let newer = Version(VERSION.0 + 1);
        let end =
            alloc::format!(": it needs format {newer}, and this library reads format {VERSION}");
        assert_eq!(error(newer), [start, &end].concat());
    }

    #[test]
    fn damage_is_found() {
        let records = to_bytes(&[record(b"note", b"hello"), record(b"more", &[7; 24])]);
        let header = header_of(&records);
        for at in 0..records.len() {
            let mut damaged = records.clone();
            damaged[at] ^= 1;
            assert!(check(&damaged, &header).is_err());
        }
        for length in (16..records.len())
            .step_by(16)
            .filter(|length| *length != 16)
        {
            assert!(check_all(&records[..length]).is_err(), "{length}");
        }
        assert!(check_all(&to_bytes(&[record(b"n te", b"")])).is_err());
        let mut long = to_bytes(&[record(b"note", b"")]);
        long[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(check_all(&long).is_err());
    }

    #[test]
    fn records_come_back() {
        let all = [record(b"note", b"hello"), record(b"Axes", &[1; 8])];
        let bytes = to_bytes(&all);
        let mut rest = &bytes[..];
        assert_eq!(
            [take(&mut rest), take(&mut rest), take(&mut rest)],
            [Some(all[0]), Some(all[1]), None]
        );
    }
}
