//! Reconstruction: codes to a field.
//!
//! First each half warp sums up a *run* of 16 rows, a slice in a cube: along x from lane to lane, then row by
//! row, and leaves them in shared memory. Then the sums of the runs before are added, and values are written.

#![expect(
    clippy::needless_range_loop,
    reason = "arrays stay in registers if bounds are constant, which iterators hide"
)]

use crate::PACKAGE;
use crate::predict::tile_lorenzo::LorenzoParams;
use crate::predict::tile_lorenzo::THREADS;
use crate::predict::tile_lorenzo::rows::{Pair, Row, SLICE_ROWS, TileRows, is_whole, position};
use crate::primitives::element::load_element;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::token::{RAW, unzigzag};
use ferrosz_codec::predict::tile_lorenzo::origin;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::{ROW, TILE, TileBox};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Parameters of [`Reconstruct`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReconstructParams {
    /// The slice. Strides are those of its memory.
    pub part: LorenzoParams,
    /// The numbers in the slice of the tiles that are reconstructed; none for all of them.
    pub tiles: View<u32>,
    /// Elements of the slice before its memory: see [`MemoryBox::before`](crate::pipeline::tiles::window::MemoryBox::before).
    pub before: u64,
}

impl ReconstructParams {
    /// All tiles of a slice.
    pub const fn all(part: LorenzoParams) -> Self {
        Self {
            part,
            tiles: View::empty(),
            before: 0,
        }
    }

    /// The number of the tile of a block, and the tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn tile_of_block<T: Thread>(&self, t: T, shape: Shape) -> (u64, TileBox) {
        let mut at = t.block_index();
        if !self.tiles.is_empty() {
            at = t.load(self.tiles, u64::from(at));
        }
        self.part.tile(shape, at)
    }
}

/// Reconstructs a field of `E` in tiles of shape `S`. Launched with a block for each tile.
///
/// The values of positions without a code lie in the field already, and stay there.
pub struct Reconstruct<E, S>(PhantomData<(E, S)>);

/// Rows of a run.
const RUN: u32 = 16;
/// Lanes that have a row.
const HALF: u32 = WARP / 2;
/// Positions of a row that a lane has, side by side.
const QUAD: usize = (ROW / HALF) as usize;
/// Rows that a lane loads at once.
const BATCH: usize = 4;
/// Words of a row's codes.
const ROW_WORDS: u64 = ROW as u64 / 2;

/// A lane's values of a row, position by position.
type Quad = [i32; QUAD];

/// A lane's words of a row's codes.
#[derive(Clone, Copy)]
struct Words {
    /// Of the even positions.
    even: u32,
    /// Of the odd ones.
    odd: u32,
}

/// The shared memory of a block: the sums of a tile's positions, row after row.
const SHARED: (Shared<u32>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("sums", TILE as u32), layout)
};

impl<E: Element, S: StaticShape> Kernel for Reconstruct<E, S> {
    type Params = ReconstructParams;
    const NAME: &'static str = const {
        &Name::of(&[
            "ferrosz_lorenzo_reconstruct",
            S::SHAPE.name(),
            E::DTYPE.name(),
        ])
    }
    .as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 3;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ReconstructParams) {
        let ReconstructParams { part, before, .. } = params;
        let (number, tile) = params.tile_of_block(t, S::SHAPE);
        let quantizer = part.quantizer::<T, E>(t);
        if is_whole(S::SHAPE, &tile) {
            let rows = TileRows::<S, true>::new(part, number, &tile).behind(*before);
            reconstruct(t, &rows, &quantizer);
        } else {
            let rows = TileRows::<S, false>::new(part, number, &tile).behind(*before);
            reconstruct(t, &rows, &quantizer);
        }
    }
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn reconstruct<T: Thread, E: Element, S: StaticShape, const WHOLE: bool>(
    t: T,
    rows: &TileRows<'_, S, WHOLE>,
    quantizer: &Quantizer<E>,
) {
    let origin = raw_origin(t, rows, quantizer);
    let has_raw = t.barrier_or(Run::new(rows, origin).sum_up(t));
    let leave = Leave {
        rows,
        quantizer,
        has_raw_origin: origin.is_some(),
    };
    if has_raw {
        leave.run::<T, true>(t);
    } else {
        leave.run::<T, false>(t);
    }
}

/// The code that the tile's first position counts with, if it is this thread's and has no code of its own.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn raw_origin<T: Thread, E: Element, S: StaticShape, const WHOLE: bool>(
    t: T,
    rows: &TileRows<'_, S, WHOLE>,
    quantizer: &Quantizer<E>,
) -> Option<i32> {
    let is_raw = || t.load_half(rows.params.codes, rows.first_code) == RAW;
    (t.thread_index() == 0 && is_raw()).then(|| {
        let value = load_element(t, rows.params.field, rows.first_element);
        origin(quantizer, value)
    })
}

/// A half warp's run of rows.
struct Run<'a, S, const WHOLE: bool> {
    rows: &'a TileRows<'a, S, WHOLE>,
    origin: Option<i32>,
    /// The last row's sums; in a line, that of its last position at all positions.
    sums: Quad,
    /// The largest code, but that of the tile's first position.
    largest: u32,
}

impl<'a, S: StaticShape, const WHOLE: bool> Run<'a, S, WHOLE> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn new(rows: &'a TileRows<'a, S, WHOLE>, origin: Option<i32>) -> Self {
        Self {
            rows,
            origin,
            sums: [0; QUAD],
            largest: 0,
        }
    }

    /// Leaves the run's sums in shared memory; whether a position has no code, other than the tile's first.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn sum_up<T: Thread>(mut self, t: T) -> bool {
        let mut row = t.thread_index() / HALF * RUN;
        let end = row + t.opaque(RUN);
        let mut next = self.load(t, row);
        while row < end {
            let words = next;
            if row + (BATCH as u32) < end {
                next = self.load(t, row + BATCH as u32);
            }
            for i in 0..BATCH {
                let is_first = i == 0 && row == 0;
                let residuals = self.residuals(words[i], is_first);
                let sums = self.add_row(t, residuals);
                let at = (row + i as u32) * ROW + t.lane() % HALF * QUAD as u32;
                SHARED.0.store4(t, at, sums.map(i32::cast_unsigned));
            }
            row += BATCH as u32;
        }
        self.largest >= RAW
    }

    /// The codes of the rows from one on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn load<T: Thread>(&self, t: T, row: u32) -> [Words; BATCH] {
        let first = self.rows.first_code / 2 + u64::from(row) * ROW_WORDS;
        let first = first + u64::from(t.lane() % HALF);
        let codes = self.rows.params.codes;
        core::array::from_fn(|i| {
            let at = first + i as u64 * ROW_WORDS;
            Words {
                even: t.load(codes, at),
                odd: t.load(codes, at + u64::from(HALF)),
            }
        })
    }

    /// The residuals of codes, 0 where there is none; the tile's first position has its own.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn residuals(&mut self, words: Words, is_first: bool) -> Quad {
        let Words { even, odd } = words;
        let mut codes = [even & 0xffff, odd & 0xffff, even >> 16, odd >> 16];
        let origin = if is_first { self.origin } else { None };
        if origin.is_some() {
            codes[0] = 0;
        }
        for i in 0..QUAD {
            self.largest = codes[i].max(self.largest);
        }
        let mut residuals = codes.map(|code| if code == RAW { 0 } else { unzigzag(code) });
        residuals[0] = origin.unwrap_or(residuals[0]);
        residuals
    }

    /// The sums of a row and, in the run, of those before.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn add_row<T: Thread>(&mut self, t: T, residuals: Quad) -> Quad {
        let mut along = residuals;
        for i in 1..QUAD {
            along[i] = along[i].wrapping_add(along[i - 1]);
        }
        let before = half_warp_sum_before(t, along[QUAD - 1]);
        for i in 0..QUAD {
            along[i] = along[i].wrapping_add(before).wrapping_add(self.sums[i]);
        }
        self.sums = along;
        if matches!(S::SHAPE, Shape::Line) {
            let last = t.shuffle(along[QUAD - 1].cast_unsigned(), t.lane() | (HALF - 1));
            self.sums = [last.cast_signed(); QUAD];
        }
        along
    }
}

/// The sum of the values of the lanes before this one in its half of the warp.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn half_warp_sum_before<T: Thread>(t: T, value: i32) -> i32 {
    let lane = t.lane() % HALF;
    let mut sum = value.cast_unsigned();
    for step in 0..HALF.ilog2() {
        let delta = 1 << step;
        let below = t.shuffle_up(sum, delta);
        sum = sum.wrapping_add(if lane >= delta { below } else { 0 });
    }
    sum.cast_signed().wrapping_sub(value)
}

/// Completes the sums of all runs and writes the values.
struct Leave<'a, E, S, const WHOLE: bool> {
    rows: &'a TileRows<'a, S, WHOLE>,
    quantizer: &'a Quantizer<E>,
    /// Whether this thread has the tile's first position, and it has no code.
    has_raw_origin: bool,
}

impl<E: Element, S: StaticShape, const WHOLE: bool> Leave<'_, E, S, WHOLE> {
    const HAS_SLICES: bool = matches!(S::SHAPE, Shape::Cube);

    /// Completes and writes this warp's rows: two runs, or in a cube those of two y, slice after slice. Without
    /// `HAS_RAW` all positions but the tile's first have a code.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread, const HAS_RAW: bool>(&self, t: T) {
        let mut earlier = Pair::default();
        let mut counted = 0;
        let mut share = 2 * t.warp();
        let end = share + t.opaque(2);
        while share < end {
            if Self::HAS_SLICES {
                self.store_rows::<T, HAS_RAW>(t, share, Pair::default());
            } else {
                while counted < share {
                    earlier = earlier.plus(last_sums::<T, S>(t, counted));
                    counted += 1;
                }
                self.store_rows::<T, HAS_RAW>(t, share * RUN, earlier);
            }
            share += 1;
        }
    }

    /// Completes and writes the rows of a run from number `first` on, or those with its y in a cube.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store_rows<T: Thread, const HAS_RAW: bool>(&self, t: T, first: u32, mut earlier: Pair<i32>) {
        let step = if Self::HAS_SLICES { SLICE_ROWS } else { 1 };
        let mut number = first;
        let mut row = self.rows.row(t, first);
        let end = first + step * t.opaque(RUN);
        while number < end {
            for i in 0..BATCH as u32 {
                let row = self.further(row, i);
                let own = Pair::of(|half| sum(t, number + i * step, position(t, half)));
                let sums = earlier.plus(own);
                if Self::HAS_SLICES {
                    earlier = sums;
                }
                let is_kept = i == 0 && number == 0 && self.has_raw_origin;
                self.store::<T, HAS_RAW>(t, row, 0, sums.low, is_kept);
                self.store::<T, HAS_RAW>(t, row, 1, sums.high, false);
            }
            number += BATCH as u32 * step;
            row = self.further(row, BATCH as u32);
        }
    }

    /// The row that a warp takes `count` rows later.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn further(&self, row: Row, count: u32) -> Row {
        if Self::HAS_SLICES {
            self.rows.moved(row, count, 0)
        } else {
            self.rows.moved(row, 0, count)
        }
    }

    /// Writes the value of a code. A raw position keeps the value that the field already has.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store<T: Thread, const HAS_RAW: bool>(
        &self,
        t: T,
        row: Row,
        half: u32,
        code: i32,
        is_kept: bool,
    ) {
        let is_kept = is_kept || HAS_RAW && self.rows.load_code(t, row, half) == RAW;
        if self.rows.has(t, row, half) && !is_kept {
            let value = self.quantizer.dequantize(code);
            self.rows.store(t, row, half, value);
        }
    }
}

/// The sums of a run that the runs after it need.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn last_sums<T: Thread, S: StaticShape>(t: T, run: u32) -> Pair<i32> {
    let row = run * RUN + RUN - 1;
    let is_line = matches!(S::SHAPE, Shape::Line);
    Pair::of(|half| sum(t, row, if is_line { ROW - 1 } else { position(t, half) }))
}

/// The sum at a position of a row.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn sum<T: Thread>(t: T, row: u32, x: u32) -> i32 {
    SHARED.0.load(t, row * ROW + x).cast_signed()
}
