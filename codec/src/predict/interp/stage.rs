//! Stages: the positions of a level that are predicted together, and their axes.

use crate::shape::Shape;

/// The positions of a level that one pass predicts.
///
/// Coordinates are counted in units of the level: multiples of twice the unit are even.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Odd along `axis`, along which the position is predicted; odd or even along the `free` axes, and even along all
    /// others.
    Axis {
        /// Number of the axis, 0 for z.
        axis: usize,
        /// Bit i is set if axis i is free.
        free: u32,
    },
    /// Odd along one axis, along which the position is predicted.
    Lines,
    /// Odd along two axes; predicted along both.
    Faces,
    /// Odd along three axes; predicted along all.
    Cubes,
}

/// The most stages of a level.
pub const MAX_STAGES: usize = 3;

impl Stage {
    /// Stage number `number`, below the rank, of a level of a field of `rank` dimensions.
    #[inline(always)]
    pub const fn of(number: usize, rank: usize, is_multi: bool, is_reverse: bool) -> Self {
        if is_multi {
            return match number {
                0 => Self::Lines,
                1 => Self::Faces,
                _ => Self::Cubes,
            };
        }
        // The axes of a field of fewer dimensions are the last ones.
        let first = 3 - rank;
        let done = (1u32 << number) - 1;
        if is_reverse {
            Self::Axis {
                axis: 2 - number,
                free: done << (3 - number),
            }
        } else {
            Self::Axis {
                axis: first + number,
                free: done << first,
            }
        }
    }

    /// Whether a position belongs to the stage; bit i of `odd` is set if it is odd along axis i.
    #[inline(always)]
    pub const fn has(self, odd: u32) -> bool {
        match self {
            Self::Axis { axis, free } => odd & !free == 1 << axis,
            Self::Lines => odd.count_ones() == 1,
            Self::Faces => odd.count_ones() == 2,
            Self::Cubes => odd.count_ones() == 3,
        }
    }

    /// The axes along which a position is predicted, of the axes along which it is odd.
    #[inline(always)]
    pub const fn axes(self, odd: u32) -> u32 {
        match self {
            Self::Axis { axis, .. } => 1 << axis,
            Self::Lines | Self::Faces | Self::Cubes => odd,
        }
    }
}

/// The classes of all stages of a level, each as the bits of the axes that its positions are odd along. A stage has 16
/// bits, the first stage the lowest; a class has 4 of these. In a stage along one axis the first class is odd along
/// this axis alone.
///
/// A loop over these bits is equivalent to a loop over [`Stage::of`] and [`Stage::has`], with fewer steps.
#[inline(always)]
pub const fn classes(shape: Shape, is_multi: bool, is_reverse: bool) -> u64 {
    const ALL: [[u64; 3]; 3] = [of_rank(1), of_rank(2), of_rank(3)];
    let of_shape = match shape {
        Shape::Line => ALL[0],
        Shape::Plane => ALL[1],
        Shape::Cube => ALL[2],
    };
    if is_multi {
        of_shape[0]
    } else if is_reverse {
        of_shape[1]
    } else {
        of_shape[2]
    }
}

const fn of_rank(rank: usize) -> [u64; 3] {
    [
        packed(rank, true, false),
        packed(rank, false, true),
        packed(rank, false, false),
    ]
}

const fn packed(rank: usize, is_multi: bool, is_reverse: bool) -> u64 {
    let mut all = 0;
    let mut number = 0;
    while number < rank {
        let stage = Stage::of(number, rank, is_multi, is_reverse);
        let mut at = 16 * number;
        // The axes of a field of fewer dimensions are the last ones.
        let least = 1 << (3 - rank);
        let mut odd = least;
        while odd < 8 {
            if stage.has(odd) {
                all |= (odd as u64) << at;
                at += 4;
            }
            odd += least;
        }
        number += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_share_out_the_places_of_a_level() {
        for rank in 1..=3 {
            for flags in 0..4 {
                let mut found = [0; 8];
                for number in 0..rank {
                    let stage = Stage::of(number, rank, flags & 1 != 0, flags & 2 != 0);
                    for odd in 0..8u32 {
                        found[odd as usize] += u32::from(stage.has(odd));
                    }
                }
                // Axes beyond the rank have no odd positions.
                for (odd, found) in found.into_iter().enumerate().step_by(1 << (3 - rank)) {
                    assert_eq!(found, u32::from(odd != 0), "{rank} {flags} {odd}");
                }
            }
        }
    }

    #[test]
    fn packed_classes_are_those_of_the_stages() {
        for shape in Shape::ALL {
            let rank = usize::from(shape.rank());
            for (is_multi, is_reverse) in
                [(true, false), (true, true), (false, true), (false, false)]
            {
                let mut stages = classes(shape, is_multi, is_reverse);
                for number in 0..rank {
                    let stage = Stage::of(number, rank, is_multi, is_reverse);
                    let mut found = stages & 0xffff;
                    let first = found as u32 & 15;
                    for odd in (1..8).filter(|odd| odd % (1 << (3 - rank)) == 0 && stage.has(*odd))
                    {
                        assert_eq!(found as u32 & 15, odd);
                        assert_eq!(stage.axes(odd), if is_multi { odd } else { first });
                        found >>= 4;
                    }
                    assert_eq!(found, 0);
                    stages >>= 16;
                }
                assert_eq!(stages, 0);
            }
        }
    }
}
