//! Lengths: Huffman codes of at most 12 bits.
//!
//! Symbols are ordered by weight; the least two trees are joined until one is left, in place (A. Moffat and
//! J. Katajainen, "In-place calculation of minimum-redundancy codes", WADS 1995); then depths beyond the
//! limit are cut, and the code is made whole again by lengthening the longest codes that can be. All steps work in
//! [`Memory`], so that one thread of a thread block can do them in its shared memory; ranks stand each
//! alone.
//!
//! The length l of a code is kept as a share of the slots, 2^(12 - l): that is how many of the 4096 words of 12
//! bits begin with the code. One symbol alone has length 0, and all slots.

use super::frequencies::ContextShares;
use super::token::{PRECISION, SLOTS, TOKENS};

/// The longest code.
pub const MAX_LENGTH: u32 = PRECISION;

/// Words that the algorithms here work in.
pub trait Memory {
    /// The word at this place.
    fn get(&self, at: u32) -> u32;
    /// Sets the word at this place.
    fn set(&mut self, at: u32, word: u32);
}

/// Places that it does not have read as 0.
impl Memory for [u32] {
    #[inline(always)]
    fn get(&self, at: u32) -> u32 {
        <[u32]>::get(self, at as usize).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn set(&mut self, at: u32, word: u32) {
        if let Some(place) = self.get_mut(at as usize) {
            *place = word;
        }
    }
}

/// Words of [`Memory`] that [`lengths_of_sorted`] needs: the weights, and a counter for each length.
pub const MEMORY_WORDS: u32 = LENGTHS + 16;

/// Where the counters are.
const LENGTHS: u32 = TOKENS;

/// A symbol's weight: its count, scaled so that those of all symbols sum to less than 2^32; `total` is the sum of
/// the counts, which is less than 2^39.
#[inline(always)]
pub const fn weight(count: u32, total: u64) -> u32 {
    let shift = 33u32.saturating_sub(total.leading_zeros());
    let weight = count.unbounded_shr(shift);
    if weight == 0 && count > 0 { 1 } else { weight }
}

/// Whether of two symbols, given by weight and number, the first one is the lighter.
#[inline(always)]
pub const fn is_lighter(a: (u32, u32), b: (u32, u32)) -> bool {
    a.0 < b.0 || a.0 == b.0 && a.1 < b.1
}

/// Replaces the first `count` words, weights in ascending order that sum to less than 2^32, by the lengths of
/// their codes.
pub fn lengths_of_sorted(memory: &mut (impl Memory + ?Sized), count: u32) {
    if count < 2 {
        memory.set(0, 0);
        return;
    }
    join_lightest(memory, count);
    depths_of_trees(memory, count);
    count_leaves(memory, count);
    limit(memory);
    deal_lengths(memory, count);
}

/// Joins the lightest two trees until one is left. Tree t, of those that were joined, is at place t: its
/// weight, and once it is joined itself, the number of the tree it went into.
#[inline(always)]
fn join_lightest(memory: &mut (impl Memory + ?Sized), count: u32) {
    let (mut tree, mut leaf) = (0, 0);
    for next in 0..count - 1 {
        let mut joined = 0;
        for _ in 0..2 {
            let is_tree = leaf >= count || tree < next && memory.get(tree) < memory.get(leaf);
            if is_tree {
                joined += memory.get(tree);
                memory.set(tree, next);
                tree += 1;
            } else {
                joined += memory.get(leaf);
                leaf += 1;
            }
        }
        memory.set(next, joined);
    }
}

/// Parents to depths, from the last tree, which is the root.
#[inline(always)]
fn depths_of_trees(memory: &mut (impl Memory + ?Sized), count: u32) {
    memory.set(count - 2, 0);
    for tree in (0..count - 2).rev() {
        let parent = memory.get(tree);
        memory.set(tree, memory.get(parent) + 1);
    }
}

/// Counts the leaves of each depth, those beyond the limit as of the limit: of the places at a depth that
/// trees do not take.
#[inline(always)]
fn count_leaves(memory: &mut (impl Memory + ?Sized), count: u32) {
    for length in 0..=MAX_LENGTH {
        memory.set(LENGTHS + length, 0);
    }
    let (mut places, mut depth, mut trees_left) = (1, 0, count - 1);
    while places > 0 {
        let mut trees = 0;
        while trees_left > 0 && memory.get(trees_left - 1) == depth {
            trees_left -= 1;
            trees += 1;
        }
        let at = LENGTHS
            + if depth < MAX_LENGTH {
                depth
            } else {
                MAX_LENGTH
            };
        memory.set(at, memory.get(at) + places - trees);
        places = 2 * trees;
        depth += 1;
    }
}

/// Makes a code whole whose longest codes were cut: one of the longest takes the place beside another symbol's
/// code, which is lengthened by one bit, until all fit.
#[inline(always)]
fn limit(memory: &mut (impl Memory + ?Sized)) {
    let mut slots = 0;
    for length in 0..=MAX_LENGTH {
        slots += memory.get(LENGTHS + length) << (MAX_LENGTH - length);
    }
    for _ in SLOTS..slots {
        let mut length = MAX_LENGTH - 1;
        while length > 0 && memory.get(LENGTHS + length) == 0 {
            length -= 1;
        }
        let mut add = |at: u32, change: u32| {
            let at = LENGTHS + at;
            memory.set(at, memory.get(at).wrapping_add(change));
        };
        add(length, u32::MAX);
        add(length + 1, 2);
        add(MAX_LENGTH, u32::MAX);
    }
}

/// The lengths by rank: the lightest get the longest.
#[inline(always)]
fn deal_lengths(memory: &mut (impl Memory + ?Sized), count: u32) {
    let mut rank = 0;
    for length in (0..=MAX_LENGTH).rev() {
        let end = rank + memory.get(LENGTHS + length);
        while rank < end && rank < count {
            memory.set(rank, length);
            rank += 1;
        }
    }
}

/// The shares of a context whose codes have the lengths that its counts ask for.
pub fn shares_of_lengths(counts: &[u32; TOKENS as usize]) -> ContextShares {
    let total = counts.iter().map(|count| u64::from(*count)).sum();
    let weights = counts.map(|count| weight(count, total));
    let mut memory = [0; MEMORY_WORDS as usize];
    let mut ranks = [0; TOKENS as usize];
    let mut used = 0;
    for (symbol, own) in (0..).zip(weights) {
        if own > 0 {
            let others = (0..).zip(weights).filter(|(_, other)| *other > 0);
            let lighter = others.filter(|(s, other)| is_lighter((*other, *s), (own, symbol)));
            let rank = lighter.count();
            ranks[symbol as usize] = rank;
            memory[rank] = own;
            used += 1;
        }
    }
    lengths_of_sorted(&mut memory[..], used);
    core::array::from_fn(|symbol| {
        if weights[symbol] > 0 {
            (SLOTS >> memory[ranks[symbol]]) as u16
        } else {
            0
        }
    })
}
