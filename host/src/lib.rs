//! Plans and runs compression: on the CPU, on NVIDIA GPUs, and on the emulator of the GPU kernels.
//!
//! Users reach all of this through the crate `ferrosz`.
#![cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    allow(
        dead_code,
        unused_variables,
        unused_imports,
        reason = "no machine that runs kernels"
    )
)]

mod bare;
mod choose;
pub mod compress;
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod decompress;
mod device;
mod error;
pub mod executor;
mod info;
mod part;
mod plan;
mod stream;
mod update;

pub use bare::{Bare, aatrox, cuszp};
pub use compress::Compressor;
pub use decompress::Decompressor;
pub use device::Device;
pub use error::Error;
pub use ferrosz_codec::stream::container::{Extents, Layout};
pub use ferrosz_codec::{Bound, BoundError, BoundMode, Codec, Dtype, Element, FormatError, Shape};
pub use info::{ChunkForms, Info, info, max_compressed_len};
pub use part::Part;
pub use update::{Update, compact};

/// What the bytes mean: formats, coders and the plain-loop reference.
pub use ferrosz_codec as codec;
