//! The differences that a stencil consists of.
//!
//! The order of operations is part of the format.

use crate::element::Element;
use crate::predict::interp::spline::{Order, mean, select};
use crate::shape::Shape;

/// The most terms of a stencil.
pub const MAX_TERMS: usize = 6;

/// The number of terms of positions that are odd along the axes whose bits are set in `odd`.
#[inline(always)]
pub const fn count(shape: Shape, odd: u32) -> usize {
    match odd.count_ones() {
        // The neighbours three units away, and those beside the line along each other axis.
        1 => shape.rank() as usize,
        // The two axes, the neighbours three units away along each, and the corners.
        2 => 4,
        // The three axes, the edges in each pair of axes, and the corners.
        _ => MAX_TERMS,
    }
}

/// The known values around a position, which has neighbours ahead along all axes along which it is odd. A trait, as its
/// functions are inlined at every call, but closures are not.
pub trait Taps<T> {
    /// The order along an axis along which the position is odd, and its neighbours: three units behind, one behind, one
    /// ahead, three ahead. Those that the order does not allow may have any value.
    fn along(&self, axis: usize) -> (Order, [T; 4]);
    /// The neighbours one unit behind and ahead along an axis along which the position is odd.
    fn nearest(&self, axis: usize) -> [T; 2];
    /// Whether the positions two units away along an axis along which the position is even may be used: see
    /// [`is_inside`].
    fn is_inside(&self, axis: usize) -> bool;
    /// The values one unit away along `axis` and `units` along `across`: behind along both, behind and ahead, ahead and
    /// behind, ahead along both. With two units they may have any value if not [`Taps::is_inside`].
    fn beside(&self, axis: usize, across: usize, units: u32) -> [T; 4];
    /// The values one unit away along all three axes: those behind along the slowest axis, in the order of
    /// [`Taps::beside`], and those ahead.
    fn corners(&self) -> [[T; 4]; 2];
}

/// Whether the positions two units away from `position`, an even multiple of `unit`, are in its window, of `window`
/// positions, and in the field, which has `left` positions from the one that `position` is counted from. The first
/// position of a window has none, as it is predicted in the window before, too.
#[inline(always)]
pub const fn is_inside(position: u32, unit: u32, window: u32, left: u32) -> bool {
    let in_window = position & (window - 1);
    (in_window >= 2 * unit) & (in_window + 2 * unit <= window) & (position + 2 * unit < left)
}

/// A stencil at a position: the prediction without coefficients, and the terms that are added to it.
#[derive(Debug, Clone, Copy)]
pub struct Stencil<T> {
    /// The mean of the nearest neighbours along all axes along which the position is odd.
    pub base: T,
    /// The terms, as many as [`count`] says.
    pub terms: [T; MAX_TERMS],
}

impl<T: Element> Stencil<T> {
    /// The stencil of a position that is odd along the axes whose bits are set in `odd`.
    #[inline(always)]
    pub fn at(shape: Shape, odd: u32, taps: &impl Taps<T>) -> Self {
        match odd {
            0b001 => Self::line(shape, 0, taps),
            0b010 => Self::line(shape, 1, taps),
            0b100 => Self::line(shape, 2, taps),
            0b011 => Self::face(0, 1, taps),
            0b101 => Self::face(0, 2, taps),
            0b110 => Self::face(1, 2, taps),
            _ => Self::cube(taps),
        }
    }

    /// The prediction with these coefficients, of which there are as many as terms.
    #[inline(always)]
    pub fn predict(&self, count: usize, coefficient: impl Fn(usize) -> T) -> T {
        let mut sum = coefficient(0) * self.terms[0];
        for i in 1..MAX_TERMS {
            if i < count {
                sum = sum + coefficient(i) * self.terms[i];
            }
        }
        self.base + sum
    }

    #[inline(always)]
    fn line(shape: Shape, axis: usize, taps: &impl Taps<T>) -> Self {
        let (order, known) = taps.along(axis);
        let base = mean(known[1], known[2]);
        let mut terms = [T::ZERO; MAX_TERMS];
        terms[0] = far(order, known);
        let mut at = 1;
        for across in 3 - shape.rank() as usize..3 {
            if across != axis {
                let beside = mean_of_four(taps.beside(axis, across, 2)) - base;
                terms[at] = select(taps.is_inside(across), beside, T::ZERO);
                at += 1;
            }
        }
        Self { base, terms }
    }

    #[inline(always)]
    fn face(first: usize, second: usize, taps: &impl Taps<T>) -> Self {
        let (p, along_first) = taps.along(first);
        let (q, along_second) = taps.along(second);
        let m = mean(along_first[1], along_first[2]);
        let n = mean(along_second[1], along_second[2]);
        let base = mean(m, n);
        let corners = mean_of_four(taps.beside(first, second, 1));
        let none = T::ZERO;
        Self {
            base,
            terms: [
                m - n,
                far(p, along_first),
                far(q, along_second),
                corners - base,
                none,
                none,
            ],
        }
    }

    #[inline(always)]
    fn cube(taps: &impl Taps<T>) -> Self {
        let mean_along = |axis| mean_of_two(taps.nearest(axis));
        let [z, y, x] = [mean_along(0), mean_along(1), mean_along(2)];
        let base = ((x + y) + z).third();
        let edges = |axis, across| mean_of_four(taps.beside(axis, across, 1)) - base;
        let [behind, ahead] = taps.corners();
        let corners =
            (sum_of_four(behind) + sum_of_four(ahead)) * T::from_i32(8).reciprocal() - base;
        Self {
            base,
            terms: [z - x, y - x, edges(0, 1), edges(0, 2), edges(1, 2), corners],
        }
    }
}

#[inline(always)]
fn mean_of_two<T: Element>([b, d]: [T; 2]) -> T {
    mean(b, d)
}

/// The mean of the neighbours three units away, less that of the nearest ones. If one of them is unknown, it is taken to
/// lie on the parabola through the three others; if both are, the result is 0.
#[inline(always)]
pub(crate) fn far<T: Element>(order: Order, [a, b, d, e]: [T; 4]) -> T {
    let both = mean(a, e) - mean(b, d);
    let beyond = select(order.behind, a, e);
    let from = select(order.behind, b, d);
    let to = select(order.behind, d, b);
    let one = (beyond + to) - (from + from);
    let known = select(order.behind | order.ahead, one, T::ZERO);
    select(order.is_cubic(), both, known)
}

#[inline(always)]
fn sum_of_four<T: Element>([a, b, c, d]: [T; 4]) -> T {
    (a + b) + (c + d)
}

#[inline(always)]
pub(crate) fn mean_of_four<T: Element>(values: [T; 4]) -> T {
    sum_of_four(values) * T::from_i32(4).reciprocal()
}
