//! `codec_id`: the numbers of a codec.

use crate::options;
use ferrosz::codec::pipeline::CodecId;
use pyo3::prelude::*;

/// The numbers of the predictor and of the coder of a codec, which FORMAT.md lists.
///
/// >>> from ferrosz._ferrosz import codec_id
/// >>> codec_id("lorenzo+rans")
/// (16, 16)
#[pyfunction]
pub fn codec_id(py: Python<'_>, codec: &str) -> PyResult<(u8, u8)> {
    let CodecId { predictor, coder } = options::codec_of(py, codec)?.id();
    Ok((predictor, coder))
}
