//! The settings of decompression.

use crate::arguments;
use crate::compressor::device;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::ferrosz_status;
use std::ffi::c_char;

/// Settings with which any number of streams are decompressed. Calls take a null pointer for the settings of a new one.
pub struct Decompressor(ferrosz::Decompressor);

impl Decompressor {
    /// The settings of an object of C, which may be null.
    pub(crate) unsafe fn settings(decompressor: *const Self) -> ferrosz::Decompressor {
        // SAFETY: by the contract of the crate.
        unsafe { decompressor.as_ref() }.map_or_else(ferrosz::Decompressor::new, |given| given.0)
    }
}

/// Makes a decompressor: device "auto", checksums are verified. Null if it fails. Free it with
/// ferrosz_decompressor_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_decompressor_new(error: *mut Error) -> *mut Decompressor {
    guard::object(error, || Ok(Decompressor(ferrosz::Decompressor::new())))
}

/// Frees a decompressor. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_decompressor_free(decompressor: *mut Decompressor) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(decompressor) };
}

fn change(
    decompressor: *mut Decompressor,
    error: *mut Error,
    change: impl FnOnce(ferrosz::Decompressor) -> Result<ferrosz::Decompressor, Failure>,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let decompressor = unsafe { arguments::object_mut("decompressor", decompressor)? };
        decompressor.0 = change(decompressor.0)?;
        Ok(())
    })
}

/// Sets the device on which streams of host memory are decompressed: "auto" (the default), "cpu", "cuda" or "cuda:1";
/// "cuda:all" or "cuda:0,1" for several GPUs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_decompressor_set_device(
    decompressor: *mut Decompressor,
    device: *const c_char,
    error: *mut Error,
) -> ferrosz_status {
    change(decompressor, error, |decompressor| {
        // SAFETY: by the contract of the crate.
        Ok(decompressor.device(self::device(unsafe { arguments::text("device", device)? })?))
    })
}

/// Sets whether the checksums of chunks are verified. Without it damage may go unnoticed, and gives wrong values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_decompressor_verify_checksums(
    decompressor: *mut Decompressor,
    verify: bool,
    error: *mut Error,
) -> ferrosz_status {
    change(decompressor, error, |decompressor| {
        Ok(decompressor.verify_checksums(verify))
    })
}
