//! Where things lie in a stream of this coder: header, chunk table, and the payload. The first entry is the
//! prologue's, with which the payload begins.

use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::tiles::FIRST_ENTRY;
use ferrosz_simt::View;

/// The chunk table.
#[inline(always)]
pub fn table(stream: View<u32>) -> View<u32> {
    stream.from(HEADER_WORDS as u64)
}

/// Whether a stream is long enough for header and table of so many chunks.
#[inline(always)]
pub const fn has_table(stream: View<u32>, chunks: u64) -> bool {
    stream.len() >= HEADER_WORDS as u64 + 4 * (FIRST_ENTRY + chunks)
}

/// The payload of a stream of so many chunks.
#[inline(always)]
pub fn payload(stream: View<u32>, chunks: u64) -> View<u32> {
    stream.from(HEADER_WORDS as u64 + 4 * (FIRST_ENTRY + chunks))
}
