//! Global memory.

use crate::View;
use crate::shared_address::SharedAddress;
use crate::thread::Ids;

/// Accesses to global memory, which all blocks share, except atomic ones.
pub trait GlobalMemory: Ids {
    /// Reads a word that no thread of this launch writes.
    fn load(self, view: View<u32>, index: u64) -> u32;
    /// As [`load_own_half`](GlobalMemory::load_own_half), of a word.
    fn load_own(self, view: View<u32>, index: u64) -> u32;
    /// Reads 64 bits that no thread of this launch writes.
    fn load_u64(self, view: View<u64>, index: u64) -> u64;
    /// Reads words `4 * index .. 4 * index + 4` of a 16-byte aligned view that no thread of this launch writes.
    fn load4(self, view: View<u32>, index: u64) -> [u32; 4];
    /// Reads 16 bits, number `half` of a view, that no thread of this launch writes.
    fn load_half(self, view: View<u32>, half: u64) -> u32;
    /// Reads 16 bits, number `half` of a view, which threads of other blocks do not write. A thread can read values
    /// that its warp has written after a [`sync_warp`](crate::Collectives::sync_warp), and values that its block has
    /// written after a [`barrier`](crate::Collectives::barrier).
    fn load_own_half(self, view: View<u32>, half: u64) -> u32;

    /// Writes a word.
    fn store(self, view: View<u32>, index: u64, value: u32);
    /// Writes 64 bits.
    fn store_u64(self, view: View<u64>, index: u64, value: u64);
    /// Writes words `4 * index .. 4 * index + 4` of a 16-byte aligned view.
    fn store4(self, view: View<u32>, index: u64, values: [u32; 4]);
    /// Writes 16 bits, number `half` of a view.
    fn store_half(self, view: View<u32>, half: u64, value: u16);
    /// Writes 16 bits, number `half` of a view, if a condition holds; otherwise `half` may be out of range.
    #[inline(always)]
    #[track_caller]
    fn store_half_if(self, condition: bool, view: View<u32>, half: u64, value: u16) {
        if condition {
            self.store_half(view, half, value);
        }
    }
    /// Writes byte number `byte` of a view.
    fn store_byte(self, view: View<u32>, byte: u64, value: u8);

    /// Hints that a block of this launch will soon read the 128 bytes that contain a word.
    fn prefetch(self, view: View<u32>, index: u64);
    /// Starts to copy a word that no thread of this launch writes to an address of shared memory, a multiple of 4. No
    /// thread may access that address until [`await_copies`](GlobalMemory::await_copies).
    fn copy_async(self, address: SharedAddress, view: View<u32>, index: u64);
    /// Waits until all copies that this thread has started are complete; other threads see them after a later barrier.
    fn await_copies(self);

    /// Reads an `f32` that no thread of this launch writes.
    #[inline(always)]
    #[track_caller]
    fn load_f32(self, view: View<f32>, index: u64) -> f32 {
        f32::from_bits(self.load(view.bits(), index))
    }
    /// Writes an `f32`.
    #[inline(always)]
    #[track_caller]
    fn store_f32(self, view: View<f32>, index: u64, value: f32) {
        self.store(view.bits(), index, value.to_bits());
    }
    /// Reads an `f64` that no thread of this launch writes.
    #[inline(always)]
    #[track_caller]
    fn load_f64(self, view: View<f64>, index: u64) -> f64 {
        f64::from_bits(self.load_u64(view.bits(), index))
    }
    /// Writes an `f64`.
    #[inline(always)]
    #[track_caller]
    fn store_f64(self, view: View<f64>, index: u64, value: f64) {
        self.store_u64(view.bits(), index, value.to_bits());
    }
}
