//! The bands of the coefficients of a box, and their order.

/// A line is lifted while it is at least so long.
const LEAST: usize = 8;

/// The level of the low part behind all levels.
const LOW: u32 = u32::MAX;

/// The order in which the levels of the axes are lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LevelOrder {
    /// All levels along z, then the levels of y and x by turns. It suits fields whose slowest axis is time or height.
    #[default]
    ZFirst,
    /// The levels of all axes by turns. It suits fields whose axes are alike.
    ByTurns,
}

impl LevelOrder {
    /// All orders.
    pub const ALL: [Self; 2] = [Self::ZFirst, Self::ByTurns];
}

/// Positions of a box along one axis, or along two, which are lifted equally often.
#[derive(Debug, Clone, Copy, Default)]
struct BandPart {
    start: usize,
    length: usize,
}

/// How often a line of this length is lifted.
pub const fn line_levels(mut length: usize) -> u32 {
    let mut levels = 0;
    while length >= LEAST {
        length = length.div_ceil(2);
        levels += 1;
    }
    levels
}

/// The length of the low part of a line behind so many levels, or behind all that it has: the first positions, whose coefficients the
/// next level lifts.
pub const fn low_length(length: usize, levels: u32) -> usize {
    let all = line_levels(length);
    length.div_ceil(1 << if levels < all { levels } else { all })
}

/// The low part behind so many levels.
const fn low(length: usize, levels: u32) -> BandPart {
    BandPart {
        start: 0,
        length: low_length(length, levels),
    }
}

/// The positions whose coefficients are those of odd positions at a level.
const fn high(length: usize, level: u32) -> BandPart {
    let start = low_length(length, level + 1);
    BandPart {
        start,
        length: low_length(length, level) - start,
    }
}

/// Calls `take` with runs of the coefficients of a box, in their order: the position in the box where a run begins, and its
/// length. In the box, coefficients of even positions lie before those of odd ones along each axis, level by level.
///
/// Coarse bands come first. The positions of a band are in the order of blocks of 512.
pub fn each_run(lengths: [usize; 3], order: LevelOrder, mut take: impl FnMut(usize, usize)) {
    let [_, height, width] = lengths;
    let block = match lengths {
        [0 | 1, 0 | 1, _] => [1, 1, 512],
        [0 | 1, ..] => [1, 16, 32],
        _ => [8, 8, 8],
    };
    let take_band = |[z, y, x]: [BandPart; 3]| {
        for first in firsts([z, y, x], block) {
            let end = |axis: usize, part: BandPart| (first[axis] + block[axis]).min(part.length);
            let [deep, high, wide] = [end(0, z), end(1, y), end(2, x)];
            for at_z in first[0]..deep {
                for at_y in first[1]..high {
                    let row = (z.start + at_z) * height + y.start + at_y;
                    take(row * width + x.start + first[2], wide - first[2]);
                }
            }
        }
    };
    match order {
        LevelOrder::ZFirst => each_band_z_first(lengths, take_band),
        LevelOrder::ByTurns => each_band_by_turns(lengths, take_band),
    }
}

/// The first positions of the blocks of a band, in C order.
fn firsts(band: [BandPart; 3], block: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [zs, ys, xs] = core::array::from_fn(|axis| band[axis].length.div_ceil(block[axis]));
    (0..zs * ys * xs).map(move |number| {
        let at = [number / xs / ys, number / xs % ys, number % xs];
        core::array::from_fn(|axis| at[axis] * block[axis])
    })
}

/// Calls `take` with all bands of [`LevelOrder::ZFirst`], coarse ones first. A band is as coarse as the finest level along
/// its axes.
fn each_band_z_first([depth, height, width]: [usize; 3], mut take: impl FnMut([BandPart; 3])) {
    let deepest = deepest([depth, height, width]);
    for coarseness in core::iter::once(LOW).chain((0..deepest).rev()) {
        each_part_of_line(depth, |z, of_z| {
            each_part([height, width], |[y, x], of_plane| {
                if of_z.min(of_plane) == coarseness {
                    take([z, y, x]);
                }
            });
        });
    }
}

/// Calls `take` with all bands of [`LevelOrder::ByTurns`], coarse ones first.
fn each_band_by_turns([depth, height, width]: [usize; 3], mut take: impl FnMut([BandPart; 3])) {
    each_part([height, width, depth], |[y, x, z], _| take([z, y, x]));
}

/// The levels of the axis that has most.
fn deepest<const N: usize>(lengths: [usize; N]) -> u32 {
    lengths.map(line_levels).into_iter().fold(0, u32::max)
}

/// Calls `take` with the parts of a line and their levels, the lowest frequencies first.
fn each_part_of_line(length: usize, mut take: impl FnMut(BandPart, u32)) {
    each_part([length], |[part], level| take(part, level));
}

/// Calls `take` with the parts of axes whose levels are lifted by turns, and their levels, the lowest frequencies first. Of one
/// level, the part that is high along the first axis alone comes first, then that along the second one alone, then both.
fn each_part<const N: usize>(lengths: [usize; N], mut take: impl FnMut([BandPart; N], u32)) {
    let deepest = deepest(lengths);
    take(lengths.map(|length| low(length, deepest)), LOW);
    for level in (0..deepest).rev() {
        for odd in 1..1_u32 << N {
            let is_odd = |axis: usize| odd >> axis & 1 == 1;
            let has_level = |axis: usize| level < line_levels(lengths[axis]);
            if (0..N).all(|axis| has_level(axis) || !is_odd(axis)) {
                let part = |axis: usize| match is_odd(axis) {
                    true => high(lengths[axis], level),
                    false => low(lengths[axis], level + 1),
                };
                take(core::array::from_fn(part), level);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn bands_have_all_positions_once() {
        for lengths in [
            [1, 1, 1],
            [1, 1, 5000],
            [1, 7, 8],
            [2, 17, 300],
            [9, 16, 15],
            [33, 8, 7],
            [40, 1, 1],
        ] {
            for order in LevelOrder::ALL {
                let mut taken = vec![0; lengths.iter().product()];
                each_run(lengths, order, |from, count| {
                    taken[from..from + count]
                        .iter_mut()
                        .for_each(|one| *one += 1);
                });
                assert!(taken.iter().all(|count| *count == 1), "{lengths:?}");
            }
        }
    }
}
