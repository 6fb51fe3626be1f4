//! The entropy coder: codes of tiles to bits and back. See `ferrosz_codec::entropy`.
//!
//! Compression is four launches: [`statistics`], [`tables`], [`encode`], [`place`]; decompression two:
//! [`decode_tables`], [`decode`]. One warp codes a chunk: its lanes are the 32 stacks, and what goes from one step to
//! the next stays in registers. All kernels take the shape of the tiles as a parameter: it only decides once
//! every eight steps which classes they have ([`walk`]).

pub mod layout;
pub mod walk;
