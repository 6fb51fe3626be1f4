//! The entropy coder: codes of tiles to bits and back. See `ferrosz_codec::entropy`.
//!
//! Compression is four launches: [`statistics`], [`tables`], [`encode`], [`place`]; decompression two:
//! [`decode_tables`], [`decode`]. One warp codes a chunk: its lanes are the 32 stacks, and what goes from one step to
//! the next stays in registers. Which groups its places belong to is found once in eight steps ([`walk`]).

pub mod decode;
pub mod decode_tables;
pub mod encode;
pub mod layout;
pub mod place;
pub mod planes;
pub mod record;
pub mod shares;
pub mod statistics;
pub mod stream;
pub mod tables;
pub mod target;
pub mod tiling;
pub mod walk;

use crate::simt::{Thread, WARP};

/// Threads in a block of the kernels that give each warp a tile or a chunk of its own.
pub const THREADS: u32 = 256;

/// Warps in such a block.
pub const WARPS: u32 = THREADS / WARP;

/// The address of a word of shared memory, kept in a register: the compiler would find it anew wherever it is used,
/// in three instructions, did it not come from another lane. For a whole warp.
#[inline(always)]
pub fn kept_shared_address<T: Thread>(t: T, word: u32) -> u32 {
    t.shuffle(t.shared_address(word), 0)
}

/// What a warp works on first: neighbours are given to different blocks, as they take about the same time.
#[inline(always)]
pub fn first_of_warp<T: Thread>(t: T) -> u64 {
    u64::from(t.warp()) * u64::from(t.block_count()) + u64::from(t.block_index())
}
