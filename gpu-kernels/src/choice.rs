//! Kernels for the choice of a preset: the weights of sampled tiles, and their sizes with each codec of blocks. For codecs of
//! tiles the kernels of compression predict and count [some tiles](taken_tiles) alone. Tiles with holes are copied, and get
//! values in place of these.

pub mod clear_holes;
pub mod fill_tiles;
pub mod sample_anchors;
pub mod size_blocks;
pub mod taken_tiles;
pub mod weigh_tiles;
