//! The order of axes, element by element (FORMAT.md, section 22).

use alloc::vec;
use alloc::vec::Vec;

/// The coded field of a field with these lengths: axis i of it is axis `order[i]` of the user.
pub(super) fn to_coded<T: Copy>(order: &[u8], lengths: &[u64], values: &[T]) -> Vec<T> {
    places(order, lengths)
        .into_iter()
        .map(|place| values[place])
        .collect()
}

/// The field of the user, with these lengths, of a coded field.
pub(super) fn to_user<T: Copy>(order: &[u8], lengths: &[u64], coded: &[T]) -> Vec<T> {
    let mut values = coded.to_vec();
    for (place, value) in places(order, lengths).into_iter().zip(coded) {
        values[place] = *value;
    }
    values
}

/// The number in the user's field of each element of the coded field.
fn places(order: &[u8], lengths: &[u64]) -> Vec<usize> {
    let count: u64 = lengths.iter().product();
    let of_element = |number: u64| {
        // The coordinates along the coded field's axes, fastest first.
        let mut rest = number;
        let mut at = vec![0; lengths.len()];
        for axis in order.iter().rev() {
            let length = lengths[usize::from(*axis)];
            at[usize::from(*axis)] = rest % length;
            rest /= length;
        }
        let steps = at.iter().zip(lengths);
        steps.fold(0, |flat, (at, length)| flat * length + at) as usize
    };
    (0..count).map(of_element).collect()
}
