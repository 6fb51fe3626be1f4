//! Values that are found in a stream by its statistics.

use crate::decompressor::Decompressor;
use crate::error::{Error, Failure};
use crate::guard;
use crate::place;
use ferrosz::stream::{ReadAt, Searched, StreamAt};
use std::ffi::{c_char, c_void};
use std::ptr;

/// The values that were found, and where they are.
pub struct Matches {
    elements: Vec<u64>,
    values: Vec<f64>,
    search: Searched,
    bytes_read: u64,
}

impl Matches {
    /// Those from `low` to `high` of a stream.
    unsafe fn find(
        decompressor: *const Decompressor,
        mut stream: StreamAt<impl ReadAt>,
        (low, high): (f64, f64),
    ) -> Result<Self, Failure> {
        // SAFETY: by the contract of the crate.
        let decompressor = unsafe { Decompressor::settings(decompressor) };
        for (name, number) in [("low", low), ("high", high)] {
            if number.is_nan() {
                return Err(Failure::argument(name, "it is NaN"));
            }
        }
        let (mut found, mut has_room) = (Vec::new(), true);
        let take = |element: u64, value: f64| {
            has_room = has_room && found.try_reserve(1).is_ok();
            if has_room {
                found.push((element, value));
            }
        };
        let search = stream.find(&decompressor, low..=high, take);
        let search = search.map_err(place::failure)?;
        found.sort_unstable_by_key(|(element, _)| *element);
        let (mut elements, mut values) = (Vec::new(), Vec::new());
        has_room = has_room
            && elements.try_reserve_exact(found.len()).is_ok()
            && values.try_reserve_exact(found.len()).is_ok();
        if !has_room {
            let bytes = 16 * found.len() as u64;
            return Err(ferrosz::Error::OutOfMemory { bytes }.into());
        }
        elements.extend(found.iter().map(|(element, _)| *element));
        values.extend(found.iter().map(|(_, value)| *value));
        Ok(Self {
            elements,
            values,
            search,
            bytes_read: stream.traffic().bytes,
        })
    }
}

/// Finds the values of the decoded field that are at least `low` and at most `high`; -INFINITY and INFINITY are no limits. NaNs
/// and fill values are never found. With statistics only the chunks are decoded that may have such values. `decompressor` may
/// be null. Runs on the CPU. Null if it fails. Free it with ferrosz_matches_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_matches_new(
    decompressor: *const Decompressor,
    stream: *const c_void,
    bytes: u64,
    low: f64,
    high: f64,
    error: *mut Error,
) -> *mut Matches {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        unsafe { Matches::find(decompressor, place::in_memory(stream, bytes)?, (low, high)) }
    })
}

/// As ferrosz_matches_new, of the stream in the file of this path. Only the bytes that are needed are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_matches_of_file(
    decompressor: *const Decompressor,
    path: *const c_char,
    low: f64,
    high: f64,
    error: *mut Error,
) -> *mut Matches {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        unsafe { Matches::find(decompressor, place::in_file(path)?, (low, high)) }
    })
}

/// Frees matches. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_matches_free(matches: *mut Matches) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(matches) };
}

/// A property of matches; of a null pointer, `none`.
unsafe fn get<T>(matches: *const Matches, none: T, property: impl FnOnce(&Matches) -> T) -> T {
    // SAFETY: by the contract of the crate.
    unsafe { matches.as_ref() }.map_or(none, property)
}

/// The number of values that were found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_matches_count(matches: *const Matches) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(matches, 0, |found| found.values.len() as u64) }
}

/// The numbers of the elements that were found, in C order, ascending: ferrosz_matches_count numbers, until the matches are
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_matches_elements(matches: *const Matches) -> *const u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(matches, ptr::null(), |found| found.elements.as_ptr()) }
}

/// The values that were found, of any type: ferrosz_matches_count numbers in the order of ferrosz_matches_elements, until the
/// matches are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_matches_values(matches: *const Matches) -> *const f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(matches, ptr::null(), |found| found.values.as_ptr()) }
}

/// Whether the stream has statistics. Without them all chunks are decoded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_matches_have_statistics(matches: *const Matches) -> bool {
    // SAFETY: by the contract of the crate.
    unsafe { get(matches, false, |found| found.search.has_statistics) }
}

/// The chunks of the field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_matches_chunks(matches: *const Matches) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(matches, 0, |found| found.search.chunks) }
}

/// The chunks that were decoded, because their statistics do not exclude such a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_matches_chunks_read(matches: *const Matches) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(matches, 0, |found| found.search.chunks_wanted) }
}

/// Bytes of the stream that were read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_matches_bytes_read(matches: *const Matches) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(matches, 0, |found| found.bytes_read) }
}
