//! The stages of a tile, its places shared out among the threads of a block.

use super::THREADS;
use super::values::Values;
use crate::simt::{Thread, View, WARP};
use ferrosz_codec::Element;
use ferrosz_codec::interp::parameters::{LevelFlags, Parameters};
use ferrosz_codec::interp::predict::{OneAxis, Site, combine};
use ferrosz_codec::interp::quantize::LevelQuantizer;
use ferrosz_codec::interp::resolved::Words;
use ferrosz_codec::interp::spline::{Order, Spline, along, blend};
use ferrosz_codec::interp::stage::Stage;
use ferrosz_codec::interp::store;
use ferrosz_codec::interp::walk::Class;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::TileBox;

/// What a block knows of its tile's parameters.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The tile.
    pub tile: TileBox,
    /// How far anchors are apart.
    pub spacing: u32,
    pub(super) window: [u32; 3],
    flag_bits: u32,
    parameters: View<u32>,
    is_coarse: bool,
}

impl Setting {
    /// Reads the parameters. An unknown geometry is taken for the default: the host has looked at it.
    #[inline(always)]
    pub fn read<T: Thread, S: StaticShape>(
        t: T,
        parameters: View<u32>,
        tile: TileBox,
        is_coarse: bool,
    ) -> Self {
        let words = Words(|at| t.load(parameters, at as u64));
        let geometry = words.geometry().unwrap_or_default();
        Self {
            tile,
            spacing: geometry.spacing(S::SHAPE),
            window: geometry.window(S::SHAPE),
            flag_bits: words.flag_bits(),
            parameters,
            is_coarse,
        }
    }

    /// The bound.
    #[inline(always)]
    pub fn error<T: Thread, E: Element>(&self, t: T) -> E {
        Words(|at| t.load(self.parameters, at as u64)).error()
    }

    /// What codes are below in magnitude.
    #[inline(always)]
    pub fn radius<T: Thread>(&self, t: T) -> u32 {
        Words(|at| t.load(self.parameters, at as u64)).radius()
    }

    #[inline(always)]
    fn quantizer<T: Thread, E: Element>(&self, t: T, level: u32) -> LevelQuantizer<E> {
        let level = if self.is_coarse {
            self.spacing.trailing_zeros()
        } else {
            level
        };
        Words(|at| t.load(self.parameters, at as u64)).quantizer(level)
    }
}

/// What a thread does with a place once its prediction is known.
pub trait Settle<E> {
    /// `slot` is what the store holds for the place; the result is what is known of it from then on.
    fn settle<T: Thread>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        place: [u32; 3],
        slot: E,
        prediction: E,
    ) -> E;
}

/// Predicts and settles all places of a tile and its far faces but the anchors. For the whole block, after
/// a barrier behind which the store is filled; there is one behind each stage.
#[inline(always)]
pub fn run<T: Thread, E: Element, S: StaticShape>(
    t: T,
    setting: &Setting,
    settle: &impl Settle<E>,
) {
    let mut level = t.opaque(setting.spacing.trailing_zeros());
    while level > 0 {
        level -= 1;
        run_level::<T, E, S>(t, setting, level, settle);
    }
}

#[inline(always)]
fn run_level<T: Thread, E: Element, S: StaticShape>(
    t: T,
    setting: &Setting,
    level: u32,
    settle: &impl Settle<E>,
) {
    let flags = Parameters::flags_of(setting.flag_bits, level);
    let share = Share {
        setting,
        quantizer: setting.quantizer(t, level),
        level,
        unit: 1 << level,
        spline: flags.spline,
    };
    if share.is_whole::<S>() {
        run_stages::<T, S>(t, flags, level, |class, with_far, turn| {
            share.run_whole::<T, S>(t, class, with_far, turn, settle)
        });
    } else {
        run_stages::<T, S>(t, flags, level, |class, with_far, turn| {
            share.run_class::<T, S>(t, class, with_far, turn, settle)
        });
    }
}

/// Goes through the stages and classes of a level, `run` sharing out the places of a class, with those on far faces or
/// without; it gets and gives the number that this thread goes on with.
#[inline(always)]
fn run_stages<T: Thread, S: StaticShape>(
    t: T,
    flags: LevelFlags,
    level: u32,
    run: impl Fn(Class, bool, u32) -> u32,
) {
    let rank = usize::from(S::SHAPE.rank());
    // One text for all stages and classes: it is long.
    let (stages, classes) = (t.opaque(rank as u32) as usize, t.opaque(8));
    let mut number = 0;
    while number < stages {
        let stage = Stage::of(number, rank, flags.is_multi, flags.is_reverse);
        // Nothing is predicted from what the last stage of all finds on the far faces.
        let is_last = level == 0 && number + 1 == rank;
        let mut turn = t.thread_index();
        let mut odd = 1;
        while odd < classes {
            if let Some(class) = Class::of(stage, S::SHAPE, odd) {
                turn = run(class, !is_last, turn);
            }
            odd += 1;
        }
        t.barrier();
        number += 1;
    }
}

/// A level, for a thread.
pub(super) struct Share<'a, E> {
    pub(super) setting: &'a Setting,
    pub(super) quantizer: LevelQuantizer<E>,
    pub(super) level: u32,
    unit: u32,
    pub(super) spline: Spline,
}

impl<E: Element> Share<'_, E> {
    /// Goes through this thread's places of a class, every [`THREADS`]th from number `turn` on; the number in
    /// the next class to go on with, so that the threads of a block share out both as if they were one.
    ///
    /// Places not on the far face along x come first, row after row, then those that are. Either begin with a
    /// whole warp, whose lanes so have places side by side.
    #[inline(always)]
    fn run_class<T: Thread, S: StaticShape>(
        &self,
        t: T,
        class: Class,
        with_far: bool,
        turn: u32,
        settle: &impl Settle<E>,
    ) -> u32 {
        let spread = Spread::of::<S>(class, self.level, with_far);
        let mut turn = turn;
        while turn < spread.end {
            let [z, y, x] = spread.steps(turn);
            if z < spread.depth {
                let place =
                    |axis, steps| class.first(axis, self.unit) + (steps << (self.level + 1));
                let place = [place(0, z), place(1, y), place(2, x)];
                self.visit::<T, S>(t, class, place, settle);
            }
            turn += THREADS;
        }
        turn - spread.end
    }

    #[inline(always)]
    fn visit<T: Thread, S: StaticShape>(
        &self,
        t: T,
        class: Class,
        place: [u32; 3],
        settle: &impl Settle<E>,
    ) {
        let left = self.setting.tile.left;
        if place[0] >= left[0] || place[1] >= left[1] || place[2] >= left[2] {
            return;
        }
        let site = Site {
            place,
            left,
            window: self.setting.window,
            unit: self.unit,
            spline: self.spline,
        };
        let at = store::index(S::SHAPE, place);
        let prediction = combine(
            class.axes,
            |axis| self.one_axis::<T, S>(t, &site, axis, at),
            |a, b| {
                let mut place = place;
                place[a] -= self.unit;
                place[b] -= self.unit;
                Values::<E, S>::load(t, store::index(S::SHAPE, place))
            },
        );
        let slot = Values::<E, S>::load(t, at);
        let known = settle.settle(t, &self.quantizer, place, slot, prediction);
        Values::<E, S>::store(t, at, known);
    }

    /// The prediction along an axis. Along z and y the lanes of a warp mostly have one order; along x
    /// the first and the last differ from the others.
    #[inline(always)]
    fn one_axis<T: Thread, S: StaticShape>(
        &self,
        t: T,
        site: &Site,
        axis: usize,
        at: u32,
    ) -> OneAxis<E> {
        let order = site.order(axis);
        let unit = self.unit;
        let value = if axis == 2 {
            let x = site.place[2];
            let row = at - store::in_row(S::SHAPE, x);
            let load = |x| Values::<E, S>::load(t, row + store::in_row(S::SHAPE, x));
            let behind = matches!(order, Order::QuadraticBehind | Order::Cubic);
            let ahead = matches!(order, Order::QuadraticAhead | Order::Cubic);
            let before = x - unit;
            let after = if matches!(order, Order::Copy) {
                before
            } else {
                x + unit
            };
            let known = [
                load(if behind { x - 3 * unit } else { before }),
                load(before),
                load(after),
                load(if ahead { x + 3 * unit } else { after }),
            ];
            blend(order, self.spline, known)
        } else {
            let stride = store::stride(S::SHAPE, axis) * unit;
            along(order, self.spline, |steps| {
                let at = at.wrapping_add_signed(steps.wrapping_mul(stride as i32));
                Values::<E, S>::load(t, at)
            })
        };
        OneAxis { order, value }
    }
}

/// How the places of a class are numbered.
struct Spread {
    /// Places along z and y, and along x without the far face.
    depth: u32,
    height: u32,
    width_log: u32,
    /// The quotient of 65,536 by `height`, rounded up: rows are few.
    inverse: u32,
    /// The first number of a place on the far face along x, and the first that is none.
    far_from: u32,
    end: u32,
}

impl Spread {
    #[inline(always)]
    fn of<S: StaticShape>(class: Class, level: u32, with_far: bool) -> Self {
        let far = |axis| u32::from(with_far && class.has_far(S::SHAPE, axis));
        let height = Class::count(S::SHAPE, 1, level) + far(1);
        let depth = Class::count(S::SHAPE, 0, level) + far(0);
        let width_log = Class::count(S::SHAPE, 2, level).trailing_zeros();
        let rows = depth * height;
        let far_from = (rows << width_log).next_multiple_of(WARP);
        Self {
            depth,
            height,
            width_log,
            inverse: 0xffff / height.max(1) + 1,
            far_from,
            end: far_from + (far(2) * rows).next_multiple_of(WARP),
        }
    }

    /// How many steps a place is from the first one of its class along each axis; too many along z if there is no
    /// such place.
    #[inline(always)]
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
        [z, row - z * self.height, x]
    }
}
