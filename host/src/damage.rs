//! The loss due to a damaged chunk: the positions in the field of its elements.

use crate::part::{Part, boxes_of_range, to_user, user_boxes};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::{FormatError, Shape};
use std::ops::Range;

/// A chunk that cannot be decoded, and the elements that are lost with it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Damage {
    /// The chunk's number, as in errors.
    pub chunk: u64,
    /// The fault of the chunk.
    pub cause: FormatError,
    /// The lost elements. No element is listed twice: an element that depends on two damaged chunks is listed with the
    /// first. Chunks of a mask are an exception: their elements may have been listed before.
    pub lost: Vec<Part>,
}

impl Damage {
    /// The number of lost elements.
    pub fn elements(&self) -> u64 {
        self.lost
            .iter()
            .map(|part| part.extents().iter().product::<u64>())
            .sum()
    }
}

/// A box of a field in the dimensions of its grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GridBox {
    pub(crate) origin: [u64; 3],
    pub(crate) size: [u64; 3],
}

impl GridBox {
    /// The number of elements.
    pub(crate) fn elements(&self) -> u64 {
        self.size.iter().product()
    }

    /// Sets all elements of the box in a field of these lengths.
    pub(crate) fn fill<T: Copy>(&self, [_, height, width]: [u64; 3], field: &mut [T], value: T) {
        let [z, y, x] = self.origin;
        for z in z..z + self.size[0] {
            for y in y..y + self.size[1] {
                let start = ((z * height + y) * width + x) as usize;
                field[start..start + self.size[2] as usize].fill(value);
            }
        }
    }

    /// The box as parts of the user's field, given the grid of the coded field, its extents, and the order of its axes.
    ///
    /// A dimension of the grid combines several axes, so a range along it is one or several boxes along these axes.
    pub(crate) fn parts(&self, grid: &Grid, extents: &Extents, order: &Order) -> Vec<Part> {
        let ranges: [Range<u64>; 3] =
            std::array::from_fn(|i| self.origin[i]..self.origin[i] + self.size[i]);
        let boxes = match (grid.shape(), ranges) {
            (Shape::Line, [_, _, x]) if order.is_identity() => return vec![Part::Elements(x)],
            (Shape::Line, [_, _, x]) => {
                let coded = boxes_of_range(extents.lengths(), x);
                coded
                    .into_iter()
                    .map(|coded| to_user(order, coded))
                    .collect()
            }
            (Shape::Plane | Shape::Cube, ranges) => user_boxes(extents, order, ranges),
        };
        boxes.into_iter().map(Part::Box).collect()
    }
}

/// A fault of a chunk, and the positions that are lost with it.
pub(crate) struct Lost {
    pub(crate) chunk: u64,
    pub(crate) cause: FormatError,
    pub(crate) positions: Vec<GridBox>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::mapping::axes::Turn;
    use ferrosz_codec::mapping::axes::Axes;

    #[test]
    fn parts_are_the_elements_that_are_filled() {
        for (shape, lengths, axes) in [
            (Shape::Line, &[300u64][..], "x"),
            (Shape::Line, &[30, 10], "x,y"),
            (Shape::Plane, &[20, 15], "y,x"),
            (Shape::Plane, &[20, 15], "x,y"),
            (Shape::Plane, &[4, 1, 20, 15], "s,s,y,x"),
            (Shape::Cube, &[4, 5, 1, 6, 7], "z,z,z,y,x"),
            (Shape::Cube, &[2, 3, 4, 5, 6], "z,z,z,y,x"),
            (Shape::Cube, &[2, 3, 4, 5, 6], "x,s,z,z,y"),
        ] {
            let of_user = Extents::new(lengths).expect("extents");
            let axes: Axes = axes.parse().expect("axes");
            let order = axes.order();
            let extents = axes.coded_extents(&of_user).expect("as many axes");
            let grid = Grid::new(shape, &extents);
            let [depth, height, width] = grid.lengths();
            let origin = [depth / 4, height / 3, width / 2];
            let size = [depth - depth / 4, height - height / 3, width - width / 2];
            let lost = GridBox { origin, size };
            let mut field = vec![false; extents.elements() as usize];
            lost.fill(grid.lengths(), &mut field, true);
            let mut of_user = field.clone();
            if let Some(turn) = Turn::to_user(extents.lengths(), &order) {
                turn.apply(&field, &mut of_user);
            }
            let field = of_user;
            let mut counts = vec![0; field.len()];
            for part in lost.parts(&grid, &extents, &order) {
                for element in elements(&part, lengths) {
                    counts[element as usize] += 1;
                }
            }
            let filled: Vec<i32> = field.iter().map(|is_lost| i32::from(*is_lost)).collect();
            assert_eq!(counts, filled, "{lengths:?}");
        }
    }

    /// The numbers of a part's elements, found by a test of each element of the field.
    fn elements(part: &Part, lengths: &[u64]) -> Vec<u64> {
        let all = 0..lengths.iter().product::<u64>();
        let ranges = match part {
            Part::Elements(range) => return range.clone().collect(),
            Part::Box(ranges) => ranges,
        };
        all.filter(|element| {
            let mut rest = *element;
            (ranges.iter().zip(lengths).rev()).all(|(range, length)| {
                let at = rest % length;
                rest /= length;
                range.contains(&at)
            })
        })
        .collect()
    }
}
