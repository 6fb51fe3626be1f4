//! The toy among the predictors of blocks: the first code of a group predicts all others.

use crate::predict::difference;
use crate::predict::group::{Before, Group};

/// The prediction of position `e`.
#[inline(always)]
pub fn prediction(codes: &Group, e: usize, before: &Before) -> i32 {
    if e == 0 { before[0] } else { codes[0] }
}

/// Codes to differences, in place; `before` predicts the first.
#[inline(always)]
pub fn forward(codes: &mut Group, before: i32) {
    let first = codes[0];
    difference::add(codes, first.wrapping_neg());
    codes[0] = first.wrapping_sub(before);
}

/// Differences to codes, in place, with 0 as the prediction of the first code; [`difference::add`] corrects this.
#[inline(always)]
pub fn backward(differences: &mut Group) {
    let first = differences[0];
    differences[0] = 0;
    difference::add(differences, first);
}
