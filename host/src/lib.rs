//! Plans and runs compression: on the CPU, on NVIDIA GPUs, and on the emulator of the GPU kernels.
//!
//! Users reach all of this through the crate `ferrosz`.

mod bare;
pub mod compress;
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod decompress;
mod device;
mod error;
pub mod executor;
mod info;
mod plan;

pub use bare::{aatrox, cuszp};
pub use compress::Compressor;
pub use decompress::Decompressor;
pub use device::Device;
pub use error::Error;
pub use ferrosz_codec::stream::container::Extents;
pub use ferrosz_codec::{Bound, BoundError, BoundMode, Codec, Dtype, Element, FormatError};
pub use info::{ChunkForms, Info, info, max_compressed_len};

/// What the bytes mean: formats, coders and the plain-loop reference.
pub use ferrosz_codec as codec;
