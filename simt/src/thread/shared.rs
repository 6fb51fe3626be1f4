//! The shared memory of a block.

use crate::shared_address::SharedAddress;
use crate::thread::Ids;

/// The shared memory of a block, word by word. Typed arrays ([`Shared`](crate::Shared)) consist of these words. Two
/// accesses of different threads to a word, one of which writes it, need a barrier between them, or within a warp a
/// [`sync_warp`](crate::Collectives::sync_warp).
pub trait SharedMemory: Ids {
    /// Reads one word.
    fn shared_load(self, word: u32) -> u32;
    /// Writes one word.
    fn shared_store(self, word: u32, value: u32);
    /// Reads four words; `word` is a multiple of 4.
    fn shared_load4(self, word: u32) -> [u32; 4];
    /// Writes four words; `word` is a multiple of 4.
    fn shared_store4(self, word: u32, values: [u32; 4]);
    /// Atomically reads a word, while other threads may [set bits](SharedMemory::shared_or) of it or add to it.
    fn shared_atomic_load(self, word: u32) -> u32;
    /// Atomically sets bits of a word that something has written before.
    fn shared_or(self, word: u32, bits: u32);
    /// Atomically adds to a word that something has written before.
    fn shared_add(self, word: u32, value: u32);

    /// The address of a word, for accesses whose names end in `at`: addresses count bytes, the low one of a word
    /// first. That of word 0 is a multiple of 1024.
    fn shared_address(self, word: u32) -> SharedAddress;
    /// Reads the word at an address, which is a multiple of 4.
    fn shared_load_at(self, address: SharedAddress) -> u32;
    /// Reads the two words at an address, which is a multiple of 8.
    fn shared_load2_at(self, address: SharedAddress) -> [u32; 2];
    /// Reads the 16 bits at an address, which is a multiple of 2.
    fn shared_load_half_at(self, address: SharedAddress) -> u32;
    /// Reads the byte at an address.
    fn shared_load_byte_at(self, address: SharedAddress) -> u32;
    /// Writes the word at an address, which is a multiple of 4.
    fn shared_store_at(self, address: SharedAddress, value: u32);

    /// Checks that an array of `len` elements has `count` from number `index` on. On a GPU that is nothing, and costs nothing.
    #[inline(always)]
    #[track_caller]
    fn check_shared(self, array: &'static str, len: u32, index: u32, count: u32) {
        let _ = (array, len, index, count);
    }
}
