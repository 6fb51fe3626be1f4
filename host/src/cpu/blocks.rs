//! The codecs of blocks on the CPU: chunks in parallel.

mod compress;
mod decompress;

pub use compress::extremes;
pub(crate) use compress::{Sink, compress, resolve};
pub(crate) use decompress::{ChunkDecoder, Output, decompress};
