//! Least squares: the coefficients that follow from sample tiles.
//!
//! The terms of a position and the difference that they shall explain become small integers. Sums of their products are
//! exact, so they do not depend on the order of the computation: every machine finds the same coefficients.

use crate::element::Element;
use crate::predict::stencil::coefficients::GEOMETRY;
use crate::predict::stencil::terms::{self, MAX_TERMS, Stencil};
use crate::shape::Shape;
use core::cell::Cell;

/// Numbers of a position: its terms, and the difference between value and base.
pub const MAX_NUMBERS: usize = MAX_TERMS + 1;

/// The unit of the integers is this part of a level's bound.
const PART_OF_BOUND: i32 = 4;

/// Integers of positions that count are less than this in magnitude. There are at most 2^19 positions of a level that
/// are odd along the same axes in the sample tiles. So sums stay below 2^61.
const LIMIT: i32 = 1 << 21;

/// The numbers of a position: its terms, and then the difference between its value and the base; zeros behind them.
#[inline(always)]
pub fn numbers<T: Element>(count: usize, stencil: &Stencil<T>, value: T) -> [T; MAX_NUMBERS] {
    core::array::from_fn(|i| {
        if i < count {
            stencil.terms[i]
        } else if i == count {
            value - stencil.base
        } else {
            T::ZERO
        }
    })
}

/// The integers of the numbers of a position, for a level whose quantiser has this inverse. None if one of them is too large:
/// such a position is an outlier, and does not count.
#[inline(always)]
pub fn integers<T: Element, const N: usize>(numbers: &[T; N], inverse: T) -> Option<[i32; N]> {
    let mut integers = [0; N];
    let mut is_usual = true;
    for (found, number) in integers.iter_mut().zip(numbers) {
        let (integer, is_small) = integer(*number, inverse);
        *found = integer;
        is_usual &= is_small;
    }
    is_usual.then_some(integers)
}

/// The integer of a number, and whether it is small enough to count; if it is not, the integer is 0.
#[inline(always)]
pub fn integer<T: Element>(number: T, inverse: T) -> (i32, bool) {
    let scale = inverse * T::from_i32(PART_OF_BOUND);
    let scaled = number.abs() * scale + T::HALF;
    // False for NaN.
    let is_small = scaled < T::from_i32(LIMIT);
    let small = if is_small { scaled } else { T::ZERO };
    // Truncated: rounded, and one less where that is more. Processors have no vectors of conversions that saturate.
    let biased = small + T::ROUNDING_MAGIC;
    let nearest = biased.low_bits().wrapping_sub(T::ROUNDING_MAGIC_BITS);
    let is_more = biased - T::ROUNDING_MAGIC > small;
    let magnitude = nearest.cast_signed() - i32::from(is_more);
    let integer = if number < T::ZERO {
        -magnitude
    } else {
        magnitude
    };
    (integer, is_small)
}

/// Sums of products for a stencil of so many terms: each pair of terms, and each term with the difference.
#[inline(always)]
pub const fn sums(count: usize) -> usize {
    (count + 1) * (count + 2) / 2 - 1
}

/// The number of the sum of the products of integers `i` and `j`, `i` at most `j`, and `i` less than `count`.
#[inline(always)]
pub const fn sum_of(count: usize, i: usize, j: usize) -> usize {
    // Row i begins behind i rows, of count + 1, count, ... sums.
    i * (2 * count + 3 - i) / 2 + (j - i)
}

/// Sums of a level.
#[inline(always)]
pub const fn sums_per_level(shape: Shape) -> usize {
    offset(shape, 8)
}

/// The most sums of a field.
pub const MAX_SUMS: usize = 4 * sums_per_level(Shape::Cube);

/// Sums of all levels.
#[inline(always)]
pub const fn all_sums(shape: Shape) -> usize {
    GEOMETRY.levels(shape) as usize * sums_per_level(shape)
}

/// The number of the first sum of the positions of a level that are odd along the axes whose bits are set in `odd`.
#[inline(always)]
pub const fn first_sum(shape: Shape, level: u32, odd: u32) -> usize {
    level as usize * sums_per_level(shape) + offset(shape, odd)
}

/// The sums of the sets of axes before `odd`.
const fn offset(shape: Shape, odd: u32) -> usize {
    let beyond = (1 << (3 - shape.rank())) - 1;
    let mut before = 0;
    let mut of = 1;
    while of < odd {
        if of & beyond == 0 {
            before += sums(terms::count(shape, of));
        }
        of += 1;
    }
    before
}

/// The coefficient of a term in the cubic splines, which fitted ones are drawn to if samples say little.
#[inline(always)]
pub(crate) const fn of_splines(odd: u32, term: usize) -> f64 {
    match (odd.count_ones(), term) {
        (1, 0) => -0.125,
        (2, 1 | 2) => -0.0625,
        _ => 0.0,
    }
}

/// The memory of a system of equations, one for each term: the coefficients of the unknowns, and then the right side. One
/// solves it, or a team, all of whose members call [`solve`].
pub trait System {
    /// A number of the system.
    fn get(&self, row: usize, column: usize) -> f64;
    /// Sets a number.
    fn set(&self, row: usize, column: usize, value: f64);
    /// Calls `work` for each number below `count`, shared out among the team, whose members wait for each other before and
    /// after it. The work for a number gets nothing that the work for another one sets.
    fn each(&self, count: usize, work: impl Fn(usize));
}

/// A system of at most `ROWS` equations; there are `COLUMNS` numbers in each, one more than unknowns.
pub struct InArray<const ROWS: usize, const COLUMNS: usize>([[Cell<f64>; COLUMNS]; ROWS]);

impl<const ROWS: usize, const COLUMNS: usize> Default for InArray<ROWS, COLUMNS> {
    fn default() -> Self {
        Self([const { [const { Cell::new(0.0) }; COLUMNS] }; ROWS])
    }
}

impl<const ROWS: usize, const COLUMNS: usize> System for InArray<ROWS, COLUMNS> {
    #[inline(always)]
    fn get(&self, row: usize, column: usize) -> f64 {
        self.0[row][column].get()
    }

    #[inline(always)]
    fn set(&self, row: usize, column: usize, value: f64) {
        self.0[row][column].set(value);
    }

    #[inline(always)]
    fn each(&self, count: usize, work: impl Fn(usize)) {
        (0..count).for_each(work);
    }
}

/// The binary logarithm of the numbers of a row, and of others behind them that there are not: so rows are divided without a
/// division.
const ROW_LOG: u32 = 4;

/// The most numbers of a row.
pub const MOST_NUMBERS: usize = 1 << ROW_LOG;

const _: () = assert!(MAX_NUMBERS <= MOST_NUMBERS);

/// Calls `work` for each row from `first` on and each column from there to the right side.
#[inline(always)]
fn each_number(system: &impl System, first: usize, count: usize, work: impl Fn(usize, usize)) {
    system.each((count - first) << ROW_LOG, |number| {
        let (row, column) = (first + (number >> ROW_LOG), number & ((1 << ROW_LOG) - 1));
        if (first..=count).contains(&column) {
            work(row, column);
        }
    });
}

/// Solves the system of the least squares of so many terms, from the sums of products. The coefficients stand on the right side then. If
/// samples say little, they are drawn to those that `drawn_to` gives.
#[inline(always)]
pub fn solve(
    count: usize,
    system: &impl System,
    sum: impl Fn(usize) -> i64,
    drawn_to: impl Fn(usize) -> f64,
) {
    // 1. The sums. The matrix is symmetric.
    each_number(system, 0, count, |i, j| {
        let of_pair = sum(sum_of(count, i.min(j), i.max(j)));
        system.set(i, j, of_pair as f64);
    });
    let trace = (0..count).fold(0.0, |trace: f64, i| trace + system.get(i, i));
    if trace == 0.0 {
        // All sums are 0.
        system.each(count, |i| system.set(i, count, drawn_to(i)));
        return;
    }
    // 2. The matrix is not negative; with this it is positive by far more than elimination is rounded.
    let ridge = trace * (1.0 / (1 << 20) as f64) + 1.0;
    system.each(count, |i| {
        system.set(i, i, system.get(i, i) + ridge);
        let right = system.get(i, count) + ridge * drawn_to(i);
        system.set(i, count, right);
    });
    // 3. Elimination: in place of what becomes 0 stand the factors.
    for pivot in 0..count {
        let below = pivot + 1;
        system.each(count - below, |i| {
            let factor = system.get(below + i, pivot) / system.get(pivot, pivot);
            system.set(below + i, pivot, factor);
        });
        each_number(system, below, count, |row, column| {
            let less = system.get(row, pivot) * system.get(pivot, column);
            system.set(row, column, system.get(row, column) - less);
        });
    }
    // 4. The unknowns, from the last one on.
    system.each(1, |_| {
        for row in (0..count).rev() {
            let mut rest = system.get(row, count);
            for column in row + 1..count {
                rest -= system.get(row, column) * system.get(column, count);
            }
            system.set(row, count, rest / system.get(row, row));
        }
    });
}

/// Solves the system of a stencil of so many terms of the positions that are odd along the axes whose bits are set in `odd`, as
/// [`solve`] does.
#[inline(always)]
pub fn solve_stencil(odd: u32, count: usize, system: &impl System, sum: impl Fn(usize) -> i64) {
    solve(count, system, sum, |term| of_splines(odd, term));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_numbers_of_their_own() {
        for count in 1..=MAX_TERMS {
            let mut next = 0;
            for i in 0..count {
                for j in i..=count {
                    assert_eq!(sum_of(count, i, j), next);
                    next += 1;
                }
            }
            assert_eq!(sums(count), next);
        }
        assert_eq!(sums_per_level(Shape::Cube), 3 * 9 + 3 * 14 + 27);
        assert_eq!(all_sums(Shape::Cube), MAX_SUMS);
        assert_eq!(all_sums(Shape::Line), 18);
    }

    fn fitted<const N: usize>(odd: u32, sum: impl Fn(usize) -> i64) -> [f32; N] {
        let system = InArray::<N, MAX_NUMBERS>::default();
        solve_stencil(odd, N, &system, sum);
        core::array::from_fn(|row| system.get(row, N) as f32)
    }

    #[test]
    fn coefficients_of_a_linear_law_are_found() {
        let law = [0.5, -0.25, 0.125, 0.75];
        let mut sums = [0i64; sums(4)];
        let mut state = 1u64;
        for _ in 0..1000 {
            let mut numbers = [0i64; 5];
            for number in &mut numbers[..4] {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                *number = 8 * ((state >> 40) as i64 % 1000 - 500);
            }
            numbers[4] = (0..4).map(|i| (law[i] * numbers[i] as f64) as i64).sum();
            for i in 0..4 {
                for j in i..5 {
                    sums[sum_of(4, i, j)] += numbers[i] * numbers[j];
                }
            }
        }
        let found = fitted::<4>(3, |i| sums[i]);
        for (found, law) in found.iter().zip(law) {
            assert!((f64::from(*found) - law).abs() < 1e-5, "{found} {law}");
        }
    }

    #[test]
    fn without_samples_they_are_those_of_splines() {
        assert_eq!(fitted::<3>(1, |_| 0), [-0.125, 0.0, 0.0]);
        assert_eq!(fitted::<4>(6, |_| 0), [0.0, -0.0625, -0.0625, 0.0]);
        assert_eq!(fitted::<6>(7, |_| 0), [0.0; 6]);
        // The largest sums: collinear terms.
        let largest = |_| 1i64 << 61;
        assert!(
            fitted::<6>(7, largest)
                .iter()
                .all(|found| found.is_finite())
        );
    }
}
