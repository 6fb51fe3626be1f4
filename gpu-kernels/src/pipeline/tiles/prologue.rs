//! The words before the chunks of a stream of tiles: the prologue's parameters, frequencies and anchors, and the
//! header. See `ferrosz_codec::container::tiles`.

pub mod finish;
pub mod gather;
pub mod read;
pub mod write;

use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::{WORDS, Words};
use ferrosz_codec::shape::Shape;
use ferrosz_simt::View;

/// Threads in a block of these kernels.
pub const THREADS: u32 = 256;

/// Warps in such a block.
const WARPS: usize = THREADS as usize / 32;

/// The contents of a prologue. The number of its coefficients follows from the flags of its levels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Contents {
    /// Not 0 if there are parameters.
    pub has_parameters: u32,
    /// Not 0 if there are frequencies.
    pub has_frequencies: u32,
    /// The shape of the tiles.
    pub shape: Shape,
    /// The kind of coefficients.
    pub fitted: FittedKind,
    /// The words of the anchors of the coarse field.
    pub anchor_words: u64,
}

impl Contents {
    /// The word that counts those of the frequencies.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn count_at(&self) -> u64 {
        if self.has_parameters != 0 {
            WORDS as u64
        } else {
            0
        }
    }

    /// The first word of the frequencies.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn frequencies_at(&self) -> u64 {
        self.count_at() + 1
    }

    /// The flags of all levels, if the words of the coefficients depend on them, given a function that reads words of the
    /// parameters.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn flag_bits(&self, word: impl Fn(usize) -> u32) -> u32 {
        if self.fitted.depends_on_flags() {
            Words(word).flag_bits()
        } else {
            0
        }
    }

    /// The first word of the coefficients if there are so many words of frequencies.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn coefficients_at(&self, frequencies: u64) -> u64 {
        self.frequencies_at() + frequencies + self.anchor_words
    }

    /// The number among the words of all coefficients of those at word `at`; none if there is another word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn coefficient(&self, frequencies: u64, flag_bits: u32, at: u64) -> Option<u64> {
        let from = self.coefficients_at(frequencies);
        let stored = self.fitted.stored(self.shape, flag_bits) as u64;
        if at < from || at >= from + stored {
            return None;
        }
        let number = (at - from) as usize;
        Some(self.fitted.number_of_stored(self.shape, flag_bits, number) as u64)
    }

    /// Whether a coefficient may have this word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn may_be_coefficient(&self, word: u32) -> bool {
        self.fitted.may_have(word)
    }

    /// All words of a prologue with so many of frequencies and these flags of all levels, padding included.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn words(&self, frequencies: u64, flag_bits: u32) -> u64 {
        let stored = self.fitted.stored(self.shape, flag_bits) as u64;
        (self.coefficients_at(frequencies) + stored).next_multiple_of(4)
    }
}

/// The frequencies in the payload of a stream.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn frequencies_in(payload: View<u32>, contents: &Contents) -> View<u32> {
    payload.from(contents.frequencies_at())
}
