//! A GPU thread's way with bytes and bits, for the bit planes of blocks.

use ferrosz_codec::code::fixed_length::bit_plane::Bits;
use ferrosz_simt::Thread;

/// A thread's way with bytes and bits.
#[derive(Clone, Copy)]
pub struct BitsOf<T>(pub T);

impl<T: Thread> Bits for BitsOf<T> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn pick(self, low: u32, high: u32, selector: u32) -> u32 {
        self.0.pick_bytes(low, high, selector)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn select(self, mask: u32, a: u32, b: u32) -> u32 {
        self.0.select_bits(mask, a, b)
    }
}
