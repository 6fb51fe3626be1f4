//! Levels of a field: every 2^k-th value along each axis.

use crate::arguments::{self, Place};
use crate::decompress::ranges;
use crate::decompressor::Decompressor;
use crate::error::Error;
use crate::guard;
use crate::status::ferrosz_status;
use crate::types::{ferrosz_type, value_type};
use ferrosz::codec::with_value;
use ferrosz::{Info, level_extents, level_extents_of_box};
use std::ffi::c_void;
use std::ops::Range;

/// The length that an axis of so many values has in a level: a level has the values whose coordinates can all be divided
/// by 2^level. The axis of the parts of complex numbers has both in each level.
#[unsafe(no_mangle)]
pub extern "C" fn ferrosz_level_length(length: u64, level: u32) -> u64 {
    level_extents(&[length], level).iter().product()
}

/// As ferrosz_decompress_box, for the values of a level in a box of the field; without dimensions, in all of it. Level 0 has
/// all values. Only what the level needs is decoded if the stream has levels apart (ferrosz_compressor_set_levels); of other
/// streams all of the box is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_decompress_level(
    decompressor: *const Decompressor,
    stream: *const c_void,
    bytes: u64,
    level: u32,
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
    r#type: ferrosz_type,
    values: *mut c_void,
    room: u64,
    elements: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let decompressor = unsafe { Decompressor::settings(decompressor) };
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        // SAFETY: by the contract of the crate.
        let mut ranges = unsafe { ranges(dimensions, starts, lengths)? };
        let elements = Place::optional(elements);
        elements.store(0);
        let info = ferrosz::info(stream)?;
        if ranges.is_empty() {
            ranges = info.extents.iter().map(|length| 0..*length).collect();
        }
        if let Some(needed) = values_in(&info, level, &ranges).filter(|needed| *needed > room) {
            elements.store(needed);
            return Err(ferrosz::Error::OutputTooSmall {
                needed,
                found: room,
                unit: "elements",
            }
            .into());
        }
        with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let values = unsafe { arguments::slice_mut::<V>("values", values.cast(), room)? };
            let found = decompressor.level_of_box(stream, level, &ranges)?;
            // There is room, as the box is one of the field.
            values[..found.len()].copy_from_slice(&found);
            elements.store(found.len() as u64);
        });
        Ok(())
    })
}

/// How many values a level has in a box; none if that is no box of the field.
fn values_in(info: &Info, level: u32, ranges: &[Range<u64>]) -> Option<u64> {
    let is_inside = |(length, range): (&u64, &Range<u64>)| range.end <= *length;
    if ranges.len() != info.extents.len() || !info.extents.iter().zip(ranges).all(is_inside) {
        return None;
    }
    // The parts of a complex number belong together.
    let (of_numbers, of_parts) = ranges.split_at(info.number_extents().len());
    let numbers = level_extents_of_box(of_numbers, level);
    let parts = level_extents_of_box(of_parts, 0);
    Some(numbers.iter().chain(&parts).product())
}
