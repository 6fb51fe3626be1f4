//! Masks: values in place of missing elements, and the chunks of a mask, there and back.

pub mod decode;
pub mod decode_signs;
pub mod encode;
pub mod encode_signs;
pub mod fill;
pub mod place;
mod scratch;
pub mod shell;
pub mod signs;

use ferrosz_simt::WARP;

/// Warps of a block that codes mask chunks: each has a chunk, and a lane for each of its parts.
pub const WARPS: u32 = 4;

/// Threads of such a block.
pub const THREADS: u32 = WARPS * WARP;
