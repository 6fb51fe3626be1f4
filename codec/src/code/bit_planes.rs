//! The coder without statistics: bit planes of a tile's codes, without their zero words.
//!
//! The codes of a lane in 32 consecutive steps are 16 words, one word for each bit. The words of the same bit are
//! stored together, so that the high planes, which are mostly zero, take no more than a few mask bits (see
//! [`zeros`]).

pub mod zeros;

use crate::code::entropy::token::RAW;
use crate::shape::GROUP;
use crate::tile::{ChunkLength, LANES, STEPS};

/// Planes of a code.
pub const PLANES: u32 = 16;

/// Steps whose codes share the words of a lane.
pub const BLOCK_STEPS: u32 = GROUP as u32;

/// Words of a plane of a tile.
const PLANE_WORDS: usize = (STEPS / BLOCK_STEPS * LANES) as usize;

/// Words of a tile.
pub const TILE_WORDS: usize = PLANES as usize * PLANE_WORDS;

/// Words of a chunk, which has one run of tiles.
pub const CHUNK_WORDS: usize = ChunkLength::Four.tiles() as usize * TILE_WORDS;

/// The index in a tile of the word that holds a plane of the codes of a lane in a block of steps.
#[inline(always)]
pub const fn word_at(plane: u32, block: u32, lane: u32) -> u32 {
    (plane * (STEPS / BLOCK_STEPS) + block) * LANES + lane
}

/// A code as it is stored in the planes, and back: exchanges [`RAW`] and 2^15, so that a raw value sets one bit, not
/// 16.
#[inline(always)]
pub const fn exchange_raw(z: u32) -> u32 {
    const ONE_BIT: u32 = 1 << (PLANES - 1);
    match z {
        RAW => ONE_BIT,
        ONE_BIT => RAW,
        z => z,
    }
}
