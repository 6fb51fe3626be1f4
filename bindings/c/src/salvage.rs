//! Damaged streams: the whole chunks are decoded, and the damaged chunks are named.

use crate::arguments::{self, Place};
use crate::boxes::FieldBox;
use crate::decompressor::Decompressor;
use crate::error::Error;
use crate::guard;
use crate::types::{ferrosz_type, value_type};
use ferrosz::Value;
use ferrosz::codec::with_value;
use ferrosz::stream::Damage;
use std::ffi::{CString, c_char, c_void};
use std::ptr;

/// The damaged chunks of a stream.
pub struct Damages {
    dimensions: u64,
    chunks: Vec<LostChunk>,
}

/// A damaged chunk, and the boxes of lost elements.
struct LostChunk {
    number: u64,
    cause: CString,
    elements: u64,
    boxes: Vec<FieldBox>,
}

/// Decompresses the whole chunks of a damaged stream to the start of `values`, which has room for `room` values of `type`, and
/// stores the number of elements in `elements`, which may be null. Lost elements are NaN, or 0 in integer types. The end of
/// the stream may be missing. The result names the damaged chunks; it has none if the stream is whole. Null if nothing can be
/// decoded, as without the header. `decompressor` may be null. Runs on the CPU. Free the result with ferrosz_damages_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_salvage(
    decompressor: *const Decompressor,
    stream: *const c_void,
    bytes: u64,
    r#type: ferrosz_type,
    values: *mut c_void,
    room: u64,
    elements: *mut u64,
    error: *mut Error,
) -> *mut Damages {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let decompressor = unsafe { Decompressor::settings(decompressor) };
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        Place::optional(elements).store(0);
        let info = ferrosz::info(stream)?;
        with_value!(value_type(r#type)?, V => {
            let values = match V::TYPE == info.dtype {
                // SAFETY: by the contract of the crate.
                true => unsafe { arguments::output::<V>(values, room, info.elements, elements)? },
                // An error of `salvage`.
                false => &mut [],
            };
            let (left, damages) = decompressor.salvage::<V>(stream)?;
            values.copy_from_slice(&left);
            Ok(Damages::new(&damages, &info.extents))
        })
    })
}

impl Damages {
    fn new(damages: &[Damage], extents: &[u64]) -> Self {
        let chunks = damages.iter().map(|damage| LostChunk {
            number: damage.chunk,
            // Texts of the library have no zero bytes.
            cause: CString::new(damage.cause.to_string()).unwrap_or_default(),
            elements: damage.elements(),
            boxes: FieldBox::of_parts(&damage.lost, extents),
        });
        Self {
            dimensions: extents.len() as u64,
            chunks: chunks.collect(),
        }
    }
}

/// Frees damages. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_damages_free(damages: *mut Damages) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(damages) };
}

/// The number of damaged chunks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_damages_count(damages: *const Damages) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { damages.as_ref() }.map_or(0, |damages| damages.chunks.len() as u64)
}

/// The number of dimensions of the field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_damages_dimensions(damages: *const Damages) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { damages.as_ref() }.map_or(0, |damages| damages.dimensions)
}

/// Damage `number`; none if there is no such one.
unsafe fn chunk<'a>(damages: *const Damages, number: u64) -> Option<&'a LostChunk> {
    // SAFETY: by the contract of the crate.
    let damages = unsafe { damages.as_ref() }?;
    damages.chunks.get(usize::try_from(number).ok()?)
}

/// The number of the damaged chunk of damage `number`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_damages_chunk(damages: *const Damages, number: u64) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { chunk(damages, number) }.map_or(0, |chunk| chunk.number)
}

/// The cause of damage `number`, until the damages are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_damages_cause(
    damages: *const Damages,
    number: u64,
) -> *const c_char {
    // SAFETY: by the contract of the crate.
    unsafe { chunk(damages, number) }.map_or(c"".as_ptr(), |chunk| chunk.cause.as_ptr())
}

/// The number of elements that are lost with damage `number`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_damages_elements(damages: *const Damages, number: u64) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { chunk(damages, number) }.map_or(0, |chunk| chunk.elements)
}

/// The number of boxes that the lost elements of damage `number` are. No element is in two boxes, but those of chunks of a
/// mask.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_damages_boxes(damages: *const Damages, number: u64) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { chunk(damages, number) }.map_or(0, |chunk| chunk.boxes.len() as u64)
}

unsafe fn lost_box<'a>(damages: *const Damages, number: u64, part: u64) -> Option<&'a FieldBox> {
    // SAFETY: by the contract of the crate.
    let chunk = unsafe { chunk(damages, number) }?;
    chunk.boxes.get(usize::try_from(part).ok()?)
}

/// Where box `part` of damage `number` begins along each dimension, until the damages are freed; null if there is no such
/// box.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_damages_starts(
    damages: *const Damages,
    number: u64,
    part: u64,
) -> *const u64 {
    // SAFETY: by the contract of the crate.
    unsafe { lost_box(damages, number, part) }.map_or(ptr::null(), |found| found.starts.as_ptr())
}

/// The lengths of box `part` of damage `number`, until the damages are freed; null if there is no such box.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_damages_lengths(
    damages: *const Damages,
    number: u64,
    part: u64,
) -> *const u64 {
    // SAFETY: by the contract of the crate.
    unsafe { lost_box(damages, number, part) }.map_or(ptr::null(), |found| found.lengths.as_ptr())
}
