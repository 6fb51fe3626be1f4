//! The words before the chunks of a stream of tiles: the prologue's parameters, frequencies and anchors, and the
//! header. See `ferrosz_codec::container::tiles`.

pub mod finish;
pub mod gather;
pub mod read;
pub mod write;

use ferrosz_codec::predict::interp::resolved::WORDS;
use ferrosz_simt::View;

/// Threads in a block of these kernels.
pub const THREADS: u32 = 256;

/// Warps in such a block.
const WARPS: usize = THREADS as usize / 32;

/// The contents of a prologue.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Contents {
    /// Not 0 if there are parameters.
    pub has_parameters: u32,
    /// Not 0 if there are frequencies.
    pub has_frequencies: u32,
    /// The words of the anchors of the coarse field.
    pub anchor_words: u64,
}

impl Contents {
    /// The word that counts those of the frequencies.
    #[inline(always)]
    pub const fn count_at(&self) -> u64 {
        if self.has_parameters != 0 {
            WORDS as u64
        } else {
            0
        }
    }

    /// The first word of the frequencies.
    #[inline(always)]
    pub const fn frequencies_at(&self) -> u64 {
        self.count_at() + 1
    }

    /// All words of a prologue with so many of frequencies, padding included.
    #[inline(always)]
    pub const fn words(&self, frequencies: u64) -> u64 {
        (self.frequencies_at() + frequencies + self.anchor_words).next_multiple_of(4)
    }
}

/// The frequencies in the payload of a stream.
#[inline(always)]
pub fn frequencies_in(payload: View<u32>, contents: &Contents) -> View<u32> {
    payload.from(contents.frequencies_at())
}
