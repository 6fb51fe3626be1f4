//! Byte streams: one file a structure, with its layout, reading, writing and limits.

pub mod checksum;
pub mod chunk;
pub mod container;
pub mod grid;
pub mod region;
pub mod table;
#[cfg(feature = "alloc")]
pub mod update;
