//! The score of a candidate: the cost of each level, and the sizes of codes by oddness.
//!
//! Codes are counted in cells: one for each oddness of the levels that have shifts, and one for each higher level.

use crate::code::entropy::shifts::{LEVELS, MAX_ODDNESS, Shifts};
use crate::predict::interp::geometry::MAX_LEVELS;
use crate::predict::interp::tune::cost::{CLASSES, COST_BITS, cost, log2_wide};
use crate::predict::interp::tune::search::{Costs, TOGETHER};

/// Cells that codes are counted in.
pub const CELLS: u32 = LEVELS * MAX_ODDNESS + MAX_LEVELS as u32 - LEVELS;

/// The cell of codes of a level and oddness, from 1 on.
#[inline(always)]
pub const fn cell(level: u32, oddness: u32) -> u32 {
    if level < LEVELS {
        MAX_ODDNESS * level + oddness - 1
    } else {
        LEVELS * MAX_ODDNESS + level - LEVELS
    }
}

/// The number of cells of a level. The first of them is [`cell`] with oddness 1.
#[inline(always)]
pub const fn cells_of_level(level: u32) -> u32 {
    if level < LEVELS { MAX_ODDNESS } else { 1 }
}

/// The first of the cells that a number of [`Costs`] is about, and the one behind the last.
#[inline(always)]
pub const fn cells_of_cost(number: u32) -> [u32; 2] {
    match number {
        TOGETHER => [cell(1, 1), CELLS],
        level => [cell(level, 1), cell(level, 1) + cells_of_level(level)],
    }
}

/// The number of codes of each class in each cell.
pub type CellCounts = [[u32; CLASSES]; CELLS as usize];

/// Codes of one level and oddness: how many, and the sum of [`size_of_class`]. Values without a code do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// The number of codes.
    pub codes: u64,
    /// The sum of their magnitudes, about, times 2.
    pub sum: u64,
}

/// Twice the mean of the magnitudes of a class: of 1, 2, 3, 4 ... bits it is 1, 2.5, 5.5, 11.5 ...
#[inline(always)]
pub const fn size_of_class(class: u32) -> u64 {
    match class {
        0 => 0,
        class => (3 << (class - 1)) - 1,
    }
}

/// The sizes of the codes of each level below [`LEVELS`] by oddness.
pub type Sizes = [[Size; MAX_ODDNESS as usize]; LEVELS as usize];

/// The score of a candidate on the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// The bits of codes.
    pub costs: Costs,
    /// The sizes of codes.
    pub sizes: Sizes,
}

impl Score {
    /// The score of these codes; `bytes` is the size of a value.
    pub fn of_counts(counts: &CellCounts, bytes: u32) -> Self {
        let mut score = Self::default();
        for (number, found) in (0..).zip(&mut score.costs) {
            let [first, end] = cells_of_cost(number).map(|cell| cell as usize);
            let class = |class: usize| counts[first..end].iter().map(|counts| counts[class]).sum();
            *found = cost(&core::array::from_fn(class), bytes);
        }
        for (level, sizes) in (0..).zip(&mut score.sizes) {
            for (oddness, size) in (1..).zip(sizes) {
                let counts = &counts[cell(level, oddness) as usize];
                for (class, count) in (0..).zip(&counts[..CLASSES - 1]) {
                    size.codes += u64::from(*count);
                    size.sum += u64::from(*count) * size_of_class(class);
                }
            }
        }
        score
    }

    /// The score of the codes of both.
    #[must_use]
    pub fn with(mut self, other: &Self) -> Self {
        for (cost, other) in self.costs.iter_mut().zip(other.costs) {
            *cost = cost.wrapping_add(other);
        }
        let sizes = self.sizes.as_flattened_mut();
        for (size, other) in sizes.iter_mut().zip(other.sizes.as_flattened()) {
            size.codes += other.codes;
            size.sum += other.sum;
        }
        self
    }
}

/// These shifts with those of a level whose codes have these sizes by oddness, from 1 on.
#[inline(always)]
pub fn with_shifts_of_level(shifts: Shifts, level: u32, size: impl Fn(u32) -> Size) -> Shifts {
    let mut all = Size::default();
    for oddness in 1..=MAX_ODDNESS {
        let size = size(oddness);
        all.codes += size.codes;
        all.sum += size.sum;
    }
    let mut found = shifts;
    for oddness in 1..=MAX_ODDNESS {
        found = found.with(level, oddness, shift(&size(oddness), &all));
    }
    found
}

/// The binary logarithm, rounded, of the mean size of these codes over that of all.
#[inline(always)]
fn shift(of: &Size, all: &Size) -> i32 {
    if of.sum == 0 {
        return if of.codes == 0 || all.sum == 0 {
            0
        } else {
            Shifts::RANGE[0]
        };
    }
    let mean =
        |size: &Size| log2_wide(size.sum).cast_signed() - log2_wide(size.codes).cast_signed();
    let half = 1 << (COST_BITS - 1);
    ((mean(of) - mean(all) + half) >> COST_BITS) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_number() {
        let mut next = 0;
        for level in 0..MAX_LEVELS as u32 {
            for oddness in 1..=cells_of_level(level) {
                assert_eq!(cell(level, oddness), next);
                next += 1;
            }
        }
        assert_eq!(next, CELLS);
    }

    #[test]
    fn shifts_are_logarithms_of_ratios() {
        let size = |codes: u64, mean: f64| Size {
            codes,
            sum: (codes as f64 * mean) as u64,
        };
        for means in [
            [4.0, 2.0, 1.0],
            [0.001, 0.1, 0.02],
            [3e4, 1e3, 7.0],
            [1.0, 1.3, 1.4],
        ] {
            let codes = [3000, 3_000_000, 900];
            let sizes = [0, 1, 2].map(|i| size(codes[i], means[i]));
            let shifts =
                with_shifts_of_level(Shifts::NONE, 1, |oddness| sizes[oddness as usize - 1]);
            let sum: f64 = sizes.iter().map(|size| size.sum as f64).sum();
            let mean = sum / codes.iter().sum::<u64>() as f64;
            for (oddness, size) in (1..).zip(&sizes) {
                let exact = (size.sum as f64 / size.codes as f64 / mean).log2();
                let found = shifts.get(1, oddness);
                assert!(
                    (f64::from(found) - exact.clamp(-8.0, 7.0)).abs() < 0.51,
                    "{means:?}"
                );
                assert_eq!(shifts.get(0, oddness), 0);
            }
        }
        let none = |oddness| size([100, 200, 0][oddness as usize - 1], 0.0);
        assert_eq!(with_shifts_of_level(Shifts::NONE, 0, none), Shifts::NONE);
        let some = |oddness| {
            size(
                [100, 200, 0][oddness as usize - 1],
                [2.0, 0.0, 0.0][oddness as usize - 1],
            )
        };
        let found = with_shifts_of_level(Shifts::NONE, 0, some);
        assert_eq!([1, 2, 3].map(|oddness| found.get(0, oddness)), [2, -8, 0]);
    }

    #[test]
    fn a_score_has_all_codes() {
        let mut counts = CellCounts::default();
        counts[cell(0, 2) as usize][3] = 5;
        counts[cell(0, 3) as usize][3] = 2;
        counts[cell(0, 3) as usize][CLASSES - 1] = 7;
        counts[cell(4, 1) as usize][2] = 4;
        let score = Score::of_counts(&counts, 4);
        let twice = score.with(&score);
        let mut wanted = [0; CLASSES];
        (wanted[3], wanted[CLASSES - 1]) = (7, 7);
        assert_eq!(score.costs[0], cost(&wanted, 4));
        assert_eq!(score.costs[4], 8 << COST_BITS);
        assert_eq!(score.costs[TOGETHER as usize], 8 << COST_BITS);
        assert_eq!(score.costs.iter().filter(|cost| **cost > 0).count(), 3);
        assert_eq!(score.sizes[0][1], Size { codes: 5, sum: 55 });
        assert_eq!(twice.sizes[0][2], Size { codes: 4, sum: 44 });
        assert_eq!(score.sizes[1], [Size::default(); 3]);
    }
}
