//! The entropy coder: codes of tiles to bits and back. See `ferrosz_codec::code::entropy`.
//!
//! Compression is four launches: [`statistics`], [`tables`], [`encode`], [`place`](crate::pipeline::tiles::place);
//! decompression two: [`decode_tables`], [`decode`]. One warp codes a chunk. Its lanes are the 32 interleaved states.
//! All values that a step hands to the next stay in registers. The zones of its positions are found once in eight
//! steps ([`walk`]).

pub mod decode;
pub mod decode_tables;
pub mod encode;
pub mod frequency_tables;
pub mod statistics;
pub mod tables;
pub mod walk;
pub mod words;

use ferrosz_simt::{Shared, Thread, View, WARP};

/// Threads in a block of the kernels that give each warp a tile or a chunk of its own.
pub const THREADS: u32 = 256;

/// Warps in such a block.
pub const WARPS: u32 = THREADS / WARP;

/// The number of a warp's first tile or chunk: neighbours are given to different blocks, as they take about the same
/// time. For a whole warp.
///
/// The number of the warp comes out of a shuffle, or else NVIDIA's assembler would not know that all lanes have the
/// same, and would ask before every collective behind it whether they are all there.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn first_of_warp<T: Thread>(t: T) -> u64 {
    let warp = t.shuffle(t.warp(), 0);
    u64::from(warp) * u64::from(t.block_count()) + u64::from(t.block_index())
}

/// Brings tables into an array of their length, a multiple of 4; a barrier has to follow. For a whole block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn bring_tables<T: Thread>(t: T, tables: View<u32>, to: Shared<u32>) {
    // So many are on their way together.
    const TOGETHER: u32 = 4;
    let units = to.len() / 4;
    let mut first = t.thread_index();
    while first < units {
        let at = |i: u32| first + i * THREADS;
        let together: [[u32; 4]; TOGETHER as usize] =
            core::array::from_fn(|i| t.load4(tables, u64::from(at(i as u32).min(units - 1))));
        for (i, unit) in (0..).zip(&together) {
            if at(i) < units {
                to.store4(t, 4 * at(i), *unit);
            }
        }
        first += TOGETHER * THREADS;
    }
}
