//! The coder without statistics: see `ferrosz_codec::code::bit_planes`. One thread block a chunk.
//!
//! A warp has 32 steps, a *stripe*: each lane transposes its 32 codes into 16 words. The words of one plane are the words
//! of one mask, so that a vote makes the mask. Compression is two launches, [`measure`] and [`words`], and each of them
//! transposes. The first stores the masks, from which the second computes the position of every word. Decompression is
//! one launch, [`decode`].

pub mod decode;
pub mod measure;
pub mod words;

use crate::pipeline::tiles::codes;
use crate::pipeline::tiles::layout::region;
use crate::primitives::bits::BitsOf;
use ferrosz_codec::code::bit_planes::{BLOCK_STEPS, PLANES, TILE_WORDS, exchange_raw, word_at};
use ferrosz_codec::code::fixed_length::bit_plane::rows_of;
use ferrosz_codec::shape::GROUP;
use ferrosz_codec::tile::{LANES, RUN_TILES, STEPS};
use ferrosz_simt::{Thread, View};

/// Stripes of a tile.
const STRIPES: u32 = STEPS / BLOCK_STEPS;
/// Masks of a tile.
const TILE_MASKS: u32 = TILE_WORDS as u32 / u32::BITS;
/// Tops of a tile.
const TILE_TOPS: u32 = TILE_MASKS / u32::BITS;
/// Masks of a chunk, which has one run of tiles.
const CHUNK_MASKS: u32 = TILE_MASKS * RUN_TILES;

/// A mask of a chunk, whose first tile has this number among those of all runs, in the region of its tile: behind the codes.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn mask_of(regions: View<u32>, first: u64, number: u32) -> (View<u32>, u64) {
    let at = codes::TILE_WORDS + u64::from(number % TILE_MASKS);
    (tile_of(regions, first, number / TILE_MASKS), at)
}

/// The region of a tile of a chunk whose first tile has this number among those of all runs.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn tile_of(regions: View<u32>, first: u64, tile: u32) -> View<u32> {
    region(regions, first + u64::from(tile))
}

/// 32 steps of a chunk: number `index` of its tile `tile`.
#[derive(Clone, Copy)]
struct Stripe {
    tile: u32,
    index: u32,
}

impl Stripe {
    /// Stripe number `number` of a chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn of(number: u32) -> Self {
        Self {
            tile: number / STRIPES,
            index: number % STRIPES,
        }
    }

    /// The mask of a plane.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn mask(self, plane: u32) -> u32 {
        self.tile * TILE_MASKS + word_at(plane, self.index, 0) / u32::BITS
    }

    /// The first step in the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn step(self) -> u32 {
        self.tile * STEPS + self.index * BLOCK_STEPS
    }

    /// This lane's codes, of a chunk whose first tile has this number among those of all runs.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn codes<T: Thread>(self, t: T, regions: View<u32>, first: u64) -> [u32; GROUP] {
        let region = tile_of(regions, first, self.tile);
        let first = u64::from(self.index * BLOCK_STEPS * LANES + t.lane());
        core::array::from_fn(|step| t.load_half(region, first + step as u64 * u64::from(LANES)))
    }
}

/// The planes of 32 codes.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn planes_of<T: Thread>(t: T, codes: [u32; GROUP]) -> [u32; PLANES as usize] {
    let codes = codes.map(exchange_raw);
    let low = rows_of(BitsOf(t), &codes, 0);
    let high = rows_of(BitsOf(t), &codes, 1);
    core::array::from_fn(|plane| {
        if plane < 8 {
            low[plane]
        } else {
            high[plane - 8]
        }
    })
}
