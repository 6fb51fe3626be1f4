//! The finest level of a tile of a cube that is complete along z, but for its far faces: three quarters of the work.
//!
//! A thread takes the positions above each other in its column: a warp has a row, a lane every second position of it.
//! So the orders along y and x are those of the thread, positions lie at constant distances, and along z each value is
//! read once for all positions that it is a neighbour of.

use crate::predict::interp::THREADS;
use crate::predict::interp::positions::{Neighbourhood, Positions};
use crate::predict::interp::residuals::{COLUMN_WINDOW, Position, Residuals};
use crate::predict::interp::values::Values;
use core::array::from_fn;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::predict::{Around, OneAxis, combine};
use ferrosz_codec::predict::interp::spline::{Order, Spline};
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::predict::interp::tune::sample::Scope;
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

/// From a position to the next one above it in its column, in bytes of shared memory and in codes.
const STEP: u32 = 2 * 4 * store::stride(Shape::Cube, 0);
const CODES: u32 = 2 * tile::index(Shape::Cube, [1, 0, 0]);

/// The offsets of a position's neighbours along each axis, in bytes.
const REACH: [Neighbourhood; 3] = [
    Neighbourhood::new(Shape::Cube, 0, 0),
    Neighbourhood::new(Shape::Cube, 1, 0),
    Neighbourhood::new(Shape::Cube, 2, 0),
];

/// The properties of half a column on which its prediction depends.
#[derive(Clone, Copy)]
struct Flags {
    /// Whether this is its upper half.
    is_upper: bool,
    /// Whether the tile has its far face along z.
    has_far: bool,
    is_natural: bool,
    y: Order,
    x: Order,
}

impl Flags {
    /// The bit of `is_upper`.
    const UPPER: u32 = 1;

    #[inline(always)]
    fn to_bits(self) -> u32 {
        let [y, x] = [self.y, self.x].map(|order| {
            u32::from(order.next) | u32::from(order.behind) << 1 | u32::from(order.ahead) << 2
        });
        let flags = [self.is_upper, self.has_far, self.is_natural].map(u32::from);
        flags[0] | flags[1] << 1 | flags[2] << 2 | y << 3 | x << 6
    }

    #[inline(always)]
    const fn from_bits(bits: u32) -> Self {
        const fn order(bits: u32) -> Order {
            Order {
                next: bits & 1 != 0,
                behind: bits & 2 != 0,
                ahead: bits & 4 != 0,
            }
        }
        Self {
            is_upper: bits & Self::UPPER != 0,
            has_far: bits & 2 != 0,
            is_natural: bits & 4 != 0,
            y: order(bits >> 3),
            x: order(bits >> 6),
        }
    }
}

impl<E: Element> Positions<'_, E> {
    /// Predicts the own positions of those that are odd along the axes of `odd`, along `AXES`. For the whole block.
    #[inline(always)]
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
        let column = Column {
            positions: self,
            first,
            address: self.address(Shape::Cube, first),
            index: tile::index(Shape::Cube, first),
            y: self.around::<AXES>(first, 1),
            x: self.around::<AXES>(first, 2),
        };
        let flags = Flags {
            is_upper: false,
            has_far: left[0] > COLUMN_WINDOW,
            is_natural: matches!(self.spline, Spline::Natural),
            y: self.order(first, 1, 1),
            x: self.order(first, 2, 1),
        };
        let mut bits = flags.to_bits();
        let mut rare = 0;
        loop {
            // LLVM would give either half, and all that is the same in both, a text of its own.
            bits = t.opaque(bits);
            let flags = Flags::from_bits(bits);
            if flags.is_natural {
                rare |= column.run::<T, AXES, R>(t, flags, Spline::Natural, residuals);
            } else {
                rare |= column.run::<T, AXES, R>(t, flags, Spline::NotAKnot, residuals);
            }
            if flags.is_upper | (residuals.scope() == Scope::HalfOfFinest) {
                break;
            }
            bits |= Flags::UPPER;
        }
        while rare != 0 {
            let position = [first[0] + 2 * rare.trailing_zeros(), first[1], first[2]];
            self.visit::<T, Cube, AXES, R>(t, position, residuals);
            rare &= rare - 1;
        }
    }

    /// The neighbours of the first position along an axis; along axes that are not in `AXES` there may be none.
    #[inline(always)]
    fn around<const AXES: u32>(&self, first: [u32; 3], axis: usize) -> [SharedAddress; 4] {
        if AXES >> axis & 1 == 0 {
            return [SharedAddress::from_bytes(0); 4];
        }
        let order = self.order(first, axis, 1);
        REACH[axis].nearest(self.address(Shape::Cube, first), order)
    }
}

struct Column<'a, E> {
    positions: &'a Positions<'a, E>,
    /// Its first position, where that and its neighbours lie, and the number of its code.
    first: [u32; 3],
    address: SharedAddress,
    y: [SharedAddress; 4],
    x: [SharedAddress; 4],
    index: u32,
}

impl<E: Element> Column<'_, E> {
    /// Predicts and codes half of the column but for its rare positions; bit i says that position i of the
    /// column is rare. The spline is a constant where this is called.
    #[inline(always)]
    fn run<T: Thread, const AXES: u32, R: Residuals<E>>(
        &self,
        t: T,
        flags: Flags,
        spline: Spline,
        residuals: &R,
    ) -> u32 {
        let skipped = if flags.is_upper { BATCH as u32 } else { 0 };
        let shift = skipped * STEP;
        let along_z = self.along_z::<T, AXES>(t, flags, shift);
        let half = Half {
            t,
            column: self,
            along_z: &along_z,
            flags,
            spline,
            shift,
            index: self.index + skipped * CODES,
            first: [self.first[0] + 2 * skipped, self.first[1], self.first[2]],
        };
        // One by one, as LLVM would leave a loop of this length one, and its arrays in memory.
        let predictions = [
            half.predict::<AXES>(0),
            half.predict::<AXES>(1),
            half.predict::<AXES>(2),
            half.predict::<AXES>(3),
        ];
        let positions = from_fn(|i| half.position(i));
        let slots = from_fn(|i| half.load(self.address, i));
        let quantizer = &self.positions.quantizer;
        let coded = residuals.residuals(t, quantizer, positions, slots, predictions);
        let mut rare = 0;
        for (i, (known, slot)) in (0..).zip(coded.iter().zip(&slots)) {
            let is_rare = R::is_rare(*slot);
            let known = if is_rare { *slot } else { *known };
            Values::<E, Cube>::store_at(t, self.address + shift + i * STEP, known);
            rare |= u32::from(is_rare) << i;
        }
        rare << skipped
    }

    /// The known values along z, from the even position before that below the first one on. Either end may be missing.
    #[inline(always)]
    fn along_z<T: Thread, const AXES: u32>(
        &self,
        t: T,
        flags: Flags,
        shift: u32,
    ) -> [E; BATCH + 3] {
        if AXES & 1 == 0 {
            return [E::ZERO; BATCH + 3];
        }
        let first = self.address + shift - STEP / 2;
        let below = if flags.is_upper { STEP } else { 0 };
        let top = flags.is_upper & !flags.has_far;
        let last = BATCH as u32 - u32::from(top);
        let behind = last + u32::from(!flags.is_upper);
        from_fn(|k| {
            let address = match k {
                0 => first - below,
                _ if k == BATCH + 1 => first + last * STEP,
                _ if k == BATCH + 2 => first + behind * STEP,
                _ => first + (k as u32 - 1) * STEP,
            };
            Values::<E, Cube>::load_at(t, address)
        })
    }
}

/// Half of a column.
struct Half<'a, T, E> {
    t: T,
    column: &'a Column<'a, E>,
    along_z: &'a [E; BATCH + 3],
    flags: Flags,
    spline: Spline,
    /// From the column's first position to that of this half, in bytes.
    shift: u32,
    /// Its first position, and the number of its code.
    first: [u32; 3],
    index: u32,
}

impl<T: Thread, E: Element> Half<'_, T, E> {
    /// The value `i` positions above an address of the column's first position.
    #[inline(always)]
    fn load(&self, address: SharedAddress, i: usize) -> E {
        Values::<E, Cube>::load_at(self.t, address + self.shift + i as u32 * STEP)
    }

    #[inline(always)]
    fn predict<const AXES: u32>(&self, i: usize) -> E {
        combine(AXES, &OfHalf { half: self, i })
    }

    #[inline(always)]
    fn position(&self, i: usize) -> Position {
        let [z, y, x] = self.first;
        Position {
            position: [z + 2 * i as u32, y, x],
            is_own: true,
            index: self.index + i as u32 * CODES,
        }
    }

    /// The order of the prediction of position number `i` of a half along z: see [`Order::at`].
    #[inline(always)]
    fn order(&self, i: usize) -> Order {
        let Flags {
            is_upper, has_far, ..
        } = self.flags;
        // Without branches, of which LLVM would make a text for each case.
        let is_last = is_upper & (i == BATCH - 1);
        let next = has_far | !is_last;
        Order {
            next,
            behind: (is_upper | (i > 0)) & next,
            ahead: !is_last & (has_far | !is_upper | (i < BATCH - 2)),
        }
    }
}

/// A position of a half.
struct OfHalf<'a, T, E> {
    half: &'a Half<'a, T, E>,
    i: usize,
}

impl<T: Thread, E: Element> OfHalf<'_, T, E> {
    #[inline(always)]
    fn neighbours(&self, axis: usize) -> (Order, [E; 4]) {
        let Half { column, flags, .. } = self.half;
        let i = self.i;
        let load = |address| self.half.load(address, i);
        match axis {
            0 => {
                let nearest = [i, i + 1, i + 2, i + 3].map(|at| self.half.along_z[at]);
                (self.half.order(i), nearest)
            }
            1 => (flags.y, column.y.map(load)),
            _ => (flags.x, column.x.map(load)),
        }
    }
}

impl<T: Thread, E: Element> Around<E> for OfHalf<'_, T, E> {
    #[inline(always)]
    fn along(&self, axis: usize) -> OneAxis<E> {
        let (order, nearest) = self.neighbours(axis);
        OneAxis::blended(order, self.half.spline, nearest)
    }

    #[inline(always)]
    fn cubic(&self, axis: usize) -> OneAxis<E> {
        let (order, nearest) = self.neighbours(axis);
        OneAxis::cubic(order, self.half.spline, nearest)
    }

    #[inline(always)]
    fn corner(&self, a: usize, b: usize) -> E {
        let address = self.half.column.address - REACH[a].back - REACH[b].back;
        self.half.load(address, self.i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_bits_and_back() {
        for bits in 0..1 << 9 {
            assert_eq!(Flags::from_bits(bits).to_bits(), bits);
        }
    }
}
