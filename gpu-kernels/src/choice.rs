//! Kernels for the choice of a preset: the weights of sampled tiles, and their sizes with each codec of blocks.

pub mod size_blocks;
pub mod weigh_tiles;
