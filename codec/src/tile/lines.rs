//! Lines: the codes of each level as a field of their own, so that a level can be decoded without the finer ones. See
//! FORMAT.md, section 34.

use crate::tile::{ROW, TileBox, TileGrid, TileOrder, extents};

/// The level whose codes a line has, where so many levels are coded apart: the last line also has all higher levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineLevel {
    /// The level, or the lowest one.
    pub level: u32,
    /// Whether the line has all higher levels, too.
    pub is_last: bool,
}

impl TileOrder {
    /// The number of positions of a tile that have codes and are of this level or a higher one.
    #[inline(always)]
    pub fn positions_from(&self, tile: &TileBox, level: u32) -> u32 {
        let first = self.first_axis();
        let extents = tile.extents(self.shape);
        let along = |axis: usize| match axis < first {
            true => extents[axis],
            false => extents[axis].div_ceil(1 << level),
        };
        along(0) * along(1) * along(2) - self.anchors(tile)
    }

    /// The positions of a whole tile along each axis that are of this level or a higher one.
    #[inline(always)]
    pub fn extents_of_level(&self, level: u32) -> [u32; 3] {
        let first = self.first_axis();
        let mut extents = extents(self.shape);
        for extent in &mut extents[first..] {
            *extent >>= level;
        }
        extents
    }

    /// The number of a position, counted in the unit of a level, among those of [`TileOrder::extents_of_level`]: rows have
    /// their even positions first. On level 0 it is the [`index`](crate::tile::index) of its code.
    #[inline(always)]
    pub fn index_of_level(&self, level: u32, [z, y, x]: [u32; 3]) -> u32 {
        let [_, height, width] = self.extents_of_level(level);
        let bits = width.min(ROW).trailing_zeros();
        let row = (z * height + y) * (width >> bits) + (x >> bits);
        (row << bits) + ((x & 1) << bits) / 2 + (x & ((1 << bits) - 1)) / 2
    }

    /// The position with this number: the inverse of [`TileOrder::index_of_level`].
    #[inline(always)]
    pub fn position_of_level(&self, level: u32, number: u32) -> [u32; 3] {
        let [_, height, width] = self.extents_of_level(level);
        let bits = width.min(ROW).trailing_zeros();
        let (row, rest) = (number >> bits, number & ((1 << bits) - 1));
        let half = (1 << bits) / 2;
        let in_row = match rest < half {
            true => 2 * rest,
            false => 2 * (rest - half) + 1,
        };
        let rows = width >> bits;
        [
            row / rows / height,
            row / rows % height,
            row % rows * (1 << bits) + in_row,
        ]
    }

    /// The number of codes in the tiles before this one that are of this level or a higher one.
    #[inline(always)]
    pub fn codes_before(&self, grid: &TileGrid, tile: u64, level: u32) -> u64 {
        let before = |first_axis, level| grid.every_before(tile, first_axis, level);
        let anchors = match self.has_levels {
            true => before(3 - usize::from(self.shape.rank()), self.anchor_level),
            false => 0,
        };
        before(self.first_axis(), level) - anchors
    }

    /// The number in a line of the first code of a tile.
    #[inline(always)]
    pub fn start_in_line(&self, grid: &TileGrid, tile: u64, line: LineLevel) -> u64 {
        let finer = match line.is_last {
            true => 0,
            false => self.codes_before(grid, tile, line.level + 1),
        };
        self.codes_before(grid, tile, line.level) - finer
    }

    /// The positions of a level that are odd at it along these axes, bit 0 for the slowest; none if no position with a code is.
    #[inline(always)]
    fn positions_of(&self, level: u32, odd: u32) -> Option<OddPositions> {
        let first = self.first_axis();
        let is_root = level == self.anchor_level;
        // Positions of the level of anchors are odd along no axis; all others along one at least.
        if is_root != (odd == 0) || odd & ((1 << first) - 1) != 0 {
            return None;
        }
        let of_axis = |axis: usize| match (axis < first, odd >> axis & 1 == 1) {
            (true, _) => (0, 0),
            (false, true) => (1 << level, level + 1),
            (false, false) if is_root => (0, level),
            (false, false) => (0, level + 1),
        };
        Some(OddPositions {
            axes: [of_axis(0), of_axis(1), of_axis(2)],
            // Of the slices that anchors are in only the first one has none.
            first_slice: u32::from(is_root),
            has_anchors_alone: is_root && !self.has_slices(),
        })
    }

    /// Of the codes of a tile in the line of a level, the number of the first one that is odd at this level along these axes.
    #[inline(always)]
    pub fn first_in_line(&self, tile: &TileBox, line: LineLevel, level: u32, odd: u32) -> u32 {
        let mut first = match line.is_last && level < self.anchor_level {
            true => self.positions_from(tile, level + 1),
            false => 0,
        };
        for before in 0..odd {
            let positions = self.positions_of(level, before);
            first += positions.map_or(0, |positions| positions.count(tile.extents(self.shape)));
        }
        first
    }

    /// The axes along which a position is odd at its level, bit 0 for the slowest: 0 on the level of anchors.
    #[inline(always)]
    pub fn odd_along(&self, at: [u32; 3]) -> u32 {
        let level = self.level_at(at);
        if level == self.anchor_level {
            return 0;
        }
        let bit = |axis: usize| match axis < self.first_axis() {
            true => 0,
            false => (at[axis] >> level & 1) << axis,
        };
        bit(0) | bit(1) | bit(2)
    }

    /// The number of a position that has a code among the codes of its tile with its level and its oddness along each axis: behind
    /// [`TileOrder::first_in_line`].
    #[inline(always)]
    pub fn number_of_odd(&self, tile: &TileBox, at: [u32; 3]) -> u32 {
        let positions = self.positions_of(self.level_at(at), self.odd_along(at));
        positions.map_or(0, |positions| {
            positions.number(tile.extents(self.shape), at)
        })
    }

    /// Calls `visit` with the positions of a whole tile that have codes and are of this level, in their order in a line: by
    /// the axes along which they are odd, and then in C order.
    pub fn each_of_level(&self, level: u32, mut visit: impl FnMut([u32; 3])) {
        for odd in 0..8 {
            if let Some(positions) = self.positions_of(level, odd) {
                positions.each(extents(self.shape), &mut visit);
            }
        }
    }

    /// Calls `visit` with the positions of a line of a whole tile, the highest level first.
    pub fn each_of_line(&self, line: LineLevel, mut visit: impl FnMut([u32; 3])) {
        let highest = if line.is_last {
            self.anchor_level
        } else {
            line.level
        };
        for level in (line.level..=highest).rev() {
            self.each_of_level(level, &mut visit);
        }
    }
}

/// Positions of a level that are odd along the same axes.
#[derive(Clone, Copy)]
struct OddPositions {
    /// For each axis the first coordinate, and the binary logarithm of the distance from each to the next.
    axes: [(u32, u32); 3],
    /// The first slice with a code.
    first_slice: u32,
    /// Whether none of them has a code.
    has_anchors_alone: bool,
}

impl OddPositions {
    /// How many coordinates there are along an axis of this extent.
    #[inline(always)]
    fn along(&self, axis: usize, extent: u32) -> u32 {
        let (start, bits) = self.axes[axis];
        extent.saturating_sub(start).div_ceil(1 << bits)
    }

    /// How many of them a tile with these extents has.
    #[inline(always)]
    fn count(&self, [depth, height, width]: [u32; 3]) -> u32 {
        if self.has_anchors_alone {
            return 0;
        }
        let slices = self.along(0, depth).saturating_sub(self.first_slice);
        slices * self.along(1, height) * self.along(2, width)
    }

    /// The number of one of them in C order.
    #[inline(always)]
    fn number(&self, [_, height, width]: [u32; 3], at: [u32; 3]) -> u32 {
        let along = |axis: usize| {
            let (start, bits) = self.axes[axis];
            at[axis].saturating_sub(start) >> bits
        };
        let slice = along(0).saturating_sub(self.first_slice);
        (slice * self.along(1, height) + along(1)) * self.along(2, width) + along(2)
    }

    /// Calls `visit` with those of a tile with these extents, in C order.
    fn each(&self, extents: [u32; 3], visit: &mut impl FnMut([u32; 3])) {
        if self.has_anchors_alone {
            return;
        }
        let along = |axis: usize| {
            let (start, bits) = self.axes[axis];
            (start..extents[axis]).step_by(1 << bits)
        };
        for z in along(0).skip(self.first_slice as usize) {
            for y in along(1) {
                for x in along(2) {
                    visit([z, y, x]);
                }
            }
        }
    }
}

impl TileGrid {
    /// The number of positions, in the tiles before this one, whose coordinates in their slice are multiples of 2^level
    /// along each axis from `first_axis` on.
    #[inline(always)]
    fn every_before(&self, tile: u64, first_axis: usize, level: u32) -> u64 {
        let every = |axis: usize, length: u64| match axis < first_axis {
            true => length,
            // Without a sum that could overflow, and without a division.
            false => (length >> level) + u64::from(length & ((1 << level) - 1) != 0),
        };
        let [_, rows, columns] = self.counts.map(|count| count.max(1));
        let (layer, row, column) = (tile / columns / rows, tile / columns % rows, tile % columns);
        let slice = layer / self.deep.max(1);
        let [depth, height, width] = self.slice_lengths();
        let extents = extents(self.shape);
        let [z, y, x] = [layer - slice * self.deep, row, column];
        let of_tile = extents.map(u64::from);
        let [z, y, x] = [z * of_tile[0], y * of_tile[1], x * of_tile[2]];
        let own_depth = every(0, (depth - z.min(depth)).min(of_tile[0]));
        let own_height = every(1, (height - y.min(height)).min(of_tile[1]));
        let of_layer = every(1, height) * every(2, width);
        (slice * every(0, depth) + every(0, z.min(depth))) * of_layer
            + own_depth * (every(1, y.min(height)) * every(2, width) + own_height * every(2, x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::tile::{LANES, STEPS, index, position};
    use alloc::vec::Vec;

    #[test]
    fn positions_of_a_level_are_numbered() {
        let orders = [
            TileOrder::levels(Shape::Line, 512),
            TileOrder::levels(Shape::Plane, 16),
            TileOrder::levels(Shape::Cube, 16),
            TileOrder::slices(16),
        ];
        for order in orders {
            for level in 0..=order.anchor_level {
                let [depth, height, width] = order.extents_of_level(level);
                let mut seen = alloc::vec![false; (depth * height * width) as usize];
                for at in 0..depth * height * width {
                    let at = [at / width / height, at / width % height, at % width];
                    let number = order.index_of_level(level, at);
                    assert!(
                        !core::mem::replace(&mut seen[number as usize], true),
                        "{order:?}"
                    );
                    assert_eq!(order.position_of_level(level, number), at);
                    assert!(
                        level > 0 || number == index(order.shape, at),
                        "{order:?} {at:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_code_is_in_one_line() {
        let orders = [
            (TileOrder::levels(Shape::Line, 512), [1, 1, 40_001]),
            (TileOrder::levels(Shape::Plane, 16), [1, 300, 70]),
            (TileOrder::levels(Shape::Cube, 16), [17, 33, 65]),
            (TileOrder::levels(Shape::Cube, 8), [17, 33, 65]),
            (TileOrder::slices(16), [17, 33, 65]),
        ];
        for (order, lengths) in orders {
            for apart in 1..=order.anchor_level {
                let mut seen = [0; (STEPS * LANES) as usize];
                let grid = TileGrid::new(order.shape, lengths);
                for level in 0..=apart {
                    let is_last = level == apart;
                    let line = LineLevel { level, is_last };
                    let mut all = Vec::new();
                    order.each_of_line(line, |at| all.push(at));
                    for at in &all {
                        seen[index(order.shape, *at) as usize] += 1;
                        let found = order.level_at(*at);
                        assert!(
                            found == level || is_last && found > level,
                            "{order:?} {at:?}"
                        );
                    }
                    for tile in (0..grid.tiles()).map(|tile| grid.tile(tile)) {
                        let inside = all.iter().filter(|at| tile.has(**at)).count() as u32;
                        let finer = if is_last {
                            0
                        } else {
                            order.positions_from(&tile, level + 1)
                        };
                        assert_eq!(
                            order.positions_from(&tile, level) - finer,
                            inside,
                            "{order:?}"
                        );
                    }
                }
                for at in 0..STEPS * LANES {
                    let has_code = order.zone(at / LANES, at % LANES).is_some();
                    let position = position(order.shape, at / LANES, at % LANES);
                    assert_eq!(
                        seen[at as usize],
                        u32::from(has_code),
                        "{order:?} {position:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn places_in_lines_are_those_of_the_order() {
        let grids = [
            (
                TileOrder::levels(Shape::Line, 512),
                TileGrid::new(Shape::Line, [1, 1, 40_001]),
            ),
            (
                TileOrder::levels(Shape::Plane, 16),
                TileGrid::new(Shape::Plane, [3, 300, 170]),
            ),
            (
                TileOrder::levels(Shape::Cube, 16),
                TileGrid::new(Shape::Cube, [37, 33, 65]),
            ),
            (
                TileOrder::levels(Shape::Cube, 8),
                TileGrid::sliced(Shape::Cube, 3, [21, 17, 130]),
            ),
            (
                TileOrder::slices(16),
                TileGrid::sliced(Shape::Cube, 2, [17, 33, 65]),
            ),
        ];
        for (order, grid) in grids {
            for apart in 1..=order.anchor_level {
                for level in 0..=apart {
                    let is_last = level == apart;
                    let line = LineLevel { level, is_last };
                    let mut start = 0;
                    for number in 0..grid.tiles() {
                        assert_eq!(
                            order.start_in_line(&grid, number, line),
                            start,
                            "{order:?} {line:?}"
                        );
                        let tile = grid.tile(number);
                        let mut wanted = 0;
                        order.each_of_line(line, |at| {
                            if tile.has(at) {
                                let (level, odd) = (order.level_at(at), order.odd_along(at));
                                let first = order.first_in_line(&tile, line, level, odd);
                                assert_eq!(
                                    first + order.number_of_odd(&tile, at),
                                    wanted,
                                    "{order:?} {line:?} {at:?}"
                                );
                                wanted += 1;
                            }
                        });
                        start += u64::from(wanted);
                    }
                    assert_eq!(order.start_in_line(&grid, grid.tiles(), line), start);
                }
            }
        }
    }
}
