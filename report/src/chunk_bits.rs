//! Where a stream has its bits: bits a value of the chunks, seen along all axes but two.

use crate::planes::Grid;
use ferrosz::Error;
use ferrosz::stream::ChunkMap;
use std::ops::Range;

/// The most cells along an axis.
const MOST_CELLS: u64 = 128;

/// Bits a value of a stream's chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkBits {
    /// The two longest axes, or one.
    pub axes: Vec<usize>,
    /// Values of a cell along these axes.
    pub steps: Vec<u64>,
    /// Bits a value of each cell, of all chunks there.
    pub grid: Grid,
    /// The number of chunks.
    pub chunks: u64,
    /// The fewest and the most bits a value of a chunk.
    pub ends: [f64; 2],
}

impl ChunkBits {
    /// Those of a stream; none if its levels are coded apart, or it has no chunks.
    ///
    /// # Errors
    ///
    /// If the stream is damaged.
    pub fn of(stream: &[u8], extents: &[u64]) -> Result<Option<Self>, Error> {
        let Some(map) = ChunkMap::of(stream)?.filter(|map| map.count() > 0) else {
            return Ok(None);
        };
        let mut sums = Sums::new(extents);
        let mut ends = [f64::INFINITY, f64::NEG_INFINITY];
        for chunk in 0..map.count() {
            let boxes: Vec<Vec<Range<u64>>> = (map.parts(chunk).iter())
                .flat_map(|part| part.boxes(extents))
                .collect();
            let elements: u64 = boxes.iter().map(|ranges| elements(ranges)).sum();
            let bits = 8.0 * map.bytes(chunk)? as f64 / elements.max(1) as f64;
            ends = [ends[0].min(bits), ends[1].max(bits)];
            for ranges in &boxes {
                sums.add(ranges, bits);
            }
        }
        Ok(Some(Self {
            grid: sums.grid(),
            axes: sums.axes,
            steps: sums.steps,
            chunks: map.count(),
            ends,
        }))
    }
}

fn elements(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).product()
}

/// Sums of bits and of elements in cells.
struct Sums {
    axes: Vec<usize>,
    steps: Vec<u64>,
    columns: u64,
    bits: Vec<f64>,
    elements: Vec<f64>,
}

impl Sums {
    fn new(extents: &[u64]) -> Self {
        let mut axes: Vec<usize> = (0..extents.len()).collect();
        axes.sort_by_key(|axis| std::cmp::Reverse(extents[*axis]));
        axes.truncate(2);
        axes.sort_unstable();
        let lengths: Vec<u64> = axes.iter().map(|axis| extents[*axis]).collect();
        let steps: Vec<u64> = (lengths.iter())
            .map(|length| length.div_ceil(MOST_CELLS).max(1))
            .collect();
        let counts = lengths
            .iter()
            .zip(&steps)
            .map(|(length, step)| length.div_ceil(*step));
        let counts: Vec<u64> = counts.collect();
        let cells = counts.iter().product::<u64>() as usize;
        Self {
            columns: counts.last().copied().unwrap_or(1),
            axes,
            steps,
            bits: vec![0.0; cells],
            elements: vec![0.0; cells],
        }
    }

    /// Adds the elements of a box, which have so many bits each.
    fn add(&mut self, ranges: &[Range<u64>], bits: f64) {
        let along = |place: usize| match self.axes.get(place) {
            Some(axis) => shares(&ranges[*axis], self.steps[place]),
            None => vec![(0, 1)],
        };
        let (down, right) = match self.axes.len() {
            2 => (along(0), along(1)),
            _ => (vec![(0, 1)], along(0)),
        };
        let is_across = |axis: &usize| !self.axes.contains(axis);
        let across: u64 = (0..ranges.len())
            .filter(is_across)
            .map(|axis| ranges[axis].end - ranges[axis].start)
            .product();
        for (row, height) in down {
            for (column, width) in &right {
                let cell = (row * self.columns + column) as usize;
                let count = (height * width * across) as f64;
                self.elements[cell] += count;
                self.bits[cell] += count * bits;
            }
        }
    }

    fn grid(&self) -> Grid {
        let pairs = self.bits.iter().zip(&self.elements);
        Grid {
            columns: self.columns as usize,
            points: pairs.map(|(bits, elements)| bits / elements).collect(),
        }
    }
}

/// The cells that a range touches, and the elements of it in each.
fn shares(range: &Range<u64>, step: u64) -> Vec<(u64, u64)> {
    let cells = range.start / step..range.end.div_ceil(step);
    let share = |cell: u64| {
        let (start, end) = (
            range.start.max(cell * step),
            range.end.min((cell + 1) * step),
        );
        (cell, end.saturating_sub(start))
    };
    cells.map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz::{Bound, Codec, Compressor};

    /// The bits of all elements together are those of all chunks.
    #[test]
    fn cells_have_all_bits() {
        let noise = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32;
        for extents in [
            &[300u64, 400][..],
            &[5, 70, 300],
            &[500_000],
            &[2, 3, 150, 140],
        ] {
            let count = extents.iter().product();
            // The second half of each plane is noise.
            let plane: u64 = extents.iter().rev().take(2).product();
            let field: Vec<f32> = (0..count)
                .map(|i| if i % plane < plane / 2 { 1.0 } else { noise(i) })
                .collect();
            for codec in [Codec::PLAIN, Codec::STENCIL] {
                let compressor = Compressor::new(codec, Bound::abs(1.0).unwrap());
                let stream = compressor
                    .extents(extents)
                    .unwrap()
                    .compress(&field)
                    .unwrap();
                let found = ChunkBits::of(&stream, extents).unwrap().unwrap();
                let map = ChunkMap::of(&stream).unwrap().unwrap();
                let all: u64 = (0..map.count())
                    .map(|chunk| map.bytes(chunk).unwrap())
                    .sum();
                let mut sums = Sums::new(extents);
                let whole: Vec<Range<u64>> = extents.iter().map(|length| 0..*length).collect();
                sums.add(&whole, 1.0);
                let pairs = found.grid.points.iter().zip(&sums.elements);
                let bits: f64 = pairs.map(|(bits, elements)| bits * elements).sum();
                assert!(
                    (bits / 8.0 - all as f64).abs() < 1e-6 * all as f64,
                    "{extents:?}"
                );
                // Chunks of tiles are too long to tell the halves of these arrays apart.
                let points = &found.grid.points;
                assert!(
                    codec != Codec::PLAIN || points[points.len() - 1] > 2.0 * points[0],
                    "{extents:?} {codec}"
                );
            }
        }
    }
}
