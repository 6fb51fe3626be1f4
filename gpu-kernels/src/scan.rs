//! Sums over a warp and over a block.

use crate::simt::{Thread, WARP};

/// The sum of the values of all lanes up to this one.
#[inline(always)]
pub fn warp_inclusive_sum<T: Thread>(t: T, value: u32) -> u32 {
    let mut sum = value;
    for step in 0..WARP.ilog2() {
        let delta = 1 << step;
        let below = t.shuffle_up(sum, delta);
        sum = sum.wrapping_add(if t.lane() >= delta { below } else { 0 });
    }
    sum
}

/// The sum of all lanes' values, modulo 2^64, in every lane.
#[inline(always)]
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
#[inline(always)]
pub fn warp_max_u64<T: Thread>(t: T, value: u64) -> u64 {
    let mut largest = value;
    for step in 0..WARP.ilog2() {
        let low = t.shuffle_xor(largest as u32, 1 << step);
        let high = t.shuffle_xor((largest >> 32) as u32, 1 << step);
        largest = largest.max(u64::from(high) << 32 | u64::from(low));
    }
    largest
}

/// A thread's place in a sum over its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSum {
    /// The sum of the values of all threads before this one.
    pub before: u32,
    /// The sum of all threads' values.
    pub total: u32,
}

/// Sums over a block of `WARPS` warps, a multiple of 4.
///
/// `scratch` is the first of `WARPS` words of shared memory, a multiple of 4, that nothing else
/// touches from the barrier before this call to the barrier after it. There is one barrier inside.
#[inline(always)]
pub fn block_sum<T: Thread, const WARPS: usize>(t: T, value: u32, scratch: u32) -> BlockSum {
    let inclusive = warp_inclusive_sum(t, value);
    if t.lane() == WARP - 1 {
        t.shared_store(scratch + t.warp(), inclusive);
    }
    t.barrier();
    let mut before = inclusive.wrapping_sub(value);
    let mut total = 0u32;
    for quarter in 0..WARPS / 4 {
        let sums = t.shared_load4(scratch + 4 * quarter as u32);
        for (i, &sum) in sums.iter().enumerate() {
            let warp = (4 * quarter + i) as u32;
            before = before.wrapping_add(if warp < t.warp() { sum } else { 0 });
            total = total.wrapping_add(sum);
        }
    }
    BlockSum { before, total }
}

/// The sum of all threads' values, modulo 2^64, in every thread of a block of `WARPS` warps.
///
/// `scratch` is as for [`block_sum`], with `2 * WARPS` words.
#[inline(always)]
pub fn block_sum_u64<T: Thread, const WARPS: usize>(t: T, value: u64, scratch: u32) -> u64 {
    let sum = warp_sum_u64(t, value);
    if t.lane() == 0 {
        t.shared_store(scratch + 2 * t.warp(), sum as u32);
        t.shared_store(scratch + 2 * t.warp() + 1, (sum >> 32) as u32);
    }
    t.barrier();
    let mut total = 0u64;
    for pair in 0..WARPS / 2 {
        let [a, b, c, d] = t.shared_load4(scratch + 4 * pair as u32);
        total = total
            .wrapping_add(u64::from(b) << 32 | u64::from(a))
            .wrapping_add(u64::from(d) << 32 | u64::from(c));
    }
    total
}
