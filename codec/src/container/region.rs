//! A part of a field to decode or replace: a box, or a range of elements in their order, which is a box of the field as
//! a line.

use crate::container::grid::{ChunkBox, Grid};
use crate::shape::Shape;
use core::ops::Range;

/// A box of a field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The field's extents, slowest dimension first.
    lengths: [u64; 3],
    /// The first coordinates inside.
    from: [u64; 3],
    /// The first coordinates behind.
    to: [u64; 3],
}

impl Region {
    /// The region of a whole field.
    pub fn whole(grid: &Grid) -> Self {
        Self {
            lengths: grid.lengths(),
            from: [0; 3],
            to: grid.lengths(),
        }
    }

    /// A box of a field that has these lengths in three dimensions. They are those of the grid, except that the field
    /// of a grid of lines may have any lengths with as many elements. None if the ranges are not within the lengths.
    pub fn of_box(grid: &Grid, lengths: [u64; 3], ranges: [Range<u64>; 3]) -> Option<Self> {
        let is_inside =
            |(range, length): (&Range<u64>, &u64)| range.start <= range.end && range.end <= *length;
        if !ranges.iter().zip(&lengths).all(is_inside) {
            return None;
        }
        debug_assert!(grid.shape() == Shape::Line || lengths == grid.lengths());
        let from = ranges.each_ref().map(|range| range.start);
        let is_empty = ranges.iter().any(Range::is_empty);
        Some(Self {
            lengths,
            from,
            to: if is_empty {
                from
            } else {
                ranges.map(|range| range.end)
            },
        })
    }

    /// Elements `range` of a field, in their order, as consecutive boxes: one for lines, otherwise at most five. None
    /// if the range is not within the field.
    pub fn of_range(grid: &Grid, range: Range<u64>) -> Option<[Option<Self>; 5]> {
        if range.start > range.end || range.end > grid.elements() {
            return None;
        }
        let lengths = grid.lengths();
        let [_, height, width] = lengths;
        let slice = height * width;
        let mut regions = [None; 5];
        let mut at = range.start;
        for region in &mut regions {
            if at >= range.end {
                break;
            }
            let left = range.end - at;
            let from = [at / slice, at / width % height, at % width];
            let mut to = from.map(|at| at + 1);
            // The longest box that starts here and is contiguous: slices, rows, or elements.
            let count = if at.is_multiple_of(slice) && left >= slice {
                to = [from[0] + left / slice, height, width];
                left / slice * slice
            } else if at.is_multiple_of(width) && left >= width {
                let rows = (left / width).min(height - from[1]);
                to = [to[0], from[1] + rows, width];
                rows * width
            } else {
                let count = left.min(width - from[2]);
                to[2] = from[2] + count;
                count
            };
            *region = Some(Self { lengths, from, to });
            at += count;
        }
        debug_assert!(at == range.end);
        Some(regions)
    }

    /// Elements inside, in each dimension.
    #[inline(always)]
    pub fn extents(&self) -> [u64; 3] {
        core::array::from_fn(|i| self.to[i].saturating_sub(self.from[i]))
    }

    /// Elements inside.
    pub fn elements(&self) -> u64 {
        let [z, y, x] = self.extents();
        z * y * x
    }

    /// The first coordinates inside.
    #[inline(always)]
    pub fn from(&self) -> [u64; 3] {
        self.from
    }

    /// The distance of the field's neighbours along each dimension, in elements.
    pub fn strides(&self) -> [u64; 3] {
        [self.lengths[1] * self.lengths[2], self.lengths[2], 1]
    }

    /// The numbers of the first and the last element inside. The region must have elements.
    pub fn span(&self) -> (u64, u64) {
        let [_, height, width] = self.lengths;
        let flat = |[z, y, x]: [u64; 3]| (z * height + y) * width + x;
        (
            flat(self.from),
            flat(self.to.map(|end| end.saturating_sub(1))),
        )
    }

    /// Whether all of the field's elements from number `first` to number `last` are inside, and are consecutive in the
    /// region.
    #[inline(always)]
    pub fn holds_run(&self, first: u64, last: u64) -> bool {
        self.is_line() && first >= self.from[2] && last < self.to[2]
    }

    /// Whether the field is treated as a line.
    #[inline(always)]
    pub fn is_line(&self) -> bool {
        self.lengths[0] == 1 && self.lengths[1] == 1
    }

    /// Whether a chunk has elements inside.
    #[inline(always)]
    pub fn touches(&self, chunk: &ChunkBox) -> bool {
        let mut touches = true;
        for i in 0..3 {
            let end = chunk.origin[i] + u64::from(chunk.extents[i]);
            touches &= chunk.origin[i] < self.to[i] && end > self.from[i];
        }
        touches
    }

    /// Whether all of a chunk is inside.
    #[inline(always)]
    pub fn holds(&self, chunk: &ChunkBox) -> bool {
        let mut holds = true;
        for i in 0..3 {
            let end = chunk.origin[i] + u64::from(chunk.extents[i]);
            holds &= chunk.origin[i] >= self.from[i] && end <= self.to[i];
        }
        holds
    }

    /// The field's extents as divisors, so never 0, even if the field has no elements.
    #[inline(always)]
    fn divisors(&self) -> [u64; 3] {
        let [depth, height, width] = self.lengths;
        [depth, height.max(1), width.max(1)]
    }

    /// The position of the element at these coordinates in the region's order; none if it is outside.
    #[inline(always)]
    pub fn position(&self, at: [u64; 3]) -> Option<u64> {
        let inside = |i: usize| at[i] >= self.from[i] && at[i] < self.to[i];
        let is_inside = inside(0) & inside(1) & inside(2);
        let [_, height, width] = self.extents();
        let [z, y, x] = core::array::from_fn(|i| at[i].wrapping_sub(self.from[i]));
        is_inside.then(|| (z * height + y) * width + x)
    }

    /// The position of element number `flat`; none if it is outside.
    #[inline(always)]
    pub fn position_of(&self, flat: u64) -> Option<u64> {
        if self.is_line() {
            return self.position([0, 0, flat]);
        }
        let [_, height, width] = self.divisors();
        let row = flat / width;
        self.position([row / height, row % height, flat % width])
    }

    /// Cuts the parts that are inside from a run of elements that begins at number `flat`. `take` gets each part's
    /// position in the run and its position in the region.
    #[inline(always)]
    pub fn cut(&self, flat: u64, length: u64, mut take: impl FnMut(Range<u64>, u64)) {
        let [_, height, width] = self.divisors();
        let mut at = flat;
        while at < flat + length {
            let row = at / width;
            let row_start = row * width;
            let end = (row_start + width).min(flat + length);
            let first = at.max(row_start + self.from[2]);
            let last = end.min(row_start + self.to[2]);
            if first < last
                && let Some(position) =
                    self.position([row / height, row % height, first - row_start])
            {
                take(first - flat..last - flat, position);
            }
            at = end;
        }
    }

    /// The numbers of the chunks that the region may touch. For planes and cubes exactly those that it touches, as a
    /// range in each dimension; for lines a range that may also have chunks between the rows of the region.
    pub fn chunks(&self, grid: &Grid) -> [Range<u64>; 3] {
        if self.elements() == 0 {
            return [0..0, 0..0, 0..0];
        }
        let tile = grid.tile();
        if grid.shape() == Shape::Line {
            let [_, height, width] = self.lengths;
            let flat = |at: [u64; 3]| (at[0] * height + at[1]) * width + at[2];
            let first = flat(self.from) >> tile[2];
            let last = flat(self.to.map(|to| to - 1)) >> tile[2];
            return [0..1, 0..1, first..last + 1];
        }
        core::array::from_fn(|i| match i {
            0 => grid.chunk_of_z(self.from[0])..grid.chunk_of_z(self.to[0] - 1) + 1,
            _ => self.from[i] >> tile[i]..((self.to[i] - 1) >> tile[i]) + 1,
        })
    }

    /// The numbers of the chunks that the region may touch, in ascending order.
    pub fn chunk_numbers(&self, grid: &Grid) -> impl Iterator<Item = u64> + use<> {
        let [z, y, x] = self.chunks(grid);
        let [_, rows, columns] = grid.chunks();
        let in_row = move |(z, y): (u64, u64)| x.clone().map(move |x| (z * rows + y) * columns + x);
        z.flat_map(move |z| y.clone().map(move |y| (z, y)))
            .flat_map(in_row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::extents::Extents;
    use alloc::vec::Vec;

    #[test]
    fn a_range_is_boxes_one_after_the_other() {
        let extents = Extents::new(&[5, 6, 7]).unwrap();
        for shape in Shape::ALL {
            let grid = Grid::new(shape, &extents);
            for from in 0..=210 {
                for to in from..=210 {
                    let regions = Region::of_range(&grid, from..to).unwrap();
                    let mut found = Vec::new();
                    for region in regions.into_iter().flatten() {
                        let start = found.len() as u64;
                        region.cut(0, 210, |run, position| {
                            assert_eq!(position + start, found.len() as u64);
                            found.extend(run);
                        });
                        assert_eq!(found.len() as u64, start + region.elements());
                    }
                    assert!(found.into_iter().eq(from..to), "{shape} {from}..{to}");
                }
            }
            assert_eq!(Region::of_range(&grid, 3..211), None);
        }
    }

    #[test]
    fn a_box_is_cut_out_row_by_row() {
        let extents = Extents::new(&[5, 1, 7]).unwrap();
        for shape in Shape::ALL {
            let grid = Grid::new(shape, &extents);
            let of_box = |ranges| Region::of_box(&grid, [1, 5, 7], ranges);
            let region = of_box([0..1, 2..4, 3..6]).unwrap();
            let mut found = Vec::new();
            region.cut(10, 14, |run, position| found.push((run, position)));
            assert_eq!(found, [(7..10, 0)]);
            assert_eq!(region.position_of(24), Some(3));
            assert_eq!(region.position_of(27), None);
            let empty = of_box([0..1, 2..2, 3..6]).unwrap();
            assert_eq!(empty.elements(), 0);
            assert_eq!(of_box([0..1, 2..6, 3..6]), None);
            assert_eq!(of_box([0..2, 2..4, 3..6]), None);
        }
    }
}
