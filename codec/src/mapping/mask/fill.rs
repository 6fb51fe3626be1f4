//! Values in place of all missing elements, so that interpolation finds a smooth field (FORMAT.md, section 23).
//!
//! The field is reduced level by level to half its extents: a cell has the mean of the finite values in it (*pull*).
//! Then each level gets values from the coarser one in its holes, by linear interpolation (*push*), and is smoothed:
//! a hole takes the mean of its neighbours (*sweep*). After Gortler et al., "The Lumigraph" (SIGGRAPH'96).
//!
//! Other predictors need fewer values: see [`shell`](super::shell).
//!
//! Each function is for one cell, so that cells can be computed in any order. Sums are in the order of the cells.

use crate::container::grid::Grid;
use crate::divide::divide;
use crate::element::Element;

/// Sweeps over the holes of a level, each over the cells of even and then of odd coordinate sums.
pub const SWEEPS: u32 = 2;

/// The most levels of a field: each but the last halves an extent of up to 2^64.
pub const MAX_LEVELS: usize = 65;

/// The mean of finite values.
#[derive(Debug, Clone, Copy)]
pub struct Mean<T> {
    sum: T,
    count: u32,
}

impl<T: Element> Mean<T> {
    /// That of no values.
    pub const NONE: Self = Self {
        sum: T::ZERO,
        count: 0,
    };

    /// Takes another value, if it is finite.
    #[inline(always)]
    pub fn see(&mut self, value: T) {
        self.see_if(true, value);
    }

    /// As [`Mean::see`], if `is_valid`. Without a branch, since valid elements may be at random.
    #[inline(always)]
    pub fn see_if(&mut self, is_valid: bool, value: T) {
        let is_taken = is_valid & value.is_finite();
        self.sum = if is_taken { self.sum + value } else { self.sum };
        self.count += u32::from(is_taken);
    }

    /// The mean; none if it is of fewer than `least` values, or not finite.
    #[inline(always)]
    pub fn of_at_least(&self, least: u32) -> Option<T> {
        let mean = self.sum / T::from_i32(self.count as i32);
        (self.count >= least && mean.is_finite()).then_some(mean)
    }
}

/// The cells of a level, in the dimensions of the codec's blocks or tiles. Slices lie one behind the other along z.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// Cells in each dimension, slowest first.
    pub lengths: [u64; 3],
    /// The first dimension that is halved: the slices of planes, and all before a line, are independent.
    first: u32,
}

impl Level {
    /// No cells.
    pub const NONE: Self = Self {
        lengths: [0; 3],
        first: 0,
    };

    /// The level of a field itself.
    pub fn of_field(grid: &Grid) -> Self {
        Self {
            lengths: grid.lengths(),
            first: 3 - u32::from(grid.shape().rank()),
        }
    }

    /// The next coarser level; none if this one cannot be halved.
    #[inline(always)]
    pub fn coarser(&self) -> Option<Self> {
        let is_halved = |axis: usize| axis as u32 >= self.first && self.lengths[axis] > 1;
        (0..3).any(is_halved).then(|| Self {
            lengths: core::array::from_fn(|axis| match is_halved(axis) {
                true => self.lengths[axis].div_ceil(2),
                false => self.lengths[axis],
            }),
            ..*self
        })
    }

    /// The number of cells.
    #[inline(always)]
    pub const fn cells(&self) -> u64 {
        self.lengths[0] * self.lengths[1] * self.lengths[2]
    }

    /// The number of a cell.
    #[inline(always)]
    pub const fn flat(&self, [z, y, x]: [u64; 3]) -> u64 {
        (z * self.lengths[1] + y) * self.lengths[2] + x
    }

    /// The position of a cell.
    #[inline(always)]
    pub const fn position(&self, cell: u64) -> [u64; 3] {
        let [_, height, width] = self.lengths;
        let (row, x) = divide(cell, width);
        let (z, y) = divide(row, height);
        [z, y, x]
    }

    /// Whether a dimension is that of neighbours, and is halved.
    #[inline(always)]
    pub const fn is_halved(&self, axis: usize) -> bool {
        axis as u32 >= self.first
    }

    /// The mean of the finite values of a cell of the coarser level; a hole if there are none. `value` gives the values
    /// of this level.
    #[inline(always)]
    pub fn pull<T: Element>(&self, [z, y, x]: [u64; 3], value: impl Fn(u64) -> T) -> T {
        let of_axis = |axis: usize, step: u64| match self.is_halved(axis) {
            true => 2 * [z, y, x][axis] + step,
            false => [z, y, x][axis],
        };
        let mut mean = Mean::NONE;
        for number in 0..8u64 {
            let steps = [number >> 2 & 1, number >> 1 & 1, number & 1];
            let at: [u64; 3] = core::array::from_fn(|axis| of_axis(axis, steps[axis]));
            let exists = (0..3).all(|axis| {
                at[axis] < self.lengths[axis] && (steps[axis] == 0 || self.is_halved(axis))
            });
            if exists {
                mean.see(value(self.flat(at)));
            }
        }
        mean.of_at_least(1).unwrap_or(T::HOLE)
    }

    /// The value of a cell of this level from the values of the coarser one; 0 if it is not finite.
    #[inline(always)]
    pub fn push<T: Element>(&self, coarser: &Self, at: [u64; 3], value: impl Fn(u64) -> T) -> T {
        let half = T::HALF;
        let quarter = half * half;
        let own = at.map(|at| at / 2);
        let side: [u64; 3] = core::array::from_fn(|axis| match at[axis] % 2 {
            0 => own[axis].saturating_sub(1),
            _ => (own[axis] + 1).min(coarser.lengths[axis].saturating_sub(1)),
        });
        let mut sum = T::ZERO;
        for number in 0..8u32 {
            let is_side: [bool; 3] = core::array::from_fn(|axis| number >> (2 - axis) & 1 == 1);
            let exists = (0..3).all(|axis| !is_side[axis] || self.is_halved(axis));
            if exists {
                let from: [u64; 3] =
                    core::array::from_fn(|axis| match (self.is_halved(axis), is_side[axis]) {
                        (false, _) => at[axis],
                        (true, true) => side[axis],
                        (true, false) => own[axis],
                    });
                let of_axis = |axis: usize| match (self.is_halved(axis), is_side[axis]) {
                    (false, _) => T::ONE,
                    (true, true) => quarter,
                    (true, false) => half + quarter,
                };
                let [z, y, x]: [T; 3] = core::array::from_fn(of_axis);
                sum = sum + z * y * x * value(coarser.flat(from));
            }
        }
        if sum.is_finite() { sum } else { T::ZERO }
    }

    /// The mean of the finite neighbours of a cell; none if they are fewer than `least`, or it is not finite.
    #[inline(always)]
    pub fn mean<T: Element>(
        &self,
        at: [u64; 3],
        least: u32,
        value: impl Fn(u64) -> T,
    ) -> Option<T> {
        let mut mean = Mean::NONE;
        self.for_neighbours(at, |cell| mean.see(value(cell)));
        mean.of_at_least(least)
    }

    /// Whether a sweep takes a cell in the turn of this colour, 0 or 1.
    #[inline(always)]
    pub const fn has_colour([z, y, x]: [u64; 3], colour: u32) -> bool {
        (z + y + x) % 2 == colour as u64
    }

    /// Calls `take` with the neighbours of a cell in each dimension that is halved, slowest first, the one before it
    /// first.
    #[inline(always)]
    fn for_neighbours(&self, at: [u64; 3], mut take: impl FnMut(u64)) {
        // One call: a GPU's compiler inlines no closure that is called at several places.
        for number in 0..6 {
            let (axis, is_before) = (number / 2, number % 2 == 0);
            let mut other = at;
            let exists = if is_before {
                other[axis] = at[axis].wrapping_sub(1);
                at[axis] > 0
            } else {
                other[axis] = at[axis] + 1;
                other[axis] < self.lengths[axis]
            };
            if exists && self.is_halved(axis) {
                take(self.flat(other));
            }
        }
    }
}
