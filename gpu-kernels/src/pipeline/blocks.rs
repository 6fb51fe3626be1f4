//! The codecs of blocks: one thread block a chunk, one thread a group.

pub mod compress;
pub mod decompress;
pub mod output;
pub mod staged_chunk;

use ferrosz_codec::container::chunk::CHUNK_GROUPS;
use ferrosz_codec::shape::StaticShape;

/// Threads in a block of the kernels that take a chunk each: one for each group.
pub const CHUNK_THREADS: u32 = CHUNK_GROUPS as u32;

/// Warps in such a block.
pub const CHUNK_WARPS: usize = CHUNK_GROUPS / 32;

/// Groups of a block.
pub const fn groups<S: StaticShape>() -> u32 {
    S::SHAPE.groups() as u32
}
