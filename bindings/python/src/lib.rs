//! The Python package `ferrosz`: NumPy arrays and arrays on NVIDIA GPUs to ferrosz streams and back.
//!
//! The functions and classes here are those that `python/ferrosz/_ferrosz.pyi` declares; that file has no more.
//! `python/ferrosz/__init__.py` is the module that users import.

mod arguments;
mod array_in;
mod array_out;
mod bare;
mod batch;
mod call;
mod codec;
mod command;
mod compressor;
mod decompressor;
mod device;
mod dtype;
mod error;
mod fill;
mod frames;
mod group;
mod info;
mod masked;
mod options;
mod part;
mod partial;
mod pool;
mod report;
mod safeguards;
mod salvage;
mod stages;
mod statistics;
mod stream;
mod update;
mod verify;

use pyo3::prelude::*;

#[pymodule]
mod _ferrosz {
    #[pymodule_export]
    use crate::bare::{bare_check, bare_compress, bare_decompress, bare_outline, bare_replace};
    #[pymodule_export]
    use crate::batch::{compress_batch, decompress_batch};
    #[pymodule_export]
    use crate::codec::{codec_id, has_splines};
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::compressor::Compressor;
    #[pymodule_export]
    use crate::decompressor::Decompressor;
    #[pymodule_export]
    use crate::device::{DeviceArray, release_memory};
    #[pymodule_export]
    use crate::fill::detect_fill;
    #[pymodule_export]
    use crate::frames::{FrameReader, FrameWriter, Frames};
    #[pymodule_export]
    use crate::info::info;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::partial::PartialStream;
    #[pymodule_export]
    use crate::report::report_page;
    #[pymodule_export]
    use crate::salvage::salvage;
    #[pymodule_export]
    use crate::stages::{stage_compose, stage_compress, stage_decompose, stage_decompress};
    #[pymodule_export]
    use crate::statistics::{find, stats};
    #[pymodule_export]
    use crate::stream::Stream;
    #[pymodule_export]
    use crate::update::{compact, update, update_in_place};
    #[pymodule_export]
    use crate::verify::{verify_arrays, verify_stream};

    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::pool::import();
        Ok(())
    }
}
