//! 64-bit numbers in shared memory, two words each.

use ferrosz_simt::Thread;

/// Reads number `index`.
#[inline(always)]
pub fn load_wide<T: Thread>(t: T, index: u32) -> u64 {
    u64::from(t.shared_load(2 * index)) | u64::from(t.shared_load(2 * index + 1)) << 32
}

/// Writes number `index`.
#[inline(always)]
pub fn store_wide<T: Thread>(t: T, index: u32, value: u64) {
    t.shared_store(2 * index, value as u32);
    t.shared_store(2 * index + 1, (value >> 32) as u32);
}
