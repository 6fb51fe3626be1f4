//! Parts of arrays of streams without header, which are read and replaced alone.

use super::Bare;
use super::stream::put;
use crate::arguments::{self, Place};
use crate::decompress::ranges;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::ferrosz_status;
use ferrosz::codec::with_element;
use ferrosz_cuszp::{Part, PartError};
use std::ffi::c_void;
use std::ptr;

impl From<PartError> for Failure {
    fn from(error: PartError) -> Self {
        ferrosz_cuszp::Error::from(error).into()
    }
}

impl Bare {
    /// The box of these starts and lengths.
    unsafe fn region(
        &self,
        dimensions: u64,
        starts: *const u64,
        lengths: *const u64,
    ) -> Result<Part, Failure> {
        // SAFETY: by the contract of the crate.
        let ranges = unsafe { ranges(dimensions, starts, lengths)? };
        Ok(Part::region(&self.extents, &ranges)?)
    }

    /// Consecutive elements, by their numbers.
    fn elements(&self, start: u64, count: u64) -> Result<Part, Failure> {
        let all = (self.extents.iter()).try_fold(1u64, |all, length| all.checked_mul(*length));
        let end = start.saturating_add(count);
        Ok(Part::elements(all.unwrap_or(u64::MAX), start..end)?)
    }
}

/// Decompresses a box of the array, `starts` and `lengths` of as many dimensions as it has, as ferrosz_bare_decompress does:
/// from the blocks that hold it, with AATROX from the layers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_decompress_box(
    bare: *const Bare,
    stream: *const c_void,
    bytes: u64,
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
    values: *mut c_void,
    room: u64,
    elements: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    // SAFETY: by the contract of the crate.
    let part = |bare: &Bare| unsafe { bare.region(dimensions, starts, lengths) };
    // SAFETY: by the contract of the crate.
    unsafe { read(bare, (stream, bytes), part, (values, room, elements), error) }
}

/// As ferrosz_bare_decompress_box, for `count` consecutive elements in C order from number `start` on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_decompress_elements(
    bare: *const Bare,
    stream: *const c_void,
    bytes: u64,
    start: u64,
    count: u64,
    values: *mut c_void,
    room: u64,
    error: *mut Error,
) -> ferrosz_status {
    let part = |bare: &Bare| bare.elements(start, count);
    let output = (values, room, ptr::null_mut());
    // SAFETY: by the contract of the crate.
    unsafe { read(bare, (stream, bytes), part, output, error) }
}

/// Runs the body of a function with a part of the array of an object.
unsafe fn with_part(
    bare: *const Bare,
    part: impl FnOnce(&Bare) -> Result<Part, Failure>,
    error: *mut Error,
    body: impl FnOnce(&Bare, &Part) -> Result<(), Failure>,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let bare = unsafe { arguments::object("bare", bare)? };
        body(bare, &part(bare)?)
    })
}

/// Decompresses a part to values, for which there is room for so many, and stores their number.
unsafe fn read(
    bare: *const Bare,
    (stream, bytes): (*const c_void, u64),
    part: impl FnOnce(&Bare) -> Result<Part, Failure>,
    (values, room, elements): (*mut c_void, u64, *mut u64),
    error: *mut Error,
) -> ferrosz_status {
    let body = |bare: &Bare, part: &Part| {
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        with_element!(bare.dtype, E => {
            let found = bare.of::<E>()?.decompress_part(stream, part)?;
            // SAFETY: by the contract of the crate.
            unsafe { put(&found, values, room, elements) }
        })
    };
    // SAFETY: by the contract of the crate.
    unsafe { with_part(bare, part, error, body) }
}

/// Replaces a box of the array in its stream by `elements` values, where the new blocks, with AATROX the layers, have the
/// lengths of the old ones: else it fails, and the stream is unchanged. Stores the number of blocks or layers in `units`, which
/// may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_replace_box(
    bare: *const Bare,
    stream: *mut c_void,
    bytes: u64,
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
    values: *const c_void,
    elements: u64,
    units: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    // SAFETY: by the contract of the crate.
    let part = |bare: &Bare| unsafe { bare.region(dimensions, starts, lengths) };
    // SAFETY: by the contract of the crate.
    unsafe {
        replace(
            bare,
            (stream, bytes),
            part,
            (values, elements, units),
            error,
        )
    }
}

/// As ferrosz_bare_replace_box, for consecutive elements in C order from number `start` on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_replace_elements(
    bare: *const Bare,
    stream: *mut c_void,
    bytes: u64,
    start: u64,
    values: *const c_void,
    elements: u64,
    units: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    let part = |bare: &Bare| bare.elements(start, elements);
    // SAFETY: by the contract of the crate.
    unsafe {
        replace(
            bare,
            (stream, bytes),
            part,
            (values, elements, units),
            error,
        )
    }
}

/// Replaces a part by so many values, and stores the number of its blocks or layers.
unsafe fn replace(
    bare: *const Bare,
    (stream, bytes): (*mut c_void, u64),
    part: impl FnOnce(&Bare) -> Result<Part, Failure>,
    (values, elements, units): (*const c_void, u64, *mut u64),
    error: *mut Error,
) -> ferrosz_status {
    let units = Place::optional(units);
    units.store(0);
    let body = |bare: &Bare, part: &Part| {
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice_mut::<u8>("stream", stream.cast(), bytes)? };
        with_element!(bare.dtype, E => {
            // SAFETY: by the contract of the crate.
            let values = unsafe { arguments::slice::<E>("values", values.cast(), elements)? };
            units.store(bare.of::<E>()?.replace_part(stream, part, values)?);
        });
        Ok(())
    };
    // SAFETY: by the contract of the crate.
    unsafe { with_part(bare, part, error, body) }
}
