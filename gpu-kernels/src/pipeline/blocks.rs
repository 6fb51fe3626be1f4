//! The codecs of blocks: one thread block a chunk, one thread a group.

pub mod compress;
pub mod decompress;
pub mod output;
pub mod staged_chunk;

use ferrosz_codec::container::chunk::CHUNK_GROUPS;
use ferrosz_simt::Thread;

/// Threads in a block of the kernels that take a chunk each: one for each group.
pub const CHUNK_THREADS: u32 = CHUNK_GROUPS as u32;

/// Warps in such a block.
pub const CHUNK_WARPS: usize = CHUNK_GROUPS / 32;

/// The address of a word of shared memory, kept in a register: the compiler would find it anew wherever it is used,
/// in three instructions, did it not come from another lane. For a whole warp.
#[inline(always)]
pub fn kept_shared_address<T: Thread>(t: T, word: u32) -> u32 {
    t.shuffle(t.shared_address(word), 0)
}
