//! The order of the codes of a field in one array.

use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::TileGrid;

/// The order of an array of codes, one for each position of a field.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CodeOrder {
    /// The order of the field.
    #[default]
    Raster,
    /// Level by level, from the anchors' level to the finest, and within a level in the order of the field. So codes of
    /// equal statistics are adjacent.
    Level,
}

impl CodeOrder {
    /// All orders.
    pub const ALL: [Self; 2] = [Self::Raster, Self::Level];

    /// Its number.
    pub const fn id(self) -> u32 {
        self as u32
    }

    /// The order with this number.
    pub fn from_id(id: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.id() == id)
    }
}

/// The order of the codes of a field whose anchors are `2^anchor_level` apart.
#[derive(Debug, Clone, Copy)]
pub struct CodeLayout {
    /// The field.
    pub grid: TileGrid,
    /// The order.
    pub order: CodeOrder,
    /// The level of anchors.
    pub anchor_level: u32,
}

impl CodeLayout {
    /// The index of the code of a position.
    #[inline(always)]
    pub fn position(&self, at: [u64; 3]) -> u64 {
        match self.order {
            CodeOrder::Raster => self.grid.flat(at),
            CodeOrder::Level => self.in_levels(at),
        }
    }

    /// The number of the anchor at a position, in C order.
    #[inline(always)]
    pub fn anchor(&self, at: [u64; 3]) -> u64 {
        let coarse = self.grid.coarse(1 << self.anchor_level);
        coarse.flat(self.divided(at, self.anchor_level))
    }

    /// The level of a position, at most that of anchors.
    #[inline(always)]
    pub fn level(&self, [z, y, x]: [u64; 3]) -> u32 {
        let all = match self.grid.shape() {
            Shape::Line => x,
            Shape::Plane => x | y,
            Shape::Cube => x | y | z,
        };
        all.trailing_zeros().min(self.anchor_level)
    }

    /// The codes before a position are those of the coarser levels, and those of the preceding positions on its level's
    /// grid that do not belong to coarser levels. Positions of the grid belong to coarser levels if all their
    /// coordinates in the dimensions of the shape are even.
    #[inline(always)]
    fn in_levels(&self, at: [u64; 3]) -> u64 {
        let level = self.level(at);
        let own = self.grid.coarse(1 << level);
        let at = self.divided(at, level);
        let before = own.flat(at);
        if level == self.anchor_level {
            return before;
        }
        let coarser = self.grid.coarse(2 << level);
        let [_, height, width] = coarser.lengths();
        let half = at.map(|at| at.div_ceil(2));
        let is_even = at.map(|at| at % 2 == 0);
        let in_row = half[2];
        let in_slice = half[1] * width + if is_even[1] { in_row } else { 0 };
        let skipped = match self.grid.shape() {
            Shape::Line => in_row,
            // Each slice has its own coarser levels.
            Shape::Plane => at[0] * height * width + in_slice,
            Shape::Cube => half[0] * height * width + if is_even[0] { in_slice } else { 0 },
        };
        coarser.elements() + before - skipped
    }

    /// A position in units of a level.
    #[inline(always)]
    fn divided(&self, [z, y, x]: [u64; 3], level: u32) -> [u64; 3] {
        match self.grid.shape() {
            Shape::Line => [z, y, x >> level],
            Shape::Plane => [z, y >> level, x >> level],
            Shape::Cube => [z >> level, y >> level, x >> level],
        }
    }

    /// Calls `call` with all positions in the order of their codes.
    pub fn each(&self, mut call: impl FnMut([u64; 3])) {
        match self.order {
            CodeOrder::Raster => each_position(&self.grid, call),
            CodeOrder::Level => {
                for level in (0..=self.anchor_level).rev() {
                    each_position(&self.grid.coarse(1 << level), |at| {
                        let at = self.multiplied(at, level);
                        if self.level(at) == level {
                            call(at);
                        }
                    });
                }
            }
        }
    }

    /// A position, given in units of a level.
    fn multiplied(&self, [z, y, x]: [u64; 3], level: u32) -> [u64; 3] {
        match self.grid.shape() {
            Shape::Line => [z, y, x << level],
            Shape::Plane => [z, y << level, x << level],
            Shape::Cube => [z << level, y << level, x << level],
        }
    }
}

/// Calls `call` with all positions of a field in C order.
fn each_position(grid: &TileGrid, mut call: impl FnMut([u64; 3])) {
    let [depth, height, width] = grid.lengths();
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                call([z, y, x]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All positions sorted by level, then by position.
    fn sorted(layout: &CodeLayout) -> Vec<[u64; 3]> {
        let first = 3 - usize::from(layout.grid.shape().rank());
        let mut keyed = Vec::new();
        each_position(&layout.grid, |at| {
            let mut level = 0;
            while level < layout.anchor_level && at[first..].iter().all(|at| at % (2 << level) == 0)
            {
                level += 1;
            }
            keyed.push((u32::MAX - level, at));
        });
        if layout.order == CodeOrder::Level {
            keyed.sort();
        }
        keyed.into_iter().map(|(_, at)| at).collect()
    }

    #[test]
    fn positions_are_those_of_sorted_positions() {
        for order in CodeOrder::ALL {
            for (shape, lengths) in [
                (Shape::Cube, [17, 33, 20]),
                (Shape::Cube, [5, 7, 9]),
                (Shape::Cube, [1, 40, 50]),
                (Shape::Cube, [1, 1, 1]),
                (Shape::Cube, [16, 2, 3]),
                (Shape::Plane, [1, 40, 50]),
                (Shape::Plane, [3, 17, 31]),
                (Shape::Plane, [2, 1, 65]),
                (Shape::Line, [1, 1, 1025]),
                (Shape::Line, [1, 1, 2]),
            ] {
                for anchor_level in [0, 1, 3, 4, 9] {
                    let layout = CodeLayout {
                        grid: TileGrid::new(shape, lengths),
                        order,
                        anchor_level,
                    };
                    let positions = sorted(&layout);
                    for (position, at) in (0..).zip(&positions) {
                        assert_eq!(layout.position(*at), position, "{shape} {lengths:?} {at:?}");
                    }
                    let mut visited = Vec::new();
                    layout.each(|at| visited.push(at));
                    assert_eq!(visited, positions);
                }
            }
        }
    }
}
