//! Shifts: how contexts differ from classes, by level and oddness.
//!
//! The *oddness* of a position is the number of axes along which it is odd. Stencils predict positions of different oddness
//! differently well, but a zone has positions of every oddness. So a field has shifts: at a position the context is the
//! zone's class plus the shift of the position's level and oddness. See FORMAT.md, sections 26 and 27.

use crate::code::entropy::class::{CONTEXTS, MAX_CLASS};
use crate::shape::Shape;
use crate::tile::{FIRST_SLICE, TileOrder};

/// Levels that have shifts: those whose zones are a part of a tile.
pub const LEVELS: u32 = 2;

/// The most axes along which a position is odd.
pub const MAX_ODDNESS: u32 = 3;

/// The bits of a shift.
const BITS: u32 = 4;

/// The shifts of a field. Positions of other levels have none.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Shifts(u32);

impl Shifts {
    /// No shifts: contexts are classes.
    pub const NONE: Self = Self(0);

    /// The least and the greatest shift.
    pub const RANGE: [i32; 2] = [-(1 << (BITS - 1)), (1 << (BITS - 1)) - 1];

    /// The shifts of a field's parameters: [`Shifts::to_word`]. Any word is allowed.
    #[inline(always)]
    pub const fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// The shifts as a word.
    #[inline(always)]
    pub const fn to_word(self) -> u32 {
        self.0
    }

    /// Whether only such shifts are not 0 as fields of this shape have.
    #[inline(always)]
    pub const fn are_of(self, shape: Shape) -> bool {
        let of_level = (1 << (BITS * shape.rank() as u32)) - 1;
        self.0 & !(of_level | of_level << (BITS * MAX_ODDNESS)) == 0
    }

    #[inline(always)]
    const fn at(level: u32, oddness: u32) -> u32 {
        BITS * (MAX_ODDNESS * level + oddness - 1)
    }

    /// With this shift, limited to [`Shifts::RANGE`], for a level below [`LEVELS`] and an oddness from 1 to
    /// [`MAX_ODDNESS`].
    #[inline(always)]
    #[must_use]
    pub fn with(self, level: u32, oddness: u32, shift: i32) -> Self {
        let [least, greatest] = Self::RANGE;
        let bits = shift.clamp(least, greatest).cast_unsigned() & ((1 << BITS) - 1);
        Self(self.0 | bits << Self::at(level, oddness))
    }

    /// The shift of a level below [`LEVELS`] and an oddness from 1 to [`MAX_ODDNESS`].
    #[inline(always)]
    pub const fn get(self, level: u32, oddness: u32) -> i32 {
        let bits = self.0 >> Self::at(level, oddness);
        (bits << (u32::BITS - BITS)).cast_signed() >> (u32::BITS - BITS)
    }

    /// The context of positions of a level and oddness in a zone of this class. In class 0 there are no tokens.
    #[inline(always)]
    pub const fn context(self, class: u32, level: u32, oddness: u32) -> u32 {
        if class == 0 || level >= LEVELS {
            return class;
        }
        let shifted = class.cast_signed() + self.get(level, oddness);
        if shifted < 1 {
            1
        } else if shifted > MAX_CLASS.cast_signed() {
            MAX_CLASS
        } else {
            shifted.cast_unsigned()
        }
    }

    /// The contexts, as bits, of the positions that a zone of this class has in the field; `left` are the field's extents from
    /// the tile on. A zone of a higher level, and one of an order without levels, has that of its class.
    #[inline(always)]
    pub fn contexts_of_zone(self, order: &TileOrder, left: [u32; 3], zone: u32, class: u32) -> u32 {
        if class == 0 {
            return 0;
        }
        let level = level_of_zone(order, zone);
        if level >= LEVELS {
            return 1 << (class % CONTEXTS);
        }
        let first = order.first_of_zone(zone);
        let first_axis = 3 - order.shape.rank() as usize;
        let is_in_field = |axis: usize| axis < first_axis || first[axis] < left[axis];
        if !(is_in_field(0) && is_in_field(1) && is_in_field(2)) {
            return 0;
        }
        // Positions of the level are odd along one axis at least, and along so many at most.
        let may_be_odd = |axis: usize| {
            u32::from(axis >= order.first_axis() && first[axis] + (1 << level) < left[axis])
        };
        let most = may_be_odd(0) + may_be_odd(1) + may_be_odd(2);
        let context = |oddness: u32| 1 << self.context(class, level, oddness);
        let mut contexts = 0;
        for oddness in 1..=MAX_ODDNESS {
            if oddness <= most {
                contexts |= context(oddness);
            }
        }
        if order.has_slices() && first[0] == 0 && most > 0 {
            let of_first = context(FIRST_SLICE);
            let is_alone = left[0] < 2;
            contexts = if is_alone {
                of_first
            } else {
                contexts | of_first
            };
        }
        contexts
    }
}

/// The level of the positions of a zone; [`LEVELS`] if they have no shifts.
#[inline(always)]
pub const fn level_of_zone(order: &TileOrder, zone: u32) -> u32 {
    match zone {
        _ if !order.has_levels => LEVELS,
        0..32 => 0,
        32..36 => 1,
        _ => LEVELS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::{LANES, STEPS, TileGrid, position};

    #[test]
    fn shifts_come_back() {
        let mut shifts = Shifts::NONE;
        let wanted = [[-8, 0, 7], [3, -1, -20]];
        for (level, of_level) in (0..).zip(&wanted) {
            for (oddness, shift) in (1..).zip(of_level) {
                shifts = shifts.with(level, oddness, *shift);
            }
        }
        assert_eq!(shifts, Shifts::from_word(shifts.to_word()));
        for (level, of_level) in (0..).zip(&wanted) {
            for (oddness, shift) in (1..).zip(of_level) {
                assert_eq!(shifts.get(level, oddness), *(shift.max(&-8)));
            }
        }
        assert_eq!(shifts.context(9, 0, 1), 1);
        assert_eq!(shifts.context(9, 0, 3), 15);
        assert_eq!(shifts.context(9, 1, 1), 12);
        assert_eq!(shifts.context(9, 2, 1), 9);
        assert_eq!(shifts.context(0, 0, 3), 0);
        assert!(shifts.are_of(Shape::Cube) && !shifts.are_of(Shape::Plane));
        let of_plane = Shifts::NONE.with(0, 2, -1).with(1, 2, 1);
        assert!(of_plane.are_of(Shape::Plane) && !of_plane.are_of(Shape::Line));
        assert!(!Shifts::from_word(1 << 24).are_of(Shape::Cube));
    }

    /// Beside a search in all positions.
    #[test]
    fn zones_have_the_contexts_of_their_positions() {
        let shifts = Shifts::NONE
            .with(0, 1, -2)
            .with(0, 2, 1)
            .with(0, 3, 4)
            .with(1, 1, -1)
            .with(1, 2, 2)
            .with(1, 3, 3);
        for (shape, spacing, lengths) in [
            (Shape::Line, 512, &[[1, 1, 20_001], [1, 1, 16_387]][..]),
            (Shape::Plane, 16, &[[1, 300, 70], [1, 257, 65], [1, 34, 3]]),
            (
                Shape::Cube,
                16,
                &[[17, 33, 65], [5, 6, 37], [1, 2, 66], [9, 9, 9]],
            ),
        ] {
            let slices = (shape == Shape::Cube).then(|| TileOrder::slices(spacing));
            let orders = slices
                .into_iter()
                .chain([TileOrder::levels(shape, spacing)]);
            for (order, lengths) in
                orders.flat_map(|order| lengths.iter().map(move |lengths| (order, lengths)))
            {
                let grid = TileGrid::new(shape, *lengths);
                for tile in (0..grid.tiles()).map(|tile| grid.tile(tile)) {
                    let mut wanted = [0u32; 36];
                    for at in 0..STEPS * LANES {
                        let (step, lane) = (at / LANES, at % LANES);
                        let zone = order.zone(step, lane).filter(|zone| *zone < 36);
                        if let Some(zone) = zone.filter(|_| tile.has(position(shape, step, lane))) {
                            let oddness = order.oddness(step, lane);
                            let context = shifts.context(6, zone / 32, oddness);
                            wanted[zone as usize] |= 1 << context;
                        }
                    }
                    for (zone, wanted) in (0..).zip(wanted) {
                        let found = shifts.contexts_of_zone(&order, tile.left, zone, 6);
                        assert_eq!(found, wanted, "{shape} {lengths:?} {zone}");
                        assert_eq!(shifts.contexts_of_zone(&order, tile.left, zone, 0), 0);
                    }
                }
            }
        }
    }
}
