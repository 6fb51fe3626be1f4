//! The layout of the workspace, on which kernels of predictors and of coders must agree.
//!
//! A tile has a *region*:
//!
//! ```text
//! [ codes ][ room ]
//! ```
//!
//! *Codes*: 16 bits each, by step and lane; positions without a code, anchors and those outside the field,
//! hold 0. *Room*: the encoder goes through the codes of a chunk from the last to the first and writes words of 16 bits
//! from the end of the chunk's last region backwards, through all of its regions.
//!
//! Behind all regions are the *marks* of all tiles: a word a step, with a bit for each lane whose value is raw. Only the
//! marks of tiles that have raw values are written.
//!
//! The words may reach into the codes, but not into those that are still to be coded: a code costs at most 12
//! bits for its token and [`ESCAPE_BITS`](ferrosz_codec::code::entropy::token::ESCAPE_BITS) more,
//! 3.5 bytes for the 2 that it leaves free, so the room must hold
//! 1.5 bytes for each code, and the costs of class numbers. The push of a symbol of a single slot makes a state
//! by less than 2^-15 bits longer than 12, as a state is 2^16 at least. Over the 1,026 pushes of a lane in a tile that is
//! a 32nd of a bit, and in a chunk of 64 tiles two bits. That is less than the words by which the costs of the class
//! numbers of a tile are rounded up.

use crate::pipeline::tiles::codes::{MARK_WORDS, REGION_WORDS, RUN_WORDS};
use crate::pipeline::tiles::tiling::Tiling;
use ferrosz_codec::tile::{RUN_TILES, ZONES};
use ferrosz_simt::View;

/// Words of the regions and marks of so many runs.
pub const fn words_of_runs(runs: u64) -> u64 {
    runs * (RUN_WORDS + RUN_TILES as u64 * MARK_WORDS)
}

/// The region of a tile, given by its number from the first tile of all runs on, from its first code on.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn region(regions: View<u32>, tile: u64) -> View<u32> {
    regions.from(tile * REGION_WORDS)
}

/// The marks of a tile, given by its number from the first tile of all runs on.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn marks(regions: View<u32>, tiling: &Tiling, tile: u64) -> View<u32> {
    regions.from(tiling.runs() * RUN_WORDS + tile * MARK_WORDS)
}

/// The number, from a chunk's first code on, of the first half word behind its last word.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn words_end_half(tiles: u32) -> u32 {
    2 * REGION_WORDS as u32 * tiles
}

/// Words that are stored for each tile: the classes of its zones, and the number of its raw values.
pub const TILE_WORDS: u64 = 40;
/// The index, among these words, of the number of raw values.
pub const TILE_RAWS: u64 = ZONES as u64;
