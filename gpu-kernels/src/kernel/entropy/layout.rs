//! Where things lie in the workspace: what kernels of predictors and of coders must agree on.
//!
//! A chunk has a *region*:
//!
//! ```text
//! [ codes ][ room ][ marks ]
//! ```
//!
//! *Codes*: 16 bits each, by tile, step and lane; places without a code, anchors and those outside the field,
//! hold 0. *Room*: the encoder goes through the codes from the last to the first and writes words of 16 bits
//! from the end of the room backwards. *Marks*: a word a step says which lanes' values are stored as they are;
//! only those of tiles that have such values are written.
//!
//! The words may reach into the codes, but not into those that are still to be coded: before code number i is,
//! 65,536 - i - 1 others were, and each code costs 28 bits at most, so the words take no more than 3.5 bytes for
//! each 2 bytes of codes behind this one. What they take more is 1.5 bytes a code, or [`CODES_BYTES`] * 3 / 4 in
//! all, and [`CLASS_BYTES`] for class numbers. A share of one slot costs 12 bits but for less than 2^-15 (the
//! stack is at least 2^16), which over the 4,096 pushes of a lane is a fraction of a bit; words are
//! written when 16 bits are there, so a fraction never makes one more.

use crate::simt::View;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{CHUNK_TILES, LANES, STEPS, TILE, TileBox, TileGrid, TileOrder};

/// Bytes of a chunk's codes.
pub const CODES_BYTES: u64 = CHUNK_TILES as u64 * TILE as u64 * 2;
/// Bytes that the class numbers of a chunk can cost at most: 37 a tile of 12 bits, rounded up.
const CLASS_BYTES: u64 = 256;
/// Bytes of a region before its marks.
const WORDS_END: u64 = CODES_BYTES + CODES_BYTES * 3 / 4 + CLASS_BYTES;
/// Bytes of a chunk's marks.
const MARKS_BYTES: u64 = (CHUNK_TILES * STEPS) as u64 * 4;
/// Bytes of a chunk's region, a multiple of 128.
pub const CHUNK_REGION: u64 = WORDS_END + MARKS_BYTES;

const _: () = assert!(CHUNK_REGION.is_multiple_of(128));

/// Number, in halves of words from the start of all regions, of a chunk's first code.
#[inline(always)]
pub const fn codes(chunk: u64) -> u64 {
    chunk * (CHUNK_REGION / 2)
}

/// The first half word behind a chunk's room, which its last word ends at.
#[inline(always)]
pub const fn words_end(chunk: u64) -> u64 {
    codes(chunk) + WORDS_END / 2
}

/// The first word of a chunk's marks.
#[inline(always)]
pub const fn marks(chunk: u64) -> u64 {
    (chunk * CHUNK_REGION + WORDS_END) / 4
}
