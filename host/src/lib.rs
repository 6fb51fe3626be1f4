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

mod auto_device;
mod backend;
mod bare;
mod choose;
mod compress;
#[doc(hidden)]
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod damage;
mod decompress;
mod device;
mod error;
mod gpu;
mod info;
mod length;
mod memory;
mod part;
mod preset;
mod salvage;
pub mod stages;
mod stream;
mod update;

pub use bare::{Bare, aatrox, cuszp};
pub use compress::Compressor;
pub use damage::Damage;
pub use decompress::Decompressor;
pub use device::Device;
pub use error::Error;
pub use ferrosz_codec::container::extents::Extents;
pub use ferrosz_codec::container::header::Layout;
pub use ferrosz_codec::pipeline::{TileCodec, TileCoder, TilePredictor, UnknownCodecName};
pub use ferrosz_codec::predict::interp::geometry::Geometry;
pub use ferrosz_codec::{Bound, BoundError, BoundMode, Codec, Dtype, Element, FormatError, Shape};
pub use info::{ChunkForms, Info, info, max_compressed_len};
pub use length::Length;
pub use part::Part;
pub use preset::{Choice, Preset};
pub use update::{Update, compact};

/// The versions of the CPU's code, for tests and measurements.
#[doc(hidden)]
pub mod versions {
    pub use crate::cpu::Version;
    use crate::{Bound, Decompressor, Element, Error, Layout, Part, cpu};

    /// As [`crate::Compressor::compress`] on the CPU, by a version.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn compress<T: Element>(
        version: Version,
        layout: Layout,
        bound: Bound,
        field: &[T],
    ) -> Result<Vec<u8>, Error> {
        let mut stream = Vec::new();
        cpu::blocks::compress(version, layout, bound, field, &mut stream, &|_| {})?;
        Ok(stream)
    }

    /// As [`crate::Decompressor`] on the CPU, by a version: the whole field or a part.
    ///
    /// # Errors
    ///
    /// Those of [`crate::Decompressor`] without a GPU.
    pub fn decompress<T: Element>(
        version: Version,
        stream: &[u8],
        part: Option<&Part>,
        verify: bool,
    ) -> Result<Vec<T>, Error> {
        let decompressor = Decompressor::new().verify_checksums(verify);
        decompressor.decompress_by(version, stream, part)
    }
}

/// What the bytes mean, for the tests and tools of ferrosz. It may change in any release.
// A module, as rustdoc would show what is only re-exported.
#[doc(hidden)]
pub mod codec {
    pub use ferrosz_codec::*;
}
