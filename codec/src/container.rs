//! The container: layout, reading, writing and limits of each of its structures, one file for each.

pub mod checksum;
pub mod chunk;
pub mod extents;
#[cfg(feature = "alloc")]
pub mod frames;
pub mod grid;
pub mod header;
pub mod header_words;
pub mod identity;
pub mod layout;
pub mod record;
pub mod record_kind;
pub mod region;
pub mod roles;
pub mod section;
#[cfg(feature = "alloc")]
pub mod statistics;
pub mod summary;
pub mod table;
pub mod tiles;
#[cfg(feature = "alloc")]
pub mod update;
pub mod update_words;
pub mod version;
