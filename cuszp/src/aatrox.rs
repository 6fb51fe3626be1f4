//! The bare byte stream of AATROX (Zhang et al., *Pushing the Limits of GPU Lossy Compression: A
//! Hierarchical Delta Approach*, ICS'25).
//!
//! No code of its authors is public, and the paper gives no byte layout. Where the paper leaves the layout open, it is
//! that of cuSZp. Differences run through a whole *layer* of 32,768 elements, whose first code is stored separately:
//!
//! ```text
//! [ one rate byte for 32 elements, whole layers ][ an i32 for every layer ][ the blocks' bodies ]
//! ```
//!
//! A body is a row of signs and as many bit planes as the rate says, 0 to 32, the lowest first;
//! there is none for rate 0, whose 32 elements all have the code before them.
//!
//! The quantiser is [`Quantizer`], cuSZp's, with its faults.

#[cfg(feature = "host")]
mod devices;
pub mod error;
pub mod layout;
pub mod params;
#[cfg(feature = "host")]
mod part;
pub mod rate;
#[cfg(feature = "host")]
pub mod reference;

#[cfg(feature = "host")]
pub use crate::aatrox::devices::{compress, compress_on, decompress, decompress_on};
pub use crate::aatrox::error::AatroxError;
pub use crate::aatrox::layout::{BLOCK, INITIAL_BYTES, LAYER, LAYER_BLOCKS, Layout};
pub use crate::aatrox::params::Params;
#[cfg(feature = "host")]
pub(crate) use crate::aatrox::part::replace_positions;
#[cfg(feature = "host")]
pub use crate::aatrox::part::{decompress_part, replace_part};
pub use crate::aatrox::rate::rate_from_byte;
pub use crate::cuszp::quantizer::Quantizer;
