//! Boxes of a field: where the elements of something are.

use crate::guard;
use ferrosz::Part;
use std::ptr;

/// A box: where it begins along each dimension, and its lengths.
pub(crate) struct FieldBox {
    pub(crate) starts: Vec<u64>,
    pub(crate) lengths: Vec<u64>,
}

impl FieldBox {
    /// The boxes that parts of a field with these extents are.
    pub(crate) fn of_parts(parts: &[Part], extents: &[u64]) -> Vec<Self> {
        let boxes = parts.iter().flat_map(|part| part.boxes(extents));
        boxes
            .map(|ranges| Self {
                starts: ranges.iter().map(|range| range.start).collect(),
                lengths: ranges.iter().map(|range| range.end - range.start).collect(),
            })
            .collect()
    }
}

/// Boxes of a field. No element is in two of them.
pub struct Boxes(pub(crate) Vec<FieldBox>);

/// Frees boxes. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_boxes_free(boxes: *mut Boxes) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(boxes) };
}

/// The number of boxes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_boxes_count(boxes: *const Boxes) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { boxes.as_ref() }.map_or(0, |boxes| boxes.0.len() as u64)
}

unsafe fn field_box<'a>(boxes: *const Boxes, number: u64) -> Option<&'a FieldBox> {
    // SAFETY: by the contract of the crate.
    let boxes = unsafe { boxes.as_ref() }?;
    boxes.0.get(usize::try_from(number).ok()?)
}

/// Where box `number` begins along each dimension of the field, until the boxes are freed; null if there is no such box.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_boxes_starts(boxes: *const Boxes, number: u64) -> *const u64 {
    // SAFETY: by the contract of the crate.
    unsafe { field_box(boxes, number) }.map_or(ptr::null(), |found| found.starts.as_ptr())
}

/// The lengths of box `number`, until the boxes are freed; null if there is no such box.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_boxes_lengths(boxes: *const Boxes, number: u64) -> *const u64 {
    // SAFETY: by the contract of the crate.
    unsafe { field_box(boxes, number) }.map_or(ptr::null(), |found| found.lengths.as_ptr())
}
