//! The words of a chunk's bit planes that are not 0.

use crate::code::bit_planes::{
    CHUNK_MASKS, STRIPES, Stripe, TILE_MASKS, TILE_TOPS, mask_of, planes_of,
};
use crate::code::entropy::{THREADS, WARPS};
use crate::pipeline::tiles::place::{CodedWords, PlacedChunk};
use crate::primitives::scan::block_sum;
use ferrosz_codec::code::bit_planes::PLANES;
use ferrosz_simt::{Layout, Shared, Thread, WARP};

/// The words of planes: tops, masks, and words.
pub struct PlaneWords;

/// The shared memory that they take.
#[derive(Clone, Copy)]
pub struct Scratch {
    /// For each mask, where its words begin in the image.
    offsets: Shared<u32>,
    /// For each warp, the words of a stripe.
    rows: Shared<u32>,
}

impl CodedWords for PlaneWords {
    const PLACE: &'static str = "ferrosz_entropy_planes_place";
    type Scratch = Scratch;
    const SHARED: (Scratch, Layout) = {
        let mut layout = Layout::new();
        let scratch = Scratch {
            offsets: layout.array("offsets", CHUNK_MASKS),
            rows: layout.array("words of stripes", WARPS * PLANES * WARP),
        };
        (scratch, layout)
    };
    const RESIDENT_BLOCKS: u32 = 2;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn place<T: Thread>(t: T, placed: &mut PlacedChunk<'_>, scratch: Scratch) {
        let tiles = placed.params.tiling.tiles_of(placed.chunk);
        place_masks(t, placed, scratch.offsets, tiles);
        t.barrier();
        let mut number = t.warp();
        while number < tiles * STRIPES {
            place_stripe(t, placed, scratch, Stripe::of(number));
            number += WARPS;
        }
    }
}

/// Writes tops and masks, and finds where the words of each mask begin. For the whole block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn place_masks<T: Thread>(t: T, placed: &mut PlacedChunk<'_>, offsets: Shared<u32>, tiles: u32) {
    let tops = tiles * TILE_TOPS;
    // Masks and words before those of this round.
    let (mut masks_before, mut words_before) = (0, 0);
    for round in 0..t.opaque(tiles * TILE_MASKS / THREADS) {
        let number = round * THREADS + t.thread_index();
        let (region, at) = mask_of(placed.params.regions, placed.first_tile(), number);
        let mask = t.load(region, at);
        let top = t.ballot(mask != 0);
        if t.lane() == 0 {
            placed.store(t, number / WARP, top);
        }
        // At most 2^13 words, and 2^8 masks.
        let own = mask.count_ones() << 16 | u32::from(mask != 0);
        t.barrier();
        let sum = block_sum::<T, { WARPS as usize }>(t, own, placed.sums);
        if mask != 0 {
            let at = tops + masks_before + (sum.before & 0xffff);
            placed.store(t, at, mask);
        }
        offsets.store(t, number, words_before + (sum.before >> 16));
        masks_before += sum.total & 0xffff;
        words_before += sum.total >> 16;
    }
    // Now that it is known how many masks there are.
    for round in 0..t.opaque(tiles * TILE_MASKS / THREADS) {
        let at = round * THREADS + t.thread_index();
        let offset = offsets.load(t, at);
        offsets.store(t, at, tops + masks_before + offset);
    }
}

/// Writes the words of a stripe. For a warp.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn place_stripe<T: Thread>(t: T, placed: &mut PlacedChunk<'_>, scratch: Scratch, stripe: Stripe) {
    let Scratch { offsets, rows } = scratch;
    let codes = stripe.codes(t, placed.params.regions, placed.first_tile());
    // Each lane reads its own again: NVIDIA's assembler does not terminate with sixteen copies of the next loop.
    let own = |plane: u32| (t.warp() * PLANES + plane) * WARP + t.lane();
    for (plane, word) in (0..).zip(&planes_of(t, codes)) {
        rows.store(t, own(plane), *word);
    }
    for plane in 0..t.opaque(PLANES) {
        let word = rows.load(t, own(plane));
        let mask = t.ballot(word != 0);
        let before = (mask & ((1 << t.lane()) - 1)).count_ones();
        if word != 0 {
            let first = offsets.load(t, stripe.mask(plane));
            placed.store(t, first + before, word);
        }
    }
}

const _: () = assert!(TILE_MASKS.is_multiple_of(THREADS));
