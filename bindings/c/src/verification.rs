//! A stream against its original.

use crate::arguments;
use crate::decompressor::Decompressor;
use crate::error::{Error, Failure};
use crate::guard;
use crate::types::{ferrosz_type, value_type};
use ferrosz::codec::with_value;
use ferrosz_verify::Comparison;
use std::ffi::c_void;

/// The figures of a comparison of a stream with its original.
pub struct Verification {
    comparison: Comparison,
}

/// Decompresses a stream of `bytes` bytes and compares it with the original, `elements` values of `type`. The bound is judged
/// in exact arithmetic, by code that compression does not use. Null if it fails. `decompressor` may be null. Free the result
/// with ferrosz_verification_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_verification_new(
    decompressor: *const Decompressor,
    r#type: ferrosz_type,
    original: *const c_void,
    elements: u64,
    stream: *const c_void,
    bytes: u64,
    error: *mut Error,
) -> *mut Verification {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let decompressor = unsafe { Decompressor::settings(decompressor) };
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        let info = ferrosz::info(stream)?;
        with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let original = unsafe { arguments::slice::<V>("original", original.cast(), elements)? };
            if elements != info.elements {
                let text = format!("{elements}, but the stream has {}", info.elements);
                return Err(Failure::argument("elements", text));
            }
            let decoded: Vec<V> = decompressor.decompress(stream)?;
            let comparison = Comparison::new(original, &decoded, &info)?;
            Ok(Verification { comparison })
        })
    })
}

/// Frees a verification. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_verification_free(verification: *mut Verification) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(verification) };
}

/// A figure of a verification; of a null pointer, `none`.
unsafe fn get<T>(
    verification: *const Verification,
    none: T,
    figure: impl FnOnce(&Comparison) -> T,
) -> T {
    // SAFETY: by the contract of the crate.
    let verification = unsafe { verification.as_ref() };
    verification.map_or(none, |verification| figure(&verification.comparison))
}

/// Whether all errors are within the bound and within the error that the stream promises, and all NaNs and infinities came
/// back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_verification_kept(verification: *const Verification) -> bool {
    // SAFETY: by the contract of the crate.
    unsafe { get(verification, false, |found| found.judgement.is_kept()) }
}

/// The number of values whose error is above the user's bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_verification_over_limit(verification: *const Verification) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(verification, 0, |found| found.judgement.over_limit) }
}

/// The absolute error that the user's bound is on this original; infinity with FERROSZ_PWREL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_verification_limit(verification: *const Verification) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(verification, f64::NAN, |found| found.judgement.limit) }
}

/// The largest error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_verification_largest_error(
    verification: *const Verification,
) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe {
        get(verification, f64::NAN, |found| {
            found.judgement.largest_error
        })
    }
}

/// The index of the largest error; 2^64 - 1 if no value has one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_verification_largest_error_at(
    verification: *const Verification,
) -> u64 {
    let at = |found: &Comparison| found.judgement.largest_error_at.unwrap_or(u64::MAX);
    // SAFETY: by the contract of the crate.
    unsafe { get(verification, u64::MAX, at) }
}

/// The peak signal-to-noise ratio in decibels, the peak being the range of the original; infinity without error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_verification_psnr(verification: *const Verification) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(verification, f64::NAN, |found| found.judgement.psnr()) }
}

/// The root of the mean squared error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_verification_rmse(verification: *const Verification) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(verification, f64::NAN, |found| found.quality.rmse) }
}

/// The structural similarity, 1 without error; NaN if the field has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_verification_ssim(verification: *const Verification) -> f64 {
    let ssim = |found: &Comparison| found.quality.ssim.unwrap_or(f64::NAN);
    // SAFETY: by the contract of the crate.
    unsafe { get(verification, f64::NAN, ssim) }
}
