//! What the choice of a preset asks of a field: how much its tiles weigh, and how long they are in blocks.

pub mod size_blocks;
pub mod weigh_tiles;
