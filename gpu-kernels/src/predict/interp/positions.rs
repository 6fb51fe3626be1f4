//! The positions of a class: which thread takes which, and its work there.

use crate::predict::interp::THREADS;
use crate::predict::interp::residuals::{COLUMN_WINDOW, Residuals, TileSetup, code};
use crate::predict::interp::values::Values;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::predict::{Around, OneAxis, combine};
use ferrosz_codec::predict::interp::spline::{Order, Spline};
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::predict::interp::walk::OddAxes;
use ferrosz_codec::predict::interp::weights::taps;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile;
use ferrosz_simt::{SharedAddress, Thread, WARP};

/// A level, for a thread.
pub(super) struct Positions<'a, E> {
    pub(super) setup: &'a TileSetup,
    pub(super) quantizer: LevelQuantizer<E>,
    pub(super) level: u32,
    pub(super) spline: Spline,
    pub(super) reach: [Neighbourhood; 3],
    /// Whether positions are predicted by stencils.
    is_fitted: bool,
    /// Whether the own positions are taken in columns.
    in_columns: bool,
    spread: Spread,
    /// The address of the store.
    store: SharedAddress,
}

impl<'a, E: Element> Positions<'a, E> {
    /// A level of a tile whose store has this address.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn new<S: StaticShape>(
        setup: &'a TileSetup,
        quantizer: LevelQuantizer<E>,
        store: SharedAddress,
        level: u32,
        spline: Spline,
        kind: FittedKind,
        is_fitted: bool,
    ) -> Self {
        // With stencils, only positions that are predicted by them: columns of the others would double the kernel's code,
        // and few fields have any. These read the far face along z without asking whether there is one.
        let is_served = !matches!(kind, FittedKind::Stencils)
            || is_fitted && setup.tile.left[0] > COLUMN_WINDOW;
        let in_columns = level == 0 && setup.has_columns::<S>() && is_served;
        Self {
            setup,
            quantizer,
            level,
            spline,
            reach: [0, 1, 2].map(|axis| Neighbourhood::new(S::SHAPE, axis, level)),
            is_fitted,
            in_columns,
            spread: if in_columns {
                Spread::of_far(S::SHAPE)
            } else {
                Spread::of(S::SHAPE, level)
            },
            store,
        }
    }

    /// The address of a position.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn address(&self, shape: Shape, position: [u32; 3]) -> SharedAddress {
        self.store + 4 * store::index(shape, position)
    }

    /// The share that the thread whose first number is `turn` has of a class, and its first number in the next class,
    /// so that the threads of a block share out all classes of a stage as if they were one. `with_far`: those on far
    /// faces, too.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn share<S: StaticShape>(
        &self,
        class: OddAxes,
        with_far: bool,
        turn: u32,
    ) -> (Share, u32) {
        let extents = tile::extents(S::SHAPE);
        let left = self.setup.tile.left;
        let share = Share {
            class,
            ends: core::array::from_fn(|axis| {
                let far = u32::from(with_far & (extents[axis] > 1));
                left[axis].min(extents[axis] + far)
            }),
            // Besides columns there are far faces alone.
            turn: if self.in_columns & !with_far {
                self.spread.end
            } else {
                turn
            },
        };
        let numbers = self.spread.end.saturating_sub(turn);
        let next = turn + numbers.next_multiple_of(THREADS) - self.spread.end;
        (share, next)
    }

    /// Whether this thread has something to do.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) const fn has_positions(&self, share: &Share) -> bool {
        self.in_columns || share.turn < self.spread.end
    }

    /// Goes through this thread's positions of a class that is predicted along `AXES`, of those in `spread` every
    /// [`THREADS`]th from number `turn` on; before these, if they are so to be taken, its column.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn run<T: Thread, S: StaticShape, const AXES: u32, R: Residuals<E>>(
        &self,
        t: T,
        Share { class, ends, turn }: Share,
        residuals: &R,
    ) {
        if self.in_columns {
            self.run_columns::<T, AXES, R>(t, class.odd, residuals);
        }
        let mut turn = turn;
        while turn < self.spread.end {
            let steps = self.spread.steps(turn);
            let position: [u32; 3] = core::array::from_fn(|axis| {
                class.first(axis, 1 << self.level) + (steps[axis] << (self.level + 1))
            });
            if position[0] < ends[0] && position[1] < ends[1] && position[2] < ends[2] {
                self.visit::<T, S, AXES, R>(t, position, residuals);
            }
            turn += THREADS;
        }
    }

    /// Predicts and codes a position.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn visit<T: Thread, S: StaticShape, const AXES: u32, R: Residuals<E>>(
        &self,
        t: T,
        position: [u32; 3],
        residuals: &R,
    ) {
        let address = self.address(S::SHAPE, position);
        let around = InStore::<T, E, S> {
            t,
            positions: self,
            position,
            address,
            shape: PhantomData,
        };
        let prediction =
            if matches!(R::KIND, FittedKind::Stencils) && self.is_fitted && around.has_next(AXES) {
                around.by_stencil(AXES)
            } else {
                combine(AXES, &around)
            };
        code::<T, E, S, R>(t, residuals, &self.quantizer, position, address, prediction);
    }

    /// The order of the prediction of a position along an axis.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn order(&self, position: [u32; 3], axis: usize, unit: u32) -> Order {
        let setup = self.setup;
        Order::at(
            position[axis],
            unit,
            setup.window[axis],
            setup.tile.left[axis],
        )
    }
}

/// A position and its neighbours in the store.
pub(super) struct InStore<'a, T, E, S> {
    pub(super) t: T,
    pub(super) positions: &'a Positions<'a, E>,
    pub(super) position: [u32; 3],
    /// The address of the position.
    pub(super) address: SharedAddress,
    pub(super) shape: PhantomData<S>,
}

impl<T: Thread, E: Element, S: StaticShape> InStore<'_, T, E, S> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn neighbours(&self, axis: usize) -> (Order, [E; 4]) {
        let positions = self.positions;
        let order = positions.order(self.position, axis, 1 << positions.level);
        let known = positions.reach[axis]
            .nearest(self.address, order)
            .map(|address| Values::<E, S>::load_at(self.t, address));
        (order, known)
    }
}

impl<T: Thread, E: Element, S: StaticShape> Around<E> for InStore<'_, T, E, S> {
    /// Without a branch: the lanes of a warp may differ in their order.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn along(&self, axis: usize) -> OneAxis<E> {
        let (order, known) = self.neighbours(axis);
        OneAxis::blended(order, self.positions.spline, known)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn cubic(&self, axis: usize) -> OneAxis<E> {
        let (order, known) = self.neighbours(axis);
        OneAxis::cubic(order, self.positions.spline, known)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn corner(&self, a: usize, b: usize) -> E {
        let [a, b] = [a, b].map(|axis| self.positions.reach[axis].back);
        Values::<E, S>::load_at(self.t, self.address - a - b)
    }
}

/// The neighbours along an axis from which a position of a level is predicted: their offsets in bytes.
#[derive(Clone, Copy)]
pub(super) struct Neighbourhood {
    /// From the position back to the one behind it.
    pub(super) back: u32,
    /// From each to the next.
    apart: u32,
}

impl Neighbourhood {
    /// The offset in bytes of the position one unit behind or ahead of one that is odd along the axis.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) const fn beside_odd(self, step: i32) -> i32 {
        let behind = -self.back.cast_signed();
        if step < 0 {
            behind
        } else {
            behind + self.apart.cast_signed()
        }
    }

    /// The offset in bytes of the position so many times two units ahead.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) const fn by_pairs(self, pairs: i32) -> i32 {
        pairs * self.apart.cast_signed()
    }
}

impl Neighbourhood {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) const fn new(shape: Shape, axis: usize, level: u32) -> Self {
        let unit = 1 << level;
        if axis < 2 {
            let back = 4 * unit * store::stride(shape, axis);
            return Self {
                back,
                apart: 2 * back,
            };
        }
        // Even positions of a row lie side by side, and odd ones far from them.
        let from_odds = if level == 0 {
            store::in_row(shape, 1)
        } else {
            0
        };
        Self {
            back: 4 * (unit / 2 + from_odds),
            apart: 4 * unit,
        }
    }

    /// The addresses of those neighbours of the position at `address` that [`taps`] names for an order.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn taps(self, address: SharedAddress, order: Order) -> [SharedAddress; 4] {
        let behind = address - self.back;
        taps(order).map(|pairs| behind.offset(self.by_pairs(pairs)))
    }

    /// The addresses of those neighbours of the position at `address` that [`OneAxis::blended`] is given for an order.
    /// A neighbour that the order does not allow is replaced by one that exists.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn nearest(self, address: SharedAddress, order: Order) -> [SharedAddress; 4] {
        let next = if order.next { 1 } else { 0 };
        let from_behind = [
            if order.behind { -1 } else { 0 },
            0,
            next,
            if order.ahead { 2 } else { next },
        ];
        let behind = address - self.back;
        from_behind.map(|steps: i32| behind.offset(steps * self.apart.cast_signed()))
    }
}

/// A thread's share of a class.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) class: OddAxes,
    /// The end of the positions along each axis: all are below it.
    pub(super) ends: [u32; 3],
    /// The first number that is this thread's.
    pub(super) turn: u32,
}

/// How positions of a level are numbered: those not on the far face along x come first, row after row, then those that
/// are. Either begin with a whole warp, whose lanes so have positions side by side. The numbers are the same for all
/// classes: of one that is odd along an axis those on the far face there are none.
#[derive(Clone, Copy)]
struct Spread {
    /// Rows of positions, of which the first ones lie in planes of `height`. The others are the last rows of all
    /// planes.
    in_planes: u32,
    /// Rows on the far face along x come after so many numbers, in planes of `height`.
    far_from: u32,
    height: u32,
    /// The quotient of 65,536 by `height`, rounded up: rows are few.
    inverse: u32,
    /// The plane that the first row is of.
    first_plane: u32,
    width_log: u32,
    /// The first number that is none.
    end: u32,
}

impl Spread {
    /// All positions of a level.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn of(shape: Shape, level: u32) -> Self {
        let [depth, height] = Self::counts(shape, level);
        let rows = depth * height;
        Self {
            // Numbers between the rows and the far face are in planes that there are not.
            in_planes: u32::MAX,
            ..Self::new(shape, level, height, 0, [rows, rows, rows])
        }
    }

    /// Those of level 0 that are on far faces.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn of_far(shape: Shape) -> Self {
        let [depth, height] = Self::counts(shape, 0);
        let rows = [height, height + depth - 1, depth * height];
        Self::new(shape, 0, height, depth - 1, rows)
    }

    /// Positions along z and y with those on the far faces.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn counts(shape: Shape, level: u32) -> [u32; 2] {
        let [depth, height, _] = tile::extents(shape);
        [
            OddAxes::count(shape, 0, level) + (depth > 1) as u32,
            OddAxes::count(shape, 1, level) + (height > 1) as u32,
        ]
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn new(shape: Shape, level: u32, height: u32, first_plane: u32, rows: [u32; 3]) -> Self {
        let [in_planes, rows, far_rows] = rows;
        let width_log = OddAxes::count(shape, 2, level).trailing_zeros();
        let far_from = (rows << width_log).next_multiple_of(WARP);
        Self {
            in_planes,
            far_from,
            height,
            inverse: inverse(height),
            first_plane,
            width_log,
            end: far_from + far_rows.next_multiple_of(WARP),
        }
    }

    /// How many steps the position of a number is from the first one of its class along each axis; more than there are,
    /// for numbers between.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn steps(&self, number: u32) -> [u32; 3] {
        let is_far = number >= self.far_from;
        let row = if is_far {
            number - self.far_from
        } else {
            number >> self.width_log
        };
        let x = if is_far {
            1 << self.width_log
        } else {
            number & ((1 << self.width_log) - 1)
        };
        let z = (row * self.inverse) >> 16;
        if is_far {
            [z, row - z * self.height, x]
        } else if row < self.in_planes {
            [self.first_plane + z, row - z * self.height, x]
        } else {
            [row - self.in_planes, self.height - 1, x]
        }
    }
}

/// The quotient of 65,536 by a power of two up to 128 or one more than that, rounded up.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn inverse(divisor: u32) -> u32 {
    // Those of one more than a power of two.
    const LOW: u64 = quotients([2, 3, 5, 9]);
    const HIGH: u64 = quotients([17, 33, 65, 129]);
    let log = 31 - divisor.leading_zeros();
    if divisor.is_power_of_two() {
        1 << (16 - log)
    } else {
        let packed = if log < 4 { LOW } else { HIGH };
        (packed >> (16 * (log % 4))) as u32 & 0xffff
    }
}

const fn quotients(divisors: [u64; 4]) -> u64 {
    let mut packed = 0;
    let mut i = 0;
    while i < divisors.len() {
        packed |= (1u64 << 16).div_ceil(divisors[i]) << (16 * i);
        i += 1;
    }
    packed
}

#[cfg(test)]
mod tests {
    use crate::predict::interp::positions::inverse;

    #[test]
    fn rows_are_divided_by_the_heights_that_there_are() {
        for log in 0..8 {
            for height in [1 << log, (1 << log) + 1] {
                for row in 0..290u32 {
                    assert_eq!(
                        (row * inverse(height)) >> 16,
                        row / height,
                        "{row} / {height}"
                    );
                }
            }
        }
    }
}
