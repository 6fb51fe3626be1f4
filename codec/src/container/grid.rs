//! The division of a field into chunks of whole coding blocks.
//!
//! A chunk is a box of at most [`CHUNK`] elements. For blocks that are lines it is a range of the field's elements in
//! their order. For planes and cubes it is as compact as the field allows, so that a box to decode touches few chunks.
//!
//! A field may have slices, which are coded independently of each other. They lie one behind the other along z, and
//! chunks begin anew in each of them. So without slices, the field is its only slice.

use crate::container::chunk::CHUNK;
use crate::container::extents::{Dimensions, Extents};
use crate::shape::Shape;

/// The division of one field.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// The field's extents as the blocks' shape needs them, slowest first. That of z is of all slices together.
    lengths: [u64; 3],
    /// Chunks in each dimension; along z of all slices together.
    chunks: [u64; 3],
    /// The extent of a slice along z.
    depth: u64,
    /// Chunks of a slice along z.
    deep: u64,
    /// Elements of a whole chunk in each dimension, as powers of two.
    tile: [u32; 3],
    shape: Shape,
}

/// The position and extents of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkBox {
    /// The coordinates of its first element.
    pub origin: [u64; 3],
    /// Its extents, clipped at the end of the field.
    pub extents: [u32; 3],
}

/// The position of a block in its chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockPosition {
    /// The coordinates of its first element in the chunk.
    pub origin: [u32; 3],
    /// The number of elements of the chunk from there on, in each dimension; may be more than the block has.
    pub inside: [u32; 3],
}

impl Grid {
    /// The division of a field into chunks of blocks of this shape, or of a shape with fewer dimensions if the field
    /// has fewer dimensions longer than 1.
    pub fn new(shape: Shape, extents: &Extents) -> Self {
        let elements = extents.elements();
        let Dimensions {
            mut slices,
            mut lengths,
            rank,
        } = extents.dimensions();
        let shape = match elements {
            0 => Shape::Line,
            _ => Shape::of_rank(shape.rank().min(rank)).unwrap_or(Shape::Line),
        };
        match shape {
            Shape::Line => (slices, lengths) = (1, [1, 1, elements]),
            // Planes are independent of each other along z anyway.
            Shape::Plane => (slices, lengths[0]) = (1, slices * lengths[0]),
            Shape::Cube => {}
        }
        let tile = tile_of(shape, lengths);
        let [deep, height, width] = core::array::from_fn(|i| lengths[i].div_ceil(1 << tile[i]));
        Self {
            lengths: [slices * lengths[0], lengths[1], lengths[2]],
            chunks: [slices * deep, height, width],
            depth: lengths[0],
            deep,
            tile,
            shape,
        }
    }

    /// As [`Grid::new`], for a line of `elements` elements; also for kernels.
    #[inline(always)]
    pub const fn line(elements: u64) -> Self {
        Self {
            lengths: [1, 1, elements],
            chunks: [1, 1, elements.div_ceil(CHUNK as u64)],
            depth: 1,
            deep: 1,
            tile: [0, 0, CHUNK.ilog2()],
            shape: Shape::Line,
        }
    }

    /// The grid of one chunk as a field of its own, whose only chunk has the same blocks as in `grid`.
    pub fn alone(grid: &Self, chunk: &ChunkBox) -> Self {
        Self {
            lengths: chunk.extents.map(u64::from),
            chunks: [1; 3],
            depth: u64::from(chunk.extents[0]),
            deep: 1,
            ..*grid
        }
    }

    /// The same field, divided into chunks with other extents, given as powers of two; only for the positions in a chunk.
    #[inline(always)]
    pub fn with_tile(&self, tile: [u32; 3]) -> Self {
        Self { tile, ..*self }
    }

    /// The blocks' shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The field's extents without dimensions of length 1; the number of elements for lines. That of z is of all slices
    /// together.
    #[inline(always)]
    pub fn lengths(&self) -> [u64; 3] {
        self.lengths
    }

    /// The number of slices.
    pub fn slices(&self) -> u64 {
        self.lengths[0] / self.depth.max(1)
    }

    /// The extents of a slice.
    #[inline(always)]
    pub fn slice_lengths(&self) -> [u64; 3] {
        [self.depth, self.lengths[1], self.lengths[2]]
    }

    /// Whether there are several slices.
    #[inline(always)]
    fn is_sliced(&self) -> bool {
        self.depth != self.lengths[0]
    }

    /// Elements of the field.
    #[inline(always)]
    pub fn elements(&self) -> u64 {
        self.lengths[0] * self.lengths[1] * self.lengths[2]
    }

    /// The number of chunks.
    #[inline(always)]
    pub fn chunk_count(&self) -> u64 {
        self.chunks[0] * self.chunks[1] * self.chunks[2]
    }

    /// Chunks in each dimension.
    pub fn chunks(&self) -> [u64; 3] {
        self.chunks
    }

    /// Elements of a whole chunk in each dimension, as powers of two.
    #[inline(always)]
    pub fn tile(&self) -> [u32; 3] {
        self.tile
    }

    /// The chunk with number `index`; the number in the last dimension runs fastest.
    #[inline(always)]
    pub fn chunk(&self, index: u64) -> ChunkBox {
        let [_, y, x] = self.chunks;
        // A field without elements has no chunks; the maximum prevents a division by zero.
        self.chunk_at([
            index / (y * x).max(1),
            index / x.max(1) % y.max(1),
            index % x.max(1),
        ])
    }

    /// The position in each dimension of chunk number `index`, in a grid of less than 2^32 chunks.
    #[inline(always)]
    pub fn chunk_position(&self, index: u32) -> [u32; 3] {
        let [_, y, x] = self.chunks.map(|count| (count as u32).max(1));
        let row = index / x;
        [row / y, row % y, index % x]
    }

    /// The chunk with these numbers in each dimension.
    #[inline(always)]
    pub fn chunk_at(&self, mut at: [u64; 3]) -> ChunkBox {
        let mut first = 0;
        // The branch saves divisions on a GPU.
        if self.is_sliced() {
            let slice = at[0] / self.deep.max(1);
            at[0] -= slice * self.deep;
            first = slice * self.depth;
        }
        let origin = core::array::from_fn(|i| at[i] << self.tile[i]);
        let mut chunk = Self::clip(origin, self.slice_lengths(), self.tile);
        chunk.origin[0] += first;
        chunk
    }

    /// The number along z of the chunk that has this coordinate along z.
    pub(crate) fn chunk_of_z(&self, z: u64) -> u64 {
        let depth = self.depth.max(1);
        z / depth * self.deep + ((z % depth) >> self.tile[0])
    }

    /// The same as [`Grid::chunk`], for lines, without a division.
    #[inline(always)]
    pub fn line_chunk(&self, index: u64) -> ChunkBox {
        let origin = [0, 0, index.saturating_mul(CHUNK as u64)];
        Self::clip(origin, self.lengths, self.tile)
    }

    #[inline(always)]
    fn clip(origin: [u64; 3], lengths: [u64; 3], tile: [u32; 3]) -> ChunkBox {
        ChunkBox {
            origin,
            extents: core::array::from_fn(|i| {
                lengths[i].saturating_sub(origin[i]).min(1 << tile[i]) as u32
            }),
        }
    }

    /// The coordinates of an element, given its number.
    pub fn position(&self, flat: u64) -> [u64; 3] {
        let [_, height, width] = self.lengths.map(|length| length.max(1));
        [flat / width / height, flat / width % height, flat % width]
    }

    /// The number of the chunk that has the element at these coordinates, and the element's number there, row by row.
    pub fn chunk_of(&self, at: [u64; 3]) -> (u64, u32) {
        let [_, rows, columns] = self.chunks;
        let number = [
            self.chunk_of_z(at[0]),
            at[1] >> self.tile[1],
            at[2] >> self.tile[2],
        ];
        let number = (number[0] * rows + number[1]) * columns + number[2];
        let chunk = self.chunk(number);
        let [z, y, x] = core::array::from_fn(|i| (at[i] - chunk.origin[i]) as u32);
        let [_, height, width] = chunk.extents;
        (number, (z * height + y) * width + x)
    }

    /// The number of an element.
    #[inline(always)]
    pub fn flat(&self, at: [u64; 3]) -> u64 {
        (at[0] * self.lengths[1] + at[1]) * self.lengths[2] + at[2]
    }

    /// The sum over all chunks of a number that depends only on the number of their elements; none if it does not fit.
    pub(crate) fn sum_over_chunks(&self, number: impl Fn(u32) -> u64) -> Option<u64> {
        let (lengths, chunks) = (
            self.slice_lengths(),
            [self.deep, self.chunks[1], self.chunks[2]],
        );
        let mut sum = 0u64;
        // In each dimension of a slice all chunks but the last are whole.
        for kind in 0..8u32 {
            let mut count = self.slices();
            let mut elements = 1;
            for i in 0..3 {
                let last = chunks[i].saturating_sub(1);
                let whole = 1 << self.tile[i];
                let (of_kind, length) = if kind >> i & 1 == 0 {
                    (last, whole)
                } else {
                    let rest = lengths[i] - (last << self.tile[i]);
                    (chunks[i] - last, rest)
                };
                count = count.checked_mul(of_kind)?;
                elements *= length;
            }
            if count > 0 {
                sum = sum.checked_add(count.checked_mul(number(elements as u32))?)?;
            }
        }
        Some(sum)
    }
}

/// Elements of a whole chunk in each dimension, as powers of two. The chunk starts as one block. Until it is full, its
/// shortest dimension is doubled, of the dimensions in which the field is longer than the chunk; of equal ones x before
/// y before z. If the field is longer in no dimension, x is doubled.
fn tile_of(shape: Shape, lengths: [u64; 3]) -> [u32; 3] {
    let mut tile = shape.extents().map(u32::ilog2);
    while tile.iter().sum::<u32>() < CHUNK.ilog2() {
        let grown = [2, 1, 0]
            .into_iter()
            .filter(|i| lengths[*i] > 1 << tile[*i])
            .min_by_key(|i| tile[*i])
            .unwrap_or(2);
        tile[grown] += 1;
    }
    tile
}

impl ChunkBox {
    /// Elements of the chunk.
    #[inline(always)]
    pub fn elements(&self) -> u32 {
        self.extents[0] * self.extents[1] * self.extents[2]
    }

    /// Blocks in each dimension.
    #[inline(always)]
    pub fn blocks(&self, shape: Shape) -> [u32; 3] {
        let block = shape.extents();
        core::array::from_fn(|i| self.extents[i].div_ceil(block[i]))
    }

    /// The number of blocks.
    #[inline(always)]
    pub fn block_count(&self, shape: Shape) -> u32 {
        let [z, y, x] = self.blocks(shape);
        z * y * x
    }

    /// The block with number `index`; the number in the last dimension runs fastest. Behind the last block, no elements
    /// are inside.
    #[inline(always)]
    pub fn block(&self, shape: Shape, index: u32) -> BlockPosition {
        let block = shape.extents();
        let at = if matches!(shape, Shape::Line) {
            [0, 0, index]
        } else {
            let [_, y, x] = self.blocks(shape);
            let (row, column) = (index / x.max(1), index % x.max(1));
            [row / y.max(1), row % y.max(1), column]
        };
        let origin: [u32; 3] = core::array::from_fn(|i| at[i] * block[i]);
        BlockPosition {
            origin,
            inside: core::array::from_fn(|i| self.extents[i].saturating_sub(origin[i])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::roles::Role;

    fn grid(shape: Shape, lengths: &[u64]) -> Grid {
        Grid::new(shape, &Extents::new(lengths).unwrap())
    }

    #[test]
    fn chunks_are_compact() {
        let tile = |shape, lengths: &[u64]| grid(shape, lengths).tile().map(|bits| 1u32 << bits);
        assert_eq!(tile(Shape::Cube, &[512, 512, 512]), [16, 16, 32]);
        assert_eq!(tile(Shape::Plane, &[512, 512, 512]), [16, 16, 32]);
        assert_eq!(tile(Shape::Plane, &[1800, 3600]), [1, 64, 128]);
        assert_eq!(tile(Shape::Cube, &[3, 1800, 3600]), [4, 32, 64]);
        assert_eq!(tile(Shape::Cube, &[100_000, 2, 2]), [512, 4, 4]);
        assert_eq!(tile(Shape::Cube, &[5, 6, 7]), [8, 8, 128]);
        assert_eq!(tile(Shape::Line, &[512, 512]), [1, 1, 8192]);
    }

    #[test]
    fn lines_need_no_extents() {
        for elements in [0, 1, 8191, 8192, 8193, u64::MAX] {
            assert_eq!(Grid::line(elements), grid(Shape::Line, &[elements]));
        }
    }

    #[test]
    fn dimensions_of_length_one_do_not_count() {
        assert_eq!(grid(Shape::Cube, &[1, 200, 300]).shape(), Shape::Plane);
        assert_eq!(grid(Shape::Cube, &[200, 1, 300]).lengths(), [1, 200, 300]);
        assert_eq!(grid(Shape::Plane, &[1, 300, 1]).lengths(), [1, 1, 300]);
        assert_eq!(grid(Shape::Plane, &[1, 300, 1]).shape(), Shape::Line);
        assert_eq!(grid(Shape::Cube, &[0, 3, 3]).chunk_count(), 0);
        assert_eq!(grid(Shape::Line, &[1, 1, 1]).elements(), 1);
    }

    #[test]
    fn of_more_than_three_dimensions_the_slowest_are_one() {
        let of = |lengths: &[u64]| grid(Shape::Cube, lengths).lengths();
        assert_eq!(of(&[2, 3, 5, 7]), [6, 5, 7]);
        assert_eq!(of(&[2, 1, 3, 1, 5, 7, 11, 1]), [2 * 3 * 5, 7, 11]);
        assert_eq!(grid(Shape::Plane, &[4, 1, 1, 9]).lengths(), [1, 4, 9]);
        let empty = grid(Shape::Cube, &[1 << 63, 0, 1 << 63, 3, 4]);
        assert_eq!((empty.elements(), empty.shape()), (0, Shape::Line));
    }

    fn with_roles(lengths: &[u64], letters: &str) -> Extents {
        let roles = letters.chars().filter_map(Role::from_letter);
        let roles: alloc::vec::Vec<Role> = roles.collect();
        let extents = Extents::new(lengths).unwrap();
        extents.with_roles(&roles).unwrap()
    }

    #[test]
    fn roles_give_the_dimensions() {
        let of = |shape, lengths: &[u64], letters| {
            let grid = Grid::new(shape, &with_roles(lengths, letters));
            (grid.slices(), grid.slice_lengths(), grid.shape())
        };
        let cube = |lengths: &[u64], letters| of(Shape::Cube, lengths, letters);
        assert_eq!(
            cube(&[6, 10, 20, 30], "szyx"),
            (6, [10, 20, 30], Shape::Cube)
        );
        assert_eq!(
            cube(&[2, 3, 4, 5, 6, 7], "sszyyx"),
            (6, [4, 30, 7], Shape::Cube)
        );
        assert_eq!(
            cube(&[6, 10, 20, 30], "ssyx"),
            (1, [60, 20, 30], Shape::Plane)
        );
        assert_eq!(
            cube(&[6, 1, 20, 30], "szyx"),
            (1, [6, 20, 30], Shape::Plane)
        );
        assert_eq!(
            cube(&[6, 10, 20, 30], "sssx"),
            (1, [1, 1, 36_000], Shape::Line)
        );
        assert_eq!(cube(&[6, 0, 20, 30], "szyx"), (1, [1, 1, 0], Shape::Line));
        let planes = |letters| of(Shape::Plane, &[6, 10, 20, 30], letters);
        assert_eq!(planes("szyx"), (1, [60, 20, 30], Shape::Plane));
        assert_eq!(planes("syyx"), (1, [6, 200, 30], Shape::Plane));
    }

    #[test]
    fn chunks_do_not_cross_slices() {
        let grid = Grid::new(Shape::Cube, &with_roles(&[3, 21, 40, 50], "szyx"));
        assert_eq!(grid.chunks()[0] % 3, 0);
        for number in 0..grid.chunk_count() {
            let chunk = grid.chunk(number);
            let last = chunk.origin[0] + u64::from(chunk.extents[0]) - 1;
            assert_eq!(chunk.origin[0] / 21, last / 21);
            for z in chunk.origin[0]..=last {
                let [_, y, x] = grid.chunks();
                assert_eq!(grid.chunk_of_z(z), number / (y * x));
            }
        }
    }

    #[test]
    fn every_element_is_in_one_place() {
        for shape in Shape::ALL {
            for (lengths, letters) in [
                (&[1u64, 1, 1][..], "zyx"),
                (&[40, 33, 65], "zyx"),
                (&[3, 200, 17], "zyx"),
                (&[129, 2, 5], "zyx"),
                (&[7, 90, 90], "zyx"),
                (&[5, 21, 9, 30], "szyx"),
                (&[2, 3, 7, 9, 30], "sszyx"),
                (&[2, 3, 7, 9, 30], "szyyx"),
            ] {
                let grid = Grid::new(shape, &with_roles(lengths, letters));
                let mut seen = alloc::vec![0u8; grid.elements() as usize];
                for index in 0..grid.chunk_count() {
                    let chunk = grid.chunk(index);
                    assert!(chunk.elements() as usize <= CHUNK);
                    for b in 0..chunk.block_count(grid.shape()) {
                        let position = chunk.block(grid.shape(), b);
                        for g in 0..grid.shape().groups() {
                            let mask = grid.shape().inside(g as u32, position.inside);
                            for e in (0..32).filter(|e| mask >> e & 1 == 1) {
                                let (e, s) = (g * 32 + e, grid.shape());
                                let at = [e / s.slice(), e % s.slice() / s.row(), e % s.row()];
                                seen[grid.flat(core::array::from_fn(|i| {
                                    chunk.origin[i] + u64::from(position.origin[i]) + at[i] as u64
                                })) as usize] += 1;
                            }
                        }
                    }
                }
                assert!(seen.iter().all(|count| *count == 1), "{shape} {lengths:?}");
                let sum = grid.sum_over_chunks(u64::from);
                assert_eq!(sum, Some(grid.elements()));
            }
        }
    }
}
