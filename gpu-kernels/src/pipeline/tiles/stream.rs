//! Where things lie in a stream of tiles: header, chunk table, and the payload. The first entry is the prologue's, with
//! which the payload begins. The entries of a mask are behind those of the field.

use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_simt::View;

/// The chunk table.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn table(stream: View<u32>) -> View<u32> {
    stream.from(HEADER_WORDS as u64)
}

/// Whether a stream is long enough for header and table of so many entries.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn has_table(stream: View<u32>, entries: u64) -> bool {
    stream.len() >= HEADER_WORDS as u64 + 4 * entries
}

/// The payload of a stream of so many entries.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn payload(stream: View<u32>, entries: u64) -> View<u32> {
    stream.from(HEADER_WORDS as u64 + 4 * entries)
}
