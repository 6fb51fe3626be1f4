//! Where codes lie between predictors and coders.
//!
//! For each chunk a *region*: 16 bits for every position of its four tiles, in the order of steps and lanes, and
//! behind them room for the coder, which writes its words from the region's end towards codes that it has taken.

use ferrosz_codec::code::entropy::token::{ESCAPE_BITS, PRECISION};
use ferrosz_codec::tile::{CHUNK_TILES, STEPS, TILE, ZONES};

/// Words of a tile's codes.
pub const TILE_WORDS: u64 = TILE as u64 / 2;

/// Words of a chunk's codes.
pub const CHUNK_WORDS: u64 = TILE_WORDS * CHUNK_TILES as u64;

/// Words that the class numbers of a chunk can cost at most, rounded up.
const CLASS_WORDS: u64 = ((ZONES * CHUNK_TILES * PRECISION) as u64 / 32).next_multiple_of(32);
/// Words of marks: one a step.
pub const MARK_WORDS: u64 = (CHUNK_TILES * STEPS) as u64;
/// Words of a region behind its codes, a multiple of 32: see [`layout`](crate::pipeline::tiles::layout).
const ROOM_WORDS: u64 =
    CHUNK_WORDS * ((PRECISION + ESCAPE_BITS) as u64 - 16) / 16 + CLASS_WORDS + MARK_WORDS;

const _: () = assert!(ROOM_WORDS.is_multiple_of(32));

/// Words of a region.
pub const REGION_WORDS: u64 = CHUNK_WORDS + ROOM_WORDS;

/// The first word of a tile's codes, the tile being that of this number from `first_chunk` on.
#[inline(always)]
pub const fn first_word(first_chunk: u64, tile: u64) -> u64 {
    (first_chunk + tile / CHUNK_TILES as u64) * REGION_WORDS
        + tile % CHUNK_TILES as u64 * TILE_WORDS
}
