//! Streams that reach a target: a PSNR, an RMSE, a mean absolute error or a ratio.

use crate::arguments;
use crate::compressor::Compressor;
use crate::error::{Error, Failure};
use crate::guard;
use crate::types::{ferrosz_type, value_type};
use ferrosz::codec::with_value;
use ferrosz::target::{Found, Target, TargetKind};
use std::ffi::{c_char, c_void};
use std::ptr;

/// The stream that a search found.
pub struct Search(Found);

/// Compresses a field of `elements` values with an absolute bound that is searched for, so that its stream reaches a target.
/// The bound of the compressor is not used. `target` is "psnr" (at least so many decibels), "rmse" (at most this root of the
/// mean squared error), "mae" (at most this mean of the absolute errors) or "ratio" (at least so many bytes of the field for
/// each of the stream). Null if it fails, also if no bound reaches the ratio. Free it with ferrosz_search_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_search_new(
    compressor: *const Compressor,
    target: *const c_char,
    value: f64,
    r#type: ferrosz_type,
    field: *const c_void,
    elements: u64,
    error: *mut Error,
) -> *mut Search {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        // SAFETY: by the contract of the crate.
        let kind = kind(unsafe { arguments::text("target", target)? })?;
        let target = Target::new(kind, value).map_err(|error| Failure::argument("value", error))?;
        let found = with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let field = unsafe { arguments::slice::<V>("field", field.cast(), elements)? };
            compressor.0.search(target, field)
        });
        found.map(Search).map_err(Failure::from)
    })
}

/// A kind of targets by its name.
fn kind(name: &str) -> Result<TargetKind, Failure> {
    let found = TargetKind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        let names = TargetKind::ALL.map(TargetKind::name).join(", ");
        Failure::argument("target", format!("'{name}' is none of {names}"))
    })
}

/// Frees a search and its stream. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_search_free(search: *mut Search) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(search) };
}

/// The compressor that makes the stream: with the absolute bound that was found, and with codec and rank. Null if it fails.
/// Free it with ferrosz_compressor_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_search_compressor(
    search: *const Search,
    error: *mut Error,
) -> *mut Compressor {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let search = unsafe { arguments::object("search", search)? };
        Ok(Compressor(search.0.compressor))
    })
}

/// A property of a search; of a null pointer, `none`.
unsafe fn get<T>(search: *const Search, none: T, property: impl FnOnce(&Found) -> T) -> T {
    // SAFETY: by the contract of the crate.
    unsafe { search.as_ref() }.map_or(none, |search| property(&search.0))
}

/// The bytes of the stream, until the search is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_search_stream(search: *const Search) -> *const u8 {
    // SAFETY: by the contract of the crate.
    unsafe { get(search, ptr::null(), |found| found.stream.as_ptr()) }
}

/// The number of bytes of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_search_stream_bytes(search: *const Search) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(search, 0, |found| found.stream.len() as u64) }
}

/// The absolute bound that was found; 0 is lossless.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_search_bound(search: *const Search) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(search, f64::NAN, |found| found.compressor.bound().value()) }
}

/// The peak signal-to-noise ratio of the stream in decibels; infinity without error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_search_psnr(search: *const Search) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(search, f64::NAN, |found| found.figures.psnr) }
}

/// The root of the mean squared error of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_search_rmse(search: *const Search) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(search, f64::NAN, |found| found.figures.rmse) }
}

/// The mean of the absolute errors of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_search_mae(search: *const Search) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(search, f64::NAN, |found| found.figures.mae) }
}

/// Bytes of the field over bytes of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_search_ratio(search: *const Search) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(search, f64::NAN, |found| found.figures.ratio) }
}
