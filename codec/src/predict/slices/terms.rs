//! The base and the terms of a prediction.
//!
//! The order of operations is part of the format.

use crate::element::Element;
use crate::predict::interp::spline::{Order, mean, select};
use crate::predict::slices::ROOT;
use crate::predict::stencil::terms::{far, mean_of_four};

/// The slices before a slice that its predictions have terms of. Where there are fewer, the farthest is taken again.
pub const REFERENCES: usize = 3;

/// The most terms of a position in its own slice.
pub const MAX_OWN: usize = 4;

/// The most terms of a prediction.
pub const MAX_TERMS: usize = 2 * MAX_OWN + REFERENCES;

/// The terms in its own slice of a position that is odd along the axes whose bits are set in `odd`.
#[inline(always)]
pub const fn own_count(odd: u32) -> usize {
    2 * odd.count_ones() as usize
}

/// The terms of a prediction: in the first slice of a tile those of the slice itself, else also those of the nearest reference,
/// and one for each reference. A position of the [`ROOT`] level has the differences of the nearest reference to the others.
#[inline(always)]
pub const fn count(level: u32, odd: u32, is_first: bool) -> usize {
    match (level, is_first) {
        (ROOT.., true) => 0,
        (ROOT.., false) => REFERENCES - 1,
        (_, true) => own_count(odd),
        (_, false) => 2 * own_count(odd) + REFERENCES,
    }
}

/// The position of a stencil, as far as the stencils of all slices depend on it.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// The axes along which it is odd: y, x or both.
    pub odd: u32,
    /// The orders along y and x; of no meaning along an axis along which the position is even.
    pub orders: [Order; 2],
    /// Whether the positions two units away along y and x may be used; of no meaning along an axis along which the position is
    /// odd. See [`is_inside`](crate::predict::stencil::terms::is_inside).
    pub inside: [bool; 2],
}

/// The known values around a position in one slice.
#[derive(Debug, Clone, Copy)]
pub struct Around<T> {
    /// The neighbours along y and along x, if the position is odd along the axis: three units behind, one behind, one ahead,
    /// three ahead. Those that the order does not allow may have any value.
    pub along: [[T; 4]; 2],
    /// Of a position that is odd along both axes, the corners one unit away. Otherwise the values one unit away along the odd
    /// axis and two units along the other; if those are not inside, any values. Behind along both (y first if both are odd,
    /// otherwise the odd axis first), behind and ahead, ahead and behind, ahead along both.
    pub beside: [T; 4],
}

/// A stencil in one slice.
#[derive(Debug, Clone, Copy)]
pub struct Stencil<T> {
    /// The mean of the nearest neighbours.
    pub base: T,
    /// The terms, as many as [`own_count`] says.
    pub terms: [T; MAX_OWN],
}

impl<T: Element> Stencil<T> {
    /// The stencil of a position. Neighbours ahead that there are not count as if they followed from the others, so that
    /// every position has a stencil.
    #[inline(always)]
    pub fn at(site: &Site, around: &Around<T>) -> Self {
        // With axes that are known when it is compiled: kernels must not look them up.
        match site.odd {
            0b010 => Self::line(0, site, around),
            0b100 => Self::line(1, site, around),
            _ => Self::face(site, around),
        }
    }

    #[inline(always)]
    fn line(axis: usize, site: &Site, around: &Around<T>) -> Self {
        let (order, known) = (site.orders[axis], around.along[axis]);
        let base = near(order, known);
        let is_there = site.inside[1 - axis] & order.next;
        let beside = mean_of_four(around.beside) - base;
        Self {
            base,
            terms: [
                far(order, known),
                select(is_there, beside, T::ZERO),
                T::ZERO,
                T::ZERO,
            ],
        }
    }

    #[inline(always)]
    fn face(site: &Site, around: &Around<T>) -> Self {
        let ([p, q], [along_y, along_x]) = (site.orders, around.along);
        let [y, x] = [near(p, along_y), near(q, along_x)];
        let better = select(p.next, y, x);
        let base = select(p.next == q.next, mean(y, x), better);
        let is_between = p.next & q.next;
        let corners = mean_of_four(around.beside) - base;
        Self {
            base,
            terms: [
                select(is_between, y - x, T::ZERO),
                far(p, along_y),
                far(q, along_x),
                select(is_between, corners, T::ZERO),
            ],
        }
    }
}

/// The mean of the nearest neighbours along an axis; without one ahead the one behind.
#[inline(always)]
fn near<T: Element>(order: Order, [_, behind, ahead, _]: [T; 4]) -> T {
    select(order.next, mean(behind, ahead), behind)
}

/// What predictions need of the slices before: at positions of the [`ROOT`] level the known values, at others the known values
/// less the bases there, and the terms of the nearest slice.
#[derive(Debug, Clone, Copy)]
pub struct Past<T> {
    /// The nearest slice first.
    pub differences: [T; REFERENCES],
    /// Those of the nearest slice.
    pub terms: [T; MAX_OWN],
}

impl<T: Element> Past<T> {
    /// That of the first slice, which is not used.
    pub const NONE: Self = Self {
        differences: [T::ZERO; REFERENCES],
        terms: [T::ZERO; MAX_OWN],
    };

    /// The past of the slice behind one in which the difference and the terms are these.
    #[inline(always)]
    #[must_use]
    pub fn then(self, is_first: bool, difference: T, terms: [T; MAX_OWN]) -> Self {
        let [nearest, second, _] = self.differences;
        Self {
            differences: [
                difference,
                select(is_first, difference, nearest),
                select(is_first, difference, second),
            ],
            terms,
        }
    }
}

/// All terms of a prediction in their order, as many as [`count`] says, and zeros.
#[inline(always)]
pub fn terms<T: Element>(
    odd: u32,
    is_first: bool,
    own: &Stencil<T>,
    past: &Past<T>,
) -> [T; MAX_TERMS] {
    let none = T::ZERO;
    let [a, b, c, d] = own.terms;
    let [e, f, g, h] = past.terms;
    let [p, q, r] = past.differences;
    match (odd, is_first) {
        (0b110, true) => [a, b, c, d, none, none, none, none, none, none, none],
        (_, true) => [a, b, none, none, none, none, none, none, none, none, none],
        (0b110, false) => [a, b, c, d, p, e, f, g, h, q, r],
        (_, false) => [a, b, p, e, f, q, r, none, none, none, none],
    }
}

/// The base and the terms of a position of the [`ROOT`] level.
#[inline(always)]
pub fn root<T: Element>(past: &Past<T>) -> (T, [T; MAX_TERMS]) {
    let [nearest, second, third] = past.differences;
    let mut terms = [T::ZERO; MAX_TERMS];
    terms[0] = nearest - second;
    terms[1] = nearest - third;
    (nearest, terms)
}

/// The prediction with these coefficients of as many terms.
#[expect(clippy::needless_range_loop, reason = "coefficients have numbers, too")]
#[inline(always)]
pub fn predict<T: Element>(
    base: T,
    count: usize,
    terms: &[T; MAX_TERMS],
    coefficient: impl Fn(usize) -> T,
) -> T {
    let mut sum = coefficient(0) * terms[0];
    for i in 1..MAX_TERMS {
        if i < count {
            sum = sum + coefficient(i) * terms[i];
        }
    }
    base + sum
}
