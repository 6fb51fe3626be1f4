//! The output of the encoder with interleaved states: words behind its codes, and the lanes' states.

use crate::code::entropy::THREADS;
use crate::pipeline::tiles::layout::{region, words_end_half};
use crate::pipeline::tiles::place::{CodedWords, PlacedChunk};
use crate::pipeline::tiles::record::Record;
use crate::primitives::scan::warp_inclusive_sum;
use core::array::from_fn;
use ferrosz_codec::code::entropy::states::spare_bits;
use ferrosz_codec::tile::LANES;
use ferrosz_simt::{Layout, Shared, Thread};

/// The words of interleaved states. The unit of [`Record::words`] is half a word.
pub struct StateWords;

/// Words that a thread loads before it writes the first.
const TOGETHER: usize = 8;

/// Words of an image before the states: the number of words, and 4 bits for each lane.
pub const HEAD_WORDS: u32 = 1 + LANES / 8;

impl CodedWords for StateWords {
    const PLACE: &'static str = "ferrosz_entropy_place";
    // Head and states, which have 31 bits each at most.
    type Scratch = Shared<u32>;
    const SHARED: (Shared<u32>, Layout) = {
        let mut layout = Layout::new();
        (layout.array("head and states", HEAD_WORDS + LANES), layout)
    };
    const RESIDENT_BLOCKS: u32 = 3;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn place<T: Thread>(t: T, placed: &mut PlacedChunk<'_>, head: Shared<u32>) {
        place_head(t, placed, head);
        place_words(t, placed);
    }
}

/// Writes the number of words and the states. For the whole block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn place_head<T: Thread>(t: T, placed: &mut PlacedChunk<'_>, head: Shared<u32>) {
    if t.thread_index() < head.len() {
        head.store(t, t.thread_index(), 0);
    }
    t.barrier();
    if t.warp() == 0 {
        let x = Record::state(t, placed.params.records, placed.chunk);
        let spare = spare_bits(x);
        if t.lane() == 0 {
            head.or(t, 0, placed.record.words);
        }
        head.or(t, 1 + t.lane() / 8, spare << (4 * (t.lane() % 8)));
        let bits = 16 + spare;
        let at = warp_inclusive_sum(t, bits) - bits;
        let both = u64::from(x & ((1 << bits) - 1)) << (at % 32);
        head.or(t, HEAD_WORDS + at / 32, both as u32);
        if both >> 32 != 0 {
            head.or(t, HEAD_WORDS + at / 32 + 1, (both >> 32) as u32);
        }
    }
    t.barrier();
    let at = t.thread_index();
    if at < placed.record.words_at {
        placed.store(t, at, head.load(t, at));
    }
}

/// Writes the words that the encoder left: the half words up to [`words_end_half`], the first of which may be the high
/// half of a word of the region. For the whole block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn place_words<T: Thread>(t: T, placed: &mut PlacedChunk<'_>) {
    let record = placed.record;
    let words = record.words.div_ceil(2);
    let tiling = &placed.params.tiling;
    let end = words_end_half(tiling.tiles_of(placed.chunk));
    let region = region(placed.params.regions, tiling.first_of_runs(placed.chunk));
    let region = region.from(u64::from((end - record.words) / 2));
    let shift = 16 * (record.words % 2);
    let mut word = t.thread_index();
    while word < words {
        let both: [[u32; 2]; TOGETHER] = from_fn(|i| {
            let at = word + i as u32 * THREADS;
            let is_followed = (shift > 0) & (at + 1 < words);
            [(at < words, at), (is_followed, at + 1)].map(|(is_asked, at)| {
                if is_asked {
                    t.load(region, u64::from(at))
                } else {
                    0
                }
            })
        });
        for [low, high] in &both {
            if word < words {
                let both = u64::from(*low) | u64::from(*high) << 32;
                placed.store(t, record.words_at + word, (both >> shift) as u32);
            }
            word += THREADS;
        }
    }
}
