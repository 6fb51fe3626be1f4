//! Masks of chunks, and with these their lengths and forms.

use crate::PACKAGE;
use crate::choice::taken_tiles::TakenTiles;
use crate::code::bit_planes::{STRIPES, Stripe, TILE_MASKS, TILE_TOPS, mask_of, planes_of};
use crate::code::entropy::{THREADS, WARPS};
use crate::pipeline::tiles::layout::{TILE_RAWS, TILE_WORDS, marks};
use crate::pipeline::tiles::record::Record;
use crate::pipeline::tiles::tiling::Tiling;
use crate::primitives::scan::block_sum;
use ferrosz_codec::code::bit_planes::PLANES;
use ferrosz_codec::code::entropy::token::RAW;
use ferrosz_codec::tile::RUN_TILES;
use ferrosz_simt::{Kernel, Layout, Package, Shared, Thread, View};

/// Measures chunks. Launched with one block a chunk.
pub struct Measure;

/// Parameters of [`Measure`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MeasureParams {
    /// The tiles.
    pub tiling: Tiling,
    /// The regions and marks of all tiles. A run is a chunk.
    pub regions: View<u32>,
    /// The words of each tile. Of its [`TILE_WORDS`] words number [`TILE_RAWS`] is written.
    pub tiles: View<u32>,
    /// The record of each chunk, which is written: see [`Record`].
    pub records: View<u32>,
    /// The workspace, whose look-back states get the lengths of the chunks.
    pub cells: View<u64>,
    /// Words of an element.
    pub element_words: u32,
    /// The tiles, if they are not all: each is a chunk.
    pub taken: TakenTiles,
}

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    /// The chunk's masks.
    masks: Shared<u32>,
    /// For each tile, the number of its raw values.
    raws: Shared<u32>,
    sums: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        masks: layout.array("masks", TILE_MASKS * RUN_TILES),
        raws: layout.array("raws", RUN_TILES),
        sums: layout.array("sums", WARPS),
    };
    (scratch, layout)
};

impl Kernel for Measure {
    type Params = MeasureParams;
    const NAME: &'static str = "ferrosz_entropy_planes_measure";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 2;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &MeasureParams) {
        let chunk = params.tiling.chunk_of_launch(t.block_index().into());
        let tiles = if params.taken.is_all() {
            params.tiling.tiles_of(chunk)
        } else {
            1
        };
        if t.thread_index() < RUN_TILES {
            SHARED.0.raws.store(t, t.thread_index(), 0);
        }
        t.barrier();
        let mut number = t.warp();
        while number < tiles * STRIPES {
            Self::measure(t, params, chunk, Stripe::of(number));
            number += WARPS;
        }
        t.barrier();
        let words = Self::keep_masks(t, params, chunk, tiles * TILE_MASKS);
        let words = block_sum::<T, { WARPS as usize }>(t, words, SHARED.0.sums).total;
        if t.warp() == 0 {
            let record = Self::record(t, params, chunk, tiles, words);
            record.store(t, params.records, chunk, 0);
            record.publish(t, params.cells, chunk);
        }
    }
}

impl Measure {
    /// Masks and marks of a stripe. For a warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn measure<T: Thread>(t: T, params: &MeasureParams, chunk: u64, stripe: Stripe) {
        let first_tile = params.tiling.first_of_runs(chunk);
        let codes = stripe.codes(t, params.regions, first_tile);
        let mut own = 0;
        for (step, z) in (0..).zip(&codes) {
            let marks = t.ballot(*z == RAW);
            own = if t.lane() == step { marks } else { own };
        }
        let marks = marks(params.regions, &params.tiling, first_tile);
        t.store(marks, u64::from(stripe.step() + t.lane()), own);
        let raws = t.reduce_add(own.count_ones());
        if t.lane() == 0 {
            SHARED.0.raws.add(t, stripe.tile, raws);
        }
        let mut own = 0;
        for (plane, word) in (0..).zip(&planes_of(t, codes)) {
            let mask = t.ballot(*word != 0);
            own = if t.lane() == plane { mask } else { own };
        }
        if t.lane() < PLANES {
            SHARED.0.masks.store(t, stripe.mask(t.lane()), own);
        }
    }

    /// Keeps the first `masks` masks for the next kernel; how many words those that this thread has stand for,
    /// themselves included. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn keep_masks<T: Thread>(t: T, params: &MeasureParams, chunk: u64, masks: u32) -> u32 {
        let first = params.tiling.first_of_runs(chunk);
        let mut words = 0;
        let mut number = t.thread_index();
        while number < masks {
            let mask = SHARED.0.masks.load(t, number);
            let (region, at) = mask_of(params.regions, first, number);
            t.store(region, at, mask);
            words += u32::from(mask != 0) + mask.count_ones();
            number += THREADS;
        }
        words
    }

    /// The record of the chunk, whose masks and words are so many words. For a warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn record<T: Thread>(
        t: T,
        params: &MeasureParams,
        chunk: u64,
        tiles: u32,
        words: u32,
    ) -> Record {
        let tiling = &params.tiling;
        let (mut raws, mut positions) = (0, 0);
        for number in 0..t.opaque(tiles) {
            let own = SHARED.0.raws.load(t, number);
            if t.lane() == 0 {
                let tile = tiling.first_of_runs(chunk) + u64::from(number);
                t.store(params.tiles, tile * TILE_WORDS + TILE_RAWS, own);
            }
            raws += own;
            let position = tiling.taken_tile(t, &params.taken, chunk, number);
            positions += tiling.order.positions(&position);
        }
        if words == 0 {
            return Record::ZERO;
        }
        let words = tiles * TILE_TOPS + words;
        let element_words = params.element_words;
        let coded = Record::coded(words, [0, words], raws, element_words);
        Record::shorter(coded, Record::raw(positions, element_words))
    }
}
