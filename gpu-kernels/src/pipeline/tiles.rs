//! The codecs of tiles: the layouts that the kernels of predictors and of coders must agree on.

pub mod codes;
pub mod layout;
pub mod lines;
pub mod list_chunks;
pub mod list_tiles;
pub mod place;
pub mod prologue;
pub mod record;
pub mod stream;
pub mod target;
pub mod tiling;
pub mod window;
