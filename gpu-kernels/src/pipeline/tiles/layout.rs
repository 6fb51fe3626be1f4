//! The layout of the workspace, on which kernels of predictors and of coders must agree.
//!
//! A chunk has a *region*:
//!
//! ```text
//! [ codes ][ room ][ marks ]
//! ```
//!
//! *Codes*: 16 bits each, by tile, step and lane; positions without a code, anchors and those outside the field,
//! hold 0. *Room*: the encoder goes through the codes from the last to the first and writes words of 16 bits
//! from the end of the room backwards. *Marks*: a word a step, with a bit for each lane whose value is raw; only the
//! marks of tiles that have raw values are written.
//!
//! The words may reach into the codes, but not into those that are still to be coded: a code costs at most 12
//! bits for its token and [`ESCAPE_BITS`](ferrosz_codec::code::entropy::token::ESCAPE_BITS) more,
//! 3.5 bytes for the 2 that it leaves free, so the room must hold
//! 1.5 bytes for each code, and the costs of class numbers. The push of a symbol of a single slot makes a state
//! by less than 2^-15 bits longer than 12, as a state is 2^16 at least. Over the 4,104 pushes of a lane that is an
//! eighth of a bit. Words are written when their 16 bits are there, and the costs are whole bits: so an eighth
//! more never makes one more word.

use crate::pipeline::tiles::codes::{MARK_WORDS, REGION_WORDS};
use ferrosz_codec::tile::ZONES;
use ferrosz_simt::View;

/// A chunk's region, from its first code on.
#[inline(always)]
pub fn region(regions: View<u32>, chunk: u64) -> View<u32> {
    regions.from(chunk * REGION_WORDS)
}

/// The first word of the marks in their region.
pub const MARKS: u32 = (REGION_WORDS - MARK_WORDS) as u32;

/// The number in its region of the first half word behind a chunk's last word.
pub const WORDS_END_HALF: u32 = 2 * MARKS;

/// Words that are stored for each tile: the classes of its zones, and the number of its raw values.
pub const TILE_WORDS: u64 = 40;
/// The index, among these words, of the number of raw values.
pub const TILE_RAWS: u64 = ZONES as u64;
