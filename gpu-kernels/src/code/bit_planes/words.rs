//! What is left of the planes of a chunk without zeros.

use crate::code::bit_planes::{
    CHUNK_MASKS, MASKS, STRIPES, Stripe, TILE_MASKS, TILE_TOPS, planes_of,
};
use crate::code::entropy::{THREADS, WARPS};
use crate::pipeline::tiles::layout::region;
use crate::pipeline::tiles::place::{CodedWords, Work};
use crate::primitives::scan::block_sum;
use ferrosz_codec::code::bit_planes::PLANES;
use ferrosz_simt::{Thread, WARP};

/// The words of planes: tops, masks, and words.
pub struct PlaneWords;

/// For each mask, where its words begin in the image.
const OFFSETS: u32 = 0;
/// For each warp, the words of a stripe.
const PLANE_ROWS: u32 = OFFSETS + CHUNK_MASKS;

impl CodedWords for PlaneWords {
    const PLACE: &'static str = "ferrosz_entropy_planes_place";
    const SCRATCH_WORDS: u32 = PLANE_ROWS + WARPS * PLANES * WARP;
    const RESIDENT_BLOCKS: u32 = 2;

    #[inline(always)]
    fn place<T: Thread>(t: T, work: &mut Work<'_>) {
        let tiles = work.params.tiling.tiles_of(work.chunk);
        place_masks(t, work, tiles);
        t.barrier();
        let mut number = t.warp();
        while number < tiles * STRIPES {
            place_stripe(t, work, Stripe::of(number));
            number += WARPS;
        }
    }
}

/// Writes tops and masks, and finds where the words of each mask begin. For the whole block.
#[inline(always)]
fn place_masks<T: Thread>(t: T, work: &mut Work<'_>, tiles: u32) {
    let region = region(work.params.regions, work.chunk);
    let tops = tiles * TILE_TOPS;
    // Masks and words before those of this round.
    let (mut masks_before, mut words_before) = (0, 0);
    for round in 0..t.opaque(tiles * TILE_MASKS / THREADS) {
        let number = round * THREADS + t.thread_index();
        let mask = t.load(region, u64::from(MASKS + number));
        let top = t.ballot(mask != 0);
        if t.lane() == 0 {
            work.store(t, number / WARP, top);
        }
        // At most 2^13 words, and 2^8 masks.
        let own = mask.count_ones() << 16 | u32::from(mask != 0);
        t.barrier();
        let sum = block_sum::<T, { WARPS as usize }>(t, own, work.sums);
        if mask != 0 {
            let at = tops + masks_before + (sum.before & 0xffff);
            work.store(t, at, mask);
        }
        t.shared_store(OFFSETS + number, words_before + (sum.before >> 16));
        masks_before += sum.total & 0xffff;
        words_before += sum.total >> 16;
    }
    // Now that it is known how many masks there are.
    for round in 0..t.opaque(tiles * TILE_MASKS / THREADS) {
        let at = OFFSETS + round * THREADS + t.thread_index();
        let offset = t.shared_load(at);
        t.shared_store(at, tops + masks_before + offset);
    }
}

/// Writes the words of a stripe. For a warp.
#[inline(always)]
fn place_stripe<T: Thread>(t: T, work: &mut Work<'_>, stripe: Stripe) {
    let codes = stripe.codes(t, work.params.regions, work.chunk);
    // Each lane reads its own again: NVIDIA's assembler does not come to an end with what follows sixteen times.
    let own = |plane: u32| PLANE_ROWS + (t.warp() * PLANES + plane) * WARP + t.lane();
    for (plane, word) in (0..).zip(&planes_of(t, codes)) {
        t.shared_store(own(plane), *word);
    }
    for plane in 0..t.opaque(PLANES) {
        let word = t.shared_load(own(plane));
        let mask = t.ballot(word != 0);
        let before = (mask & ((1 << t.lane()) - 1)).count_ones();
        if word != 0 {
            let first = t.shared_load(OFFSETS + stripe.mask(plane));
            work.store(t, first + before, word);
        }
    }
}

const _: () = assert!(TILE_MASKS.is_multiple_of(THREADS));
