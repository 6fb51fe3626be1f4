//! Sums over a warp and over a block.

use ferrosz_simt::{Shared, Thread, WARP};

/// The sum of the values of all lanes up to this one.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn warp_inclusive_sum<T: Thread>(t: T, value: u32) -> u32 {
    let mut sum = value;
    for step in 0..WARP.ilog2() {
        let delta = 1 << step;
        let below = t.shuffle_up(sum, delta);
        sum = sum.wrapping_add(if t.lane() >= delta { below } else { 0 });
    }
    sum
}

/// The sum of the values of all lanes up to this one, modulo 2^64.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn warp_inclusive_sum_u64<T: Thread>(t: T, value: u64) -> u64 {
    let mut sum = value;
    for step in 0..WARP.ilog2() {
        let delta = 1 << step;
        let low = t.shuffle_up(sum as u32, delta);
        let high = t.shuffle_up((sum >> 32) as u32, delta);
        let below = u64::from(high) << 32 | u64::from(low);
        sum = sum.wrapping_add(if t.lane() >= delta { below } else { 0 });
    }
    sum
}

/// The sum of all lanes' values, modulo 2^64, in every lane.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn warp_sum_u64<T: Thread>(t: T, value: u64) -> u64 {
    // Three pieces whose sums over 32 lanes stay within 32 bits.
    const PIECE: u32 = 22;
    const MASK: u64 = (1 << PIECE) - 1;
    let low = t.reduce_add((value & MASK) as u32);
    let middle = t.reduce_add((value >> PIECE & MASK) as u32);
    let high = t.reduce_add((value >> (2 * PIECE)) as u32);
    u64::from(low)
        .wrapping_add(u64::from(middle) << PIECE)
        .wrapping_add(u64::from(high) << (2 * PIECE))
}

/// The largest of all lanes' values, in every lane.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn warp_max_u64<T: Thread>(t: T, value: u64) -> u64 {
    let mut largest = value;
    for step in 0..WARP.ilog2() {
        let low = t.shuffle_xor(largest as u32, 1 << step);
        let high = t.shuffle_xor((largest >> 32) as u32, 1 << step);
        largest = largest.max(u64::from(high) << 32 | u64::from(low));
    }
    largest
}

/// A thread's position in a sum over its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSum {
    /// The sum of the values of all threads before this one.
    pub before: u32,
    /// The sum of all threads' values.
    pub total: u32,
}

/// Sums over a block of `WARPS` warps, up to 32.
///
/// `sums` has an element for each warp; nothing else touches it from the barrier before this call to the barrier after
/// it. There is one barrier inside.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn block_sum<T: Thread, const WARPS: usize>(t: T, value: u32, sums: Shared<u32>) -> BlockSum {
    let inclusive = warp_inclusive_sum(t, value);
    if t.lane() == WARP - 1 {
        sums.store(t, t.warp(), inclusive);
    }
    t.barrier();
    // Each lane looks at one warp's sum, and the warp adds up those that it needs.
    let warp = t.lane() % WARPS as u32;
    let sum = sums.load(t, warp);
    let counts = |counts: bool| if counts { sum } else { 0 };
    let before = t.reduce_add(counts(t.lane() < t.warp()));
    let total = t.reduce_add(counts(t.lane() < WARPS as u32));
    let before = before.wrapping_add(inclusive.wrapping_sub(value));
    BlockSum {
        // Without `opaque` the summands stay live, and LLVM adds them up wherever the sum is used.
        before: t.opaque(before),
        total,
    }
}

/// Leaves the sum of a warp's values, modulo 2^64, for [`sum_of_warps`] behind a barrier. `sums` has an element for
/// each warp of the block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn store_warp_sum_u64<T: Thread>(t: T, value: u64, sums: Shared<u64>) {
    let sum = warp_sum_u64(t, value);
    if t.lane() == 0 {
        sums.store(t, t.warp(), sum);
    }
}

/// The sum of the numbers that `WARPS` warps, up to 32, left, modulo 2^64, in every lane. For whole warps.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn sum_of_warps<T: Thread, const WARPS: usize>(t: T, sums: Shared<u64>) -> u64 {
    let mut sum = 0;
    if t.lane() < WARPS as u32 {
        sum = sums.load(t, t.lane());
    }
    warp_sum_u64(t, sum)
}
