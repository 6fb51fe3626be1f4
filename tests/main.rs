//! The tests of the library, in one executable: each links all codecs, kernels and the emulator.

mod auto;
mod axes_auto;
mod batch;
mod common;
mod complex;
mod cuszp_bodies;
mod damage;
mod frames;
mod golden;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(feature = "emulator")]
mod gpus;
mod interp;
mod keeping;
mod levels;
mod magic;
mod masks;
mod matrix;
mod partial;
mod parts;
mod promises;
mod pwrel;
mod quality;
mod rewrites;
mod safeguards;
mod seek;
mod signs;
mod spool;
mod statistics;
mod stream_at;
mod targets;
mod tile_parts;
mod types;
mod update;
mod vectors;
mod versions;
mod wavelets;
mod ways;
mod windows;
