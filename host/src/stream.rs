//! Streams: their layouts, their bytes far away, their damage and their updates.

pub use crate::chunk_map::ChunkMap;
pub use crate::damage::Damage;
pub use crate::info::ChunkForms;
#[cfg(feature = "object-store")]
pub use crate::object::Object;
pub use crate::partial::PartialStream;
pub use crate::read_at::ReadAt;
pub use crate::statistics::{Searched, Statistics};
pub use crate::stream_at::{StreamAt, Traffic};
pub use crate::stream_layout::StreamLayout;
pub use crate::update::{Update, compact};
pub use ferrosz_codec::container::extents::Extents;
pub use ferrosz_codec::container::layout::Layout;
pub use ferrosz_codec::container::roles::Role;
pub use ferrosz_codec::error::AxesError;
pub use ferrosz_codec::mapping::axes::Order;
pub use ferrosz_codec::pipeline::{
    BlockCodec, TileCodec, TileCoder, TilePredictor, UnknownCodecName, UnknownPresetName,
};
pub use ferrosz_codec::predict::interp::geometry::Geometry;
pub use ferrosz_codec::tile::ChunkLength;
