//! Lengths: Huffman codes of at most 12 bits.
//!
//! Symbols are sorted by [`weight`]. The two lightest trees are joined until one tree is left, in place (A. Moffat and
//! J. Katajainen, "In-place calculation of minimum-redundancy codes", WADS 1995). Then depths beyond the limit are cut,
//! and the longest codes below the limit are lengthened until the code is valid. All steps work in [`Memory`], so that
//! one thread of a thread block can do them in shared memory. The rank of each symbol can be found independently.
//!
//! The length l of a code is represented by a frequency, 2^(12 - l) slots: the number of the 4096 words of 12 bits that
//! begin with the code. If a context has a single symbol, that symbol has length 0 and all slots.

use crate::code::entropy::frequencies::Frequencies;
use crate::code::entropy::token::{PRECISION, SLOTS, TOKENS};

/// The longest code.
pub const MAX_LENGTH: u32 = PRECISION;

/// The words that the algorithms here work in.
pub trait Memory {
    /// The word at this position.
    fn get(&self, at: u32) -> u32;
    /// Sets the word at this position.
    fn set(&mut self, at: u32, word: u32);
}

/// Positions outside the slice read as 0.
impl Memory for [u32] {
    #[inline(always)]
    fn get(&self, at: u32) -> u32 {
        <[u32]>::get(self, at as usize).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn set(&mut self, at: u32, word: u32) {
        if let Some(position) = self.get_mut(at as usize) {
            *position = word;
        }
    }
}

/// The number of words of [`Memory`] that [`lengths_of_sorted`] needs: the weights, and a counter for each length.
pub const MEMORY_WORDS: u32 = LENGTHS + 16;

/// The position of the counters.
const LENGTHS: u32 = TOKENS;

/// The weight of a symbol: its count, but at least one slot's part of the total, so that few codes exceed the limit.
///
/// `total` is the sum of the counts, less than 2^39. Weights are scaled so that they sum to less than 2^32.
#[inline(always)]
pub const fn weight(count: u32, total: u64) -> u32 {
    if count == 0 {
        return 0;
    }
    let shift = 33u32.saturating_sub(total.leading_zeros());
    let weight = count.unbounded_shr(shift);
    let least = (total >> shift >> PRECISION) as u32;
    let least = if least == 0 { 1 } else { least };
    if weight < least { least } else { weight }
}

/// Whether the first of two symbols, each given by weight and number, is the lighter one.
#[inline(always)]
pub const fn is_lighter(a: (u32, u32), b: (u32, u32)) -> bool {
    a.0 < b.0 || a.0 == b.0 && a.1 < b.1
}

/// Replaces the first `count` words by code lengths. The words are weights in ascending order that sum to less than
/// 2^32.
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

/// Joins the two lightest trees until one is left. Position t has the weight of the tree that was joined as number t;
/// when that tree becomes part of another, position t has the number of the other.
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

/// Replaces the parent of each tree by its depth, starting from the last tree, which is the root.
#[inline(always)]
fn depths_of_trees(memory: &mut (impl Memory + ?Sized), count: u32) {
    memory.set(count - 2, 0);
    for tree in (0..count - 2).rev() {
        let parent = memory.get(tree);
        memory.set(tree, memory.get(parent) + 1);
    }
}

/// Counts the leaves of each depth: the positions at that depth that are not taken by trees. Leaves beyond the limit
/// count as leaves at the limit.
#[inline(always)]
fn count_leaves(memory: &mut (impl Memory + ?Sized), count: u32) {
    for length in 0..=MAX_LENGTH {
        memory.set(LENGTHS + length, 0);
    }
    let (mut positions, mut depth, mut trees_left) = (1, 0, count - 1);
    while positions > 0 {
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
        memory.set(at, memory.get(at) + positions - trees);
        positions = 2 * trees;
        depth += 1;
    }
}

/// Makes the code valid after the longest codes were cut. Each step lengthens a code by one bit and moves one of the
/// longest codes beside it, until all codes fit.
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

/// Replaces each rank by its length: the lightest symbols get the longest codes.
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

/// The frequencies of a context, from the lengths of the Huffman codes for its counts.
pub fn frequencies_of_lengths(counts: &[u32; TOKENS as usize]) -> Frequencies {
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    type Counts = [u32; TOKENS as usize];

    fn of(counts: &[u32]) -> Counts {
        core::array::from_fn(|i| counts.get(i).copied().unwrap_or(0))
    }

    /// The bits of all symbols.
    fn cost(counts: &Counts) -> u64 {
        let frequencies = frequencies_of_lengths(counts);
        let length = |frequency: u16| u64::from((4096 / u32::from(frequency.max(1))).ilog2());
        let symbols = counts
            .iter()
            .zip(frequencies)
            .filter(|(count, _)| **count > 0);
        symbols
            .map(|(count, frequency)| u64::from(*count) * length(frequency))
            .sum()
    }

    /// The bits of all symbols with codes of unlimited length: the sum of the weights of all joined trees.
    fn unlimited_cost(counts: &Counts) -> u64 {
        let mut trees: Vec<u64> = counts
            .iter()
            .copied()
            .filter(|n| *n > 0)
            .map(u64::from)
            .collect();
        let mut cost = 0;
        while trees.len() > 1 {
            trees.sort_by(|a, b| b.cmp(a));
            let joined = trees.pop().unwrap() + trees.pop().unwrap();
            cost += joined;
            trees.push(joined);
        }
        cost
    }

    /// The bits of all symbols with the best codes of at most 12 bits, by the package-merge algorithm.
    fn limited_cost(counts: &Counts) -> u64 {
        let mut leaves: Vec<u64> = counts
            .iter()
            .copied()
            .filter(|n| *n > 0)
            .map(u64::from)
            .collect();
        leaves.sort_unstable();
        let mut list = Vec::new();
        for _ in 0..MAX_LENGTH {
            let packages: Vec<u64> = list
                .chunks_exact(2)
                .map(|pair: &[u64]| pair[0] + pair[1])
                .collect();
            list = [leaves.clone(), packages].concat();
            list.sort_unstable();
        }
        list.iter().take((2 * leaves.len()).saturating_sub(2)).sum()
    }

    /// Checks the lengths; returns how much longer than the best codes they are.
    fn check(counts: &Counts) -> f64 {
        let frequencies = frequencies_of_lengths(counts).map(u32::from);
        let used = counts.iter().filter(|count| **count > 0).count();
        assert_eq!(
            frequencies.iter().sum::<u32>(),
            if used > 0 { 4096 } else { 0 }
        );
        for (count, frequency) in counts.iter().zip(frequencies) {
            assert_eq!(*count > 0, frequency > 0);
            assert!(frequency == 0 || frequency.is_power_of_two());
        }
        let (found, best) = (cost(counts), limited_cost(counts));
        let excess = found as f64 / best.max(1) as f64 - 1.0;
        assert!(found >= best && excess < 0.008, "{found} {best} {counts:?}");
        // If no weight was raised, the lengths are the best.
        let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let is_raised = |count: &u32| *count > 0 && u64::from(*count) < total / 4096 + 1;
        if total < 1 << 31 && !counts.iter().any(is_raised) && best == unlimited_cost(counts) {
            assert_eq!(found, best, "{counts:?}");
        }
        excess
    }

    #[test]
    fn few_symbols() {
        check(&[0; 112]);
        assert_eq!(frequencies_of_lengths(&of(&[0, 7]))[1], 4096);
        assert_eq!(
            frequencies_of_lengths(&of(&[3, u32::MAX]))[..2],
            [2048, 2048]
        );
        assert_eq!(
            frequencies_of_lengths(&of(&[3, 5, 1]))[..3],
            [1024, 2048, 1024]
        );
    }

    #[test]
    fn equal_counts() {
        for used in 0..=112 {
            for count in [1, u32::MAX] {
                check(&of(&vec![count; used]));
            }
        }
    }

    #[test]
    fn fibonacci_counts() {
        let mut counts = vec![1u32, 1];
        for used in 2..47 {
            check(&of(&counts));
            counts.push(counts[used - 1] + counts[used - 2]);
        }
        // The greatest depth that counts can lead to, with the symbols in any order.
        let mut counts = of(&counts);
        check(&counts);
        counts.reverse();
        check(&counts);
    }

    #[test]
    fn lengths_are_the_best_or_nearly() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut excess = 0.0;
        for _ in 0..3000 {
            let used = rng.random_range(1..=112);
            let bits = rng.random_range(1..=32);
            let decay = rng.random_range(0.0..1.0f64);
            excess += check(&core::array::from_fn(|s| {
                let largest = (u64::MAX >> (64 - bits)) as f64 * (-decay * s as f64).exp();
                let count = (rng.random::<f64>() * largest) as u32;
                if s < used { count } else { 0 }
            }));
        }
        assert!(excess / 3000.0 < 0.0005, "{excess}");
    }
}
