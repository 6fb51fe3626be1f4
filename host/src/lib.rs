//! Compression on the CPU, on NVIDIA GPUs, and on the emulator of the GPU kernels.
//!
//! Users access this crate through the crate `ferrosz`.
#![cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    allow(
        dead_code,
        unused_variables,
        unused_imports,
        clippy::extra_unused_type_parameters,
        reason = "no machine that runs kernels"
    )
)]

// First, for its macro.
#[macro_use]
mod compiled;

mod auto_device;
mod axes_setting;
mod backend;
mod batch;
mod choice;
mod choose;
mod chunk_map;
mod compress;
#[doc(hidden)]
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod damage;
mod decompress;
mod device;
mod encoded;
mod error;
mod fill;
pub mod frames;
mod gpu;
mod info;
mod job;
mod keeping;
mod large;
mod length;
mod level_reading;
mod levels;
mod memory;
mod nearby;
mod number;
#[cfg(feature = "object-store")]
mod object;
mod outlying;
mod overlapped;
mod parallel;
mod part;
mod partial;
pub mod parts;
mod peers;
mod progress;
mod read_at;
mod reading;
mod safeguards;
mod salvage;
mod sample;
mod sampled_field;
pub mod scratch;
mod search;
mod sections;
mod slabs;
mod spool;
mod statistics;
pub mod stream;
mod stream_at;
mod stream_layout;
mod stream_ref;
mod table;
pub mod target;
mod threads;
mod tile_ranges;
mod tolerance;
mod update;
mod wavelet;
pub mod ways;
pub mod windows;

pub use axes_setting::AxesSetting;
pub use choice::Choice;
pub use compress::Compressor;
pub use decompress::Decompressor;
pub use device::{Device, Gpus};
pub use error::Error;
pub use ferrosz_codec::mapping::axes::Axes;
pub use ferrosz_codec::safeguard::Safeguard;
pub use ferrosz_codec::value::{Bf16, F16};
pub use ferrosz_codec::{
    Bound, BoundError, BoundMode, Codec, Dtype, Element, FormatError, Preference, Preset, Shape,
    Unknown, Value, ValueType,
};
pub use fill::Fill;
pub use info::{Info, info, max_compressed_len};
pub use length::Length;
pub use levels::{level_extents, level_extents_of_box};
pub use number::{Complex, Number};
pub use part::Part;
pub use progress::Reporting;
pub use threads::start_threads;

/// The versions of the CPU's code, for tests and measurements.
#[doc(hidden)]
pub mod versions {
    use crate::compress::in_order;
    pub use crate::cpu::Version;
    use crate::job::Job;
    use crate::progress::SILENT;
    use crate::scratch::Copies;
    use crate::tolerance::Tolerance;
    use crate::{
        Bound, Compressor, Decompressor, Device, Element, Error, Part, Preference, Value, cpu,
    };
    use ferrosz_codec::container::layout::Layout;
    use ferrosz_codec::mapping::ValueMapping;
    use ferrosz_codec::mapping::axes::Order;
    use ferrosz_codec::mapping::conversion::Conversion;
    use std::io::{Seek, Write};

    /// As [`crate::Compressor::compress`] on the CPU, with this version.
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
        let order = Order::identity(layout.extents.lengths().len());
        compress_in_order(
            version,
            layout,
            &order,
            bound,
            &ValueMapping::default(),
            field,
        )
    }

    /// As [`crate::Compressor::compress`] on the CPU, with this version.
    ///
    /// # Errors
    ///
    /// The errors of [`crate::Compressor`] without a GPU.
    pub fn compress_values<V: Value>(
        version: Version,
        compressor: Compressor,
        field: &[V],
    ) -> Result<Vec<u8>, Error> {
        compressor.device(Device::Cpu).compress_by(version, field)
    }

    /// As [`compress`], of a field whose axes get this order, with this mapping of its values; the layout has as many
    /// classes.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn compress_in_order<T: Element>(
        version: Version,
        layout: Layout,
        order: &Order,
        bound: Bound,
        mapping: &ValueMapping,
        field: &[T],
    ) -> Result<Vec<u8>, Error> {
        let mut stream = Vec::new();
        let copies = Copies::InMemory;
        let coded = in_order(copies, layout.extents.lengths(), order, field)?;
        let job = Job {
            layout,
            tolerance: Tolerance {
                bound,
                tightening: Preference::Ratio.tightening(),
            },
            bound_of_values: bound,
            mapping: *mapping,
            order: *order,
            conversion: Conversion::none(T::TYPE),
        };
        cpu::compress(version, &job, copies, &coded, &mut stream, SILENT)?;
        Ok(stream)
    }

    /// As [`crate::Decompressor::decompress_seek`] on the CPU, in windows of up to so many bytes: so that a small field has
    /// several.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn decompress_seek<V: Value>(
        window: u64,
        stream: &[u8],
        writer: impl Write + Seek + Send,
    ) -> Result<u64, Error> {
        let decompressor = Decompressor::new().device(Device::Cpu);
        decompressor.write_values_by::<V>(window, stream, writer, SILENT)
    }

    /// As [`crate::Decompressor`] on the CPU, with this version: the whole field or a part.
    ///
    /// # Errors
    ///
    /// The errors of [`crate::Decompressor`] without a GPU.
    pub fn decompress<V: Value>(
        version: Version,
        stream: &[u8],
        part: Option<&Part>,
        verify: bool,
    ) -> Result<Vec<V>, Error> {
        let decompressor = Decompressor::new().verify_checksums(verify);
        decompressor.decompress_by(version, stream, part)
    }
}

/// Host code that the crates `ferrosz-cuszp` and `ferrosz-stages` run their kernels with. It may change in any release.
#[doc(hidden)]
pub mod internals {
    pub use crate::auto_device::{Direction, Workload};
    pub use crate::backend::{Backend, Call, Gpu};
    pub use crate::cpu::extremes;
    pub use crate::gpu::blocks::fault_in;
    #[cfg(feature = "cuda")]
    pub use crate::gpu::executor::cuda::{CudaExecutor, CudaMemory, words};
    #[cfg(feature = "cuda")]
    pub use crate::gpu::executor::pool::DevicePool;
    pub use crate::gpu::executor::{Executor, blocks_of, put};
    pub use crate::gpu::in_memory::{compress_integers, decompress_integers};
    pub use crate::gpu::resolve::enqueue_resolve;
    pub use crate::gpu::tiles::codes::{CodedTiles, TileCodes};
    pub use crate::gpu::tiles::slab::Others;
    pub use crate::gpu::tiles::strides;
    pub use crate::gpu::tiles::tuning::{TuneJob, TuningSamples, enqueue_tune};
    pub use crate::gpu::tiles::workspace::Sections;
    pub use crate::length::extents;
    pub use crate::memory::try_zeroed;
    pub use crate::outlying::{Outlying, find as find_outlying};
    pub use crate::overlapped::overlapped;
}

/// The definition of the bytes, for the tests and tools of ferrosz. It may change in any release.
// A module, as rustdoc would show a crate that is only re-exported.
#[doc(hidden)]
pub mod codec {
    pub use ferrosz_codec::*;
}
