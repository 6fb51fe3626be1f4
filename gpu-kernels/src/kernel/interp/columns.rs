//! The finest level of a complete tile of a cube, but for its far faces: three quarters of the work.
//!
//! A thread takes the places above each other in its column: a warp has a row, a lane every second place of it. So
//! the orders along y and x are those of the thread, places lie at constant distances, and along z each value is
//! read once for all places that it is a neighbour of.

use super::THREADS;
use super::places::{Places, nearest};
use super::stages::{Settle, Spot};
use super::values::Values;
use crate::simt::{Thread, WARP};
use core::array::from_fn;
use ferrosz_codec::Element;
use ferrosz_codec::interp::predict::{Around, OneAxis, combine};
use ferrosz_codec::interp::spline::{Order, Spline, blend};
use ferrosz_codec::interp::store;
use ferrosz_codec::shape::{Cube, Shape, StaticShape};
use ferrosz_codec::tile;

/// The window along z and y of the geometries that this serves.
const WINDOW: u32 = 16;

/// Places of half a column, which are loaded before the first is settled.
const BATCH: usize = 4;

const _: () = assert!(
    THREADS / WARP == tile::extents(Shape::Cube)[1] / 2
        && 4 * BATCH as u32 == tile::extents(Shape::Cube)[0],
    "a warp has a row, and a column two halves"
);

/// From a place to the next one above it in its column, in bytes of shared memory and in codes.
const STEP: u32 = 2 * 4 * store::stride(Shape::Cube, 0);
const CODES: u64 = 2 * tile::index(Shape::Cube, [1, 0, 0]) as u64;

/// How a column is predicted.
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

/// A batch of values, of which the slots come first.
#[derive(Clone, Copy)]
struct Known<E> {
    slots: [E; BATCH],
    /// Those of even places along z, from one before that below the first place on.
    z: [E; BATCH + 3],
    y: [[E; 4]; BATCH],
    x: [[E; 4]; BATCH],
}

impl<E: Element> Places<'_, E> {
    /// Whether the own places of this level can be taken in columns.
    #[inline(always)]
    pub(super) fn are_in_columns<S: StaticShape>(&self) -> bool {
        let [depth, height, _] = self.setting.window;
        matches!(S::SHAPE, Shape::Cube)
            && self.level == 0
            && depth == WINDOW
            && height == WINDOW
            && self.setting.is_complete::<S>()
    }

    /// Predicts the own places of those that are odd along the axes of `odd`, along `AXES`. For the whole block.
    #[inline(always)]
    pub(super) fn run_columns<T: Thread, const AXES: u32>(
        &self,
        t: T,
        odd: u32,
        settle: &impl Settle<E>,
    ) {
        let first = [
            odd & 1,
            2 * t.warp() + (odd >> 1 & 1),
            2 * t.lane() + (odd >> 2 & 1),
        ];
        let column = Column {
            places: self,
            first,
            address: t.shared_address(store::index(Shape::Cube, first)),
            index: u64::from(tile::index(Shape::Cube, first)),
            y: self.around::<T, AXES>(t, first, 1),
            x: self.around::<T, AXES>(t, first, 2),
        };
        let flags = Flags {
            is_upper: false,
            has_far: self.setting.tile.left[0] > WINDOW,
            is_natural: matches!(self.spline, Spline::Natural),
            y: self.order(first, 1, 1),
            x: self.order(first, 2, 1),
        };
        let mut bits = flags.to_bits();
        loop {
            // LLVM would give either half, and all that is the same in both, a text of its own.
            bits = t.opaque(bits);
            let flags = Flags::from_bits(bits);
            if flags.is_natural {
                column.run::<T, AXES>(t, flags, Spline::Natural, settle);
            } else {
                column.run::<T, AXES>(t, flags, Spline::NotAKnot, settle);
            }
            if flags.is_upper {
                break;
            }
            bits |= Flags::UPPER;
        }
    }

    /// Where the neighbours of the first place along an axis lie; along others than `AXES` there may be none.
    #[inline(always)]
    fn around<T: Thread, const AXES: u32>(&self, t: T, first: [u32; 3], axis: usize) -> [u32; 4] {
        if AXES >> axis & 1 == 0 {
            return [0; 4];
        }
        nearest(self.order(first, axis, 1)).map(|steps| {
            let mut place = first;
            place[axis] = place[axis].wrapping_add_signed(2 * steps - 1);
            t.shared_address(store::index(Shape::Cube, place))
        })
    }
}

struct Column<'a, E> {
    places: &'a Places<'a, E>,
    /// Its first place, where that and its neighbours lie, and the number of its code.
    first: [u32; 3],
    address: u32,
    y: [u32; 4],
    x: [u32; 4],
    index: u64,
}

impl<E: Element> Column<'_, E> {
    /// Predicts and settles half of the column. The spline is a constant where this is called.
    #[inline(always)]
    fn run<T: Thread, const AXES: u32>(
        &self,
        t: T,
        flags: Flags,
        spline: Spline,
        settle: &impl Settle<E>,
    ) {
        let skipped = if flags.is_upper { BATCH as u32 } else { 0 };
        let shift = skipped * STEP;
        let known = self.load::<T, AXES>(t, flags, shift);
        let half = Half {
            t,
            column: self,
            known: &known,
            flags,
            spline,
            shift,
            index: self.index + u64::from(skipped) * CODES,
            first: [self.first[0] + 2 * skipped, self.first[1], self.first[2]],
        };
        // One by one, as LLVM would leave a loop of this length one, and its arrays in memory.
        let predictions = [
            half.predict::<AXES>(0),
            half.predict::<AXES>(1),
            half.predict::<AXES>(2),
            half.predict::<AXES>(3),
        ];
        let spots = from_fn(|i| half.spot(i));
        let quantizer = &self.places.quantizer;
        let settled = settle.settle(t, quantizer, spots, known.slots, predictions);
        for (i, known) in (0..).zip(&settled) {
            Values::<E, Cube>::store_at(t, self.address + shift + i * STEP, *known);
        }
    }

    #[inline(always)]
    fn load<T: Thread, const AXES: u32>(&self, t: T, flags: Flags, shift: u32) -> Known<E> {
        let load = |address: u32| Values::<E, Cube>::load_at(t, address + shift);
        let mut known = Known {
            slots: from_fn(|i| load(self.address + i as u32 * STEP)),
            z: [E::ZERO; BATCH + 3],
            y: [[E::ZERO; 4]; BATCH],
            x: [[E::ZERO; 4]; BATCH],
        };
        if AXES & 1 != 0 {
            // From the even place below the first one on; the two ends may not be there.
            let even = self.address - STEP / 2;
            let below = if flags.is_upper { STEP } else { 0 };
            let top = flags.is_upper & !flags.has_far;
            let last = BATCH as u32 - u32::from(top);
            let behind = last + u32::from(!flags.is_upper);
            known.z = from_fn(|k| match k {
                0 => Values::<E, Cube>::load_at(t, even + shift - below),
                _ if k == BATCH + 1 => load(even + last * STEP),
                _ if k == BATCH + 2 => load(even + behind * STEP),
                _ => load(even + (k as u32 - 1) * STEP),
            });
        }
        if AXES & 2 != 0 {
            known.y = from_fn(|i| self.y.map(|at| load(at + i as u32 * STEP)));
        }
        if AXES & 4 != 0 {
            known.x = from_fn(|i| self.x.map(|at| load(at + i as u32 * STEP)));
        }
        known
    }
}

/// Half of a column.
struct Half<'a, T, E> {
    t: T,
    column: &'a Column<'a, E>,
    known: &'a Known<E>,
    flags: Flags,
    spline: Spline,
    /// From the column's first place to that of this half, in bytes.
    shift: u32,
    /// Its first place, and the number of its code.
    first: [u32; 3],
    index: u64,
}

impl<T: Thread, E: Element> Half<'_, T, E> {
    #[inline(always)]
    fn predict<const AXES: u32>(&self, i: usize) -> E {
        combine(AXES, &OfHalf { half: self, i })
    }

    #[inline(always)]
    fn spot(&self, i: usize) -> Spot {
        let [z, y, x] = self.first;
        Spot {
            place: [z + 2 * i as u32, y, x],
            is_own: true,
            index: self.index + i as u64 * CODES,
        }
    }

    /// How place number `i` of a half is predicted along z: see [`Order::at`].
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

/// A place of a half.
struct OfHalf<'a, T, E> {
    half: &'a Half<'a, T, E>,
    i: usize,
}

impl<T: Thread, E: Element> Around<E> for OfHalf<'_, T, E> {
    #[inline(always)]
    fn along(&self, axis: usize) -> OneAxis<E> {
        let known = self.half.known;
        let i = self.i;
        let (order, nearest) = match axis {
            0 => {
                let nearest = [i, i + 1, i + 2, i + 3].map(|at| known.z[at]);
                (self.half.order(i), nearest)
            }
            1 => (self.half.flags.y, known.y[i]),
            _ => (self.half.flags.x, known.x[i]),
        };
        OneAxis {
            order,
            value: blend(order, self.half.spline, nearest),
        }
    }

    #[inline(always)]
    fn corner(&self, a: usize, b: usize) -> E {
        let slot = self.half.column.address + self.half.shift + self.i as u32 * STEP;
        Values::<E, Cube>::load_at(self.half.t, slot - back(a) - back(b))
    }
}
/// From an odd place to the one before it along an axis, in bytes.
#[inline(always)]
const fn back(axis: usize) -> u32 {
    4 * match axis {
        0 | 1 => store::stride(Shape::Cube, axis),
        _ => store::in_row(Shape::Cube, 1),
    }
}
