//! Outlines of streams without header: the sizes of their sections, and the forms of their blocks.

use super::Bare;
use crate::arguments;
use crate::error::Error;
use crate::guard;
use ferrosz::codec::with_element;
use ferrosz_cuszp::outline::RateCount;
use std::ffi::c_void;

/// The sizes of the sections of a stream without header, and the forms of its blocks.
pub struct Outline(ferrosz_cuszp::outline::Outline);

/// Reads the rate bytes of a stream, which may be longer or shorter than it must be. Null if it fails. Free it with
/// ferrosz_outline_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_outline_new(
    bare: *const Bare,
    stream: *const c_void,
    bytes: u64,
    error: *mut Error,
) -> *mut Outline {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let bare = unsafe { arguments::object("bare", bare)? };
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        with_element!(bare.dtype, E => Ok(Outline(bare.of::<E>()?.outline(stream)?)))
    })
}

/// Frees an outline. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_outline_free(outline: *mut Outline) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(outline) };
}

/// A number of an outline; 0 of a null pointer.
unsafe fn get(
    outline: *const Outline,
    number: impl FnOnce(&ferrosz_cuszp::outline::Outline) -> u64,
) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { outline.as_ref() }.map_or(0, |outline| number(&outline.0))
}

/// The bytes that the stream must have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_outline_stream_bytes(outline: *const Outline) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(outline, ferrosz_cuszp::outline::Outline::stream_bytes) }
}

/// The rate bytes: one for each block, also for the blocks that fill up the last chunk or layer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_outline_rate_bytes(outline: *const Outline) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(outline, |outline| outline.rate_bytes) }
}

/// The bytes between the rate bytes and the first body: cuSZp's gap of up to 3 bytes, or AATROX's initial values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_outline_between_bytes(outline: *const Outline) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(outline, |outline| outline.between_bytes) }
}

/// The bytes of all bodies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_outline_body_bytes(outline: *const Outline) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(outline, |outline| outline.body_bytes) }
}

/// The blocks without a body: all their differences are 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_outline_zero_blocks(outline: *const Outline) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(outline, ferrosz_cuszp::outline::Outline::zero_blocks) }
}

/// A number about the blocks with a rate byte, 0 to 255; 0 if no block has it.
unsafe fn rate(outline: *const Outline, byte: u32, number: impl FnOnce(&RateCount) -> u64) -> u64 {
    let found = |outline: &ferrosz_cuszp::outline::Outline| {
        let mut rates = outline.rates.iter();
        let found = rates.find(|rate| u32::from(rate.byte) == byte);
        found.map_or(0, number)
    };
    // SAFETY: by the contract of the crate.
    unsafe { get(outline, found) }
}

/// The number of blocks with a rate byte, 0 to 255.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_outline_blocks(outline: *const Outline, rate_byte: u32) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { rate(outline, rate_byte, |rate| rate.blocks) }
}

/// The bytes of the body of each block with a rate byte, 0 to 255; 0 if no block has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_outline_block_bytes(
    outline: *const Outline,
    rate_byte: u32,
) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { rate(outline, rate_byte, |rate| rate.body_bytes.into()) }
}
