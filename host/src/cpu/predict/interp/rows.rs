//! Prediction of a tile by rows.
//!
//! The definition goes from position to position ([`walk`](ferrosz_codec::predict::interp::walk)). Here positions of a
//! row that belong to the same class are predicted together. Their orders along z and y are equal. Along x all are
//! cubic, except a few at the ends of windows, which are predicted once more by themselves.
//!
//! Every value is computed by the same operations as in the definition.

use crate::cpu::lanes::Lanes;
use crate::cpu::predict::interp::Sums;
use crate::cpu::predict::interp::stencils::{PredictStencil, SumStencil, of_class};
use crate::cpu::predict::interp::store::{Level, TileStore, VECTOR};
use crate::cpu::version::{Version, Work};
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::interp::parameters::Parameters;
use ferrosz_codec::predict::interp::predict::{Around, OneAxis, combine};
use ferrosz_codec::predict::interp::spline::{Order, Spline};
use ferrosz_codec::predict::interp::stage::Stage;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::predict::interp::walk::OddAxes;
use ferrosz_codec::predict::stencil::coefficients::Coefficients;
use ferrosz_codec::predict::stencil::fit::first_sum;
use ferrosz_codec::predict::stencil::terms::{MAX_TERMS, is_inside};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{self, TileBox};

/// The most positions that are predicted together. A whole row of a cube's or a plane's tile has 33 even ones.
pub(super) const PIECE: usize = 64;

/// Handles the positions of a piece after their prediction.
pub(super) trait Visitor<T> {
    /// The positions to visit.
    #[inline(always)]
    fn scope(&self) -> Scope {
        Scope::Whole
    }

    /// Replaces the values by those that later predictions use. All slices are of a multiple of [`VECTOR`] positions,
    /// as vectors have no rest then; results behind the last position do not matter.
    fn visit(
        &mut self,
        level: u32,
        counts: Counts,
        predictions: &[T],
        values: &mut [T],
        codes: &mut [u16],
    );
}

/// The numbers of the positions of a piece.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    /// All positions.
    pub all: usize,
    /// Those of the tile itself, which come before those on a far face.
    pub own: usize,
}

/// Predicts and visits all positions of a tile and its far faces, except the anchors, which the store must hold on
/// their own level.
#[inline(always)]
pub(super) fn walk<T: Element>(
    version: Version,
    shape: Shape,
    tile: &TileBox,
    parameters: &Parameters,
    coefficients: Option<&Coefficients>,
    store: &mut TileStore<T>,
    visitor: &mut impl Visitor<T>,
) {
    let rank = usize::from(shape.rank());
    for level in (0..parameters.geometry.levels(shape)).rev() {
        store.refine_values(level);
        let flags = parameters.levels[level as usize];
        let layout = store.level(level);
        let rows = Rows {
            coefficients: coefficients.filter(|_| flags.is_fitted()),
            ..Rows::new(
                version,
                shape,
                tile,
                parameters,
                layout,
                level,
                visitor.scope(),
            )
        };
        for number in 0..rank {
            let stage = Stage::of(number, rank, flags.is_multi, flags.is_reverse);
            for odd in 1..8 {
                if let Some(class) = OddAxes::of(stage, shape, odd) {
                    rows.walk(class, store, visitor);
                }
            }
        }
    }
}

/// The rows of a level. All coordinates are counted in its unit.
pub(super) struct Rows<'a> {
    version: Version,
    shape: Shape,
    pub(super) layout: Level,
    level: u32,
    spline: Spline,
    /// The coefficients, if the level is fitted.
    coefficients: Option<&'a Coefficients>,
    /// The number of positions of the field from the start of the tile on.
    left: [u32; 3],
    /// The extents of the window.
    window: [u32; 3],
    /// The ends of the positions to visit.
    pub(super) ends: [u32; 3],
    /// The extents of the tile without its far faces.
    own: [u32; 3],
}

impl Rows<'_> {
    /// The rows of a level of a tile.
    #[inline(always)]
    pub(super) fn new(
        version: Version,
        shape: Shape,
        tile: &TileBox,
        parameters: &Parameters,
        layout: Level,
        level: u32,
        scope: Scope,
    ) -> Self {
        let window = parameters.geometry.window(shape);
        let left = tile.left.map(|left| left.div_ceil(1 << level));
        let ends = core::array::from_fn(|i| layout.counts[i].min(left[i]));
        Self {
            version,
            shape,
            layout,
            level,
            spline: parameters.levels[level as usize].spline,
            coefficients: None,
            left,
            window: window.map(|window| (window >> level).max(1)),
            ends: scope.ends(shape, level, ends),
            own: tile::extents(shape).map(|extent| (extent >> level).max(1)),
        }
    }

    /// Predicts and visits the positions of a class.
    #[inline(always)]
    fn walk<T: Element>(
        &self,
        class: OddAxes,
        store: &mut TileStore<T>,
        visitor: &mut impl Visitor<T>,
    ) {
        let (values, codes) = store.parts();
        let mut predictions = [T::ZERO; PIECE];
        let coefficients = (self.coefficients)
            .map(|coefficients| of_class(coefficients, self.shape, self.level, class.odd));
        self.for_pieces(class, |piece, counts| {
            let padded = counts.all.next_multiple_of(VECTOR);
            let predictions = &mut predictions[..padded];
            self.predict(
                class,
                coefficients.as_ref(),
                piece,
                counts.all,
                values,
                predictions,
            );
            let at = piece.own;
            visitor.visit(
                self.level,
                counts,
                predictions,
                &mut values[at..at + padded],
                &mut codes[at..at + padded],
            );
        });
    }

    /// Calls `call` with all pieces of the positions of a class.
    #[inline(always)]
    pub(super) fn for_pieces(&self, class: OddAxes, mut call: impl FnMut(&Piece<'_>, Counts)) {
        let [first_z, first_y, first_x] = [0, 1, 2].map(|axis| class.first(axis, 1));
        let lanes = self.lanes(self.ends[2], first_x);
        for from in (0..lanes).step_by(PIECE) {
            let count = (lanes - from).min(PIECE);
            let orders_along_x = self.orders_along_x(from, count);
            let inside_along_x = self.inside_along_x(from, count);
            for z in (first_z..self.ends[0]).step_by(2) {
                for y in (first_y..self.ends[1]).step_by(2) {
                    let piece = Piece {
                        strides: self.layout.strides,
                        orders: [self.order(0, z), self.order(1, y)],
                        orders_along_x: &orders_along_x,
                        inside: [self.is_inside(0, z), self.is_inside(1, y)],
                        inside_along_x: &inside_along_x,
                        from,
                        own: self.layout.row(z, y, first_x == 1) + from,
                        evens: self.layout.row(z, y, false) + from,
                    };
                    let is_own = z < self.own[0] && y < self.own[1];
                    let own = self.lanes(if is_own { self.own[2] } else { 0 }, first_x);
                    let counts = Counts {
                        all: count,
                        own: own.saturating_sub(from).min(count),
                    };
                    call(&piece, counts);
                }
            }
        }
    }

    /// Predicts the first `count` positions of a piece, by stencils if the level is fitted.
    #[inline(always)]
    fn predict<T: Element>(
        &self,
        class: OddAxes,
        coefficients: Option<&[T; MAX_TERMS]>,
        piece: &Piece<'_>,
        count: usize,
        values: &[T],
        predictions: &mut [T],
    ) {
        let mut by_stencil = 0;
        if let Some(coefficients) = coefficients {
            by_stencil = self.with_next(class, piece, count);
            if by_stencil > 0 {
                self.version.run(PredictStencil {
                    shape: self.shape,
                    piece,
                    odd: class.odd,
                    coefficients,
                    values,
                    predictions,
                });
            }
        }
        if by_stencil == count {
            return;
        }
        let mut by_splines = [T::ZERO; PIECE];
        let by_splines = &mut by_splines[..predictions.len().min(PIECE)];
        self.version.run(Predict {
            piece,
            axes: class.axes,
            spline: self.spline,
            values,
            predictions: by_splines,
        });
        predictions[by_stencil..].copy_from_slice(&by_splines[by_stencil..]);
    }

    /// Adds the sums of the level's own positions that have neighbours ahead. `known` are the decoded values, `values` those of the field.
    #[inline(always)]
    pub(super) fn sum<T: Element>(
        &self,
        values: &TileStore<T>,
        known: &TileStore<T>,
        inverse: T,
        sums: &mut Sums,
    ) {
        let beyond = (1 << (3 - self.shape.rank())) - 1;
        for odd in (1..8u32).filter(|odd| odd & beyond == 0) {
            let class = OddAxes { odd, axes: odd };
            let first = first_sum(self.shape, self.level, odd);
            self.for_pieces(class, |piece, counts| {
                self.version.run(SumStencil {
                    shape: self.shape,
                    piece,
                    odd,
                    lanes: self.with_next(class, piece, counts.own),
                    known: known.values(),
                    values: values.values(),
                    inverse,
                    sums: &mut sums[first..],
                });
            });
        }
    }

    /// The number of the first positions of a piece that have neighbours ahead along all axes along which they are odd:
    /// only the last one of a row of the field may have none along x.
    #[inline(always)]
    pub(super) fn with_next(&self, class: OddAxes, piece: &Piece<'_>, count: usize) -> usize {
        let has_next = |axis: usize| class.odd >> axis & 1 == 0 || piece.orders[axis].next;
        if !(has_next(0) && has_next(1)) {
            return 0;
        }
        if class.odd >> 2 & 1 == 0 {
            return count;
        }
        // Position 2 i + 1 has a neighbour ahead if 2 i + 2 is in the field.
        let with_next = (self.left[2] as usize).saturating_sub(1) / 2;
        with_next.saturating_sub(piece.from).min(count)
    }

    /// The number of positions of a row before `end`, every second one from `first` on.
    #[inline(always)]
    fn lanes(&self, end: u32, first: u32) -> usize {
        end.saturating_sub(first).div_ceil(2) as usize
    }

    /// The order along an axis of a position that is odd along it; of no meaning for others.
    #[inline(always)]
    fn order(&self, axis: usize, position: u32) -> Order {
        Order::at(position, 1, self.window[axis], self.left[axis])
    }

    /// Whether a stencil may use the positions two units away along an axis along which a position is even.
    #[inline(always)]
    fn is_inside(&self, axis: usize, position: u32) -> bool {
        is_inside(position, 1, self.window[axis], self.left[axis])
    }

    /// [`Rows::is_inside`] of even positions of a row: of all but the first ones of windows, and the last one of the
    /// field.
    #[inline(always)]
    fn inside_along_x(&self, from: usize, count: usize) -> [bool; PIECE] {
        let mut inside = [true; PIECE];
        for (i, inside) in inside.iter_mut().enumerate().take(count) {
            *inside = self.is_inside(2, 2 * (from + i) as u32);
        }
        inside
    }

    /// The orders along x of odd positions of a row. All are cubic, except the first and the last ones of windows, and
    /// the last two of the field.
    #[inline(always)]
    fn orders_along_x(&self, from: usize, count: usize) -> Orders {
        let mut orders = Orders {
            next: [true; PIECE],
            behind: [true; PIECE],
            ahead: [true; PIECE],
        };
        let window = (self.window[2] / 2).max(1) as usize;
        let windows = (from / window * window..from + count).step_by(window);
        let ends = windows.flat_map(|first| [first, first + window - 1]);
        let odds = self.left[2] as usize / 2;
        for lane in ends.chain(odds.saturating_sub(2)..odds) {
            if (from..from + count).contains(&lane) {
                let order = self.order(2, 2 * lane as u32 + 1);
                let i = lane - from;
                orders.next[i] = order.next;
                orders.behind[i] = order.behind;
                orders.ahead[i] = order.ahead;
            }
        }
        orders
    }
}

/// The orders of the positions of a piece.
pub(super) struct Orders {
    pub(super) next: [bool; PIECE],
    pub(super) behind: [bool; PIECE],
    pub(super) ahead: [bool; PIECE],
}

/// Positions of a row that are of one class.
pub(super) struct Piece<'a> {
    /// The distance between neighbours along z and y.
    strides: [usize; 2],
    /// The orders along z and y.
    pub(super) orders: [Order; 2],
    pub(super) orders_along_x: &'a Orders,
    /// Whether stencils may use the positions two units away along z and y.
    pub(super) inside: [bool; 2],
    /// The same along x.
    pub(super) inside_along_x: &'a [bool; PIECE],
    /// The number of its first position in its row.
    from: usize,
    /// The index of its first position.
    pub(super) own: usize,
    /// The index of the position behind the first one, if the positions are odd along x.
    evens: usize,
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
struct Predict<'a, T> {
    piece: &'a Piece<'a>,
    axes: u32,
    spline: Spline,
    values: &'a [T],
    predictions: &'a mut [T],
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
