//! The kernels' PTX, unpacked.

use crate::error::Error;
use ferrosz_gpu_kernels::ptx;
use lzma_rust2::LzmaReader;
use std::io::Read;

/// The PTX of a kernel.
///
/// # Errors
///
/// [`Error::Cuda`] if there is none, because it was never built or is damaged.
pub(super) fn text_of(kernel: &str) -> Result<String, Error> {
    let packed = ptx::packed(kernel).ok_or_else(|| Error::Cuda {
        action: "find a kernel",
        reason: format!("there is no PTX of {kernel}"),
    })?;
    let mut text = String::new();
    LzmaReader::new_mem_limit(packed, u32::MAX, None)
        .map_err(std::io::Error::other)
        .and_then(|mut reader| reader.read_to_string(&mut text))
        .map_err(|error| Error::Cuda {
            action: "unpack a kernel",
            reason: format!("{kernel}: {error}"),
        })?;
    Ok(text)
}
