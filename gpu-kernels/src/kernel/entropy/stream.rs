//! Where things lie in a stream of this coder: header, chunk table, and the payload, which the shares begin.

use crate::simt::View;
use ferrosz_codec::stream::container::HEADER_WORDS;

/// The chunk table.
#[inline(always)]
pub fn table(stream: View<u32>) -> View<u32> {
    stream.from(HEADER_WORDS as u64)
}

/// The payload of a stream of so many chunks.
#[inline(always)]
pub fn payload(stream: View<u32>, chunks: u64) -> View<u32> {
    stream.from(HEADER_WORDS as u64 + 4 * chunks)
}
