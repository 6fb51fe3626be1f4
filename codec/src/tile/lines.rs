//! Lines: the codes of each level as a field of their own, so that a level can be decoded without the finer ones. See
//! FORMAT.md, section 34.

use crate::tile::{ROW, TileBox, TileOrder, extents};

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
        let mut count = 1;
        for (axis, extent) in tile.extents(self.shape).into_iter().enumerate() {
            count *= match axis < first {
                true => extent,
                false => extent.div_ceil(1 << level),
            };
        }
        count - self.anchors(tile)
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

    /// Calls `visit` with the positions of a whole tile that have codes and are of this level, in their order in a line: by
    /// the axes along which they are odd, and then in C order.
    pub fn each_of_level(&self, level: u32, mut visit: impl FnMut([u32; 3])) {
        let first = self.first_axis();
        let ends = extents(self.shape);
        let unit = 1 << level;
        let is_root = level == self.anchor_level;
        for odd in 0..8 {
            // Positions of the level of anchors are odd along no axis; all others along one at least.
            if is_root != (odd == 0) || odd & ((1 << first) - 1) != 0 {
                continue;
            }
            let along = |axis: usize| {
                let (start, step) = match (axis < first, odd >> axis & 1 == 1) {
                    (true, _) => (0, 1),
                    (false, true) => (unit, 2 * unit),
                    (false, false) => (0, 2 * unit),
                };
                let step = if is_root && axis >= first { unit } else { step };
                (start..ends[axis]).step_by(step as usize)
            };
            for z in along(0) {
                for y in along(1) {
                    for x in along(2) {
                        let is_anchor = is_root && !(self.has_slices() && z > 0);
                        if !is_anchor {
                            visit([z, y, x]);
                        }
                    }
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::tile::{LANES, STEPS, TileGrid, index, position};
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
}
