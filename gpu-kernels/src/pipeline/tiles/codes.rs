//! Where codes lie between predictors and coders.
//!
//! For each tile a *region*: 16 bits for every position, in the order of steps and lanes, and behind them room for the
//! coder, which writes its words from the end of a chunk's last region towards codes that it has taken. Each run has the
//! regions of four tiles, even if it has fewer.

use ferrosz_codec::code::entropy::token::{ESCAPE_BITS, PRECISION};
use ferrosz_codec::tile::{RUN_TILES, STEPS, TILE, ZONES};

/// Words of a tile's codes.
pub const TILE_WORDS: u64 = TILE as u64 / 2;

/// Words that the class numbers of a tile can cost at most, rounded up.
const CLASS_WORDS: u64 = ((ZONES * PRECISION) as u64 / 32).next_multiple_of(32);
/// Words of the marks of a tile: one a step.
pub const MARK_WORDS: u64 = STEPS as u64;
/// Words of a region behind its codes, a multiple of 32: see [`layout`](crate::pipeline::tiles::layout).
pub const ROOM_WORDS: u64 = TILE_WORDS * ((PRECISION + ESCAPE_BITS) as u64 - 16) / 16 + CLASS_WORDS;

const _: () = assert!(ROOM_WORDS.is_multiple_of(32));

/// Words of a region.
pub const REGION_WORDS: u64 = TILE_WORDS + ROOM_WORDS;

/// Words of the regions of a run.
pub const RUN_WORDS: u64 = REGION_WORDS * RUN_TILES as u64;

/// The first word of a tile's codes, the tile being that of this number from the run `first_run` on.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn first_word(first_run: u64, tile: u64) -> u64 {
    (first_run * RUN_TILES as u64 + tile) * REGION_WORDS
}
