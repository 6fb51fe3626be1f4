//! Classes: the size of the codes of a zone, on which their statistics depend most.

use crate::shape::Shape;
use crate::tile::ZONES;

/// Contexts: the classes from 1 on for tokens, and context 0 for the class numbers.
pub const CONTEXTS: u32 = 16;
/// The largest class.
pub const MAX_CLASS: u32 = CONTEXTS - 1;

/// Classes that are coded in one step of a tile, one in each lane, before the classes of the other zones.
pub const FIRST_CLASSES: u32 = 32;

/// The class of a zone whose magnitudes sum to `sum`, by the shape in whose dimensions levels are counted. In class 0 all codes are 0, and nothing is stored.
#[inline(always)]
pub const fn class(shape: Shape, zone: u32, sum: u32) -> u32 {
    if sum == 0 {
        return 0;
    }
    let length = 32 - sum.leading_zeros();
    let class = length.saturating_sub(size_shift(shape, zone));
    if class < 1 {
        1
    } else if class > MAX_CLASS {
        MAX_CLASS
    } else {
        class
    }
}

/// The binary logarithm of the factor by which a zone has more positions than a zone of a cube has, by the shape in whose
/// dimensions levels are counted. At the same magnitudes, its sum is larger by this factor.
#[inline(always)]
pub const fn size_shift(shape: Shape, zone: u32) -> u32 {
    let is_last = zone == ZONES - 1;
    match shape {
        _ if zone < FIRST_CLASSES => 0,
        Shape::Line if is_last => 3,
        Shape::Line | Shape::Plane => 1,
        Shape::Cube => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::{LANES, STEPS, TileOrder};

    #[test]
    fn classes_double() {
        for shape in Shape::ALL {
            for zone in 0..ZONES {
                assert_eq!(class(shape, zone, 0), 0);
                assert_eq!(class(shape, zone, u32::MAX), MAX_CLASS);
                let shift = size_shift(shape, zone);
                for wanted in 1..=MAX_CLASS {
                    let least = if wanted == 1 {
                        1
                    } else {
                        1 << (wanted - 1 + shift)
                    };
                    assert_eq!(class(shape, zone, least), wanted);
                    assert_eq!(class(shape, zone, (1 << (wanted + shift)) - 1), wanted);
                }
            }
        }
    }

    /// Zones are compared at the same mean magnitude: sums are scaled to the number of positions of a zone of a cube.
    #[test]
    fn shifts_are_of_the_sizes_of_zones() {
        let orders = Shape::ALL.map(|shape| {
            let spacing = if shape == Shape::Line { 512 } else { 16 };
            TileOrder::levels(shape, spacing)
        });
        for order in orders.into_iter().chain([TileOrder::slices(16)]) {
            let shape = order.level_shape;
            let mut positions = [0u32; ZONES as usize];
            for at in 0..STEPS * LANES {
                if let Some(zone) = order.zone(at / LANES, at % LANES) {
                    positions[zone as usize] += 1;
                }
            }
            for (zone, positions) in (0..).zip(positions) {
                let shift = (f64::from(positions) / 448.0).log2().round().max(0.0);
                assert_eq!(f64::from(size_shift(shape, zone)), shift, "{shape} {zone}");
            }
        }
    }
}
