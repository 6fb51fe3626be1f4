//! The order of a tile's positions: which of them are coded, and the zone, level and oddness of each.

use crate::shape::{Shape, StaticShape};
use crate::tile::{ROW, TileBox, level, oddness, position};

/// The positions of a tile that are coded, and their zones.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileOrder {
    /// The shape of the tiles.
    pub shape: Shape,
    /// Whether positions differ by level. If so, positions of [`TileOrder::anchor_level`] or above are anchors.
    pub has_levels: bool,
    /// The lowest level of anchors, which have no code.
    pub anchor_level: u32,
    /// The shape in whose dimensions levels are counted. In cubes it may be the plane: then each slice of a tile has levels
    /// of its own, and only the first one has anchors.
    pub level_shape: Shape,
}

/// Zones of a tile: 32 bricks of level 0, 4 of level 1, and one for all higher levels.
pub const ZONES: u32 = 37;

/// The oddness of the positions of the first slice of a tile whose slices have levels of their own.
pub const FIRST_SLICE: u32 = 3;

impl TileOrder {
    /// The order of a predictor whose codes have the same statistics at all positions.
    pub const fn flat(shape: Shape) -> Self {
        Self {
            shape,
            has_levels: false,
            anchor_level: u32::MAX,
            level_shape: shape,
        }
    }

    /// The order of a predictor with levels, whose anchors are `spacing` apart, a power of two.
    pub const fn levels(shape: Shape, spacing: u32) -> Self {
        Self {
            shape,
            has_levels: true,
            anchor_level: spacing.trailing_zeros(),
            level_shape: shape,
        }
    }

    /// The order of a predictor of the slices of cubes, whose anchors are `spacing` apart, a power of two.
    pub const fn slices(spacing: u32) -> Self {
        Self {
            level_shape: Shape::Plane,
            ..Self::levels(Shape::Cube, spacing)
        }
    }

    /// Whether each slice of a tile has levels of its own.
    #[inline(always)]
    pub const fn has_slices(&self) -> bool {
        matches!((self.shape, self.level_shape), (Shape::Cube, Shape::Plane))
    }

    /// The first axis along which levels are counted.
    #[inline(always)]
    pub const fn first_axis(&self) -> usize {
        3 - self.level_shape.rank() as usize
    }

    /// The same order with the shapes of `S`, so that a kernel knows them when it is compiled.
    #[inline(always)]
    pub const fn of_shape<S: StaticShape>(self) -> Self {
        Self {
            shape: S::SHAPE,
            level_shape: S::LEVELS,
            ..self
        }
    }

    /// The brick of a position, 0 to 31.
    #[inline(always)]
    pub const fn brick(&self, row: u32, lane: u32) -> u32 {
        match self.shape {
            Shape::Line => row / 8,
            Shape::Plane => row / 32 * 4 + lane / 8,
            Shape::Cube => (row / 128 * 2 + row % 16 / 8) * 8 + lane / 4,
        }
    }

    /// The zone of a lane of a step; none for an anchor.
    #[inline(always)]
    pub const fn zone(&self, step: u32, lane: u32) -> Option<u32> {
        let brick = self.brick(step / 2, lane);
        if !self.has_levels {
            return Some(brick);
        }
        let position = position(self.shape, step, lane);
        let level = level(self.level_shape, position);
        if level >= self.anchor_level && !(self.has_slices() && position[0] > 0) {
            None
        } else if level == 0 {
            Some(brick)
        } else if level == 1 {
            Some(32 + brick / 8)
        } else {
            Some(36)
        }
    }

    /// The oddness of the position of a lane of a step.
    #[inline(always)]
    pub const fn oddness(&self, step: u32, lane: u32) -> u32 {
        self.oddness_at(position(self.shape, step, lane))
    }

    /// The oddness of a position: the number of axes along which it is odd at its level. Positions of the first slice, which
    /// are predicted less well than those of other slices, have [`FIRST_SLICE`] instead.
    #[inline(always)]
    pub const fn oddness_at(&self, position: [u32; 3]) -> u32 {
        if self.has_slices() && position[0] == 0 {
            FIRST_SLICE
        } else {
            oddness(self.level_shape, position)
        }
    }

    /// The level of a position, at most that of anchors.
    #[inline(always)]
    pub const fn level_at(&self, position: [u32; 3]) -> u32 {
        let level = level(self.level_shape, position);
        if level < self.anchor_level {
            level
        } else {
            self.anchor_level
        }
    }

    /// The lowest coordinates of a zone of level 0 or 1.
    #[inline(always)]
    pub const fn first_of_zone(&self, zone: u32) -> [u32; 3] {
        let brick = if zone < 32 { zone } else { 8 * (zone - 32) };
        match self.shape {
            Shape::Line => [0, 0, 8 * ROW * brick],
            Shape::Plane => [0, 32 * (brick / 4), 16 * (brick % 4)],
            Shape::Cube => [8 * (brick / 16), 8 * (brick / 8 % 2), 8 * (brick % 8)],
        }
    }

    /// The number of positions of a tile that have codes: its elements without the anchors.
    #[inline(always)]
    pub fn positions(&self, tile: &TileBox) -> u32 {
        let [z, y, x] = tile.extents(self.shape);
        z * y * x - self.anchors(tile)
    }

    /// The number of anchors of a tile.
    #[inline(always)]
    pub(super) fn anchors(&self, tile: &TileBox) -> u32 {
        if !self.has_levels {
            return 0;
        }
        let [z, y, x] = tile.extents(self.shape);
        let anchors = |extent: u32| extent.div_ceil(1 << (self.anchor_level & 31));
        match self.shape {
            Shape::Line => anchors(x),
            Shape::Plane => anchors(y) * anchors(x),
            Shape::Cube => anchors(z) * anchors(y) * anchors(x),
        }
    }

    /// The number of zones of a tile.
    #[inline(always)]
    pub const fn zones(&self) -> u32 {
        if self.has_levels { ZONES } else { 32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::{LANES, STEPS, TileGrid};

    #[test]
    fn zones_have_the_places_that_their_classes_expect() {
        let mut found = [[0u32; ZONES as usize]; 3];
        for shape in Shape::ALL {
            let spacing = if shape == Shape::Line { 512 } else { 16 };
            let order = TileOrder::levels(shape, spacing);
            for at in 0..STEPS * LANES {
                if let Some(zone) = order.zone(at / LANES, at % LANES) {
                    found[shape as usize][zone as usize] += 1;
                }
            }
        }
        assert_eq!(found[0], counts(256, 1024, 4096 - 32));
        assert_eq!(found[1], counts(384, 768, 1024 - 64));
        assert_eq!(found[2], counts(448, 448, 256 - 4));
        let mut found = [0u32; ZONES as usize];
        for at in 0..STEPS * LANES {
            if let Some(zone) = TileOrder::slices(16).zone(at / LANES, at % LANES) {
                found[zone as usize] += 1;
            }
        }
        assert_eq!(found, counts(384, 768, 1024 - 4));
    }

    #[test]
    fn positions_with_codes_are_counted() {
        for (shape, spacing, lengths) in [
            (Shape::Line, 512, [1, 1, 40_001]),
            (Shape::Plane, 16, [1, 300, 70]),
            (Shape::Cube, 16, [17, 33, 65]),
        ] {
            let grid = TileGrid::new(shape, lengths);
            let orders = [TileOrder::levels(shape, spacing), TileOrder::flat(shape)];
            let slices = (shape == Shape::Cube).then(|| TileOrder::slices(spacing));
            for order in orders.into_iter().chain(slices) {
                for tile in 0..grid.tiles() {
                    let tile = grid.tile(tile);
                    let has_code = |at: &u32| {
                        let (step, lane) = (at / LANES, at % LANES);
                        tile.has(position(shape, step, lane)) && order.zone(step, lane).is_some()
                    };
                    let wanted = (0..STEPS * LANES).filter(has_code).count();
                    assert_eq!(order.positions(&tile), wanted as u32);
                }
            }
        }
    }

    fn counts(first: u32, second: u32, rest: u32) -> [u32; ZONES as usize] {
        core::array::from_fn(|i| match i {
            0..32 => first,
            32..36 => second,
            _ => rest,
        })
    }
}
