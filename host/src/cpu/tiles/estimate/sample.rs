//! A tile of a sample, with its elements.

use crate::cpu::Version;
use crate::cpu::code::fixed_length::Source;
use crate::cpu::lanes::Lanes;
use crate::cpu::tiles::estimate::holes::fill_rows;
use crate::cpu::version::Work;
use crate::sampled_field::{Sizes, can_be_sized};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::quantize::difference::difference_bits;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::{self, LANES, TileBox, TileGrid};
use ferrosz_codec::{Element, Shape};
use std::borrow::Cow;

/// A tile of a field, with its elements and those of its far faces, row by row.
pub(super) struct SampleTile<T> {
    pub(super) tile: TileBox,
    /// Its number in the field.
    pub(super) number: u64,
    /// The number of the field's tiles that it stands for, with [`WEIGHT_BITS`](super::weigh::WEIGHT_BITS).
    pub(super) weight: u64,
    pub(super) extents: [u32; 3],
    /// The elements, at last with values in place of holes; none if they were not needed.
    pub(super) elements: Vec<T>,
    /// The codes of holes.
    pub(super) holes: Vec<u32>,
    /// Sizes that were measured.
    pub(super) sizes: Sizes,
}

impl<T: Element> SampleTile<T> {
    /// A tile of a field, so far without elements.
    pub(super) fn new(grid: &TileGrid, number: u64) -> Self {
        Self {
            tile: grid.tile(number),
            number,
            weight: 0,
            extents: [0; 3],
            elements: Vec::new(),
            holes: Vec::new(),
            sizes: Sizes::new(),
        }
    }

    /// The box of the tile and its far faces.
    pub(super) fn with_faces(&self, shape: Shape) -> ChunkBox {
        let TileBox { origin, left } = self.tile;
        let with_faces = store::extents(shape);
        let extents = std::array::from_fn(|i| with_faces[i].min(left[i]));
        ChunkBox { origin, extents }
    }

    /// Takes the sizes that were measured.
    pub(super) fn take_sizes(&mut self, sizes: Sizes) {
        self.sizes = sizes;
    }

    /// Whether kernels can size it in blocks of all of these shapes.
    pub(super) fn can_be_sized(&self, grid: &TileGrid, shapes: &[Shape]) -> bool {
        let TileBox { origin, .. } = self.tile;
        let extents = self.tile.extents(grid.shape());
        let own = ChunkBox { origin, extents };
        shapes.iter().all(|shape| can_be_sized(&own, *shape))
    }

    fn index(&self, at: [u64; 3]) -> usize {
        let [_, height, width] = self.extents.map(|extent| extent as usize);
        let [z, y, x]: [usize; 3] = std::array::from_fn(|i| (at[i] - self.tile.origin[i]) as usize);
        (z * height + y) * width + x
    }

    /// The element at a position of the field.
    pub(super) fn at(&self, at: [u64; 3]) -> T {
        self.elements[self.index(at)]
    }

    /// The element at the position of a code.
    pub(super) fn coded(&self, shape: Shape, at: usize) -> T {
        let (step, lane) = (at as u32 / LANES, at as u32 % LANES);
        self.at(self.tile.at(tile::position(shape, step, lane)))
    }

    /// Fills a slice with the elements along x from a position of the field on.
    pub(super) fn read_row(&self, at: [u64; 3], row: &mut [T]) {
        let first = self.index(at);
        row.copy_from_slice(&self.elements[first..first + row.len()]);
    }

    /// Elements of the tile itself.
    pub(super) fn count(&self, grid: &TileGrid) -> u64 {
        let extents = self.tile.extents(grid.shape());
        extents.map(u64::from).iter().product()
    }

    /// The two values that lie `spacing` before and behind a position along x, if the tile has them.
    pub(super) fn neighbours(&self, [z, y, x]: [u64; 3], spacing: u64) -> Option<[T; 2]> {
        let first = self.tile.origin[2];
        let [before, behind] = [x.checked_sub(spacing)?, x + spacing];
        let has_both = before >= first && behind < first + u64::from(self.extents[2]);
        has_both.then(|| [before, behind].map(|x| self.at([z, y, x])))
    }

    /// Puts values in place of holes.
    pub(super) fn fill_holes(&mut self, shape: Shape) {
        let own = self.tile.extents(shape);
        let [_, height, width] = self.extents;
        for (at, _) in (0..)
            .zip(&self.elements)
            .filter(|(_, element)| element.is_hole())
        {
            let position = [at / width / height, at / width % height, at % width];
            if (0..3).all(|axis| position[axis] < own[axis]) {
                self.holes.push(tile::index(shape, position));
            }
        }
        if self.elements.iter().any(|element| element.is_hole()) {
            fill_rows(width as usize, &mut self.elements);
        }
    }

    /// The rows of the tile itself.
    fn rows(&self, grid: &TileGrid) -> impl Iterator<Item = &[T]> {
        let [depth, height, width] = self.tile.extents(grid.shape()).map(u64::from);
        let origin = self.tile.origin;
        (0..depth * height).map(move |row| {
            let [z, y] = [origin[0] + row / height, origin[1] + row % height];
            let first = self.index([z, y, origin[2]]);
            &self.elements[first..first + width as usize]
        })
    }

    /// The elements of the tile itself.
    fn own(&self, grid: &TileGrid) -> Cow<'_, [T]> {
        if self.tile.extents(grid.shape()) == self.extents {
            return Cow::Borrowed(&self.elements);
        }
        let mut own = Vec::with_capacity(self.count(grid) as usize);
        for row in self.rows(grid) {
            own.extend_from_slice(row);
        }
        Cow::Owned(own)
    }

    /// The sum of the bits of the differences between neighbours along x; a difference of 1 is one step of the quantizer.
    /// `length` is that of the field along x: a line has several such rows.
    pub(super) fn difference_bits(&self, grid: &TileGrid, length: u64, steps: T) -> u64 {
        let first = self.before_row(grid, length) as usize;
        let of_row = |row: &[T]| {
            let (first, rest) = row.split_at(row.len().min(first));
            let parts = [first].into_iter().chain(rest.chunks(length as usize));
            let bits = parts.map(|part| Version::best().run(Differences { row: part, steps }));
            bits.sum::<u64>()
        };
        self.rows(grid).map(of_row).sum()
    }

    /// Elements of each row of the tile before the first one that begins a row of the field.
    fn before_row(&self, grid: &TileGrid, length: u64) -> u64 {
        match grid.shape() {
            Shape::Line => length - self.tile.origin[2] % length,
            Shape::Plane | Shape::Cube => u64::MAX,
        }
    }

    /// Bits of [`difference_bits`](Self::difference_bits) as if each element had the same number of neighbours.
    pub(super) fn as_of_all(&self, bits: u64, grid: &TileGrid, length: u64) -> u64 {
        let [depth, height, width] = self.tile.extents(grid.shape()).map(u64::from);
        let first = self.before_row(grid, length).min(width);
        let rows = u64::from(first > 0) + (width - first).div_ceil(length);
        let pairs = depth * height * (width - rows);
        // A tile has 2^14 elements, and few bits for each.
        bits * self.count(grid) / pairs.max(1)
    }

    /// Whether sizes in blocks were measured.
    pub(super) fn is_sized(&self) -> bool {
        !self.sizes.is_empty()
    }

    /// The size of the tile's payload as a field of its own in blocks of a shape, if it is known.
    pub(super) fn block_bytes(&self, blocks: (BlockCodec, Shape)) -> Option<u64> {
        let known = self.sizes.iter().find(|(of, _)| *of == blocks);
        known.map(|(_, bytes)| *bytes)
    }

    /// Finds the sizes in blocks that are not known: of all codecs for a shape at once.
    pub(super) fn size_in_blocks(
        &mut self,
        wanted: &[(BlockCodec, Shape)],
        grid: &TileGrid,
        quantizer: &Quantizer<T>,
    ) {
        let is_new = |blocks: &&(BlockCodec, Shape)| self.block_bytes(**blocks).is_none();
        let new: Vec<_> = wanted.iter().filter(is_new).copied().collect();
        if new.is_empty() {
            return;
        }
        let field = self.own(grid);
        let own = self.tile.extents(grid.shape()).map(u64::from);
        let extents = Extents::new(&own).unwrap_or(Extents::line(field.len() as u64));
        let sizes = |shape: Shape| -> Sizes {
            let of_shape = new.iter().filter(|(_, of)| *of == shape);
            let codecs: Vec<_> = of_shape.map(|(codec, _)| *codec).collect();
            let blocks = Grid::new(shape, &extents);
            let mut found: Sizes = codecs.iter().map(|codec| ((*codec, shape), 0)).collect();
            for chunk in 0..blocks.chunk_count() {
                let source = Source {
                    field: &field,
                    grid: &blocks,
                    chunk,
                };
                let bytes = Version::best().sizes(&codecs, quantizer, source);
                for ((_, all), bytes) in found.iter_mut().zip(bytes) {
                    *all += bytes as u64;
                }
            }
            found
        };
        let found: Vec<_> = Shape::ALL.into_iter().flat_map(sizes).collect();
        self.sizes.extend(found);
    }
}

/// The sum of the bits of the differences between neighbours of a row, which is at most as long as a tile. Batches of
/// [`TOGETHER`] pairs fill the vectors of the machine.
struct Differences<'a, T> {
    row: &'a [T],
    steps: T,
}

impl<T: Element> Work for Differences<'_, T> {
    type Output = u64;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> u64 {
        let Self { row, steps } = self;
        let pairs = row.len().saturating_sub(1);
        let mut all = 0;
        let mut at = 0;
        while at + TOGETHER <= pairs {
            all += bits_of_pairs(&row[at..], steps, TOGETHER);
            at += TOGETHER;
        }
        // The last pairs are fewer than a batch. They are computed in a batch with pairs before them, which are counted already.
        match pairs.checked_sub(TOGETHER) {
            Some(first) => all += bits_of_pairs(&row[first..], steps, pairs - at),
            None => {
                let mut padded = [T::ZERO; TOGETHER + 1];
                padded[TOGETHER - pairs..][..row.len()].copy_from_slice(row);
                all += bits_of_pairs(&padded, steps, pairs);
            }
        }
        u64::from(all)
    }
}

/// Pairs whose bits are computed at once, in vectors.
const TOGETHER: usize = 16;

/// The sum of the bits of the last `counted` of the first [`TOGETHER`] pairs of a row, which has them.
#[inline(always)]
fn bits_of_pairs<T: Element>(row: &[T], steps: T, counted: usize) -> u32 {
    let row = &row[..TOGETHER + 1];
    let mut all = 0;
    for i in 0..TOGETHER {
        let bits = difference_bits(row[i], row[i + 1], steps);
        all += if i + counted >= TOGETHER { bits } else { 0 };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_of_neighbours_counts_once() {
        let steps = 0.5f32;
        for length in 0..70 {
            let row: Vec<f32> = (0..length).map(|i| (i * i * 37 % 1009) as f32).collect();
            let mut row = row;
            if length > 20 {
                row[length / 2] = f32::NAN;
            }
            let bits = |pair: &[f32]| {
                let difference = ((pair[1] - pair[0]) * steps).abs();
                match difference >= 0.5 {
                    true => {
                        u64::from((difference as u32 | 1).ilog2() + 2) - u64::from(difference < 1.0)
                    }
                    false => 0,
                }
            };
            let wanted: u64 = row.windows(2).map(bits).sum();
            let found = Version::best().run(Differences { row: &row, steps });
            assert_eq!(found, wanted, "{length}");
        }
    }
}
