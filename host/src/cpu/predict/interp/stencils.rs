//! Stencils at the positions of a piece of a row.
//!
//! The positions that a stencil reads are the same distance from every position of a piece, so each of them is a slice of
//! the store.

use crate::cpu::lanes::Lanes;
use crate::cpu::predict::interp::piece::{PIECE, Piece};
use crate::cpu::predict::interp::products::{Integers, add_products};
use crate::cpu::predict::interp::store::{VECTOR, copy};
use crate::cpu::version::Work;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::interp::spline::Order;
use ferrosz_codec::predict::stencil::coefficients::{Coefficients, first};
use ferrosz_codec::predict::stencil::fit::{MAX_NUMBERS, numbers};
use ferrosz_codec::predict::stencil::terms::{MAX_TERMS, Stencil, Taps, count};
use ferrosz_codec::shape::Shape;

/// The coefficients of the positions of a level that are odd along the axes of `odd`.
pub(super) fn of_class<T: Element>(
    coefficients: &Coefficients,
    shape: Shape,
    level: u32,
    odd: u32,
) -> [T; MAX_TERMS] {
    let from = first(shape, level, odd);
    core::array::from_fn(|i| match i < count(shape, odd) {
        true => coefficients.get(from + i),
        false => T::ZERO,
    })
}

/// The prediction of a piece by the stencil of the positions that are odd along the axes of `odd`. All of the positions
/// must have neighbours ahead along them; the predictions of others are any values.
pub(super) struct PredictStencil<'a, T> {
    pub(super) shape: Shape,
    pub(super) piece: &'a Piece<'a>,
    pub(super) odd: u32,
    pub(super) coefficients: &'a [T; MAX_TERMS],
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
        let lanes = self.predictions.len().min(PIECE);
        // The compiler sees that this is no memory of the values.
        let mut predictions = [T::ZERO; PIECE];
        let sink = Predictions {
            coefficients: *self.coefficients,
            predictions: &mut predictions,
        };
        for_stencils(shape, odd, piece, values, lanes, sink);
        copy(&predictions[..lanes], &mut self.predictions[..lanes]);
    }
}

/// Stencils to predictions.
struct Predictions<'a, T> {
    coefficients: [T; MAX_TERMS],
    predictions: &'a mut [T; PIECE],
}

impl<T: Element> Sink<T> for Predictions<'_, T> {
    #[inline(always)]
    fn take(&mut self, i: usize, count: usize, stencil: &Stencil<T>) {
        self.predictions[i] = stencil.predict(count, |term| self.coefficients[term]);
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
    pub(super) integers: &'a mut Integers,
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
        let padded = lanes.next_multiple_of(VECTOR);
        let values = &self.values[piece.own..][..padded];
        let mut numbers = [[T::ZERO; PIECE]; MAX_NUMBERS];
        let sink = Numbers {
            values,
            numbers: &mut numbers,
        };
        for_stencils(shape, odd, piece, known, padded, sink);
        let (count, sums) = (count(shape, odd), self.sums);
        add_products(&numbers, inverse, lanes, count, self.integers, sums);
    }
}

/// Stencils to the numbers of the fit.
struct Numbers<'a, T> {
    values: &'a [T],
    numbers: &'a mut [[T; PIECE]; MAX_NUMBERS],
}

impl<T: Element> Sink<T> for Numbers<'_, T> {
    #[inline(always)]
    fn take(&mut self, i: usize, count: usize, stencil: &Stencil<T>) {
        let found = numbers(count, stencil, self.values[i]);
        for (numbers, found) in self.numbers.iter_mut().zip(found) {
            numbers[i] = found;
        }
    }
}

/// Takes the stencil of each position, and the number of its terms. A trait, as its functions are inlined at every call,
/// but closures are not; without that loops have no vectors.
trait Sink<T> {
    fn take(&mut self, i: usize, count: usize, stencil: &Stencil<T>);
}

/// Hands over the first `lanes` positions of a piece, a multiple of [`VECTOR`].
#[inline(always)]
fn for_stencils<T: Element>(
    shape: Shape,
    odd: u32,
    piece: &Piece<'_>,
    known: &[T],
    lanes: usize,
    sink: impl Sink<T>,
) {
    // Each is a loop of its own, without branches.
    match (shape, odd) {
        (Shape::Line, _) => run::<T, 1, 0b100>(piece, known, lanes, sink),
        (Shape::Plane, 0b010) => run::<T, 2, 0b010>(piece, known, lanes, sink),
        (Shape::Plane, 0b100) => run::<T, 2, 0b100>(piece, known, lanes, sink),
        (Shape::Plane, _) => run::<T, 2, 0b110>(piece, known, lanes, sink),
        (Shape::Cube, 0b001) => run::<T, 3, 0b001>(piece, known, lanes, sink),
        (Shape::Cube, 0b010) => run::<T, 3, 0b010>(piece, known, lanes, sink),
        (Shape::Cube, 0b100) => run::<T, 3, 0b100>(piece, known, lanes, sink),
        (Shape::Cube, 0b011) => run::<T, 3, 0b011>(piece, known, lanes, sink),
        (Shape::Cube, 0b101) => run::<T, 3, 0b101>(piece, known, lanes, sink),
        (Shape::Cube, 0b110) => run::<T, 3, 0b110>(piece, known, lanes, sink),
        (Shape::Cube, _) => run::<T, 3, 0b111>(piece, known, lanes, sink),
    }
}

#[inline(always)]
fn run<T: Element, const RANK: u8, const ODD: u32>(
    piece: &Piece<'_>,
    known: &[T],
    lanes: usize,
    mut sink: impl Sink<T>,
) {
    let shape = const {
        match RANK {
            1 => Shape::Line,
            2 => Shape::Plane,
            _ => Shape::Cube,
        }
    };
    let lanes = lanes.min(PIECE) / VECTOR * VECTOR;
    let [along_z, along_y, along_x] = along::<T, ODD>(piece, known, lanes);
    let [first, second, third] = beside::<T, RANK, ODD>(piece, known, lanes);
    let [behind, ahead] = corners::<T, ODD>(piece, known, lanes);
    let orders = piece.orders_along_x;
    let [has_next, has_behind, has_ahead] =
        [&orders.next, &orders.behind, &orders.ahead].map(|orders| &orders[..lanes]);
    let inside_along_x = &piece.inside_along_x[..lanes];
    for i in 0..lanes {
        let order = Order {
            next: has_next[i],
            behind: has_behind[i],
            ahead: has_ahead[i],
        };
        let lane = Lane {
            orders: [piece.orders[0], piece.orders[1], order],
            inside: [piece.inside[0], piece.inside[1], inside_along_x[i]],
            along: [each(&along_z, i), each(&along_y, i), each(&along_x, i)],
            beside: [each(&first, i), each(&second, i), each(&third, i)],
            corners: [each(&behind, i), each(&ahead, i)],
            is_line: const { ODD.count_ones() == 1 },
        };
        sink.take(i, count(shape, ODD), &Stencil::at(shape, ODD, &lane));
    }
}

/// Four values of each position of a piece. Those that a stencil does not read are the positions' own.
type Four<'v, T> = [&'v [T]; 4];

/// Those of one position. Spelled out: calls of `map` in a loop are not always inlined, and then the loop has no vectors.
#[inline(always)]
fn each<T: Copy>([a, b, c, d]: &Four<'_, T>, i: usize) -> [T; 4] {
    [a[i], b[i], c[i], d[i]]
}

/// The values along each axis, from behind to ahead.
#[inline(always)]
fn along<'v, T: Element, const ODD: u32>(
    piece: &Piece<'_>,
    known: &'v [T],
    lanes: usize,
) -> [Four<'v, T>; 3] {
    let own = &known[piece.own..][..lanes];
    [
        if ODD & 0b001 == 0 {
            [own; 4]
        } else {
            piece.across(0, ODD, known, lanes)
        },
        if ODD & 0b010 == 0 {
            [own; 4]
        } else {
            piece.across(1, ODD, known, lanes)
        },
        if ODD & 0b100 == 0 {
            [own; 4]
        } else {
            piece.along_x(ODD, known, lanes)
        },
    ]
}

/// The values beside the positions, by [`number`].
#[inline(always)]
fn beside<'v, T: Element, const RANK: u8, const ODD: u32>(
    piece: &Piece<'_>,
    known: &'v [T],
    lanes: usize,
) -> [Four<'v, T>; 3] {
    let own = [&known[piece.own..][..lanes]; 4];
    match (RANK, ODD) {
        (2, 0b010) => [own, own, piece.beside(1, 2, 2, known, lanes)],
        (2, 0b100) => [own, piece.beside(2, 1, 2, known, lanes), own],
        (3, 0b001) => [
            own,
            piece.beside(0, 1, 2, known, lanes),
            piece.beside(0, 2, 2, known, lanes),
        ],
        (3, 0b010) => [
            piece.beside(1, 0, 2, known, lanes),
            own,
            piece.beside(1, 2, 2, known, lanes),
        ],
        (3, 0b100) => [
            piece.beside(2, 0, 2, known, lanes),
            piece.beside(2, 1, 2, known, lanes),
            own,
        ],
        (_, 0b011) => [piece.beside(0, 1, 1, known, lanes), own, own],
        (_, 0b101) => [own, piece.beside(0, 2, 1, known, lanes), own],
        (_, 0b110) => [own, own, piece.beside(1, 2, 1, known, lanes)],
        (_, 0b111) => [
            piece.beside(0, 1, 1, known, lanes),
            piece.beside(0, 2, 1, known, lanes),
            piece.beside(1, 2, 1, known, lanes),
        ],
        _ => [own; 3],
    }
}

/// The number of the values one unit away along an axis, and beside that along another. Positions that are odd along one
/// axis have such values along two others, positions that are odd along more axes for each pair of these.
#[inline(always)]
const fn number(axis: usize, across: usize, is_line: bool) -> usize {
    if is_line { across } else { axis + across - 1 }
}

/// The values one unit away along all axes.
#[inline(always)]
fn corners<'v, T: Element, const ODD: u32>(
    piece: &Piece<'_>,
    known: &'v [T],
    lanes: usize,
) -> [Four<'v, T>; 2] {
    if ODD != 0b111 {
        return [[&known[piece.own..][..lanes]; 4]; 2];
    }
    [
        piece.corners(-1, known, lanes),
        piece.corners(1, known, lanes),
    ]
}

/// A position of a piece.
struct Lane<T> {
    orders: [Order; 3],
    inside: [bool; 3],
    along: [[T; 4]; 3],
    beside: [[T; 4]; 3],
    corners: [[T; 4]; 2],
    is_line: bool,
}

impl<T: Element> Taps<T> for Lane<T> {
    #[inline(always)]
    fn along(&self, axis: usize) -> (Order, [T; 4]) {
        (self.orders[axis], self.along[axis])
    }

    #[inline(always)]
    fn nearest(&self, axis: usize) -> [T; 2] {
        let [_, behind, ahead, _] = self.along[axis];
        [behind, ahead]
    }

    #[inline(always)]
    fn is_inside(&self, axis: usize) -> bool {
        self.inside[axis]
    }

    #[inline(always)]
    fn beside(&self, axis: usize, across: usize, _: u32) -> [T; 4] {
        self.beside[number(axis, across, self.is_line)]
    }

    #[inline(always)]
    fn corners(&self) -> [[T; 4]; 2] {
        self.corners
    }
}
