//! Positions of a row that are predicted together, and the slices of values around them.

use crate::cpu::lanes::Lanes;
use crate::cpu::predict::interp::store::VECTOR;
use crate::cpu::version::Work;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::interp::predict::{Around, OneAxis, combine};
use ferrosz_codec::predict::interp::spline::{Order, Spline};

/// The most positions that are predicted together. A whole row of a cube's or a plane's tile has 33 even ones.
pub(super) const PIECE: usize = 64;

/// The orders of the positions of a piece.
pub(super) struct Orders {
    pub(super) next: [bool; PIECE],
    pub(super) behind: [bool; PIECE],
    pub(super) ahead: [bool; PIECE],
}

/// Positions of a row that are of one class.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    /// The distance between neighbours along z and y.
    pub(super) strides: [usize; 2],
    /// The orders along z and y.
    pub(super) orders: [Order; 2],
    pub(super) orders_along_x: &'a Orders,
    /// Whether stencils may use the positions two units away along z and y.
    pub(super) inside: [bool; 2],
    /// The same along x.
    pub(super) inside_along_x: &'a [bool; PIECE],
    /// The number of its first position in its row.
    pub(super) from: usize,
    /// The index of its first position.
    pub(super) own: usize,
    /// The index of the position behind the first one, if the positions are odd along x.
    pub(super) evens: usize,
}

impl Piece<'_> {
    /// Predicts the positions along the axes whose bits are set in `axes`.
    #[inline(always)]
    fn predict<T: Element>(&self, axes: u32, spline: Spline, values: &[T], predictions: &mut [T]) {
        // Each is a loop of its own, without branches.
        match spline {
            Spline::NotAKnot => self.predict_by(axes, Spline::NotAKnot, values, predictions),
            Spline::Natural => self.predict_by(axes, Spline::Natural, values, predictions),
        }
    }

    #[inline(always)]
    fn predict_by<T: Element>(
        &self,
        axes: u32,
        spline: Spline,
        values: &[T],
        predictions: &mut [T],
    ) {
        match axes {
            0b001 => self.predict_along::<T, 0b001>(spline, values, predictions),
            0b010 => self.predict_along::<T, 0b010>(spline, values, predictions),
            0b100 => self.predict_along::<T, 0b100>(spline, values, predictions),
            0b011 => self.predict_along::<T, 0b011>(spline, values, predictions),
            0b101 => self.predict_along::<T, 0b101>(spline, values, predictions),
            0b110 => self.predict_along::<T, 0b110>(spline, values, predictions),
            _ => self.predict_along::<T, 0b111>(spline, values, predictions),
        }
    }

    #[inline(always)]
    fn predict_along<T: Element, const AXES: u32>(
        &self,
        spline: Spline,
        values: &[T],
        predictions: &mut [T],
    ) {
        let count = predictions.len().min(PIECE) / VECTOR * VECTOR;
        let predictions = &mut predictions[..count];
        let [za, zb, zc, zd] = self.across(0, AXES, values, count);
        let [ya, yb, yc, yd] = self.across(1, AXES, values, count);
        let [xa, xb, xc, xd] = self.along_x(AXES, values, count);
        let corner = &values[self.corner(AXES)..][..count];
        let Orders {
            next,
            behind,
            ahead,
        } = self.orders_along_x;
        let [next, behind, ahead] = [next, behind, ahead].map(|orders| &orders[..count]);
        for i in 0..count {
            let along_x = Order {
                next: next[i],
                behind: behind[i],
                ahead: ahead[i],
            };
            let lane = Lane {
                orders: [self.orders[0], self.orders[1], along_x],
                spline,
                known: [
                    [za[i], zb[i], zc[i], zd[i]],
                    [ya[i], yb[i], yc[i], yd[i]],
                    [xa[i], xb[i], xc[i], xd[i]],
                ],
                corner: corner[i],
            };
            predictions[i] = combine(AXES, &lane);
        }
    }

    /// The neighbours along z or y, from behind to ahead, if the positions are predicted along it. Those that the order
    /// does not allow are any values.
    #[inline(always)]
    pub(super) fn across<'v, T>(
        &self,
        axis: usize,
        axes: u32,
        values: &'v [T],
        count: usize,
    ) -> [&'v [T]; 4] {
        let (order, stride) = (self.orders[axis], self.strides[axis]);
        let is_axis = axes >> axis & 1 == 1;
        let behind = if order.behind { 3 * stride } else { 0 };
        let [next, ahead] = [(order.next, stride), (order.ahead, 3 * stride)]
            .map(|(is_known, step)| if is_known { step } else { 0 });
        let from = |at: usize| {
            let at = if is_axis { at } else { self.own };
            &values[at..][..count]
        };
        [
            from(self.own.wrapping_sub(behind)),
            from(self.own.wrapping_sub(stride)),
            from(self.own + next),
            from(self.own + ahead),
        ]
    }

    /// As [`Piece::across`] along x.
    #[inline(always)]
    pub(super) fn along_x<'v, T>(&self, axes: u32, values: &'v [T], count: usize) -> [&'v [T]; 4] {
        let first = if axes & 0b100 == 0 {
            self.own
        } else {
            self.evens
        };
        let from = |at: usize| &values[at..][..count];
        [
            from(first - 1),
            from(first),
            from(first + 1),
            from(first + 2),
        ]
    }

    /// The index of the value so many steps from the first position; along x at most two, and one only if the positions
    /// are odd along x.
    #[inline(always)]
    pub(super) fn at(&self, [z, y, x]: [isize; 3]) -> usize {
        let [slice, row] = self.strides;
        let in_row = match x {
            -1 => self.evens,
            1 => self.evens + 1,
            _ => self.own.wrapping_add_signed(x / 2),
        };
        let across = z * slice.cast_signed() + y * row.cast_signed();
        in_row.wrapping_add_signed(across)
    }

    /// The values so many steps away, as [`Piece::at`] says.
    #[inline(always)]
    pub(super) fn values<'v, T>(
        &self,
        steps: [isize; 3],
        values: &'v [T],
        count: usize,
    ) -> &'v [T] {
        &values[self.at(steps)..][..count]
    }

    /// The values one step away along an axis and `units`, one or two, along another: behind along both, behind and ahead,
    /// ahead and behind, ahead along both. Values two steps away that there are not are replaced by others.
    #[inline(always)]
    pub(super) fn beside<'v, T>(
        &self,
        axis: usize,
        across: usize,
        units: isize,
        values: &'v [T],
        count: usize,
    ) -> [&'v [T]; 4] {
        let is_known = units == 1 || across == 2 || self.inside[across];
        let units = if is_known { units } else { 0 };
        // Without loops, so that the slices are in registers.
        let (mut behind, mut ahead) = ([0; 3], [0; 3]);
        behind[axis] = -1;
        ahead[axis] = 1;
        let (mut behind_ahead, mut ahead_ahead) = (behind, ahead);
        behind[across] = -units;
        ahead[across] = -units;
        behind_ahead[across] = units;
        ahead_ahead[across] = units;
        [
            self.values(behind, values, count),
            self.values(behind_ahead, values, count),
            self.values(ahead, values, count),
            self.values(ahead_ahead, values, count),
        ]
    }

    /// The values one step away along all axes, `z` steps along z, in the order of [`Piece::beside`].
    #[inline(always)]
    pub(super) fn corners<'v, T>(&self, z: isize, values: &'v [T], count: usize) -> [&'v [T]; 4] {
        [
            self.values([z, -1, -1], values, count),
            self.values([z, -1, 1], values, count),
            self.values([z, 1, -1], values, count),
            self.values([z, 1, 1], values, count),
        ]
    }

    /// The index of the value one step back along two axes from the first position.
    #[inline(always)]
    fn corner(&self, axes: u32) -> usize {
        let [slice, row] = self.strides;
        match axes {
            0b011 => self.own - slice - row,
            0b101 => self.evens - slice,
            0b110 => self.evens - row,
            _ => self.own,
        }
    }
}

/// The prediction of a piece, which is compiled by itself: as a part of all that is done with a tile it would be too
/// much for the compiler to vectorise.
pub(super) struct Predict<'a, T> {
    pub(super) piece: &'a Piece<'a>,
    pub(super) axes: u32,
    pub(super) spline: Spline,
    pub(super) values: &'a [T],
    pub(super) predictions: &'a mut [T],
}

impl<T: Element> Work for Predict<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        (self.piece).predict(self.axes, self.spline, self.values, self.predictions);
    }
}

/// What the prediction of a position is computed from.
struct Lane<T> {
    orders: [Order; 3],
    spline: Spline,
    known: [[T; 4]; 3],
    corner: T,
}

impl<T: Element> Around<T> for Lane<T> {
    #[inline(always)]
    fn along(&self, axis: usize) -> OneAxis<T> {
        OneAxis::blended(self.orders[axis], self.spline, self.known[axis])
    }

    #[inline(always)]
    fn cubic(&self, axis: usize) -> OneAxis<T> {
        OneAxis::cubic(self.orders[axis], self.spline, self.known[axis])
    }

    #[inline(always)]
    fn corner(&self, _: usize, _: usize) -> T {
        self.corner
    }
}
