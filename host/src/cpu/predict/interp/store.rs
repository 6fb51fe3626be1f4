//! The values and codes of a tile and its far faces, level by level.
//!
//! Level l has every position whose coordinates are multiples of 2^l, its unit. Counted in this unit, all levels are
//! predicted alike. The positions that are even along all axes are those of the next level.
//!
//! If slices are predicted one by one, levels are those of the positions of a slice, and each level has all slices.
//!
//! A row has its even positions first, then its odd ones. So the positions of a row that are predicted together are
//! contiguous, and so are their neighbours.

use crate::cpu::predict::interp::seen::{SLOTS, Seen};
use core::ops::Range;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::interp::geometry::{Geometry, MAX_LEVELS};
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::predict::slices;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::{RAW, TileCodes};
use ferrosz_codec::tile::{self, LANES, ROW, TileBox, TileOrder};

/// Positions are predicted in multiples of this number: loops of vectors have no rest then. Memory for the even and for
/// the odd positions of a row is rounded up to it. What it holds behind the positions is of no meaning.
pub(super) const VECTOR: usize = 8;

/// Copies values, a multiple of [`VECTOR`], in vectors. The rows of a tile are too short for a call of `memcpy`.
#[inline(always)]
pub(super) fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    let to = to.as_chunks_mut::<VECTOR>().0;
    for (from, to) in from.as_chunks::<VECTOR>().0.iter().zip(to) {
        *to = *from;
    }
}

/// Values before the first position and behind the last one, so that every position has neighbours in memory.
const MARGIN: usize = VECTOR;

/// The layout of a level.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Level {
    /// Positions along each axis, those on the far faces included.
    pub counts: [u32; 3],
    /// The distance between neighbours along z and y.
    pub strides: [usize; 2],
    /// The index of the first position.
    first: usize,
    /// The distance between the even and the odd positions of a row.
    odds: usize,
}

impl Level {
    /// The layout of a level of this order whose first position has the index `first`.
    fn new(order: &TileOrder, level: u32, first: usize) -> Self {
        let extents = tile::extents(order.shape);
        let counts = core::array::from_fn(|axis| match extents[axis] {
            1 => 1,
            // Slices have no far face along z, and are on all levels.
            extent if axis < order.first_axis() => extent,
            extent => (extent >> level) + 1,
        });
        let [evens, odds] = [counts[2].div_ceil(2), counts[2] / 2]
            .map(|count| (count as usize).next_multiple_of(VECTOR));
        let row = evens + odds;
        Self {
            counts,
            strides: [row * counts[1] as usize, row],
            first,
            odds: evens,
        }
    }

    /// Slices of this level from one slice of the next level to the one behind.
    #[inline(always)]
    const fn steps_along_z(&self, next: &Self) -> u32 {
        if self.counts[0] == next.counts[0] {
            1
        } else {
            2
        }
    }

    /// The end of its values.
    fn end(&self) -> usize {
        self.first + self.strides[0] * self.counts[0] as usize
    }

    /// The index of the first even position of a row, or of its first odd position.
    #[inline(always)]
    pub fn row(&self, z: u32, y: u32, is_odd: bool) -> usize {
        let [slice, row] = self.strides;
        self.first + z as usize * slice + y as usize * row + usize::from(is_odd) * self.odds
    }

    /// The index of a position.
    #[inline(always)]
    pub fn index(&self, [z, y, x]: [u32; 3]) -> usize {
        self.row(z, y, x % 2 == 1) + (x / 2) as usize
    }

    /// The indices of the even and the odd positions of a row from `x` on, which is even.
    #[inline(always)]
    fn halves(&self, [z, y, x]: [u32; 3]) -> [usize; 2] {
        [false, true].map(|is_odd| self.row(z, y, is_odd) + (x / 2) as usize)
    }
}

/// The values and codes of a tile and its far faces.
#[derive(Debug, Clone)]
pub struct TileStore<T> {
    order: TileOrder,
    levels: [Level; MAX_LEVELS + 1],
    /// Positions of level 0 along each axis that are in the field.
    ends: [u32; 3],
    values: Vec<T>,
    /// Zigzag or [`RAW`], in the layout of the values.
    codes: Vec<u16>,
    /// Memory for [`Seen`], if slices are predicted one by one.
    seen: Vec<T>,
    /// The positions whose codes are [`RAW`].
    raw: Vec<[u32; 3]>,
}

impl<T: Copy + Default> TileStore<T> {
    /// Memory for any tile of a shape.
    pub fn new(shape: Shape) -> Self {
        let levels = Geometry::ALL.map(|geometry| geometry.levels(shape));
        let highest = levels.into_iter().fold(0, u32::max);
        Self::with_levels(TileOrder::levels(shape, 1 << highest), highest)
    }

    /// Memory for any tile whose slices are predicted one by one.
    pub fn of_slices() -> Self {
        Self::with_levels(TileOrder::slices(1 << slices::ROOT), slices::ROOT)
    }

    /// Memory for any tile of an order, with levels up to this one.
    fn with_levels(order: TileOrder, highest: u32) -> Self {
        let mut levels = [Level::default(); MAX_LEVELS + 1];
        let mut end = MARGIN;
        for (level, layout) in (0..=highest).zip(&mut levels) {
            *layout = Level::new(&order, level, end);
            end = layout.end();
        }
        Self {
            order,
            levels,
            ends: levels[0].counts,
            values: vec![T::default(); end + MARGIN],
            codes: vec![0; end + MARGIN],
            seen: match order.has_slices() {
                true => vec![T::default(); SLOTS * levels[0].strides[0]],
                false => Vec::new(),
            },
            raw: Vec::new(),
        }
    }

    /// The positions that are coded.
    pub(crate) fn order(&self) -> TileOrder {
        self.order
    }

    /// The layout of a level, at most the highest one of the shape.
    #[inline(always)]
    pub(super) fn level(&self, level: u32) -> Level {
        self.levels[level as usize % (MAX_LEVELS + 1)]
    }

    /// Values and codes, in the layout of the levels.
    #[inline(always)]
    pub(super) fn parts(&mut self) -> (&mut [T], &mut [u16]) {
        (&mut self.values, &mut self.codes)
    }

    /// Values and codes, and the memory for the stencils of the last slices, for a level.
    #[inline(always)]
    pub(super) fn parts_of_slices(&mut self, level: u32) -> (&mut [T], &mut [u16], Seen<'_, T>) {
        let [slice, _] = self.level(level).strides;
        let seen = Seen::new(&mut self.seen, slice);
        (&mut self.values, &mut self.codes, seen)
    }

    /// All values, in the layout of the levels.
    #[inline(always)]
    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    /// The value at a position.
    #[inline(always)]
    pub fn value(&self, position: [u32; 3]) -> T {
        self.values[self.levels[0].index(position)]
    }

    /// Sets the value at a position.
    #[inline(always)]
    pub fn set_value(&mut self, position: [u32; 3], value: T) {
        self.set_value_of(0, position, value);
    }

    /// Sets the value at a position of a level, counted in its unit.
    #[inline(always)]
    pub(crate) fn set_value_of(&mut self, level: u32, position: [u32; 3], value: T) {
        let at = self.level(level).index(position);
        self.values[at] = value;
    }

    /// Copies the values of a row from a position on; its x is even.
    #[inline(always)]
    pub fn read_row(&self, position: [u32; 3], values: &mut [T]) {
        self.read_row_of(0, position, values);
    }

    /// As [`TileStore::read_row`], of a level: positions are counted in its unit.
    #[inline(always)]
    pub(crate) fn read_row_of(&self, level: u32, position: [u32; 3], values: &mut [T]) {
        let [evens, odds] = self.level(level).halves(position);
        merge(&self.values[evens..], &self.values[odds..], values);
    }

    /// Sets the values of all positions that are in the field, on level 0 alone. `read` fills a slice with the values
    /// of the field along x from a position on.
    #[inline(always)]
    pub(super) fn set_values(&mut self, tile: &TileBox, mut read: impl FnMut([u64; 3], &mut [T])) {
        self.enter(tile);
        let [depth, height, width] = self.ends;
        let mut values = [T::default(); ROW as usize];
        for z in 0..depth {
            for y in 0..height {
                for x in (0..width).step_by(ROW as usize) {
                    let values = &mut values[..(width - x).min(ROW) as usize];
                    read(tile.at([z, y, x]), values);
                    let [evens, odds] = self.levels[0].halves([z, y, x]);
                    let (before, behind) = self.values.split_at_mut(odds);
                    split(values, &mut before[evens..], behind);
                }
            }
        }
    }

    /// Sets the codes of all positions of a level and of higher ones that are in the field, on this level alone. Positions
    /// are counted in its unit. `read` fills a slice, of at most a step, with the codes of every second position along x from
    /// a position on.
    #[inline(always)]
    pub(super) fn set_codes(
        &mut self,
        (tile, level): (&TileBox, u32),
        mut read: impl FnMut([u32; 3], &mut [u16]),
    ) {
        self.raw.clear();
        self.enter(tile);
        let layout = self.level(level);
        let row = self.order.extents_of_level(level)[2].min(ROW);
        let [depth, height, width] = self.ends_of(level);
        for z in 0..depth {
            for y in 0..height {
                for first in (0..width).step_by(row as usize) {
                    for x in first..(first + 2).min(width) {
                        let at = layout.index([z, y, x]);
                        let count = (width - x).div_ceil(2).min(row.div_ceil(2)) as usize;
                        let codes = &mut self.codes[at..at + count];
                        read([z, y, x], codes);
                        if has_raw(codes) {
                            let lanes = (x..).step_by(2).zip(codes);
                            let raw = lanes.filter(|(_, code)| **code == RAW);
                            self.raw.extend(raw.map(|(x, _)| [z, y, x]));
                        }
                    }
                }
            }
        }
    }

    /// Sets the values of all positions from `lowest` to below `levels` whose codes are [`RAW`], each on its own level.
    /// Positions are counted in the unit of `lowest`, on which the codes were set.
    #[inline(always)]
    pub(super) fn set_raw(&mut self, lowest: u32, levels: u32, value: impl Fn([u32; 3]) -> T) {
        let first = self.order.first_axis();
        let shift = |axis: usize, level: u32| if axis < first { 0 } else { level };
        for position in &self.raw {
            let of_field = [0, 1, 2].map(|axis| position[axis] << shift(axis, lowest));
            let level = self.order.level_at(of_field);
            // Behind the first slice positions of the highest level are no anchors.
            if level < levels || self.order.has_slices() && position[0] > 0 {
                let of_level = |axis: usize| of_field[axis] >> shift(axis, level);
                let at = self.level(level).index([0, 1, 2].map(of_level));
                self.values[at] = value(*position);
            }
        }
    }

    /// The codes of the tile itself, in the order of steps and lanes, and 0 outside the field.
    #[inline(always)]
    pub(super) fn read_codes(&self, tile: &TileBox, codes: &mut TileCodes) {
        let (steps, _) = codes.as_chunks_mut::<{ LANES as usize }>();
        for (step, codes) in (0..).zip(steps) {
            let first = tile::position(self.order.shape, step, 0);
            let lanes = tile.lanes(self.order.shape, step) as usize;
            let at = self.levels[0].index(first);
            let (inside, outside) = codes.split_at_mut(lanes);
            inside.copy_from_slice(&self.codes[at..at + lanes]);
            outside.fill(0);
        }
    }

    /// Copies values from each level to the next one, up to level `levels`.
    #[inline(always)]
    pub(super) fn coarsen_values(&mut self, levels: u32) {
        for level in 0..levels {
            let levels = [level, level + 1].map(|level| self.level(level));
            let ends = self.ends_of(level + 1);
            coarsen(&mut self.values, levels, ends);
        }
    }

    /// Copies codes from each level to the next one, from level `lowest` up to level `levels`.
    #[inline(always)]
    pub(super) fn coarsen_codes(&mut self, lowest: u32, levels: u32) {
        for level in lowest..levels {
            let levels = [level, level + 1].map(|level| self.level(level));
            let ends = self.ends_of(level + 1);
            coarsen(&mut self.codes, levels, ends);
        }
    }

    /// Copies the values of the next level to this one.
    #[inline(always)]
    pub(super) fn refine_values(&mut self, level: u32) {
        let levels = [level, level + 1].map(|level| self.level(level));
        let ends = self.ends_of(level + 1);
        refine(&mut self.values, levels, ends);
    }

    /// The anchors, which are the positions of level `levels`; behind the first slice there are none.
    #[inline(always)]
    fn anchors(&self, levels: u32) -> Range<usize> {
        let highest = self.level(levels);
        match self.order.has_slices() {
            true => highest.first..highest.first + highest.strides[0],
            false => highest.first..highest.end(),
        }
    }

    /// Copies codes from each level to the one before, from level `levels` on, whose positions are anchors.
    #[inline(always)]
    pub(super) fn refine_codes(&mut self, levels: u32) {
        let anchors = self.anchors(levels);
        self.codes[anchors].fill(0);
        for level in (0..levels).rev() {
            let levels = [level, level + 1].map(|level| self.level(level));
            let ends = self.ends_of(level + 1);
            refine(&mut self.codes, levels, ends);
        }
    }

    /// Finds the positions of a tile along each axis, with its far faces, that are in the field.
    #[inline(always)]
    fn enter(&mut self, tile: &TileBox) {
        let extents = store::extents(self.order.shape);
        self.ends = core::array::from_fn(|i| extents[i].min(tile.left[i]));
    }

    /// Those of a level, counted in its unit.
    #[inline(always)]
    fn ends_of(&self, level: u32) -> [u32; 3] {
        let first = self.order.first_axis();
        core::array::from_fn(|axis| match axis < first {
            true => self.ends[axis],
            false => self.ends[axis].div_ceil(1 << level),
        })
    }
}

impl<T: Element> TileStore<T> {
    /// Rounds the anchors, which are the positions of level `levels`, from the first of them on.
    #[inline(always)]
    pub(super) fn round_anchors(&mut self, levels: u32, quantizer: &LevelQuantizer<T>) {
        let anchors = self.anchors(levels);
        let origin = self.values[anchors.start];
        for value in &mut self.values[anchors] {
            *value = quantizer.rounded(*value, origin);
        }
    }
}

/// Copies values or codes from a level to the next one. Positions of the next level end at `ends`.
#[inline(always)]
fn coarsen<V: Copy>(all: &mut [V], [fine, coarse]: [Level; 2], ends: [u32; 3]) {
    let [depth, height, width] = ends;
    let (from, to) = all.split_at_mut(coarse.first);
    for z in 0..depth {
        for y in 0..height {
            let at = fine.row(z * fine.steps_along_z(&coarse), 2 * y, false);
            let [evens, odds] = coarse.halves([z, y, 0]).map(|at| at - coarse.first);
            let (before, behind) = to.split_at_mut(odds);
            split(&from[at..at + width as usize], &mut before[evens..], behind);
        }
    }
}

/// Copies values or codes of the next level to a level. Positions of the next level end at `ends`.
#[inline(always)]
fn refine<V: Copy>(all: &mut [V], [fine, coarse]: [Level; 2], ends: [u32; 3]) {
    let [depth, height, width] = ends;
    let (to, from) = all.split_at_mut(coarse.first);
    for z in 0..depth {
        for y in 0..height {
            let at = fine.row(z * fine.steps_along_z(&coarse), 2 * y, false);
            let [evens, odds] = coarse.halves([z, y, 0]).map(|at| at - coarse.first);
            merge(
                &from[evens..],
                &from[odds..],
                &mut to[at..at + width as usize],
            );
        }
    }
}

/// Takes adjacent elements apart.
#[inline(always)]
fn split<V: Copy>(all: &[V], evens: &mut [V], odds: &mut [V]) {
    let (pairs, last) = all.as_chunks::<2>();
    let (evens, behind) = evens.split_at_mut(pairs.len());
    for (([first, second], even), odd) in pairs.iter().zip(evens).zip(odds) {
        *even = *first;
        *odd = *second;
    }
    for (even, last) in behind.iter_mut().zip(last) {
        *even = *last;
    }
}

/// The inverse of [`split`].
#[inline(always)]
fn merge<V: Copy>(evens: &[V], odds: &[V], all: &mut [V]) {
    let (pairs, last) = all.as_chunks_mut::<2>();
    let (evens, behind) = evens.split_at(pairs.len());
    for ((pair, even), odd) in pairs.iter_mut().zip(evens).zip(odds) {
        *pair = [*even, *odd];
    }
    for (last, even) in last.iter_mut().zip(behind) {
        *last = *even;
    }
}

/// Whether a code is [`RAW`].
#[inline(always)]
fn has_raw(codes: &[u16]) -> bool {
    codes.iter().fold(false, |any, code| any | (*code == RAW))
}
