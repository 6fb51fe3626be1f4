//! cuSZp's own byte streams: version 3 in one to three dimensions, and version 1.
//!
//! Such a stream has no header: its reader must give its [`Params`]. The stream is
//!
//! ```text
//! [ one rate byte a block ][ up to 3 zero bytes, in 2D and 3D ][ the blocks' bodies ]
//! ```
//!
//! It equals the streams of cuSZp (SC'23), cuSZp2 (SC'24) and cuSZp3 (SC'25) to the byte. The arithmetic is cuSZp's,
//! too, and exceeds the bound where cuSZp exceeds it: see [`Quantizer`]. [`Params::strict`] refuses the known failures.
//!
//! The modules below [`reference`](mod@reference) allocate nothing and serve GPU threads of 32
//! positions each: [`layout`] says which elements these are, [`quantizer`] gives their codes, and
//! [`rate`] a block's rate byte. Differences and bits are those of [`ferrosz_codec::predict::group`] and
//! [`ferrosz_codec::code::fixed_length`].

#[cfg(feature = "host")]
mod block;
#[cfg(feature = "host")]
mod devices;
pub mod error;
pub mod framing;
pub mod layout;
pub mod mode;
pub mod params;
#[cfg(feature = "host")]
mod part;
pub mod quantizer;
pub mod rate;
#[cfg(feature = "host")]
pub mod reference;
pub mod strict;

#[cfg(feature = "host")]
pub use crate::cuszp::devices::{compress, compress_on, decompress, decompress_on};
pub use crate::cuszp::error::{CuszpError, RateFault, Refusal};
pub use crate::cuszp::framing::{Framing, chunk_blocks};
pub use crate::cuszp::layout::Layout;
pub use crate::cuszp::mode::Mode;
pub use crate::cuszp::params::Params;
#[cfg(feature = "host")]
pub(crate) use crate::cuszp::part::replace_positions;
#[cfg(feature = "host")]
pub use crate::cuszp::part::{decompress_part, replace_part};
pub use crate::cuszp::quantizer::Quantizer;
