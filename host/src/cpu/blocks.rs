//! The codecs of blocks on the CPU: chunks in parallel.

pub(crate) mod compress;
mod decompress;

pub(crate) use decompress::ChunkDecoder;
