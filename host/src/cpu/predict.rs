//! Predictors of tiles on the CPU: the stems of `ferrosz_codec::predict`. Those of blocks are inlined into
//! [`fixed_length`](crate::cpu::code::fixed_length).

pub mod interp;
pub mod tile_lorenzo;
pub mod tune;
