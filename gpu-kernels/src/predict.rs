//! Predictors on a thread block: the stems of `ferrosz_codec::predict`.

pub mod direct;
pub mod group;
pub mod interp;
pub mod layer;
pub mod tile_lorenzo;
