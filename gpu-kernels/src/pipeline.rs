//! Whole streams: the kernels of the two families, and the workspace that the blocks of a launch share.

pub mod batch;
pub mod blocks;
pub mod cells;
pub mod identity;
pub mod tiles;
