//! The numbers of values, for comparisons: halves and integers as floating-point numbers that hold them exactly.

use bytemuck::cast_slice;
use ferrosz::Value;
use rayon::prelude::*;
use std::borrow::Cow;

/// The numbers of an array. Two values have the same bits if and only if their numbers do.
pub fn numbers<V: Value>(values: &[V]) -> Cow<'_, [V::Coded]> {
    match V::TYPE.is_coded_as_is() {
        true => Cow::Borrowed(cast_slice(values)),
        false => Cow::Owned(values.par_iter().map(|value| value.widened()).collect()),
    }
}
