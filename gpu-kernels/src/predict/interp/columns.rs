//! The finest level of a tile of a cube that is complete along z, but for its far faces: three quarters of the work.
//!
//! A thread takes the positions above each other in its column: a warp has a row, a lane every second position of it.
//! So the orders along y and x are those of the thread, which finds their [`Weights`] once; the orders along z are known
//! when this is compiled; positions lie at constant distances; and along z each value is read once for all positions that
//! it is a neighbour of.

use crate::predict::interp::THREADS;
use crate::predict::interp::positions::{Neighbourhood, Positions};
use crate::predict::interp::residuals::{COLUMN_WINDOW, Position, Residuals};
use crate::predict::interp::stencils;
use crate::predict::interp::values::Values;
use core::array::from_fn;
use ferrosz_codec::Element;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::predict::{Around, OneAxis, combine};
use ferrosz_codec::predict::interp::spline::{Order, Spline};
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::predict::interp::weights::Weights;
use ferrosz_codec::predict::stencil::terms::{MAX_TERMS, Stencil, Taps, count, is_inside};
use ferrosz_codec::shape::{Cube, Shape};
use ferrosz_codec::tile;
use ferrosz_simt::{SharedAddress, Thread, WARP};

/// Positions of half a column, which are loaded before the first is coded.
const BATCH: usize = 4;

const _: () = assert!(
    THREADS / WARP == tile::extents(Shape::Cube)[1] / 2
        && 4 * BATCH as u32 == tile::extents(Shape::Cube)[0],
    "a warp has a row, and a column two halves"
);

/// Positions of a column.
const POSITIONS: usize = 2 * BATCH;

/// Those of a scope.
const fn positions(scope: Scope) -> usize {
    match scope {
        Scope::Whole => POSITIONS,
        Scope::HalfOfFinest => BATCH,
    }
}

/// From a position to the next one above it in its column, in bytes of shared memory and in codes.
const STEP: u32 = 2 * 4 * store::stride(Shape::Cube, 0);
const CODES: u32 = 2 * tile::index(Shape::Cube, [1, 0, 0]);

/// The offsets of a position's neighbours along each axis, in bytes.
const REACH: [Neighbourhood; 3] = [
    Neighbourhood::new(Shape::Cube, 0, 0),
    Neighbourhood::new(Shape::Cube, 1, 0),
    Neighbourhood::new(Shape::Cube, 2, 0),
];

impl<E: Element> Positions<'_, E> {
    /// Predicts the own positions of those that are odd along the axes of `odd`, along `AXES`. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn run_columns<T: Thread, const AXES: u32, R: Residuals<E>>(
        &self,
        t: T,
        odd: u32,
        residuals: &R,
    ) {
        let first = [
            odd & 1,
            2 * t.warp() + (odd >> 1 & 1),
            2 * t.lane() + (odd >> 2 & 1),
        ];
        let left = self.setup.tile.left;
        if first[1] >= left[1] || first[2] >= left[2] {
            return;
        }
        let mut rare = if matches!(R::KIND, FittedKind::Stencils) {
            self.run_stencils::<T, AXES, R>(t, first, residuals)
        } else if matches!(self.spline, Spline::NotAKnot) {
            let column = Column::new::<AXES>(self, first, Spline::NotAKnot);
            column.run::<T, AXES, R>(t, residuals)
        } else {
            let column = Column::new::<AXES>(self, first, Spline::Natural);
            column.run::<T, AXES, R>(t, residuals)
        };
        while rare != 0 {
            let position = [first[0] + 2 * rare.trailing_zeros(), first[1], first[2]];
            self.visit::<T, Cube, AXES, R>(t, position, residuals);
            rare &= rare - 1;
        }
    }

    /// As [`Column::run`] with stencils. All positions of a column that lacks a neighbour ahead along y or x are rare.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run_stencils<T: Thread, const AXES: u32, R: Residuals<E>>(
        &self,
        t: T,
        first: [u32; 3],
        residuals: &R,
    ) -> u32 {
        let left = self.setup.tile.left;
        let lacks_y = AXES >> 1 & 1 == 1 && first[1] + 1 >= left[1];
        let lacks_x = AXES >> 2 & 1 == 1 && first[2] + 1 >= left[2];
        if lacks_y || lacks_x {
            return (1 << positions(residuals.scope())) - 1;
        }
        let column = Column::new::<AXES>(self, first, Spline::NotAKnot);
        let column = column.with_coefficients::<T, AXES>(t);
        column.run::<T, AXES, R>(t, residuals)
    }
}

/// The neighbours of a column's positions along y or x: all its positions have the same. Addresses are those of the first
/// position's. Along axes that are not predicted along there may be none.
#[derive(Clone, Copy)]
struct Across<E> {
    order: Order,
    weights: Weights<E>,
    /// Those that the weights are of.
    taps: [SharedAddress; 4],
    /// Those that stencils are computed from: see [`Taps::along`].
    nearest: [SharedAddress; 4],
    /// See [`Taps::is_inside`].
    is_inside: bool,
}

impl<E: Element> Across<E> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn new<const AXES: u32>(
        positions: &Positions<'_, E>,
        first: [u32; 3],
        axis: usize,
        spline: Spline,
    ) -> Self {
        let order = positions.order(first, axis, 1);
        let setup = positions.setup;
        let address = positions.address(Shape::Cube, first);
        let is_along = AXES >> axis & 1 == 1;
        let none = [SharedAddress::from_bytes(0); 4];
        Self {
            order,
            weights: Weights::of(order, spline),
            taps: if is_along {
                REACH[axis].taps(address, order)
            } else {
                none
            },
            nearest: if is_along {
                REACH[axis].nearest(address, order)
            } else {
                none
            },
            is_inside: is_inside(first[axis], 1, setup.window[axis], setup.tile.left[axis]),
        }
    }
}

struct Column<'a, E> {
    positions: &'a Positions<'a, E>,
    /// Its first position, where that lies, and the number of its code.
    first: [u32; 3],
    address: SharedAddress,
    index: u32,
    /// Whether the tile has its far face along z.
    has_far: bool,
    /// A constant where the column is made.
    spline: Spline,
    y: Across<E>,
    x: Across<E>,
    /// Of stencils.
    coefficients: [E; MAX_TERMS],
}

impl<'a, E: Element> Column<'a, E> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn new<const AXES: u32>(
        positions: &'a Positions<'a, E>,
        first: [u32; 3],
        spline: Spline,
    ) -> Self {
        Self {
            positions,
            first,
            address: positions.address(Shape::Cube, first),
            index: tile::index(Shape::Cube, first),
            has_far: positions.setup.tile.left[0] > COLUMN_WINDOW,
            spline,
            y: Across::new::<AXES>(positions, first, 1, spline),
            x: Across::new::<AXES>(positions, first, 2, spline),
            coefficients: [E::ZERO; MAX_TERMS],
        }
    }

    /// Of stencils, in a tile that has its far face along z.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn with_coefficients<T: Thread, const AXES: u32>(self, t: T) -> Self {
        let count = count(Shape::Cube, AXES);
        let coefficients = from_fn(|i| {
            if i < count {
                self.positions.coefficient(t, Shape::Cube, AXES, i)
            } else {
                E::ZERO
            }
        });
        Self {
            coefficients,
            has_far: true,
            ..self
        }
    }

    /// Predicts and codes the column but for its rare positions; bit i says that position i is rare.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread, const AXES: u32, R: Residuals<E>>(&self, t: T, residuals: &R) -> u32 {
        let z = |plane: u32| {
            if AXES & 1 == 0 {
                return E::ZERO;
            }
            // The far face may be missing. Positions that it would be a neighbour of are rare then.
            let address = if plane < POSITIONS as u32 || self.has_far {
                self.address - STEP / 2 + plane * STEP
            } else {
                self.address
            };
            Values::<E, Cube>::load_at(t, address)
        };
        let lower = [z(0), z(0), z(1), z(2), z(3), z(4), z(5)];
        let rare = self.half::<T, AXES, R, 0>(t, &lower, residuals);
        if positions(residuals.scope()) == BATCH {
            return rare;
        }
        // Three of them are read again, as the first half leaves no registers for them.
        let upper = [z(3), z(4), z(5), z(6), z(7), z(8), z(8)];
        rare | self.half::<T, AXES, R, BATCH>(t, &upper, residuals)
    }

    /// The half of the column from position `FROM` on. `along_z` are the known values along z, from the one before that
    /// below the first position on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn half<T: Thread, const AXES: u32, R: Residuals<E>, const FROM: usize>(
        &self,
        t: T,
        along_z: &[E; BATCH + 3],
        residuals: &R,
    ) -> u32 {
        let half = Half {
            t,
            column: self,
            along_z,
            from: FROM,
        };
        // One by one, as LLVM would leave a loop of this length one, and its arrays in memory.
        let predictions = [
            half.predict::<AXES, R>(0),
            half.predict::<AXES, R>(1),
            half.predict::<AXES, R>(2),
            half.predict::<AXES, R>(3),
        ];
        let positions = from_fn(|i| half.position::<AXES>(i));
        let slots = from_fn(|i| half.load(self.address, i));
        let quantizer = &self.positions.quantizer;
        let coded = residuals.residuals(t, quantizer, positions, slots, predictions);
        let mut rare = 0;
        for (i, (known, slot)) in coded.iter().zip(&slots).enumerate() {
            let is_rare = R::is_rare(*slot) | half.lacks_far::<AXES>(i);
            let known = if is_rare { *slot } else { *known };
            Values::<E, Cube>::store_at(t, self.address + half.shift(i), known);
            rare |= u32::from(is_rare) << (FROM + i);
        }
        rare
    }
}

/// Half of a column.
struct Half<'a, T, E> {
    t: T,
    column: &'a Column<'a, E>,
    along_z: &'a [E; BATCH + 3],
    /// The number of its first position in the column.
    from: usize,
}

impl<T: Thread, E: Element> Half<'_, T, E> {
    /// From the column's first position to position `i` of the half, in bytes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn shift(&self, i: usize) -> u32 {
        (self.from + i) as u32 * STEP
    }

    /// The value as far above an address as position `i` of the half is above the column's first.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn load(&self, address: SharedAddress, i: usize) -> E {
        Values::<E, Cube>::load_at(self.t, address + self.shift(i))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn predict<const AXES: u32, R: Residuals<E>>(&self, i: usize) -> E {
        let around = OfHalf { half: self, i };
        if !matches!(R::KIND, FittedKind::Stencils) {
            return combine(AXES, &around);
        }
        let coefficient = |i: usize| self.column.coefficients[i];
        Stencil::at(Shape::Cube, AXES, &around).predict(count(Shape::Cube, AXES), coefficient)
    }

    /// Whether the position has not the neighbours along z that [`Half::order`] says, as the tile has no far face.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn lacks_far<const AXES: u32>(&self, i: usize) -> bool {
        AXES & 1 == 1 && self.from + i + 2 >= POSITIONS && !self.column.has_far
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn position<const AXES: u32>(&self, i: usize) -> Position {
        let number = (self.from + i) as u32;
        let [z, y, x] = self.column.first;
        Position {
            position: [z + 2 * number, y, x],
            is_own: !self.lacks_far::<AXES>(i),
            index: self.column.index + number * CODES,
        }
    }

    /// The order of the prediction along z in a tile with its far face.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn order(&self, i: usize) -> Order {
        Order {
            next: true,
            behind: self.from + i > 0,
            ahead: self.from + i + 1 < POSITIONS,
        }
    }
}

/// A position of a half.
struct OfHalf<'a, T, E> {
    half: &'a Half<'a, T, E>,
    i: usize,
}

impl<T: Thread, E: Element> OfHalf<'_, T, E> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn nearest_along_z(&self) -> (Order, [E; 4]) {
        let i = self.i;
        let nearest = [i, i + 1, i + 2, i + 3].map(|at| self.half.along_z[at]);
        (self.half.order(i), nearest)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn across(&self, axis: usize) -> &Across<E> {
        let Column { y, x, .. } = self.half.column;
        if axis == 1 { y } else { x }
    }

    /// The neighbours along y or x that the weights are of.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn tapped(&self, axis: usize) -> (&Across<E>, [E; 4]) {
        let across = self.across(axis);
        let known = across.taps.map(|address| self.half.load(address, self.i));
        (across, known)
    }
}

impl<T: Thread, E: Element> Around<E> for OfHalf<'_, T, E> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn along(&self, axis: usize) -> OneAxis<E> {
        let spline = self.half.column.spline;
        if axis == 0 {
            let (order, nearest) = self.nearest_along_z();
            return OneAxis::blended(order, spline, nearest);
        }
        let (across, known) = self.tapped(axis);
        OneAxis {
            order: across.order,
            value: across.weights.predict(spline, known),
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn cubic(&self, axis: usize) -> OneAxis<E> {
        let spline = self.half.column.spline;
        if axis == 0 {
            let (order, nearest) = self.nearest_along_z();
            return OneAxis::cubic(order, spline, nearest);
        }
        let (across, [b, c, a, d]) = self.tapped(axis);
        OneAxis::cubic(across.order, spline, [a, b, c, d])
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn corner(&self, a: usize, b: usize) -> E {
        let address = self.half.column.address - REACH[a].back - REACH[b].back;
        self.half.load(address, self.i)
    }
}

impl<T: Thread, E: Element> OfHalf<'_, T, E> {
    /// The value at a distance in bytes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn at(&self, offset: i32) -> E {
        let Half { t, column, .. } = *self.half;
        let address = column.address + self.half.shift(self.i);
        Values::<E, Cube>::load_at(t, address.offset(offset))
    }
}

impl<T: Thread, E: Element> Taps<E> for OfHalf<'_, T, E> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn along(&self, axis: usize) -> (Order, [E; 4]) {
        if axis == 0 {
            return self.nearest_along_z();
        }
        let across = self.across(axis);
        let known = across
            .nearest
            .map(|address| self.half.load(address, self.i));
        (across.order, known)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn nearest(&self, axis: usize) -> [E; 2] {
        if axis == 0 {
            return [1, 2].map(|at| self.half.along_z[self.i + at]);
        }
        stencils::nearest(&REACH, axis).map(|offset| self.at(offset))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_inside(&self, axis: usize) -> bool {
        if axis == 0 {
            return self.half.from + self.i > 0;
        }
        self.across(axis).is_inside
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn beside(&self, axis: usize, across: usize, units: u32) -> [E; 4] {
        let is_inside = units == 2 && self.is_inside(across);
        stencils::beside(&REACH, axis, across, units, is_inside).map(|offset| self.at(offset))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn corners(&self) -> [[E; 4]; 2] {
        stencils::corners(&REACH).map(|four| four.map(|offset| self.at(offset)))
    }
}
