//! `codec_id` and `has_splines`: the numbers of a codec, and a promise that it does not have.

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

/// Whether the decoded values of a codec are other ones when they are compressed again, as those of splines are.
///
/// >>> from ferrosz._ferrosz import has_splines
/// >>> has_splines("interp"), has_splines("lorenzo+rans"), has_splines("plain")
/// (True, False, False)
#[pyfunction]
pub fn has_splines(py: Python<'_>, codec: &str) -> PyResult<bool> {
    let tiles = options::codec_of(py, codec)?.tiles();
    Ok(tiles.is_some_and(|tiles| tiles.predictor.geometry().is_some()))
}
