//! The bands of the coefficients of a box, and their order.

/// A line is lifted while it is at least so long.
const LEAST: usize = 8;

/// The depth of what is left of an axis behind all of its levels.
const LOW: u32 = u32::MAX;

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

/// What is left of a line behind so many levels.
const fn low(length: usize, levels: u32) -> usize {
    length.div_ceil(1 << levels)
}

/// What a level leaves as coefficients of odd positions.
const fn high(length: usize, level: u32) -> BandPart {
    let start = low(length, level + 1);
    BandPart {
        start,
        length: low(length, level) - start,
    }
}

/// Calls `take` with runs of the coefficients of a box, in their order: the position in the box where a run begins, and its
/// length. In the box, coefficients of even positions lie before those of odd ones along each axis, level by level.
///
/// Coarse bands come first. The positions of a band are in the order of blocks of 512.
pub fn each_run(lengths: [usize; 3], mut take: impl FnMut(usize, usize)) {
    let [_, height, width] = lengths;
    let block = match lengths {
        [0 | 1, 0 | 1, _] => [1, 1, 512],
        [0 | 1, ..] => [1, 16, 32],
        _ => [8, 8, 8],
    };
    each_band(lengths, |[z, y, x]| {
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
    });
}

/// The first positions of the blocks of a band, in C order.
fn firsts(band: [BandPart; 3], block: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [zs, ys, xs] = core::array::from_fn(|axis| band[axis].length.div_ceil(block[axis]));
    (0..zs * ys * xs).map(move |number| {
        let at = [number / xs / ys, number / xs % ys, number % xs];
        core::array::from_fn(|axis| at[axis] * block[axis])
    })
}

/// Calls `take` with all bands, coarse ones first. A band is as coarse as the finest level along its axes.
fn each_band([depth, height, width]: [usize; 3], mut take: impl FnMut([BandPart; 3])) {
    let deepest = line_levels(depth)
        .max(line_levels(height))
        .max(line_levels(width));
    for coarseness in core::iter::once(LOW).chain((0..deepest).rev()) {
        each_part_of_line(depth, |z, of_z| {
            each_part_of_plane([height, width], |parts, of_plane| {
                if of_z.min(of_plane) == coarseness {
                    take([z, parts[0], parts[1]]);
                }
            });
        });
    }
}

/// Calls `take` with the parts of a line and their levels, the lowest frequencies first.
fn each_part_of_line(length: usize, mut take: impl FnMut(BandPart, u32)) {
    let levels = line_levels(length);
    let rest = BandPart {
        start: 0,
        length: low(length, levels),
    };
    take(rest, LOW);
    for level in (0..levels).rev() {
        take(high(length, level), level);
    }
}

/// Calls `take` with the parts of a plane, along y and along x, and their levels, the lowest frequencies first.
fn each_part_of_plane([height, width]: [usize; 2], mut take: impl FnMut([BandPart; 2], u32)) {
    let [of_y, of_x] = [line_levels(height), line_levels(width)];
    let left = |length: usize, levels: u32, level: u32| BandPart {
        start: 0,
        length: low(length, level.min(levels)),
    };
    let deepest = of_y.max(of_x);
    take(
        [left(height, of_y, deepest), left(width, of_x, deepest)],
        LOW,
    );
    for level in (0..deepest).rev() {
        let low = [left(height, of_y, level + 1), left(width, of_x, level + 1)];
        let [has_y, has_x] = [level < of_y, level < of_x];
        if has_y {
            take([high(height, level), low[1]], level);
        }
        if has_x {
            take([low[0], high(width, level)], level);
        }
        if has_y && has_x {
            take([high(height, level), high(width, level)], level);
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
            let mut taken = vec![0; lengths.iter().product()];
            each_run(lengths, |from, count| {
                taken[from..from + count]
                    .iter_mut()
                    .for_each(|one| *one += 1);
            });
            assert!(taken.iter().all(|count| *count == 1), "{lengths:?}");
        }
    }
}
