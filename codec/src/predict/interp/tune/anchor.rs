//! Anchors of sample tiles: the values by which others are predicted, and what they cost.

use crate::element::Element;
use crate::predict::interp::tune::cost::CLASSES;
use crate::shape::Shape;

/// Whether the anchors of a sample tile of this shape are rounded, each by whole steps from the tile's first value, so that they
/// have errors as large as in a stream. A cube has few anchors, whose errors matter little.
#[inline(always)]
pub const fn has_rounded_anchors(shape: Shape) -> bool {
    !matches!(shape, Shape::Cube)
}

/// The class of the code that an anchor would have, if the mean of its neighbours predicted it; `step` is that of the anchors'
/// quantiser.
#[inline(always)]
pub fn class_of_anchor<T: Element>(step: T, value: T, [before, behind]: [T; 2]) -> u32 {
    let mean = (before.to_f64() + behind.to_f64()) / 2.0;
    let distance = (value.to_f64() - mean).abs();
    let code = (distance / step.to_f64() + 0.5) as u32;
    let class = u32::BITS - code.leading_zeros();
    if class < CLASSES as u32 {
        class
    } else {
        CLASSES as u32 - 1
    }
}
