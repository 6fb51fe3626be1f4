//! The statistics of a stream.

use crate::arguments;
use crate::boxes::{Boxes, FieldBox};
use crate::error::{Error, Failure};
use crate::guard;
use crate::place;
use ferrosz::codec::container::statistics::GroupStatistics;
use ferrosz::stream::{self, ReadAt, StreamAt};
use std::ffi::{c_char, c_void};

/// The statistics of a stream, if it has some.
pub struct Statistics {
    of_stream: Option<stream::Statistics>,
    extents: Vec<u64>,
}

impl Statistics {
    fn read(mut stream: StreamAt<impl ReadAt>) -> Result<Self, Failure> {
        Ok(Self {
            of_stream: stream.statistics().map_err(place::failure)?,
            extents: stream.extents(),
        })
    }
}

/// Reads the statistics of a stream: those of the field before it was compressed, in which NaNs and fill values do not count.
/// Only the bytes that are needed are read. Null if it fails; a stream without statistics is no failure, see
/// ferrosz_statistics_exist. Free it with ferrosz_statistics_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_new(
    stream: *const c_void,
    bytes: u64,
    error: *mut Error,
) -> *mut Statistics {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        Statistics::read(unsafe { place::in_memory(stream, bytes)? })
    })
}

/// As ferrosz_statistics_new, of the stream in the file of this path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_of_file(
    path: *const c_char,
    error: *mut Error,
) -> *mut Statistics {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        Statistics::read(unsafe { place::in_file(path)? })
    })
}

/// Frees statistics. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_free(statistics: *mut Statistics) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(statistics) };
}

/// A property of statistics; of a null pointer or a stream without statistics, `none`.
unsafe fn get<T>(
    statistics: *const Statistics,
    none: T,
    property: impl FnOnce(&stream::Statistics) -> T,
) -> T {
    // SAFETY: by the contract of the crate.
    let statistics = unsafe { statistics.as_ref() };
    let found = statistics.and_then(|statistics| statistics.of_stream.as_ref());
    found.map_or(none, property)
}

/// Whether the stream has statistics. Without them all numbers are 0, or NaN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_exist(statistics: *const Statistics) -> bool {
    // SAFETY: by the contract of the crate.
    unsafe { get(statistics, false, |_| true) }
}

/// Whether updates have replaced values since the statistics were made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_are_outdated(statistics: *const Statistics) -> bool {
    // SAFETY: by the contract of the crate.
    unsafe { get(statistics, false, |found| found.is_outdated) }
}

/// The smallest value of the field; NaN if all are missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_min(statistics: *const Statistics) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(statistics, None, stream::Statistics::min) }.unwrap_or(f64::NAN)
}

/// The largest value of the field; NaN if all are missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_max(statistics: *const Statistics) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(statistics, None, stream::Statistics::max) }.unwrap_or(f64::NAN)
}

/// The mean of the field; NaN if all values are missing, or if there are infinities with both signs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_mean(statistics: *const Statistics) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(statistics, None, stream::Statistics::mean) }.unwrap_or(f64::NAN)
}

/// The number of values that are not missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_count(statistics: *const Statistics) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(statistics, 0, stream::Statistics::count) }
}

/// Bytes of the statistics in the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_bytes(statistics: *const Statistics) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(statistics, 0, |found| found.bytes) }
}

/// The number of groups of consecutive chunks that have statistics of their own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_groups(statistics: *const Statistics) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(statistics, 0, |found| found.groups().len() as u64) }
}

/// The chunks of a group; the last one may have fewer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_group_chunks(statistics: *const Statistics) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(statistics, 0, stream::Statistics::chunks_of_group) }
}

/// The numbers of group `number`, if there is such a group and not all of its values are missing.
unsafe fn group(statistics: *const Statistics, number: u64) -> Option<GroupStatistics> {
    let number = usize::try_from(number).ok()?;
    // SAFETY: by the contract of the crate.
    let group = unsafe {
        get(statistics, None, |found| {
            found.groups().get(number).copied()
        })
    };
    group.filter(|group| group.count > 0)
}

/// The smallest value of group `number`; NaN if all are missing. The first group is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_group_min(
    statistics: *const Statistics,
    number: u64,
) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { group(statistics, number) }.map_or(f64::NAN, |group| group.min)
}

/// The largest value of group `number`; NaN if all are missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_group_max(
    statistics: *const Statistics,
    number: u64,
) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { group(statistics, number) }.map_or(f64::NAN, |group| group.max)
}

/// The mean of group `number`; NaN if all values are missing, or if there are infinities with both signs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_group_mean(
    statistics: *const Statistics,
    number: u64,
) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { group(statistics, number) }.map_or(f64::NAN, |group| group.mean)
}

/// The number of values of group `number` that are not missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_group_count(
    statistics: *const Statistics,
    number: u64,
) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { group(statistics, number) }.map_or(0, |group| group.count)
}

/// The boxes of the field that the elements of group `number` are. No element is in two of them. Null if it fails. Free it
/// with ferrosz_boxes_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_statistics_group_boxes(
    statistics: *const Statistics,
    number: u64,
    error: *mut Error,
) -> *mut Boxes {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let statistics = unsafe { arguments::object("statistics", statistics)? };
        let found = statistics.of_stream.as_ref();
        let groups = found.map_or(0, |found| found.groups().len());
        let (Some(found), true) = (found, number < groups as u64) else {
            let reason = format!("there is no group {number} of {groups}");
            return Err(Failure::argument("number", reason));
        };
        let parts = found.parts_of_group(number as usize);
        Ok(Boxes(FieldBox::of_parts(&parts, &statistics.extents)))
    })
}
