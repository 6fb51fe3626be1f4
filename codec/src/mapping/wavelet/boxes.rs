//! The boxes of a field whose values become coefficients together.

use crate::container::extents::Extents;
use crate::container::grid::Grid;
use crate::shape::Shape;

/// The longest edge of a box with one, two and three dimensions.
const EDGES: [u64; 3] = [1 << 22, 4096, 320];

/// A box of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldBox {
    /// Its first position, slowest dimension first.
    pub origin: [u64; 3],
    /// Its extents.
    pub lengths: [usize; 3],
    /// The number of its first coefficient.
    pub first: u64,
}

/// The division of a field into boxes. Those along a dimension differ by at most one in length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldBoxes {
    lengths: [u64; 3],
    counts: [u64; 3],
}

impl FieldBoxes {
    /// The boxes of a field with these extents, whose dimensions are those that cubes have without roles of axes.
    pub fn new(extents: &Extents) -> Self {
        let lengths = Grid::new(Shape::Cube, &extents.with_default_roles()).lengths();
        let dimensions = match lengths {
            [0 | 1, 0 | 1, _] => 1,
            [0 | 1, ..] => 2,
            _ => 3,
        };
        let most = EDGES[dimensions - 1];
        Self {
            lengths,
            counts: lengths.map(|length| length.div_ceil(most)),
        }
    }

    /// The extents of the field.
    pub const fn lengths(&self) -> [u64; 3] {
        self.lengths
    }

    /// How many boxes there are; 0 without elements.
    pub fn count(&self) -> u64 {
        self.counts.iter().product()
    }

    /// The box of a number, in C order.
    pub fn at(&self, number: u64) -> FieldBox {
        let [_, ys, xs] = self.counts.map(|count| count.max(1));
        let at = [number / xs / ys, number / xs % ys, number % xs];
        let start = |axis: usize, at: u64| {
            let (length, count) = (self.lengths[axis], self.counts[axis].max(1));
            length / count * at + at.min(length % count)
        };
        let origin: [u64; 3] = core::array::from_fn(|axis| start(axis, at[axis]));
        let lengths: [u64; 3] =
            core::array::from_fn(|axis| start(axis, at[axis] + 1) - origin[axis]);
        let [_, height, width] = self.lengths;
        // Of the slab of boxes, of the row of boxes in it, and of the boxes before in that.
        let first =
            origin[0] * height * width + lengths[0] * (origin[1] * width + lengths[1] * origin[2]);
        FieldBox {
            origin,
            lengths: lengths.map(|length| length as usize),
            first,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_take_all_positions_and_coefficients_once() {
        for lengths in [
            &[5][..],
            &[1, 1, 9],
            &[700, 3],
            &[4097, 5000],
            &[2, 321, 1000],
            &[641, 7, 2],
        ] {
            let extents = Extents::new(lengths).unwrap();
            let boxes = FieldBoxes::new(&extents);
            let mut next = 0;
            for number in 0..boxes.count() {
                let one = boxes.at(number);
                assert_eq!(one.first, next, "{lengths:?} {number}");
                next += one.lengths.iter().product::<usize>() as u64;
                assert!(
                    (0..3)
                        .all(|axis| one.origin[axis] + one.lengths[axis] as u64
                            <= boxes.lengths[axis])
                );
            }
            assert_eq!(next, extents.elements());
        }
    }
}
