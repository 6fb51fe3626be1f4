//! Classes of all tiles, and counts of the symbols of those runs that are counted.
//!
//! One warp a tile, which it goes through once, 16 bytes a lane, to sum up the magnitudes of each zone, and again in
//! steps if it has raw values. The tiles whose symbols are counted, which takes longer, are shared out among the warps
//! of their block, which read them from the cache. A block counts in shared memory and adds its counts to the cells of
//! all blocks at its end.

use crate::PACKAGE;
use crate::choice::taken_tiles::TakenTiles;
use crate::code::entropy::walk::{
    OfCells, OfZones, QUAD_CODES, QUAD_STEPS, QUADS, Quad, levels_of_row_starts, shifts_of,
};
use crate::code::entropy::{THREADS, WARPS};
use crate::pipeline::tiles::layout::{TILE_RAWS, TILE_WORDS, marks, region};
use crate::pipeline::tiles::tiling::{Counted, Tiling};
use core::marker::PhantomData;
use ferrosz_codec::code::entropy::class::{CONTEXTS, FIRST_CLASSES, class};
use ferrosz_codec::code::entropy::token::{RAW, TOKENS, Token};
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::{LANES, RUN_TILES, TileOrder, ZONES};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Finds classes and counts symbols, in tiles of shape `S`. Launched with any number of blocks; one for each
/// [`tiles_a_block`] tiles is best.
pub struct Statistics<S>(PhantomData<S>);

/// Parameters of [`Statistics`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StatisticsParams {
    /// The tiles, in chunks of one run.
    pub tiling: Tiling,
    /// The regions and marks of all tiles: see [`layout`](crate::pipeline::tiles::layout).
    pub regions: View<u32>,
    /// The output: [`TILE_WORDS`] words for each of the 4 tiles of every run.
    pub tiles: View<u32>,
    /// The parameters of the field, whose shifts contexts have; nothing without them.
    pub parameters: View<u32>,
    /// The counts, to be raised: [`COUNTERS`] cells, by context and symbol.
    pub counts: View<u64>,
    /// The runs that are counted.
    pub counted: Counted,
    /// Tiles that a block takes at the same time, at most [`WARPS`].
    pub tiles_a_block: u32,
    /// The tiles, if they are not all: each in a run of its own, and counted as often as its weight says. A block has one of
    /// them. The cell behind the counts is raised by the weights of those that have codes.
    pub taken: TakenTiles,
}

/// Tiles that a block takes at the same time: one for each warp, but one for all of a block's warps while there are so few that
/// each can have a block.
pub const fn tiles_a_block(tiles: u64) -> u32 {
    if tiles <= 512 { 1 } else { WARPS }
}

/// Symbols of all contexts.
pub const COUNTERS: u32 = CONTEXTS * TOKENS;

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    counts: Shared<u32>,
    /// For each warp, whether its tile is counted.
    is_counted: Shared<u32>,
    /// For each warp, the classes of its tile: of zone `lane`, and [`WARP`] further of zone 32 + `lane`.
    classes: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        counts: layout.array("counts", COUNTERS),
        is_counted: layout.array("is counted", WARPS),
        classes: layout.array("classes", WARPS * 2 * WARP),
    };
    (scratch, layout)
};

/// Quads that a warp reads before it looks at the first.
const IN_FLIGHT: usize = 4;

impl<S: StaticShape> Kernel for Statistics<S> {
    type Params = StatisticsParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_entropy_statistics", S::NAME]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 4;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &StatisticsParams) {
        let mut counter = t.thread_index();
        while counter < COUNTERS {
            SHARED.0.counts.store(t, counter, 0);
            counter += THREADS;
        }
        t.barrier();
        // A machine's memory holds fewer than 2^32 tiles. In 64 bits their numbers would be registers too many.
        let tiles = if params.taken.is_all() {
            params.tiling.runs() as u32 * RUN_TILES
        } else {
            params.taken.count() as u32
        };
        // Tiles of one block are neighbours: so those that are counted are in few blocks.
        let mut first = t.block_index() * params.tiles_a_block;
        let mut has_counted = false;
        while first < tiles {
            has_counted |= Self::run_tiles(t, params, first);
            first += t.block_count() * params.tiles_a_block;
        }
        if !has_counted {
            return;
        }
        let weight = if params.taken.is_all() {
            1
        } else {
            params.taken.weight(t, t.block_index().into())
        };
        if !params.taken.is_all() && t.thread_index() == 0 {
            t.atomic_add(params.counts, u64::from(COUNTERS), weight);
        }
        let mut counter = t.thread_index();
        while counter < COUNTERS {
            let count = SHARED.0.counts.load(t, counter);
            if count != 0 {
                t.atomic_add(params.counts, u64::from(counter), weight * u64::from(count));
            }
            counter += THREADS;
        }
    }
}

impl<S: StaticShape> Statistics<S> {
    /// Finds the classes of a tile for each warp, from tile `first` on, and counts the symbols of those that are
    /// counted; whether any is. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run_tiles<T: Thread>(t: T, params: &StatisticsParams, first: u32) -> bool {
        let own = t.shuffle(t.warp(), 0);
        let tile = TileStatistics::<S>::new(params, first + own);
        let mut is_counted = false;
        if own < params.tiles_a_block && tile.is_there() {
            let classes = tile.run(t);
            is_counted = tile.is_counted(t, classes);
            if is_counted {
                classes.leave(t, own);
            }
        }
        if t.lane() == 0 {
            SHARED.0.is_counted.store(t, own, u32::from(is_counted));
        }
        if !t.barrier_or(is_counted) {
            return false;
        }
        for warp in 0..t.opaque(WARPS) {
            if SHARED.0.is_counted.load(t, warp) != 0 {
                let tile = TileStatistics::<S>::new(params, first + warp);
                tile.count(t, OfZones::left_by(t, warp), own);
            }
        }
        t.barrier();
        true
    }
}

impl OfZones {
    /// Leaves them for the other warps of the block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn leave<T: Thread>(self, t: T, own: u32) {
        let at = own * 2 * WARP + t.lane();
        SHARED.0.classes.store(t, at, self.first);
        SHARED.0.classes.store(t, at + WARP, self.rest);
    }

    /// The classes that a warp has left.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn left_by<T: Thread>(t: T, warp: u32) -> Self {
        let at = warp * 2 * WARP + t.lane();
        Self {
            first: SHARED.0.classes.load(t, at),
            rest: SHARED.0.classes.load(t, at + WARP),
        }
    }
}

/// Finds the statistics of a tile.
struct TileStatistics<'a, S> {
    params: &'a StatisticsParams,
    /// Its number among the tiles of all runs.
    number: u32,
    shape: PhantomData<S>,
}

impl<'a, S: StaticShape> TileStatistics<'a, S> {
    /// The tile of a number; of a list of tiles, each is the first one of a run.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn new(params: &'a StatisticsParams, number: u32) -> Self {
        let tiles = if params.taken.is_all() { 1 } else { RUN_TILES };
        Self {
            params,
            number: number * tiles,
            shape: PhantomData,
        }
    }

    /// The number of its run.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn run_number(&self) -> u64 {
        (self.number / RUN_TILES) as u64
    }

    /// Its number in its run.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn of_run(&self) -> u32 {
        self.number % RUN_TILES
    }

    /// Its region.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn region(&self) -> View<u32> {
        region(self.params.regions, self.number.into())
    }

    /// Whether there is such a tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_there(&self) -> bool {
        let StatisticsParams { tiling, taken, .. } = self.params;
        let is_in_run = |run| !taken.is_all() || self.of_run() < tiling.tiles_of(run);
        self.run_number() < tiling.runs() && is_in_run(self.run_number())
    }

    /// Finds the classes of the tile's zones, and marks the raw values.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(&self, t: T) -> OfZones {
        let (sums, has_raws) = self.sum(t);
        let classes = OfZones {
            first: class(S::LEVELS, t.lane(), sums.first),
            rest: if t.lane() < ZONES - FIRST_CLASSES {
                class(S::LEVELS, FIRST_CLASSES + t.lane(), sums.rest)
            } else {
                0
            },
        };
        let raws = if has_raws { self.mark(t) } else { 0 };
        self.store(t, classes, raws);
        classes
    }

    /// Whether there are symbols to count.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_counted<T: Thread>(&self, t: T, classes: OfZones) -> bool {
        let StatisticsParams {
            tiling,
            counted,
            taken,
            ..
        } = self.params;
        let is_in_sample = !taken.is_all() || counted.has(tiling, self.run_number());
        t.any(classes.first | classes.rest != 0) && is_in_sample
    }

    /// Keeps the tile's classes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store<T: Thread>(&self, t: T, classes: OfZones, raws: u32) {
        let tiles = self.params.tiles.from(u64::from(self.number) * TILE_WORDS);
        t.store(tiles, u64::from(t.lane()), classes.first);
        let at = u64::from(FIRST_CLASSES + t.lane());
        if at < TILE_RAWS {
            t.store(tiles, at, classes.rest);
        } else if at == TILE_RAWS {
            t.store(tiles, at, raws);
        }
    }

    /// The sums of the magnitudes of the tile's zones, and whether any code is [`RAW`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn sum<T: Thread>(&self, t: T) -> (OfZones, bool) {
        let region = self.region();
        let load = |quad: u32| {
            let unit = quad * (QUAD_CODES / CODES_OF_UNIT) + t.lane();
            t.load4(region, u64::from(unit))
        };
        let order = self.params.tiling.order.of_shape::<S>();
        let mut sums = ZoneSums::default();
        for batch in 0..t.opaque(QUADS / IN_FLIGHT as u32) {
            let quad = batch * IN_FLIGHT as u32;
            let units: [[u32; 4]; IN_FLIGHT] = core::array::from_fn(|i| load(quad + i as u32));
            let row = BATCH_ROWS * batch;
            let parts = Parts::of(&order, row, t.lane() / 4);
            for (i, unit) in units.iter().enumerate() {
                sums.add(t, &parts, 2 * i / IN_FLIGHT, *unit);
            }
            if (row + BATCH_ROWS).is_multiple_of(rows_of_bricks(S::SHAPE)) {
                sums.flush(t, &order, row);
            }
        }
        (sums.finish(t), t.any(sums.magnitudes & RAW_MAGNITUDES != 0))
    }

    /// Marks the raw values; how many there are.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn mark<T: Thread>(&self, t: T) -> u32 {
        let marks = marks(self.params.regions, &self.params.tiling, self.number.into());
        let mut raws = 0;
        for quad in 0..t.opaque(QUADS) {
            let codes = self.load(t, quad);
            let mut own = 0;
            for (step, z) in (0..).zip(&codes) {
                let marks = t.ballot(*z == RAW);
                own = if t.lane() == step { marks } else { own };
            }
            if t.lane() < QUAD_STEPS {
                t.store(marks, u64::from(quad * QUAD_STEPS + t.lane()), own);
            }
            raws += t.reduce_add(own.count_ones());
        }
        raws
    }

    /// This lane's codes of a quad.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn load<T: Thread>(&self, t: T, quad: u32) -> [u32; QUAD_STEPS as usize] {
        let first = quad * QUAD_CODES + t.lane();
        core::array::from_fn(|step| {
            t.load_half(self.region(), u64::from(first + step as u32 * LANES))
        })
    }

    /// Counts the symbols of a warp's share of the tile's quads.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn count<T: Thread>(&self, t: T, classes: OfZones, warp: u32) {
        let order = &self.params.tiling.order;
        if warp == 0 {
            SHARED.0.counts.add(t, classes.first, 1);
            if t.lane() < order.zones() - FIRST_CLASSES {
                SHARED.0.counts.add(t, classes.rest, 1);
            }
        }
        let StatisticsParams { tiling, taken, .. } = self.params;
        let position = tiling.taken_tile(t, taken, self.run_number(), self.of_run());
        let of_tile = (&position, position.is_complete(S::SHAPE));
        let shifts = shifts_of(t, self.params.parameters);
        let first_counter = |context: u32| context * TOKENS;
        let cells = OfCells::of_contexts(t, order, shifts, classes, first_counter);
        let mut number = warp;
        let mut codes = self.load(t, number);
        while number < t.opaque(QUADS) {
            let now = codes;
            let next = number + WARPS;
            // At the end those of the last quad again.
            codes = self.load(t, next.min(QUADS - 1));
            let quad = Quad::of::<_, S>(t, order, of_tile, number, cells);
            if quad.any != 0 {
                count_quad(t, &quad, now);
            }
            number = next;
        }
    }
}

/// Counts the symbols of a quad. Code 0, the most frequent, is counted in registers: otherwise all lanes would add to
/// one word, one after the other.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn count_quad<T: Thread>(t: T, quad: &Quad, codes: [u32; QUAD_STEPS as usize]) {
    let mut zeros = [0; QUAD_STEPS as usize];
    for (step, z) in (0..).zip(&codes) {
        if quad.is_active(step) {
            if *z == 0 {
                zeros[Quad::first_alike(step) as usize] += 1;
            } else {
                SHARED
                    .0
                    .counts
                    .add(t, quad.of_step(step) + Token::of(*z).number, 1);
            }
        }
    }
    for (step, zeros) in (0..).zip(&zeros) {
        if *zeros != 0 {
            SHARED.0.counts.add(t, quad.of_step(step), *zeros);
        }
    }
}

/// Codes in 16 bytes.
const CODES_OF_UNIT: u32 = 8;

/// The bits of two magnitudes that only those of [`RAW`] have.
const RAW_MAGNITUDES: u32 = 0x8000_8000;

/// Rows that a warp reads before it looks at the first: two times eight, each of which are all of the same bricks.
const BATCH_ROWS: u32 = 16;

const _: () = assert!(BATCH_ROWS == IN_FLIGHT as u32 * QUAD_STEPS / 2);

/// After so many rows bricks end, where 16 rows are, or each half of them is, of the same ones as those 16 before.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn rows_of_bricks(shape: Shape) -> u32 {
    match shape {
        Shape::Line => 16,
        Shape::Plane => 32,
        Shape::Cube => 128,
    }
}

/// The factor by which `Thread::add_halves` takes the codes of even lanes, and that for the codes of odd lanes.
const EVEN: u32 = 1;
const ODD: u32 = 1 << 8;

/// The codes of a lane that are of level 0, of level 1 and of higher levels: those of even lanes, of odd
/// lanes, or of both.
struct Parts {
    bricks: u32,
    level_1: u32,
    higher: u32,
}

impl Parts {
    /// Those of 16 rows from `row` on, for a lane that has codes of step `step` of each quad.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn of(order: &TileOrder, row: u32, step: u32) -> Self {
        let [first, third, others] = levels_of_row_starts(order.level_shape, row);
        // The codes of anchors are 0.
        let [even, odd] = match step {
            _ if !order.has_levels => [0; 2],
            0 => first,
            4 => third,
            2 | 6 => others,
            _ => [0; 2],
        };
        let of = |level: u32| {
            let even = if even == level { EVEN } else { 0 };
            even + if odd == level { ODD } else { 0 }
        };
        Self {
            bricks: of(0),
            level_1: of(1),
            higher: of(2),
        }
    }
}

/// Sums of magnitudes, while a warp reads a tile 16 bytes a lane: a lane has four even and four odd lanes' codes of a
/// step, 8 lanes from 8 (lane % 4) on, of step lane / 4 of each quad.
#[derive(Default)]
struct ZoneSums {
    /// Since the last flush, of the first and of the second half of every 16 rows.
    halves: [HalfSums; 2],
    /// Of the higher levels.
    higher: u32,
    /// All bits that any two magnitudes had.
    magnitudes: u32,
    /// Of whole zones: number `lane`, and 32 + `lane`.
    first: u32,
    rest: u32,
}

/// Sums of magnitudes of eight rows that are all of the same bricks, and of others that are.
#[derive(Default, Clone, Copy)]
struct HalfSums {
    /// Of level 0: of the first four of the 8 lanes, and of the others.
    bricks: [u32; 2],
    /// Of level 1.
    level_1: u32,
}

impl ZoneSums {
    /// Adds the codes of a quad, which is of one half of its 16 rows.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn add<T: Thread>(&mut self, t: T, parts: &Parts, half: usize, unit: [u32; 4]) {
        let sums = &mut self.halves[half];
        for (i, pair) in unit.iter().enumerate() {
            // Of both halves: (z + 1) / 2.
            let magnitudes = (pair >> 1 & 0x7fff_7fff) + (pair & 0x0001_0001);
            self.magnitudes |= magnitudes;
            sums.bricks[i / 2] = t.add_halves(magnitudes, parts.bricks, sums.bricks[i / 2]);
            sums.level_1 = t.add_halves(magnitudes, parts.level_1, sums.level_1);
            self.higher = t.add_halves(magnitudes, parts.higher, self.higher);
        }
    }

    /// Adds the sums since the last flush to the zones; of the last 16 rows the first is `row`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn flush<T: Thread>(&mut self, t: T, order: &TileOrder, row: u32) {
        for half in 0..2 {
            let brick = order.brick(row + half as u32 * BATCH_ROWS / 2, 0);
            let HalfSums { bricks, level_1 } = self.halves[half];
            let (count, sum) = sum_of_bricks(t, order.shape, bricks);
            if t.lane() / count == brick / count {
                self.first += sum;
            }
            let level_1 = t.reduce_add(level_1);
            if t.lane() == brick / 8 {
                self.rest += level_1;
            }
        }
        self.halves = [HalfSums::default(); 2];
    }

    /// The sums of all zones.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn finish<T: Thread>(&self, t: T) -> OfZones {
        let higher = t.reduce_add(self.higher);
        let is_last = t.lane() == ZONES - 1 - FIRST_CLASSES;
        OfZones {
            first: self.first,
            rest: self.rest + if is_last { higher } else { 0 },
        }
    }
}

/// How many bricks eight rows have, and the sum of one of them in every lane: the brick's number is that of the lane,
/// if bricks of other rows have the same one.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn sum_of_bricks<T: Thread>(t: T, shape: Shape, [low, high]: [u32; 2]) -> (u32, u32) {
    let sum_of_alike = |sum: u32| {
        let sum = sum + t.shuffle_xor(sum, 8);
        sum + t.shuffle_xor(sum, 16)
    };
    match shape {
        Shape::Line => (1, t.reduce_add(low + high)),
        Shape::Plane => {
            let sum = low + high;
            (4, sum_of_alike(sum + t.shuffle_xor(sum, 4)))
        }
        Shape::Cube => {
            // Of a lane and the one 4 above one gets the first brick, the other one the second.
            let is_second = t.lane() & 4 != 0;
            let (own, other) = if is_second { (high, low) } else { (low, high) };
            let sum = sum_of_alike(own + t.shuffle_xor(other, 4));
            let brick = t.lane() % 8;
            (8, t.shuffle(sum, brick / 2 + 4 * (brick % 2)))
        }
    }
}
