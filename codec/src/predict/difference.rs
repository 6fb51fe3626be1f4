//! The one-neighbour difference of cuSZp's plain and outlier modes (SC'24 cuSZp2, section IV-A): a code is predicted by
//! the code left of it, in the first column by the code above, in the first row and column by the code one slice back,
//! and the first code of a block by 0.

use crate::predict::group::{Before, Group};
use crate::shape::{GROUP, Shape};

/// The position that predicts position `e` of a group. None for the first position, which the group before predicts.
#[inline(always)]
const fn predecessor(shape: Shape, e: usize) -> Option<usize> {
    if !e.is_multiple_of(shape.row()) {
        Some(e - 1)
    } else if !e.is_multiple_of(shape.slice()) && e >= shape.row() {
        Some(e - shape.row())
    } else if e >= shape.slice() {
        Some(e - shape.slice())
    } else {
        None
    }
}

/// The prediction of position `e`.
#[inline(always)]
pub fn prediction(shape: Shape, codes: &Group, e: usize, before: &Before) -> i32 {
    match predecessor(shape, e) {
        Some(at) => codes[at],
        None => before[0],
    }
}

/// Codes to differences, in place; `before` predicts the first.
#[inline(always)]
pub fn forward(shape: Shape, codes: &mut Group, before: i32) {
    for i in 0..GROUP {
        let e = GROUP - 1 - i;
        let predicted = match predecessor(shape, e) {
            Some(at) => codes[at],
            None => before,
        };
        codes[e] = codes[e].wrapping_sub(predicted);
    }
}

/// Differences to codes, in place, with 0 as the prediction of the first code; [`add`] corrects this.
#[inline(always)]
pub fn backward(shape: Shape, differences: &mut Group) {
    for e in 0..GROUP {
        if let Some(at) = predecessor(shape, e) {
            differences[e] = differences[e].wrapping_add(differences[at]);
        }
    }
}

/// Adds the prediction of the first code to all codes, as all depend on it.
#[inline(always)]
pub fn add(codes: &mut Group, before: i32) {
    for code in codes {
        *code = code.wrapping_add(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::Predictor;

    #[test]
    fn differences_of_the_specification_example() {
        let codes = [500, 500, 501, 500, 502, 500, 503, 500];
        let mut group = [500; GROUP];
        group[..8].copy_from_slice(&codes);
        forward(Shape::Line, &mut group, 0);
        assert_eq!(group[..9], [500, 0, 1, -1, 2, -2, 3, -3, 0]);
    }

    #[test]
    fn first_columns_are_predicted_from_above_and_behind() {
        let mut plane = [core::array::from_fn(|e| 100 * (e / 8) as i32 + (e % 8) as i32); 2];
        plane[1].iter_mut().for_each(|code| *code += 400);
        Predictor::Difference.forward(Shape::Plane, &mut plane);
        for (e, difference) in plane.concat().into_iter().enumerate() {
            let wanted = if e == 0 {
                0
            } else if e % 8 == 0 {
                100
            } else {
                1
            };
            assert_eq!(difference, wanted, "{e}");
        }
        let code = |e: i32| 1000 * (e / 16) + 100 * (e / 4 % 4) + e % 4;
        let mut cube = [0, 32].map(|at| core::array::from_fn(|e| code(at + e as i32)));
        Predictor::Difference.forward(Shape::Cube, &mut cube);
        for (e, difference) in cube.concat().into_iter().enumerate() {
            let wanted = match (e % 4, e % 16) {
                (0, 0) => {
                    if e == 0 {
                        0
                    } else {
                        1000
                    }
                }
                (0, _) => 100,
                _ => 1,
            };
            assert_eq!(difference, wanted, "{e}");
        }
    }
}
