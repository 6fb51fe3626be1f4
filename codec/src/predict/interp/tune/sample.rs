//! Samples: the tiles that represent a field.

use crate::container::checksum::mix;
use crate::shape::Shape;
use crate::tile;

/// A few of a field's tiles: the sequence of tiles is divided into equal parts, and one tile is taken from each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Samples {
    tiles: u64,
    /// One of this many tiles is a sample, within [`Samples::RANGE`].
    one_of: u64,
}

/// The positions of a sample tile that are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All positions.
    Whole,
    /// All positions of coarse levels. Of the finest level, which has most positions, the first half of the tile along
    /// its slowest axis.
    HalfOfFinest,
}

impl Scope {
    /// The ends along each axis of the scored positions of a level, given the ends of all its positions.
    #[inline(always)]
    pub const fn ends(self, shape: Shape, level: u32, mut ends: [u32; 3]) -> [u32; 3] {
        let slowest = 3 - shape.rank() as usize;
        let half = tile::extents(shape)[slowest] / 2;
        if self.is_half(level) && ends[slowest] > half {
            ends[slowest] = half;
        }
        ends
    }

    /// The weight of a code of a level.
    #[inline(always)]
    pub const fn weight(self, level: u32) -> u32 {
        if self.is_half(level) { 2 } else { 1 }
    }

    #[inline(always)]
    const fn is_half(self, level: u32) -> bool {
        level == 0 && matches!(self, Self::HalfOfFinest)
    }
}

impl Samples {
    /// The fewest samples, if there are as many tiles, and the most.
    const RANGE: [u64; 2] = [4, 64];

    /// The samples of a field of this many tiles.
    pub const fn new(tiles: u64) -> Self {
        Self { tiles, one_of: 128 }
    }

    /// As many samples as there may be: few tiles do not tell coefficients.
    pub const fn most(tiles: u64) -> Self {
        Self { tiles, one_of: 1 }
    }

    /// The number of samples.
    #[inline(always)]
    pub const fn count(&self) -> u32 {
        let [least, most] = Self::RANGE;
        let mut count = self.tiles / self.one_of;
        if count < least {
            count = least;
        }
        if count > most {
            count = most;
        }
        if count > self.tiles {
            count = self.tiles;
        }
        count as u32
    }

    /// The positions that are scored: if there are many samples, half of their finest level is sufficient.
    #[inline(always)]
    pub const fn scope(&self) -> Scope {
        if self.count() as u64 == Self::RANGE[1] {
            Scope::HalfOfFinest
        } else {
            Scope::Whole
        }
    }

    /// The number of the tile of sample `sample`. The tile may be anywhere in its part: tiles at equal distances could
    /// all have the same position in their rows.
    #[inline(always)]
    pub fn tile(&self, sample: u32) -> u64 {
        // Prevents a division by 0, since kernels must not panic and the compiler cannot see that the count is not 0.
        let count = u64::from(self.count().max(1));
        let sample = u64::from(sample);
        let (length, rest) = (self.tiles / count, self.tiles % count);
        let (first, length) = if sample < rest {
            (sample * (length + 1), length + 1)
        } else {
            (sample * length + rest, length)
        };
        first + hash(sample) % length.max(1)
    }
}

/// A pseudo-random number for the number of a sample.
#[inline(always)]
const fn hash(value: u64) -> u64 {
    mix(value.wrapping_add(0x9E37_79B9_7F4A_7C15))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_ascend_and_are_tiles() {
        for tiles in (0..3000).chain([8192, 1 << 40, u64::MAX]) {
            let samples = Samples::new(tiles);
            assert!(samples.count() as u64 >= tiles.min(4) && samples.count() <= 64);
            let mut before = None;
            for i in 0..samples.count() {
                let tile = samples.tile(i);
                assert!(tile < tiles && before < Some(tile), "{tiles}: {tile}");
                before = Some(tile);
            }
        }
    }
}
