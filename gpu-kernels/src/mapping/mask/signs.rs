//! The signs of a part in a warp: a group of words a lane.

use ferrosz_codec::mapping::mask::signs::{BrickOrder, GROUP, SIGN_WORDS, SWAPS};
use ferrosz_simt::{Layout, Shared, Thread, WARP};

/// Warps of a block that codes signs: each has a part.
pub const SIGN_WARPS: u32 = 4;

/// Threads of such a block.
pub const SIGN_THREADS: u32 = SIGN_WARPS * WARP;

const _: () = assert!(GROUP * WARP == SIGN_WORDS);

/// Words of shared memory for the signs of a part: there is one more behind each group, so that the lanes' words of the same
/// number are in different banks.
const PADDED_WORDS: u32 = SIGN_WORDS + SIGN_WORDS / GROUP;

/// The shared memory of a block: two arrays for each warp's part.
pub(super) const SHARED: ([Shared<u32>; 2], Layout) = {
    let mut layout = Layout::new();
    let signs = layout.array("signs", PADDED_WORDS * SIGN_WARPS);
    let differences = layout.array("differences", PADDED_WORDS * SIGN_WARPS);
    ([signs, differences], layout)
};

/// The words of the signs of a warp's part, in shared memory.
#[derive(Clone, Copy)]
pub(super) struct SignWords<T> {
    t: T,
    words: Shared<u32>,
}

impl<T: Thread> SignWords<T> {
    /// Those of this warp: the first or the second array.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn new(t: T, array: usize) -> Self {
        let words = SHARED.0[array].part(t.warp() * PADDED_WORDS, PADDED_WORDS);
        Self { t, words }
    }

    /// A word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn word(self, number: u32) -> u32 {
        self.words.load(self.t, number + number / GROUP)
    }

    /// Sets a word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn set_word(self, number: u32, word: u32) {
        self.words.store(self.t, number + number / GROUP, word);
    }

    /// Sets the bits of a number from nibble `at` on, of words that the warp has set before.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn put(self, at: u32, bits: u32) {
        let (word, shift) = (at / 8, 4 * (at % 8));
        let or = |word: u32, bits| self.words.or(self.t, word + word / GROUP, bits);
        or(word, bits << shift);
        // Two shifts, as one by 32 is none.
        let behind = bits >> 1 >> (31 - shift);
        if behind != 0 {
            or(word + 1, behind);
        }
    }

    /// Brings whole parts from C order into that of bricks, or back. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn swap(self, order: BrickOrder, is_back: bool) {
        for number in 0..self.t.opaque(SWAPS) {
            let number = if is_back { SWAPS - 1 - number } else { number };
            let swap = order.swap(number);
            if swap.is_none() {
                continue;
            }
            let mut pair = self.t.lane();
            while pair < SIGN_WORDS / 2 {
                let [first, second] = swap.pair(pair);
                let [a, b] = swap.apply(first, [self.word(first), self.word(second)]);
                self.set_word(first, a);
                self.set_word(second, b);
                pair += WARP;
            }
            self.t.sync_warp();
        }
    }
}
