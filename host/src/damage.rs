//! The loss due to a damaged chunk: the positions in the field of its elements.

use crate::part::Part;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::{FormatError, Shape};

/// A chunk that cannot be decoded, and the elements that are lost with it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Damage {
    /// The chunk's number, as in errors.
    pub chunk: u64,
    /// The fault of the chunk.
    pub cause: FormatError,
    /// The lost elements. No element is listed twice: an element that depends on two damaged chunks is listed with the
    /// first.
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

    /// The box as parts of a field with these extents.
    ///
    /// A grid leaves out dimensions of length 1. The last two of the others are y and x, and z combines all dimensions
    /// before them. So a range along z is one box for each row of the last dimension of z.
    pub(crate) fn parts(&self, grid: &Grid, extents: &Extents) -> Vec<Part> {
        let [z, y, x] = std::array::from_fn(|i| self.origin[i]..self.origin[i] + self.size[i]);
        if grid.shape() == Shape::Line {
            return vec![Part::Elements(x)];
        }
        let lengths = extents.lengths();
        let axes: Vec<usize> = (0..lengths.len()).filter(|i| lengths[*i] != 1).collect();
        // Planes and cubes have at least two dimensions.
        let [leading @ .., y_axis, x_axis] = &axes[..] else {
            return Vec::new();
        };
        let last = leading.last().map_or(1, |axis| lengths[*axis]);
        let mut parts = Vec::new();
        let mut at = z.start;
        while at < z.end {
            let end = z.end.min((at / last + 1) * last);
            let mut ranges = vec![0..1; lengths.len()];
            ranges[*y_axis] = y.clone();
            ranges[*x_axis] = x.clone();
            let mut rest = at / last;
            for (i, axis) in leading.iter().rev().enumerate() {
                ranges[*axis] = match i {
                    0 => at % last..at % last + (end - at),
                    _ => rest % lengths[*axis]..rest % lengths[*axis] + 1,
                };
                if i > 0 {
                    rest /= lengths[*axis];
                }
            }
            parts.push(Part::Box(ranges));
            at = end;
        }
        parts
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

    #[test]
    fn parts_are_the_elements_that_are_filled() {
        for (shape, lengths) in [
            (Shape::Line, &[300u64][..]),
            (Shape::Plane, &[20, 15]),
            (Shape::Plane, &[4, 1, 20, 15]),
            (Shape::Cube, &[4, 5, 1, 6, 7]),
            (Shape::Cube, &[2, 3, 4, 5, 6]),
        ] {
            // More dimensions than the format allows.
            let Some(extents) = Extents::new(lengths) else {
                continue;
            };
            let grid = Grid::new(shape, &extents);
            let [depth, height, width] = grid.lengths();
            let origin = [depth / 4, height / 3, width / 2];
            let size = [depth - depth / 4, height - height / 3, width - width / 2];
            let lost = GridBox { origin, size };
            let mut field = vec![false; extents.elements() as usize];
            lost.fill(grid.lengths(), &mut field, true);
            let mut counts = vec![0; field.len()];
            for part in lost.parts(&grid, &extents) {
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
