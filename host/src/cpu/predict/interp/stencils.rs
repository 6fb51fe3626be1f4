//! Stencils at the positions of a piece of a row.
//!
//! The positions that a stencil reads are the same distance from every position of a piece, so each of them is a slice of
//! the store.

use crate::cpu::lanes::Lanes;
use crate::cpu::predict::interp::rows::{PIECE, Piece};
use crate::cpu::predict::interp::store::VECTOR;
use crate::cpu::version::Work;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::interp::spline::Order;
use ferrosz_codec::predict::stencil::coefficients::{Coefficients, first};
use ferrosz_codec::predict::stencil::fit::{self, MAX_NUMBERS, integers, sum_of};
use ferrosz_codec::predict::stencil::terms::{MAX_TERMS, Stencil, Taps, count};
use ferrosz_codec::shape::Shape;

/// The prediction of a piece by the stencil of the positions that are odd along the axes of `odd`. All of the positions
/// must have neighbours ahead along them; the predictions of others are any values.
pub(super) struct PredictStencil<'a, T> {
    pub(super) shape: Shape,
    pub(super) piece: &'a Piece<'a>,
    pub(super) level: u32,
    pub(super) odd: u32,
    pub(super) coefficients: &'a Coefficients,
    pub(super) values: &'a [T],
    pub(super) predictions: &'a mut [T],
}

impl<T: Element> Work for PredictStencil<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Self {
            shape,
            piece,
            odd,
            values,
            ..
        } = self;
        let from = first(shape, self.level, odd);
        let coefficients: [T; MAX_TERMS] =
            core::array::from_fn(|i| self.coefficients.get(from + i));
        let lanes = self.predictions.len().min(PIECE) / VECTOR * VECTOR;
        let predictions = &mut self.predictions[..lanes];
        for_stencils(shape, odd, piece, values, lanes, |i, count, stencil| {
            predictions[i] = stencil.predict(count, |term| coefficients[term]);
        });
    }
}

/// Adds a piece to the sums of a fit.
pub(super) struct SumStencil<'a, T> {
    pub(super) shape: Shape,
    pub(super) piece: &'a Piece<'a>,
    pub(super) odd: u32,
    /// The positions of the piece that count, which have neighbours ahead.
    pub(super) lanes: usize,
    /// The decoded values.
    pub(super) known: &'a [T],
    /// The values of the field, in the same layout.
    pub(super) values: &'a [T],
    /// The inverse of the level's quantiser.
    pub(super) inverse: T,
    /// The sums of the stencil.
    pub(super) sums: &'a mut [u64],
}

impl<T: Element> Work for SumStencil<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Self {
            shape,
            piece,
            odd,
            known,
            inverse,
            ..
        } = self;
        let lanes = self.lanes.min(PIECE);
        let values = &self.values[piece.own..][..lanes];
        let mut numbers = [[0i32; PIECE]; MAX_NUMBERS];
        for_stencils(shape, odd, piece, known, lanes, |i, count, stencil| {
            // Numbers of outliers stay 0.
            let found = integers(count, &stencil, values[i], inverse).unwrap_or_default();
            for (numbers, found) in numbers.iter_mut().zip(found) {
                numbers[i] = found;
            }
        });
        let count = count(shape, odd);
        for i in 0..count {
            for j in i..=count {
                let products = numbers[i].iter().zip(&numbers[j]);
                let sum: i64 = products.map(|(a, b)| i64::from(*a) * i64::from(*b)).sum();
                let total = &mut self.sums[sum_of(count, i, j)];
                *total = total.wrapping_add(sum.cast_unsigned());
            }
        }
    }
}

const _: () = assert!(fit::MAX_NUMBERS == MAX_TERMS + 1);

/// Calls `call` with each of the first `lanes` positions of a piece, the number of its terms and its stencil.
#[inline(always)]
fn for_stencils<T: Element>(
    shape: Shape,
    odd: u32,
    piece: &Piece<'_>,
    known: &[T],
    lanes: usize,
    call: impl FnMut(usize, usize, Stencil<T>),
) {
    // Each is a loop of its own, without branches.
    match (shape, odd) {
        (Shape::Line, _) => run::<T, 1, 0b100>(piece, known, lanes, call),
        (Shape::Plane, 0b010) => run::<T, 2, 0b010>(piece, known, lanes, call),
        (Shape::Plane, 0b100) => run::<T, 2, 0b100>(piece, known, lanes, call),
        (Shape::Plane, _) => run::<T, 2, 0b110>(piece, known, lanes, call),
        (Shape::Cube, 0b001) => run::<T, 3, 0b001>(piece, known, lanes, call),
        (Shape::Cube, 0b010) => run::<T, 3, 0b010>(piece, known, lanes, call),
        (Shape::Cube, 0b100) => run::<T, 3, 0b100>(piece, known, lanes, call),
        (Shape::Cube, 0b011) => run::<T, 3, 0b011>(piece, known, lanes, call),
        (Shape::Cube, 0b101) => run::<T, 3, 0b101>(piece, known, lanes, call),
        (Shape::Cube, 0b110) => run::<T, 3, 0b110>(piece, known, lanes, call),
        (Shape::Cube, _) => run::<T, 3, 0b111>(piece, known, lanes, call),
    }
}

#[inline(always)]
fn run<T: Element, const RANK: u8, const ODD: u32>(
    piece: &Piece<'_>,
    known: &[T],
    lanes: usize,
    mut call: impl FnMut(usize, usize, Stencil<T>),
) {
    let shape = const {
        match RANK {
            1 => Shape::Line,
            2 => Shape::Plane,
            _ => Shape::Cube,
        }
    };
    let lanes = lanes.min(PIECE);
    let around = Around::new(shape, ODD, piece, known, lanes);
    let orders = piece.orders_along_x;
    let [next, behind, ahead] =
        [&orders.next, &orders.behind, &orders.ahead].map(|orders| &orders[..lanes]);
    let inside_along_x = &piece.inside_along_x[..lanes];
    for i in 0..lanes {
        let along_x = Order {
            next: next[i],
            behind: behind[i],
            ahead: ahead[i],
        };
        let lane = Lane {
            around: &around,
            orders: [piece.orders[0], piece.orders[1], along_x],
            inside: [piece.inside[0], piece.inside[1], inside_along_x[i]],
            i,
        };
        call(i, count(shape, ODD), Stencil::at(shape, ODD, &lane));
    }
}

/// The values around the positions of a piece. Those that a stencil does not read are those of the positions themselves.
struct Around<'v, T> {
    /// Along each axis from behind to ahead.
    along: [[&'v [T]; 4]; 3],
    /// Beside the positions: see [`Around::number`].
    beside: [[&'v [T]; 4]; 3],
    corners: [[&'v [T]; 4]; 2],
}

impl<'v, T: Element> Around<'v, T> {
    #[inline(always)]
    fn new(shape: Shape, odd: u32, piece: &Piece<'_>, known: &'v [T], lanes: usize) -> Self {
        let from = |steps: [isize; 3]| &known[piece.at(steps)..][..lanes];
        let own = from([0; 3]);
        let axes = 3 - usize::from(shape.rank())..3;
        let is_odd = |axis: usize| odd >> axis & 1 == 1;
        let mut around = Self {
            along: [[own; 4]; 3],
            beside: [[own; 4]; 3],
            corners: [[own; 4]; 2],
        };
        let [z, y, x] = &mut around.along;
        if is_odd(0) {
            *z = piece.across(0, odd, known, lanes);
        }
        if is_odd(1) {
            *y = piece.across(1, odd, known, lanes);
        }
        if is_odd(2) {
            *x = piece.along_x(odd, known, lanes);
        }
        for axis in axes.clone().filter(|axis| is_odd(*axis)) {
            for across in axes.clone().filter(|across| *across != axis) {
                let units = match (is_odd(across), odd.count_ones()) {
                    (false, 1) if across == 2 || piece.inside[across] => 2,
                    (false, 1) => 0,
                    (true, _) if across > axis => 1,
                    _ => continue,
                };
                let at = |along: isize, beside: isize| {
                    let mut steps = [0; 3];
                    steps[axis] = along;
                    steps[across] = beside * units;
                    from(steps)
                };
                around.beside[Self::number(axis, across, odd.count_ones() == 1)] =
                    [at(-1, -1), at(-1, 1), at(1, -1), at(1, 1)];
            }
        }
        if odd == 0b111 {
            around.corners = [-1, 1].map(|z| {
                [
                    from([z, -1, -1]),
                    from([z, -1, 1]),
                    from([z, 1, -1]),
                    from([z, 1, 1]),
                ]
            });
        }
        around
    }

    /// The number of the values one unit away along an axis, and beside that along another. Positions that are odd along one axis
    /// have such values along two others, positions that are odd along three axes for each pair of them.
    #[inline(always)]
    const fn number(axis: usize, across: usize, is_line: bool) -> usize {
        if is_line { across } else { axis + across - 1 }
    }
}

/// A position of a piece.
struct Lane<'a, 'v, T> {
    around: &'a Around<'v, T>,
    orders: [Order; 3],
    inside: [bool; 3],
    i: usize,
}

impl<T: Element> Taps<T> for Lane<'_, '_, T> {
    #[inline(always)]
    fn along(&self, axis: usize) -> (Order, [T; 4]) {
        let values = self.around.along[axis].map(|values| values[self.i]);
        (self.orders[axis], values)
    }

    #[inline(always)]
    fn nearest(&self, axis: usize) -> [T; 2] {
        let [_, behind, ahead, _] = self.around.along[axis];
        [behind[self.i], ahead[self.i]]
    }

    #[inline(always)]
    fn is_inside(&self, axis: usize) -> bool {
        self.inside[axis]
    }

    #[inline(always)]
    fn beside(&self, axis: usize, across: usize, units: u32) -> [T; 4] {
        let number = Around::<T>::number(axis, across, units == 2);
        self.around.beside[number].map(|values| values[self.i])
    }

    #[inline(always)]
    fn corners(&self) -> [[T; 4]; 2] {
        (self.around.corners).map(|four| four.map(|values| values[self.i]))
    }
}
