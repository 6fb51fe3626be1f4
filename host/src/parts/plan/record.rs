//! Chunks as the files of plans and parts list them.

use crate::cpu::tiles::chunks::Image;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::table::CHUNK_ALIGNMENT;

/// Bytes of a record in a file.
const RECORD_BYTES: usize = 24;

/// A chunk, as plans and parts describe it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Record {
    pub(super) form: u32,
    pub(super) bytes: u64,
    /// The checksum without a seed.
    pub(super) sum: u64,
}

/// The records of chunks, and their bytes one behind the other.
pub(super) type Listed<'a> = (Vec<Record>, &'a [u8]);

impl Record {
    pub(super) fn of(image: &Image) -> Self {
        Self {
            form: image.form.id(),
            bytes: image.bytes.len() as u64,
            sum: image.sum,
        }
    }

    /// The bytes of records in a file.
    pub(super) fn list(records: &[Self]) -> Vec<u8> {
        let fields = |record: &Self| [u64::from(record.form), record.bytes, record.sum];
        let fields = records.iter().flat_map(fields);
        fields.flat_map(u64::to_le_bytes).collect()
    }

    /// None if no stream has such a chunk.
    fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let record = Self {
            form: u32::try_from(number(bytes, 0)).ok()?,
            bytes: number(bytes, 1),
            sum: number(bytes, 2),
        };
        let is_sound =
            Form::from_id(record.form).is_some() && record.bytes.is_multiple_of(CHUNK_ALIGNMENT);
        is_sound.then_some(record)
    }
}

/// The number at this place of bytes, which have it.
pub(super) fn number(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(8 * at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The records at the start of bytes, and the bytes behind them. None if there are fewer, or one is of no chunk.
pub(super) fn records(bytes: &[u8], count: u64) -> Option<Listed<'_>> {
    let end = usize::try_from(count).ok()?.checked_mul(RECORD_BYTES)?;
    let (records, behind) = bytes.split_at_checked(end)?;
    let records = records.as_chunks().0.iter().map(Record::from_bytes);
    Some((records.collect::<Option<_>>()?, behind))
}
