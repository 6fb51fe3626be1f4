//! Classes of all tiles, and counts of the symbols of those chunks that are counted.
//!
//! One warp a tile, which it goes through twice, the second time from the cache: once, 16 bytes a lane, to sum up the
//! magnitudes of each group; and again in steps, if its symbols are counted or if it has values that are
//! stored as they are. A block counts in shared memory and adds that to the cells of all blocks at its end.

use crate::kernel::entropy::layout::{MARKS, TILE_RAWS, TILE_WORDS, region};
use crate::kernel::entropy::tiling::Tiling;
use crate::kernel::entropy::walk::{OfGroups, QUAD_CODES, QUAD_STEPS, QUADS, Quad, row_starts};
use crate::kernel::entropy::{THREADS, WARPS, first_of_warp};
use crate::simt::{Thread, View};
use core::marker::PhantomData;
use ferrosz_codec::entropy::class::{CONTEXTS, FIRST_CLASSES, class};
use ferrosz_codec::entropy::token::{RAW, TOKENS, Token};
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::{CHUNK_TILES, GROUPS, LANES, STEPS, TILE, TileOrder};

/// Finds classes and counts symbols, in tiles of shape `S`. Launched with any number of blocks; a warp for each tile is best.
pub struct Statistics<S>(PhantomData<S>);

/// Parameters of [`Statistics`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StatisticsParams {
    /// The tiles.
    pub tiling: Tiling,
    /// The regions of all chunks: see [`layout`](super::layout).
    pub regions: View<u32>,
    /// Where what is kept of each tile goes: [`TILE_WORDS`] words for each of the 4 tiles of every chunk.
    pub tiles: View<u32>,
    /// The counts, to be raised: [`COUNTERS`] cells, by context and symbol.
    pub counts: View<u64>,
}

/// Symbols of all contexts.
pub const COUNTERS: u32 = CONTEXTS * TOKENS;

/// Quads that a warp reads before it looks at the first.
const IN_FLIGHT: usize = 4;

impl<S: StaticShape> Statistics<S> {
    /// Words of shared memory.
    pub const SHARED_WORDS: u32 = COUNTERS;

    /// What one thread does.
    #[inline(always)]
    pub fn run<T: Thread>(t: T, params: &StatisticsParams) {
        let mut counter = t.thread_index();
        while counter < COUNTERS {
            t.shared_store(counter, 0);
            counter += THREADS;
        }
        t.barrier();
        let mut number = first_of_warp(t);
        while number < params.tiling.chunks() * u64::from(CHUNK_TILES) {
            let chunk = number / u64::from(CHUNK_TILES);
            let tile = number as u32 % CHUNK_TILES;
            if tile < params.tiling.tiles_of(chunk) {
                Work::<S>::new(params, chunk, tile).run(t);
            }
            number += u64::from(t.block_count()) * u64::from(WARPS);
        }
        t.barrier();
        let mut counter = t.thread_index();
        while counter < COUNTERS {
            let count = t.shared_load(counter);
            if count != 0 {
                t.cell_add(params.counts, u64::from(counter), u64::from(count));
            }
            counter += THREADS;
        }
    }
}

/// One tile.
struct Work<'a, S> {
    params: &'a StatisticsParams,
    chunk: u64,
    tile: u32,
    region: View<u32>,
    shape: PhantomData<S>,
}

impl<'a, S: StaticShape> Work<'a, S> {
    #[inline(always)]
    fn new(params: &'a StatisticsParams, chunk: u64, tile: u32) -> Self {
        Self {
            params,
            chunk,
            tile,
            region: region(params.regions, chunk),
            shape: PhantomData,
        }
    }

    #[inline(always)]
    fn run<T: Thread>(&self, t: T) {
        let (sums, has_raws) = self.sum(t);
        let classes = OfGroups {
            first: class(S::SHAPE, t.lane(), sums.first),
            rest: if t.lane() < GROUPS - FIRST_CLASSES {
                class(S::SHAPE, FIRST_CLASSES + t.lane(), sums.rest)
            } else {
                0
            },
        };
        let raws = if has_raws { self.mark(t) } else { 0 };
        self.store(t, classes, raws);
        let is_zero = !t.any(classes.first | classes.rest != 0);
        if !is_zero && self.params.tiling.is_counted(self.chunk) {
            self.count(t, classes);
        }
    }

    /// Keeps the tile's classes.
    #[inline(always)]
    fn store<T: Thread>(&self, t: T, classes: OfGroups, raws: u32) {
        let tile = self.chunk * u64::from(CHUNK_TILES) + u64::from(self.tile);
        let tiles = self.params.tiles.from(tile * TILE_WORDS);
        t.store(tiles, u64::from(t.lane()), classes.first);
        let at = u64::from(FIRST_CLASSES + t.lane());
        if at < TILE_RAWS {
            t.store(tiles, at, classes.rest);
        } else if at == TILE_RAWS {
            t.store(tiles, at, raws);
        }
    }

    /// The sums of the magnitudes of the tile's groups, and whether any code is [`RAW`].
    #[inline(always)]
    fn sum<T: Thread>(&self, t: T) -> (OfGroups, bool) {
        let first = self.tile * (TILE as u32 / CODES_OF_UNIT);
        let load = |quad: u32| {
            let unit = first + quad * (QUAD_CODES / CODES_OF_UNIT) + t.lane();
            t.load4(self.region, u64::from(unit))
        };
        let order = TileOrder {
            shape: S::SHAPE,
            ..self.params.tiling.order
        };
        let mut sums = GroupSums::default();
        for batch in 0..t.opaque(QUADS / IN_FLIGHT as u32) {
            let quad = batch * IN_FLIGHT as u32;
            let units: [[u32; 4]; IN_FLIGHT] = core::array::from_fn(|i| load(quad + i as u32));
            for (i, unit) in (0..).zip(&units) {
                sums.add(t, &order, quad + i, *unit);
            }
        }
        (sums.finish(t), t.any(sums.magnitudes & RAW_MAGNITUDES != 0))
    }

    /// Marks the values that are stored as they are; how many there are.
    #[inline(always)]
    fn mark<T: Thread>(&self, t: T) -> u32 {
        let mut raws = 0;
        for quad in 0..t.opaque(QUADS) {
            let codes = self.load(t, quad);
            let mut own = 0;
            for (step, z) in (0..).zip(&codes) {
                let marks = t.ballot(*z == RAW);
                own = if t.lane() == step { marks } else { own };
            }
            if t.lane() < QUAD_STEPS {
                let word = MARKS + self.tile * STEPS + quad * QUAD_STEPS + t.lane();
                t.store(self.region, u64::from(word), own);
            }
            raws += t.reduce_add(own.count_ones());
        }
        raws
    }

    /// This lane's codes of a quad.
    #[inline(always)]
    fn load<T: Thread>(&self, t: T, quad: u32) -> [u32; QUAD_STEPS as usize] {
        let first = self.tile * TILE as u32 + quad * QUAD_CODES + t.lane();
        core::array::from_fn(|step| {
            t.load_half(self.region, u64::from(first + step as u32 * LANES))
        })
    }

    /// Counts the tile's symbols.
    #[inline(always)]
    fn count<T: Thread>(&self, t: T, classes: OfGroups) {
        let order = &self.params.tiling.order;
        t.shared_add(classes.first, 1);
        if t.lane() < order.groups() - FIRST_CLASSES {
            t.shared_add(classes.rest, 1);
        }
        let place = self.params.tiling.tile(self.chunk, self.tile).place;
        // A class as the first counter of its context.
        let groups = OfGroups {
            first: classes.first * TOKENS,
            rest: classes.rest * TOKENS,
        };
        for number in 0..t.opaque(QUADS) {
            let quad = Quad::of::<_, S>(t, order, &place, number, groups);
            if quad.any != 0 {
                count_quad(t, &quad, self.load(t, number));
            }
        }
    }
}

/// Counts the symbols of a quad. Code 0, the most frequent, is counted in registers: otherwise all lanes would add to
/// one word, one after the other.
#[inline(always)]
fn count_quad<T: Thread>(t: T, quad: &Quad, codes: [u32; QUAD_STEPS as usize]) {
    let mut zeros = [0; QUAD_STEPS as usize];
    for (step, z) in (0..).zip(&codes) {
        if quad.is_active(step) {
            if *z == 0 {
                zeros[Quad::first_alike(step) as usize] += 1;
            } else {
                t.shared_add(quad.of_step(step) + Token::of(*z).number, 1);
            }
        }
    }
    for (step, zeros) in (0..).zip(&zeros) {
        if *zeros != 0 {
            t.shared_add(quad.of_step(step), *zeros);
        }
    }
}

/// Codes in 16 bytes.
const CODES_OF_UNIT: u32 = 8;

/// The bits of two magnitudes that only those of [`RAW`] have.
const RAW_MAGNITUDES: u32 = 0x8000_8000;

/// Sums of magnitudes, while a warp reads a tile 16 bytes a lane: a lane has four even and four odd lanes' codes of a
/// step, 8 lanes from 8 (lane % 4) on, of step lane / 4 of each quad.
#[derive(Default)]
struct GroupSums {
    /// Of level 0, since the last flush: of the first four of the 8 lanes, and of the others.
    bricks: [u32; 2],
    /// Of level 1, since the last flush.
    level_1: u32,
    /// Of the higher levels.
    higher: u32,
    /// All bits that any two magnitudes had.
    magnitudes: u32,
    /// Of whole groups: number `lane`, and 32 + `lane`.
    first: u32,
    rest: u32,
}

impl GroupSums {
    #[inline(always)]
    fn add<T: Thread>(&mut self, t: T, order: &TileOrder, quad: u32, unit: [u32; 4]) {
        let mut even = [0; 2];
        let mut odd = [0; 2];
        for (i, pair) in unit.iter().enumerate() {
            // Of both halves: (z + 1) / 2.
            let magnitudes = (pair >> 1 & 0x7fff_7fff) + (pair & 0x0001_0001);
            self.magnitudes |= magnitudes;
            even[i / 2] += magnitudes & 0xffff;
            odd[i / 2] += magnitudes >> 16;
        }
        let step = t.lane() / 4;
        let row = quad * (QUAD_STEPS / 2);
        let [even_level, odd_level] = if order.has_levels && step.is_multiple_of(2) {
            // Of lanes that are no anchors, whose codes are 0.
            [2, 1].map(|lane| {
                let levels = row_starts(order, row, lane, [0, 1, 2]);
                match step {
                    0 => levels[0],
                    4 => levels[1],
                    _ => levels[2],
                }
            })
        } else {
            [0; 2]
        };
        let of = |level: u32, wanted: u32, sum: u32| if level == wanted { sum } else { 0 };
        for i in 0..2 {
            self.bricks[i] += of(even_level, 0, even[i]) + of(odd_level, 0, odd[i]);
            self.level_1 += of(even_level, 1, even[i]) + of(odd_level, 1, odd[i]);
            self.higher += of(even_level, 2, even[i]);
        }
        if quad % 2 == 1 {
            self.flush(t, order, row);
        }
    }

    /// Adds what was summed up of the eight rows around `row`, which are all of the same bricks, to the groups.
    #[inline(always)]
    fn flush<T: Thread>(&mut self, t: T, order: &TileOrder, row: u32) {
        let brick = order.brick(row, 0);
        let [low, high] = self.bricks.map(|sum| {
            let sum = sum + t.shuffle_xor(sum, 4);
            let sum = sum + t.shuffle_xor(sum, 8);
            sum + t.shuffle_xor(sum, 16)
        });
        let (bricks, sum) = match order.shape {
            Shape::Line => (1, t.reduce_add(self.bricks[0] + self.bricks[1])),
            Shape::Plane => (4, low + high),
            Shape::Cube => {
                let source = t.lane() % 8 / 2;
                let (low, high) = (t.shuffle(low, source), t.shuffle(high, source));
                (8, if t.lane() % 2 == 1 { high } else { low })
            }
        };
        if t.lane() / bricks == brick / bricks {
            self.first += sum;
        }
        let level_1 = t.reduce_add(self.level_1);
        if t.lane() == brick / 8 {
            self.rest += level_1;
        }
        self.bricks = [0; 2];
        self.level_1 = 0;
    }

    /// The sums of all groups.
    #[inline(always)]
    fn finish<T: Thread>(&self, t: T) -> OfGroups {
        let higher = t.reduce_add(self.higher);
        let is_last = t.lane() == GROUPS - 1 - FIRST_CLASSES;
        OfGroups {
            first: self.first,
            rest: self.rest + if is_last { higher } else { 0 },
        }
    }
}
