//! Predictors of tiles on the CPU, named as in `ferrosz_codec::predict`. The predictors of blocks are inlined into
//! [`fixed_length`](crate::cpu::code::fixed_length).

pub mod interp;
pub mod tile_lorenzo;
pub mod tune;
