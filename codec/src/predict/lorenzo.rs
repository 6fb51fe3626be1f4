//! The Lorenzo predictor (L. Ibarria et al., "Out-of-core compression and decompression of large n-dimensional scalar
//! fields", CGF 22(3), 2003): a code is predicted by all its neighbours with no larger coordinate. The signs make the
//! prediction exact for fields that vary in one dimension only. Codes outside of the block count as 0.
//!
//! The difference is the composition of the differences along x, y and z; the inverse is the composition of running
//! sums. *Within* means the dimensions inside a group, *across* the dimension in which the groups of a block follow
//! each other.

use crate::predict::group::{Before, Group};
use crate::shape::{GROUP, Shape};

/// The prediction of position `e`; `before` holds codes.
#[inline(always)]
pub fn prediction(shape: Shape, codes: &Group, e: usize, before: &Before) -> i32 {
    if matches!(shape, Shape::Line) {
        return across(codes, e, 0, shape.reach(), before);
    }
    let mut sum = other_rows(shape, codes, e, before);
    if !e.is_multiple_of(shape.row()) {
        sum = sum
            .wrapping_add(codes[e - 1])
            .wrapping_sub(other_rows(shape, codes, e - 1, before));
    }
    sum
}

/// The part of the preceding rows in the prediction of position `e`. For the next position, it has the opposite sign.
#[inline(always)]
fn other_rows(shape: Shape, codes: &Group, e: usize, before: &Before) -> i32 {
    let (row, reach) = (shape.row(), shape.reach());
    let sum = across(codes, e, 0, reach, before);
    if matches!(shape, Shape::Cube) && e % shape.slice() >= row {
        sum.wrapping_add(codes[e - row])
            .wrapping_sub(across(codes, e, row, reach, before))
    } else {
        sum
    }
}

/// The code at the distance `reach + within` from position `e`; the first `reach` positions have theirs in
/// the group before.
#[inline(always)]
fn across(codes: &Group, e: usize, within: usize, reach: usize, before: &Before) -> i32 {
    if e >= reach {
        codes[e - reach - within]
    } else {
        before[e - within]
    }
}

/// Codes to differences in the dimensions that stay within a group.
#[inline(always)]
pub fn forward_within(shape: Shape, codes: &mut Group) {
    for i in 0..GROUP {
        let e = GROUP - 1 - i;
        if !e.is_multiple_of(shape.row()) {
            codes[e] = codes[e].wrapping_sub(codes[e - 1]);
        }
    }
    if matches!(shape, Shape::Cube) {
        for i in 0..GROUP {
            let e = GROUP - 1 - i;
            if e % shape.slice() >= shape.row() {
                codes[e] = codes[e].wrapping_sub(codes[e - shape.row()]);
            }
        }
    }
}

/// Completes the differences; `before` is from the group before, after its [`forward_within`].
#[inline(always)]
pub fn forward_across(shape: Shape, codes: &mut Group, before: &Before) {
    if matches!(shape, Shape::Line) {
        codes[0] = codes[0].wrapping_sub(before[0]);
        return;
    }
    let reach = shape.reach();
    for i in 0..GROUP {
        let e = GROUP - 1 - i;
        codes[e] = codes[e].wrapping_sub(across(codes, e, 0, reach, before));
    }
}

/// Differences to running sums across, with 0 for the group before; [`add`] corrects this.
#[inline(always)]
pub fn backward_across(shape: Shape, differences: &mut Group) {
    let reach = shape.reach();
    if !matches!(shape, Shape::Line) {
        for e in reach..GROUP {
            differences[e] = differences[e].wrapping_add(differences[e - reach]);
        }
    }
}

/// Adds the last sums of the group before, after its [`backward_across`] and `add`.
#[inline(always)]
pub fn add(shape: Shape, sums: &mut Group, before: &Before) {
    if matches!(shape, Shape::Line) {
        sums[0] = sums[0].wrapping_add(before[0]);
        return;
    }
    let reach = shape.reach();
    for (e, sum) in sums.iter_mut().enumerate() {
        *sum = sum.wrapping_add(before[e % reach]);
    }
}

/// Completes the codes.
#[inline(always)]
pub fn backward_within(shape: Shape, sums: &mut Group) {
    if matches!(shape, Shape::Cube) {
        for e in 0..GROUP {
            if e % shape.slice() >= shape.row() {
                sums[e] = sums[e].wrapping_add(sums[e - shape.row()]);
            }
        }
    }
    for e in 0..GROUP {
        if !e.is_multiple_of(shape.row()) {
            sums[e] = sums[e].wrapping_add(sums[e - 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::Predictor;
    use crate::predict::group::{MAX_REACH, last_of};
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// The definition: the sum over all non-empty sets of dimensions of the code one step back in these dimensions,
    /// negative for an even number of dimensions.
    fn definition(shape: Shape, codes: &[i32], position: usize) -> i32 {
        let at = [
            position / shape.slice(),
            position % shape.slice() / shape.row(),
            position % shape.row(),
        ];
        let mut sum = 0i32;
        for set in 1..8usize {
            let steps = [set >> 2 & 1, set >> 1 & 1, set & 1];
            if (0..3).any(|i| at[i] < steps[i]) {
                continue;
            }
            let from = position - steps[0] * shape.slice() - steps[1] * shape.row() - steps[2];
            let adds = set.count_ones() % 2 == 1;
            sum = sum.wrapping_add(if adds {
                codes[from]
            } else {
                codes[from].wrapping_neg()
            });
        }
        sum
    }

    fn check<const G: usize>(shape: Shape, rng: &mut SmallRng) {
        let codes: [Group; G] = core::array::from_fn(|_| core::array::from_fn(|_| rng.random()));
        let all = codes.concat();
        let mut block = codes;
        Predictor::Lorenzo.forward(shape, &mut block);
        for (position, difference) in block.concat().into_iter().enumerate() {
            let predicted = definition(shape, &all, position);
            assert_eq!(
                difference,
                all[position].wrapping_sub(predicted),
                "{shape} {position}"
            );
        }
        let mut before = [0; MAX_REACH];
        for (g, group) in codes.iter().enumerate() {
            for e in 0..GROUP {
                let found = prediction(shape, group, e, &before);
                assert_eq!(
                    found,
                    definition(shape, &all, g * GROUP + e),
                    "{shape} {g} {e}"
                );
            }
            before = last_of(shape, group);
        }
        Predictor::Lorenzo.backward(shape, &mut block);
        assert_eq!(block, codes);
        Predictor::Difference.forward(shape, &mut block);
        Predictor::Difference.backward(shape, &mut block);
        assert_eq!(block, codes);
    }

    #[test]
    fn predictions_are_those_of_the_definition() {
        let mut rng = SmallRng::seed_from_u64(6);
        for _ in 0..50 {
            check::<1>(Shape::Line, &mut rng);
            check::<2>(Shape::Plane, &mut rng);
            check::<2>(Shape::Cube, &mut rng);
        }
    }
}
