//! Chunks as the files of plans and parts list them: form, length and checksum without a seed; their numbers follow each other.

use crate::encoded::{EncodedChunks, Listing};
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::table::CHUNK_ALIGNMENT;

/// Bytes of a chunk's record in a file.
const RECORD_BYTES: usize = 24;

/// The records of chunks in a file.
pub(super) fn list(listings: &[Listing]) -> Vec<u8> {
    let fields = |chunk: &Listing| [u64::from(chunk.form), chunk.bytes, chunk.sum];
    let fields = listings.iter().flat_map(fields);
    fields.flat_map(u64::to_le_bytes).collect()
}

/// The chunk with this number and record. None if no stream has such a chunk.
fn listing(number: u64, record: &[u8; RECORD_BYTES]) -> Option<Listing> {
    let chunk = Listing {
        number,
        form: u32::try_from(field(record, 0)).ok()?,
        bytes: field(record, 1),
        sum: field(record, 2),
    };
    let is_sound =
        Form::from_id(chunk.form).is_some() && chunk.bytes.is_multiple_of(CHUNK_ALIGNMENT);
    is_sound.then_some(chunk)
}

/// The number at this place of bytes, which have it.
pub(super) fn field(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(8 * at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The chunks of so many records at the start of `listed`, numbered from `first` on, and the bytes behind the records. None if
/// there are fewer, or if one is of no chunk.
pub(super) fn read(listed: &[u8], first: u64, count: u64) -> Option<(Vec<Listing>, &[u8])> {
    let end = usize::try_from(count).ok()?.checked_mul(RECORD_BYTES)?;
    let (records, behind) = listed.split_at_checked(end)?;
    let records = (first..).zip(records.as_chunks().0);
    let listings = records.map(|(number, record)| listing(number, record));
    Some((listings.collect::<Option<_>>()?, behind))
}

/// Chunks with these records. None if the bytes are not as many as the records say.
pub(super) fn complete(listings: Vec<Listing>, bytes: &[u8]) -> Option<EncodedChunks<&[u8]>> {
    Some(EncodedChunks { listings, bytes }).filter(EncodedChunks::is_complete)
}
