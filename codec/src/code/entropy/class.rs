//! Classes: how large the codes of a group are, which is what their statistics depend on most.

use crate::shape::Shape;
use crate::tile::GROUPS;

/// Contexts: the classes from 1 on, for tokens, and context 0, for the class numbers.
pub const CONTEXTS: u32 = 16;
/// The largest class.
pub const MAX_CLASS: u32 = CONTEXTS - 1;

/// Classes that are coded with each tile at once, one a lane, before those of the other groups.
pub const FIRST_CLASSES: u32 = 32;

/// The class of a group whose magnitudes sum to `sum`. In class 0 all codes are 0, and nothing is stored.
#[inline(always)]
pub const fn class(shape: Shape, group: u32, sum: u32) -> u32 {
    if sum == 0 {
        return 0;
    }
    let length = 32 - sum.leading_zeros();
    let class = length.saturating_sub(size_shift(shape, group));
    if class < 1 {
        1
    } else if class > MAX_CLASS {
        MAX_CLASS
    } else {
        class
    }
}

/// How much larger than in a brick of a cube sums are at the same magnitudes, since the group has more
/// places: as a power of two.
#[inline(always)]
pub const fn size_shift(shape: Shape, group: u32) -> u32 {
    let is_last = group == GROUPS - 1;
    match shape {
        _ if group < FIRST_CLASSES => 0,
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
            for group in 0..GROUPS {
                assert_eq!(class(shape, group, 0), 0);
                assert_eq!(class(shape, group, u32::MAX), MAX_CLASS);
                let shift = size_shift(shape, group);
                for wanted in 1..=MAX_CLASS {
                    let least = if wanted == 1 {
                        1
                    } else {
                        1 << (wanted - 1 + shift)
                    };
                    assert_eq!(class(shape, group, least), wanted);
                    assert_eq!(class(shape, group, (1 << (wanted + shift)) - 1), wanted);
                }
            }
        }
    }

    /// Sums are compared at the same mean magnitude: of as many places as a group of a cube has.
    #[test]
    fn shifts_are_of_the_sizes_of_groups() {
        for shape in Shape::ALL {
            let spacing = if shape == Shape::Line { 512 } else { 16 };
            let order = TileOrder::levels(shape, spacing);
            let mut places = [0u32; GROUPS as usize];
            for at in 0..STEPS * LANES {
                if let Some(group) = order.group(at / LANES, at % LANES) {
                    places[group as usize] += 1;
                }
            }
            for (group, places) in (0..).zip(places) {
                let shift = (f64::from(places) / 448.0).log2().round().max(0.0);
                assert_eq!(
                    f64::from(size_shift(shape, group)),
                    shift,
                    "{shape} {group}"
                );
            }
        }
    }
}
