//! Predictors: one file, or one folder, for each.
//!
//! Those of blocks ([`difference`], [`lorenzo`]) predict the codes of a group of a block; [`block`] has the list of
//! them. Those of tiles ([`interp`], [`tile_lorenzo`]) predict a tile.

pub mod block;
pub mod difference;
pub mod group;
pub mod interp;
pub mod lorenzo;
pub mod tile_lorenzo;
