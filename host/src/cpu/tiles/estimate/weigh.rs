//! Which tiles are in a sample: those that need more bytes are more likely to be, and each stands for as many tiles as it is
//! unlikely.

use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::sample::spread;
use ferrosz_codec::Element;
use ferrosz_codec::tile::{ChunkLength, TILE, TileGrid};
use std::cmp::Reverse;

/// Fraction bits of a tile's weight.
pub(super) const WEIGHT_BITS: u32 = 4;

/// A share of all.
pub(super) const ONE: u128 = 1 << 32;

/// How tiles without codes cluster, as far as the yardstick tells: the correlation of neighbours, as a share of [`ONE`].
pub(super) struct Clusters {
    correlation: u128,
}

/// The numbers of tiles with the elements of about so many whole ones, in pairs of neighbours, which tell how empty tiles
/// cluster.
pub(super) fn sampled(grid: &TileGrid, wanted: u64) -> Vec<u64> {
    let tiles = grid.tiles();
    let whole = grid.elements().div_ceil(TILE as u64).max(1);
    let taken = u128::from(wanted) * u128::from(tiles) / u128::from(whole);
    if taken >= u128::from(tiles) {
        return (0..tiles).collect();
    }
    let pairs = spread(tiles / 2, (taken as u64 / 2).clamp(1, tiles / 2));
    pairs.flat_map(|pair| [2 * pair, 2 * pair + 1]).collect()
}

/// The weights of the tiles that are taken of some of these sizes: about `wanted` of them, each as likely as it is large. A
/// weight is the number of tiles that one stands for, with [`WEIGHT_BITS`]; it is 0 for what is not taken.
pub(super) fn weights(sizes: &[u64], wanted: usize) -> Vec<u64> {
    let one = 1 << WEIGHT_BITS;
    let mut weights = vec![0; sizes.len()];
    // What is so large that it must be taken stands for itself.
    let (mut rest, mut left): (u64, usize) = (sizes.iter().sum(), wanted);
    loop {
        let before = left;
        for (size, weight) in sizes.iter().zip(&mut weights) {
            if *weight == 0 && left > 0 && u128::from(*size) * left as u128 >= u128::from(rest) {
                *weight = one;
                rest -= size;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    // Of the others those at equal distances, if they are laid end to end.
    let (mut at, mut before) = (0u128, 0);
    for (size, weight) in sizes
        .iter()
        .zip(&mut weights)
        .filter(|(_, weight)| **weight == 0)
    {
        at += u128::from(*size);
        let step = (2 * at * left as u128 + u128::from(rest)) / u128::from(2 * rest.max(1));
        if step > before {
            let of_all = u128::from(one) * u128::from(rest);
            *weight = of_all.div_ceil(left as u128 * u128::from(*size)) as u64;
        }
        before = step;
    }
    weights
}

/// Tiles of a field, and their weights by the yardstick: the bits of the differences between neighbours along x. It does not
/// depend on the shape of tiles, and takes less time than any codec.
pub(super) struct Weighed<T> {
    pub(super) numbers: Vec<u64>,
    pub(super) tiles: Vec<SampleTile<T>>,
    pub(super) bits: Vec<u64>,
}

impl<T: Element> Weighed<T> {
    /// The bits of a tile that is taken for empty.
    fn least(&self) -> u64 {
        self.bits.iter().copied().min().unwrap_or(0)
    }

    /// The number of tiles that have codes.
    pub(super) fn coded(&self) -> u64 {
        let least = self.least();
        self.bits.iter().filter(|bits| **bits > least).count() as u64
    }

    /// The tiles that weigh most, at most so many, in the order of their numbers.
    pub(super) fn heaviest(self, count: usize) -> Vec<SampleTile<T>> {
        let mut taken: Vec<usize> = (0..self.bits.len()).collect();
        taken.sort_by_key(|tile| Reverse(self.bits[*tile]));
        taken.truncate(count);
        let tiles = self.tiles.into_iter().enumerate();
        let taken = tiles.filter(|(tile, _)| taken.contains(tile));
        taken.map(|(_, tile)| tile).collect()
    }

    pub(super) fn clusters(&self) -> Clusters {
        let least = self.least();
        let (mut empty, mut behind_empty, mut both_empty) = (0, 0u128, 0);
        let mut before = None;
        for (number, bits) in self.numbers.iter().zip(&self.bits) {
            let is_empty = *bits == least;
            empty += u128::from(is_empty);
            if before.is_some_and(|before: u64| before + 1 == *number) {
                behind_empty += 1;
                both_empty += u128::from(is_empty);
            }
            before = is_empty.then_some(*number);
        }
        let all = ONE * empty / u128::max(self.numbers.len() as u128, 1);
        let behind = ONE * both_empty / behind_empty.max(1);
        let correlation = ONE * behind.saturating_sub(all) / (ONE - all).max(1);
        Clusters {
            correlation: correlation.min(ONE),
        }
    }
}

impl Clusters {
    /// Tiles without codes are anywhere.
    #[cfg(all(test, feature = "cuda", feature = "emulator"))]
    pub(super) const fn none() -> Self {
        Self { correlation: 0 }
    }

    /// Of this many chunks of a length, how many have codes if this share of the tiles has.
    pub(super) fn chunks(&self, chunks: u128, coded: u128, length: ChunkLength) -> u128 {
        let empty = ONE - coded;
        let behind_empty = empty + self.correlation * coded / ONE;
        let of_chunk = (1..length.tiles()).fold(empty, |all, _| all * behind_empty / ONE);
        (chunks * (ONE - of_chunk)).div_ceil(ONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_stand_for_all() {
        let one = 1 << WEIGHT_BITS;
        assert_eq!(weights(&[5, 5, 5], 3), [one; 3]);
        assert_eq!(weights(&[5, 5, 5], 9), [one; 3]);
        // A large tile is taken for sure; one of the small ones stands for all of them.
        let found = weights(&[1, 1, 1, 1, 100, 1, 1, 1, 1], 2);
        assert_eq!(found[4], one);
        let small: Vec<u64> = found
            .iter()
            .copied()
            .filter(|weight| *weight > one)
            .collect();
        assert_eq!(small, [8 * one]);
        // Of tiles with different sizes the weighted sum of sizes is that of all.
        let sizes: Vec<u64> = (1..200).map(|i| i * i % 97 + 1).collect();
        let found = weights(&sizes, 20);
        let sum: u64 = sizes
            .iter()
            .zip(&found)
            .map(|(size, weight)| size * weight)
            .sum();
        let all = sizes.iter().sum::<u64>() * one;
        assert!(sum.abs_diff(all) * 20 < all, "{sum} {all}");
        assert!((18..=21).contains(&found.iter().filter(|weight| **weight > 0).count()));
    }

    #[test]
    fn empty_tiles_that_cluster_leave_more_chunks_empty() {
        let length = ChunkLength::Four;
        let chunks = |correlation| Clusters { correlation }.chunks(1000, ONE / 4, length);
        assert_eq!(chunks(ONE), 250);
        assert_eq!(chunks(0), 684);
        let alone = Clusters { correlation: 0 };
        assert_eq!(alone.chunks(1000, 0, length), 0);
        assert_eq!(alone.chunks(1000, ONE, length), 1000);
        assert_eq!(alone.chunks(1000, ONE / 4, ChunkLength::SixtyFour), 1000);
    }
}
