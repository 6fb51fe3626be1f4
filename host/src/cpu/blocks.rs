//! The codecs of blocks on the CPU: chunks in parallel.

mod compress;
mod decompress;

pub(crate) use compress::{Sink, compress, extremes, resolve};
pub(crate) use decompress::{ChunkDecoder, Output, decompress};
