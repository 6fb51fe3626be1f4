//! Tiles, their positions, zones and classes (FORMAT.md, sections 9 and 10), position by position.

use crate::code::entropy::shifts::Shifts;
use crate::shape::Shape;
use crate::tile::{FAR, TileBox, TileGrid, TileOrder};
use alloc::vec::Vec;

/// Lanes of a step.
pub(crate) const LANES: usize = 32;

/// Positions of a tile.
pub(crate) const POSITIONS: usize = 16_384;

/// Tiles of a run.
pub(crate) const RUN_TILES: usize = 4;

/// The code of a position whose raw value is stored.
pub(crate) const RAW: u16 = 65_535;

/// A tile's extents.
pub(crate) fn tile_extents(shape: Shape) -> [u64; 3] {
    match shape {
        Shape::Line => [1, 1, 16_384],
        Shape::Plane => [1, 256, 64],
        Shape::Cube => [16, 16, 64],
    }
}

/// The first axis of the shape.
pub(crate) fn first_axis(shape: Shape) -> usize {
    match shape {
        Shape::Line => 2,
        Shape::Plane => 1,
        Shape::Cube => 0,
    }
}

/// The position of code number `at` of a tile: lane `at` mod 32 of step `at` div 32.
pub(crate) fn position(shape: Shape, at: usize) -> [u32; 3] {
    let (step, lane) = (at as u32 / 32, at as u32 % 32);
    let (row, x) = (step / 2, 2 * lane + step % 2);
    match shape {
        Shape::Line => [0, 0, 64 * row + x],
        Shape::Plane => [0, row, x],
        Shape::Cube => [row / 16, row % 16, x],
    }
}

/// Whether a position of a tile is in the field.
pub(crate) fn is_inside(tile: &TileBox, position: [u32; 3]) -> bool {
    (0..3).all(|axis| position[axis] < tile.left[axis])
}

/// The zone of code number `at` of a tile; none if the position has no code.
pub(crate) fn zone(order: TileOrder, tile: &TileBox, at: usize) -> Option<usize> {
    let position = position(order.shape, at);
    if !is_inside(tile, position) {
        return None;
    }
    let (row, lane) = (at / 64, at % 32);
    let brick = match order.shape {
        Shape::Line => row / 8,
        Shape::Plane => 4 * (row / 32) + lane / 8,
        Shape::Cube => 8 * (2 * (row / 128) + row % 16 / 8) + lane / 4,
    };
    if !order.has_levels {
        return Some(brick);
    }
    let (level, _) = level_and_oddness(order, position);
    let is_later_slice = order.has_slices() && position[0] > 0;
    match level {
        level if level == order.anchor_level && !is_later_slice => None,
        0 => Some(brick),
        1 => Some(32 + brick / 8),
        _ => Some(36),
    }
}

/// The level of a position, at most that of anchors, and the axes along which it is odd there, as 1 for z, 2 for y and 4 for x.
pub(crate) fn level_and_oddness(order: TileOrder, position: [u32; 3]) -> (u32, u32) {
    let mut level = 0;
    while level < order.anchor_level && is_divisible(order.level_shape, position, 2 << level) {
        level += 1;
    }
    let axes = first_axis(order.level_shape)..3;
    let is_odd = |axis: &usize| level < order.anchor_level && position[*axis] >> level & 1 == 1;
    let odd = axes.filter(is_odd).map(|axis| 1 << axis).sum();
    (level, odd)
}

/// Whether all coordinates in the dimensions of the shape are divisible by a number.
fn is_divisible(shape: Shape, position: [u32; 3], divisor: u32) -> bool {
    (first_axis(shape)..3).all(|axis| position[axis].is_multiple_of(divisor))
}

/// The number of zones of a tile.
pub(crate) fn zones(order: TileOrder) -> usize {
    if order.has_levels { 37 } else { 32 }
}

/// The class of a zone whose magnitudes sum to `sum`.
pub(crate) fn class(shape: Shape, zone: usize, sum: u32) -> usize {
    if sum == 0 {
        return 0;
    }
    let bits = (0..32).filter(|bit| sum >> bit != 0).count();
    let shift = match (shape, zone) {
        (Shape::Line, 36) => 3,
        (Shape::Line | Shape::Plane, 32..) => 1,
        (Shape::Line | Shape::Plane | Shape::Cube, _) => 0,
    };
    bits.saturating_sub(shift).clamp(1, 15)
}

/// The context of code number `at` of a tile, whose zones have these classes; 0 if there is no token. The word has the
/// shifts of levels 0 and 1, for positions that are odd along one, two and three axes, as four bits each.
pub(crate) fn context(
    order: TileOrder,
    shifts: Shifts,
    tile: &TileBox,
    at: usize,
    classes: &[usize],
) -> usize {
    let Some(zone) = zone(order, tile, at) else {
        return 0;
    };
    let class = classes[zone];
    if class == 0 || !order.has_levels || zone == 36 {
        return class;
    }
    let level = zone / 32;
    let position = position(order.shape, at);
    let axes = first_axis(order.level_shape)..3;
    let odd = axes.filter(|axis| position[*axis] / (1 << level) % 2 == 1);
    let oddness = match order.has_slices() && position[0] == 0 {
        true => 3,
        false => odd.count(),
    };
    let bits = shifts.to_word() >> (12 * level + 4 * (oddness - 1)) & 15;
    let shift = if bits < 8 {
        bits as i32
    } else {
        bits as i32 - 16
    };
    (class as i32 + shift).clamp(1, 15) as usize
}

/// The quantisation code of an unsigned code; none if it is raw.
pub(crate) fn code_of(z: u16) -> Option<i32> {
    match z {
        RAW => None,
        z if z % 2 == 0 => Some(i32::from(z) / 2),
        z => Some(-((i32::from(z) + 1) / 2)),
    }
}

/// The unsigned code of a quantisation code that is less than 2^15 in magnitude.
pub(crate) fn z_of(code: Option<i32>) -> u16 {
    match code {
        None => RAW,
        Some(k) if k >= 0 => 2 * k as u16,
        Some(k) => (-2 * k - 1) as u16,
    }
}

/// The magnitude of an unsigned code.
pub(crate) fn magnitude(z: u16) -> u32 {
    code_of(z).map_or(32_768, i32::unsigned_abs)
}

/// The values of a field at a tile's positions, in order of steps and lanes; 0 outside the field.
pub(crate) fn in_order<V: Copy + Default>(field: &Field, tile: &TileBox, values: &[V]) -> Vec<V> {
    (0..POSITIONS)
        .map(|at| {
            field
                .in_field(tile, at)
                .map_or(V::default(), |flat| values[flat])
        })
        .collect()
}

/// A field, in the dimensions of its tiles: slices of the same lengths, one behind the other along z.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) shape: Shape,
    pub(crate) slices: u64,
    /// Those of a slice.
    pub(crate) lengths: [u64; 3],
}

impl Field {
    pub(crate) fn elements(&self) -> usize {
        self.slices as usize * self.slice_elements()
    }

    /// Elements of a slice.
    pub(crate) fn slice_elements(&self) -> usize {
        self.lengths.iter().product::<u64>() as usize
    }

    /// The coordinates in its slice of a position.
    pub(crate) fn in_slice(&self, [z, y, x]: [u64; 3]) -> [u64; 3] {
        [z % self.lengths[0], y, x]
    }

    /// The number of the element at a position.
    pub(crate) fn flat(&self, [z, y, x]: [u64; 3]) -> usize {
        ((z * self.lengths[1] + y) * self.lengths[2] + x) as usize
    }

    /// The position of the element with this number.
    pub(crate) fn position(&self, flat: usize) -> [u64; 3] {
        let [_, height, width] = self.lengths;
        let flat = flat as u64;
        [flat / width / height, flat / width % height, flat % width]
    }

    /// The tiles, in C order.
    pub(crate) fn tiles(&self) -> Vec<TileBox> {
        let [depth, height, width] = tile_extents(self.shape);
        let mut tiles = Vec::new();
        let in_slices = (0..self.slices).flat_map(|slice| {
            let of_slice = (0..self.lengths[0]).step_by(depth as usize);
            of_slice.map(move |z| (slice * self.lengths[0], z))
        });
        for (first, z) in in_slices {
            for y in (0..self.lengths[1]).step_by(height as usize) {
                for x in (0..self.lengths[2]).step_by(width as usize) {
                    let origin = [z, y, x];
                    let left = |axis: usize| self.lengths[axis] - origin[axis];
                    tiles.push(TileBox {
                        origin: [first + z, y, x],
                        left: core::array::from_fn(|axis| left(axis).min(FAR.into()) as u32),
                    });
                }
            }
        }
        tiles
    }

    /// The number in the field of code number `at` of a tile; none if the position is outside.
    pub(crate) fn in_field(&self, tile: &TileBox, at: usize) -> Option<usize> {
        let position = position(self.shape, at);
        let of_field = |axis: usize| tile.origin[axis] + u64::from(position[axis]);
        is_inside(tile, position).then(|| self.flat(core::array::from_fn(of_field)))
    }

    /// The field of every `spacing`-th position along each axis of the shape.
    pub(crate) fn coarse(&self, spacing: u64) -> Self {
        let mut lengths = self.lengths;
        for length in &mut lengths[first_axis(self.shape)..] {
            *length = length.div_ceil(spacing);
        }
        Self { lengths, ..*self }
    }

    /// The number in this field of element `number` of the coarse field.
    pub(crate) fn of_coarse(&self, spacing: u64, number: usize) -> usize {
        let coarse = self.coarse(spacing);
        let position = coarse.position(number);
        let (slice, mut at) = (position[0] / coarse.lengths[0], coarse.in_slice(position));
        for at in &mut at[first_axis(self.shape)..] {
            *at *= spacing;
        }
        at[0] += slice * self.lengths[0];
        self.flat(at)
    }

    /// The grid of the field, for the predictor.
    pub(crate) fn grid(&self) -> TileGrid {
        TileGrid::sliced(self.shape, self.slices, self.lengths)
    }

    /// The values at the positions of the coarse field.
    pub(crate) fn anchors<T: Copy>(&self, spacing: u64, values: &[T]) -> Vec<T> {
        let count = self.coarse(spacing).elements();
        (0..count)
            .map(|number| values[self.of_coarse(spacing, number)])
            .collect()
    }
}
