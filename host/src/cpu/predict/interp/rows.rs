//! Prediction of a tile by rows.
//!
//! The definition goes from position to position ([`walk`](ferrosz_codec::predict::interp::walk)). Here positions of a
//! row that belong to the same class are predicted together. Their orders along z and y are equal. Along x all are
//! cubic, except a few at the ends of windows, which are predicted once more by themselves.
//!
//! Every value is computed by the same operations as in the definition.

use crate::cpu::predict::interp::piece::{Orders, PIECE, Piece, Predict};
use crate::cpu::predict::interp::products::{self, Sums};
use crate::cpu::predict::interp::stencils::{PredictStencil, SumStencil, of_class};
use crate::cpu::predict::interp::store::{Level, TileStore, VECTOR};
use crate::cpu::version::Version;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::interp::parameters::Parameters;
use ferrosz_codec::predict::interp::spline::{Order, Spline};
use ferrosz_codec::predict::interp::stage::Stage;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::predict::interp::walk::OddAxes;
use ferrosz_codec::predict::stencil::coefficients::Coefficients;
use ferrosz_codec::predict::stencil::fit::first_sum;
use ferrosz_codec::predict::stencil::terms::{MAX_TERMS, is_inside};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{self, TileBox};

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
        positions: Positions,
        predictions: &[T],
        values: &mut [T],
        codes: &mut [u16],
    );
}

/// The positions of a piece.
#[derive(Clone, Copy)]
pub(super) struct Positions {
    /// Their level.
    pub level: u32,
    /// The number of axes along which they are odd.
    pub oddness: u32,
    /// How many there are.
    pub all: usize,
    /// How many are of the tile itself, which come before those on a far face.
    pub own: usize,
}

/// Predicts and visits all positions of a tile and its far faces from level `lowest` on, except the anchors, which the store must hold on
/// their own level.
#[inline(always)]
pub(super) fn walk<T: Element>(
    version: Version,
    shape: Shape,
    (tile, lowest): (&TileBox, u32),
    parameters: &Parameters,
    coefficients: Option<&Coefficients>,
    store: &mut TileStore<T>,
    visitor: &mut impl Visitor<T>,
) {
    let rank = usize::from(shape.rank());
    for level in (lowest..parameters.geometry.levels(shape)).rev() {
        store.refine_values(level);
        let flags = parameters.levels[level as usize];
        let layout = store.level(level);
        let rows = Rows {
            coefficients: coefficients.filter(|_| flags.is_fitted()),
            ..Rows::new(
                version,
                shape,
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
    pub(super) version: Version,
    shape: Shape,
    /// Slices from one of the class to the next.
    steps_along_z: usize,
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
    /// The rows of a level of a tile, where levels are counted in the dimensions of `level_shape`.
    #[expect(clippy::too_many_arguments, reason = "all that tells rows from others")]
    #[inline(always)]
    pub(super) fn new(
        version: Version,
        shape: Shape,
        level_shape: Shape,
        tile: &TileBox,
        parameters: &Parameters,
        layout: Level,
        level: u32,
        scope: Scope,
    ) -> Self {
        let window = parameters.geometry.window(shape);
        let extents = tile::extents(shape);
        let first_axis = 3 - usize::from(level_shape.rank());
        let level_along = |axis: usize| if axis < first_axis { 0 } else { level };
        let left = core::array::from_fn(|i| tile.left[i].div_ceil(1 << level_along(i)));
        let ends = core::array::from_fn(|i| layout.counts[i].min(left[i]));
        Self {
            version,
            shape,
            steps_along_z: if first_axis == 0 { 2 } else { 1 },
            layout,
            level,
            spline: parameters.levels[level as usize].spline,
            coefficients: None,
            left,
            window: window.map(|window| (window >> level).max(1)),
            ends: scope.ends(shape, level, ends),
            own: core::array::from_fn(|i| (extents[i] >> level_along(i)).max(1)),
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
        self.for_pieces(class, |piece, positions| {
            let padded = positions.all.next_multiple_of(VECTOR);
            let predictions = &mut predictions[..padded];
            self.predict(
                class,
                coefficients.as_ref(),
                piece,
                positions.all,
                values,
                predictions,
            );
            let at = piece.own;
            visitor.visit(
                positions,
                predictions,
                &mut values[at..at + padded],
                &mut codes[at..at + padded],
            );
        });
    }

    /// Calls `call` with all pieces of the positions of a class.
    #[inline(always)]
    pub(super) fn for_pieces(&self, class: OddAxes, mut call: impl FnMut(&Piece<'_>, Positions)) {
        let [first_z, first_y, first_x] = [0, 1, 2].map(|axis| class.first(axis, 1));
        let lanes = self.lanes(self.ends[2], first_x);
        for from in (0..lanes).step_by(PIECE) {
            let count = (lanes - from).min(PIECE);
            let orders_along_x = self.orders_along_x(from, count);
            let inside_along_x = self.inside_along_x(from, count);
            for z in (first_z..self.ends[0]).step_by(self.steps_along_z) {
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
                    let positions = Positions {
                        level: self.level,
                        oddness: class.odd.count_ones(),
                        all: count,
                        own: own.saturating_sub(from).min(count),
                    };
                    call(&piece, positions);
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
        let mut integers = products::NONE;
        for odd in (1..8u32).filter(|odd| odd & beyond == 0) {
            let class = OddAxes { odd, axes: odd };
            let first = first_sum(self.shape, self.level, odd);
            self.for_pieces(class, |piece, positions| {
                self.version.run(SumStencil {
                    shape: self.shape,
                    piece,
                    odd,
                    lanes: self.with_next(class, piece, positions.own),
                    known: known.values(),
                    values: values.values(),
                    inverse,
                    integers: &mut integers,
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
