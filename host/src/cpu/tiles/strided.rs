//! The field itself, or the field of its anchors, in the memory of the field.

use crate::cpu::tiles::codes::TileValues;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::tile::{Part, TileGrid};
use ferrosz_codec::{Element, Shape};

/// The elements of a field whose positions in each dimension of its tiles are multiples of `spacing`.
#[derive(Clone, Copy)]
pub(super) struct Strided<'a, T> {
    values: &'a [T],
    /// The tiles of the part.
    pub(super) grid: TileGrid,
    strides: [usize; 3],
    /// Elements that the strides count too much for each slice, as the last spacing of a slice may be cut off.
    excess: usize,
    /// The extent of a slice along z.
    depth: u64,
}

impl<'a, T: Element> Strided<'a, T> {
    /// The field itself.
    pub(super) fn new(layout: &TileLayout, values: &'a [T]) -> Self {
        Self::every(layout, values, Part::Fine, 1)
    }

    /// The field of the anchors, whose positions are multiples of `spacing`.
    pub(super) fn coarse(&self, layout: &TileLayout, spacing: u32) -> Self {
        Self::every(layout, self.values, Part::Coarse, u64::from(spacing))
    }

    fn every(layout: &TileLayout, values: &'a [T], part: Part, spacing: u64) -> Self {
        let [_, height, width] = layout.fine.lengths().map(|length| length as usize);
        let step = spacing as usize;
        let strides = match layout.shape() {
            Shape::Line => [0, 0, step],
            Shape::Plane => [height * width, step * width, step],
            Shape::Cube => [step * height * width, step * width, step],
        };
        let grid = *layout.grid(part);
        let [fine, depth] = [layout.fine, grid].map(|grid| grid.slice_lengths()[0]);
        let excess = match layout.shape() {
            Shape::Cube if grid.slices() > 1 => (spacing * depth - fine) as usize * height * width,
            Shape::Line | Shape::Plane | Shape::Cube => 0,
        };
        Self {
            values,
            grid,
            strides,
            excess,
            depth,
        }
    }

    #[inline(always)]
    fn index(&self, [z, y, x]: [u64; 3]) -> usize {
        let [slice, row, step] = self.strides;
        let at = z as usize * slice + y as usize * row + x as usize * step;
        match self.excess {
            0 => at,
            excess => at - (z / self.depth) as usize * excess,
        }
    }

    /// The element at a position.
    #[inline(always)]
    fn at(&self, at: [u64; 3]) -> T {
        self.values[self.index(at)]
    }

    /// Fills a slice with the elements along x from a position on.
    pub(super) fn read(&self, at: [u64; 3], row: &mut [T]) {
        let values = &self.values[self.index(at)..];
        match self.strides[2] {
            1 => row.copy_from_slice(&values[..row.len()]),
            step => {
                for (position, value) in row.iter_mut().zip(values.iter().step_by(step)) {
                    *position = *value;
                }
            }
        }
    }

    /// The anchors of a part, in C order.
    pub(super) fn anchors(&self, spacing: u32) -> Vec<T> {
        let grid = self.grid.coarse(spacing);
        let [depth, height, width] = grid.lengths();
        let mut anchors = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    anchors.push(self.at(self.grid.of_coarse(&grid, spacing, [z, y, x])));
                }
            }
        }
        anchors
    }
}

impl<T: Element> TileValues<T> for Strided<'_, T> {
    fn read(&self, _: u64, at: [u64; 3], row: &mut [T]) {
        Strided::read(self, at, row);
    }
}
