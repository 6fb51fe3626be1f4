//! Tiles: the division of a field by codecs with predictors and coders of tiles.
//!
//! A tile is 256 rows of 64 elements, 16 x 16 x 64 in a cube. A thread block holds it in shared memory. It is coded in
//! *steps* of 32 *lanes*: the even positions of a row, then the odd ones, so that a warp's accesses are adjacent in
//! either. See FORMAT.md, section 9.

use crate::shape::Shape;

pub mod code;
mod lines;
mod order;

pub use lines::LineLevel;
pub use order::{FIRST_SLICE, TileOrder, ZONES};

/// Rows of a tile.
pub const ROWS: u32 = 256;
/// Elements of a row.
pub const ROW: u32 = 64;
/// Lanes of a step.
pub const LANES: u32 = 32;
/// Steps of a tile: two for each row.
pub const STEPS: u32 = 2 * ROWS;
/// Elements of a tile.
pub const TILE: usize = (STEPS * LANES) as usize;
/// Tiles of a *run*: consecutive ones, which are counted together, and lie together in the memory of kernels.
pub const RUN_TILES: u32 = 4;

/// Tiles of a whole chunk, which are coded as one stream of bits. The more there are, the shorter is a stream of high
/// ratio, as the states of the 32 lanes cost some hundred bytes a chunk; and the more tiles are decoded for a box.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChunkLength {
    /// A tile: for fields of few tiles.
    One,
    /// One run.
    #[default]
    Four,
    /// Four runs.
    Sixteen,
    /// Sixteen runs.
    SixtyFour,
}

impl ChunkLength {
    /// All lengths of chunks, the shortest first.
    pub const ALL: [Self; 4] = [Self::One, Self::Four, Self::Sixteen, Self::SixtyFour];

    /// The most runs of a field whose chunks may be of one tile, unless others are asked for.
    pub const FEW_RUNS: u64 = 16;

    /// The number of tiles.
    pub const fn tiles(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Four => 4,
            Self::Sixteen => 16,
            Self::SixtyFour => 64,
        }
    }

    /// The number of elements.
    pub const fn elements(self) -> u32 {
        self.tiles() * TILE as u32
    }

    /// The length of chunks with so many tiles.
    pub fn of_tiles(tiles: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|chunk| chunk.tiles() == tiles)
    }

    /// The length for a stream of so many runs that has so many bytes with chunks of one. A chunk costs about 100
    /// bytes besides its codes, so longer ones are taken where they save 4 % or more: chunks of more runs have fewer
    /// threads to decode them, and a box needs whole ones. In a field of few runs half of that is enough: it keeps no machine
    /// busy, whatever its chunks. Its chunks are of one tile where these cost less than 2 %: a chunk is a chain of work for one
    /// warp of a GPU, which is done sooner with more of them.
    pub const fn of_size(bytes: u128, runs: u64) -> Self {
        let of_run = bytes / if runs == 0 { 1 } else { runs as u128 };
        let is_short = runs <= Self::FEW_RUNS;
        match if is_short { of_run / 2 } else { of_run } {
            ..256 => Self::SixtyFour,
            256..1536 => Self::Sixteen,
            8192.. if is_short => Self::One,
            1536.. => Self::Four,
        }
    }

    /// The numbers of the tiles of a chunk of a grid.
    pub fn of_chunk(self, grid: &TileGrid, chunk: u64) -> core::ops::Range<u64> {
        let first = chunk * u64::from(self.tiles());
        first..grid.tiles().min(first + u64::from(self.tiles()))
    }

    /// The number of the chunk that a tile is in.
    pub const fn chunk_of(self, tile: u64) -> u64 {
        tile / self.tiles() as u64
    }

    /// The number of chunks of a grid.
    pub const fn count(self, grid: &TileGrid) -> u64 {
        grid.tiles().div_ceil(self.tiles() as u64)
    }
}

/// A field of a stream that is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The field itself.
    Fine,
    /// The field of its anchors, all of whose levels have the bound of the anchors.
    Coarse,
}

/// A tile's extents, slowest dimension first.
#[inline(always)]
pub const fn extents(shape: Shape) -> [u32; 3] {
    match shape {
        Shape::Line => [1, 1, ROWS * ROW],
        Shape::Plane => [1, ROWS, ROW],
        Shape::Cube => [16, 16, ROW],
    }
}

/// The position in its tile of a lane of a step.
#[inline(always)]
pub const fn position(shape: Shape, step: u32, lane: u32) -> [u32; 3] {
    let row = step / 2;
    let x = 2 * lane + step % 2;
    match shape {
        Shape::Line => [0, 0, ROW * row + x],
        Shape::Plane => [0, row, x],
        Shape::Cube => [row / 16, row % 16, x],
    }
}

/// The number of a position in the order of steps and lanes: the index of its code.
#[inline(always)]
pub const fn index(shape: Shape, position: [u32; 3]) -> u32 {
    let [z, y, x] = position;
    let (row, x) = match shape {
        Shape::Line => (x / ROW, x % ROW),
        Shape::Plane => (y, x),
        Shape::Cube => (16 * z + y, x),
    };
    (2 * row + x % 2) * LANES + x / 2
}

/// The level of a position: the number of times that all its coordinates can be halved. Tiles begin at multiples of
/// their extents, so this is the level of the position in the field, as long as 2^level divides the extents.
#[inline(always)]
pub const fn level(shape: Shape, position: [u32; 3]) -> u32 {
    let [z, y, x] = position;
    let all = match shape {
        Shape::Line => x,
        Shape::Plane => x | y,
        Shape::Cube => x | y | z,
    };
    all.trailing_zeros()
}

/// The oddness of a position: the number of its coordinates that are odd multiples of 2^level, with its [`level`].
#[inline(always)]
pub const fn oddness(shape: Shape, position: [u32; 3]) -> u32 {
    let level = level(shape, position);
    let [z, y, x] = position;
    let [z, y, x] = [
        z.unbounded_shr(level) & 1,
        y.unbounded_shr(level) & 1,
        x.unbounded_shr(level) & 1,
    ];
    match shape {
        Shape::Line => x,
        Shape::Plane => x + y,
        Shape::Cube => x + y + z,
    }
}

/// The division of a field into tiles.
///
/// The slices along z of a field of planes are independent of each other; a field of lines is a single line. A field of
/// cubes may have slices, too: they lie one behind the other along z, and tiles begin anew in each of them.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TileGrid {
    shape: Shape,
    /// The field's extents; along z of all slices together.
    lengths: [u64; 3],
    /// Tiles along each dimension, precomputed as divisions are slow on a GPU; along z of all slices together.
    counts: [u64; 3],
    /// The extent of a slice along z.
    depth: u64,
    /// Tiles of a slice along z.
    deep: u64,
}

/// A tile in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileBox {
    /// Its first position in the field.
    pub origin: [u64; 3],
    /// The number of positions of the tile's slice from the tile's first one on, in each dimension. It is more than a
    /// tile's extent if the slice continues behind the tile, and at most [`FAR`].
    pub left: [u32; 3],
}

/// The upper limit of [`TileBox::left`]; more than twice every extent.
pub const FAR: u32 = 1 << 20;

impl TileGrid {
    /// The tiles of a field with these extents, slowest first. Dimensions of length 1 must have been removed as in the
    /// grid of chunks.
    #[inline(always)]
    pub const fn new(shape: Shape, lengths: [u64; 3]) -> Self {
        Self::sliced(shape, 1, lengths)
    }

    /// The tiles of this many slices with these extents.
    #[inline(always)]
    pub const fn sliced(shape: Shape, slices: u64, lengths: [u64; 3]) -> Self {
        let tile = extents(shape);
        let deep = lengths[0].div_ceil(tile[0] as u64);
        Self {
            shape,
            lengths: [slices * lengths[0], lengths[1], lengths[2]],
            counts: [
                slices * deep,
                lengths[1].div_ceil(tile[1] as u64),
                lengths[2].div_ceil(tile[2] as u64),
            ],
            depth: lengths[0],
            deep,
        }
    }

    /// The shape of the tiles.
    #[inline(always)]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The field's extents; that of z is of all slices together.
    #[inline(always)]
    pub const fn lengths(&self) -> [u64; 3] {
        self.lengths
    }

    /// The number of slices.
    #[inline(always)]
    pub const fn slices(&self) -> u64 {
        // The branch saves a division on a GPU.
        if self.is_sliced() && self.depth > 0 {
            self.lengths[0] / self.depth
        } else {
            1
        }
    }

    /// The extents of a slice.
    #[inline(always)]
    pub const fn slice_lengths(&self) -> [u64; 3] {
        [self.depth, self.lengths[1], self.lengths[2]]
    }

    /// Whether there are several slices.
    #[inline(always)]
    const fn is_sliced(&self) -> bool {
        self.depth != self.lengths[0]
    }

    /// Elements of the field.
    #[inline(always)]
    pub const fn elements(&self) -> u64 {
        self.lengths[0] * self.lengths[1] * self.lengths[2]
    }

    /// Tiles along each dimension.
    #[inline(always)]
    pub const fn counts(&self) -> [u64; 3] {
        self.counts
    }

    /// The number of tiles.
    #[inline(always)]
    pub const fn tiles(&self) -> u64 {
        let [z, y, x] = self.counts();
        z * y * x
    }

    /// The number of runs: [`RUN_TILES`] tiles each, the rest in the last one.
    #[inline(always)]
    pub const fn runs(&self) -> u64 {
        self.tiles().div_ceil(RUN_TILES as u64)
    }

    /// The grid of the field that has every `spacing`th position of this one, in the dimensions of its shape; `spacing`
    /// is a power of two.
    #[inline(always)]
    pub fn coarse(&self, spacing: u32) -> Self {
        let first = 3 - self.shape.rank() as usize;
        let mut lengths = self.slice_lengths();
        for length in &mut lengths[first..] {
            // Rounded up without a sum that could overflow, and without a division, which is slow on a GPU.
            let rest = *length & (u64::from(spacing) - 1);
            *length = (*length >> spacing.trailing_zeros()) + u64::from(rest != 0);
        }
        Self::sliced(self.shape, self.slices(), lengths)
    }

    /// The position in `coarse`, which is [`TileGrid::coarse`] with this spacing, of a position of this grid.
    #[inline(always)]
    pub fn to_coarse(&self, coarse: &Self, spacing: u32, mut at: [u64; 3]) -> [u64; 3] {
        let first = 3 - self.shape.rank() as usize;
        let mut slice = 0;
        if self.is_sliced() {
            slice = at[0] / self.depth.max(1);
            at[0] -= slice * self.depth;
        }
        for at in &mut at[first..] {
            *at >>= spacing.trailing_zeros();
        }
        at[0] += slice * coarse.depth;
        at
    }

    /// The position in this grid of a position of `coarse`, which is [`TileGrid::coarse`] with this spacing.
    #[inline(always)]
    pub fn of_coarse(&self, coarse: &Self, spacing: u32, mut at: [u64; 3]) -> [u64; 3] {
        let first = 3 - self.shape.rank() as usize;
        let mut slice = 0;
        if self.is_sliced() {
            slice = at[0] / coarse.depth.max(1);
            at[0] -= slice * coarse.depth;
        }
        for at in &mut at[first..] {
            *at *= u64::from(spacing);
        }
        at[0] += slice * self.depth;
        at
    }

    /// The tiles that have the coordinates along z from `from` to before `to`, as a range of their numbers along z.
    pub fn tiles_along_z(&self, from: u64, to: u64) -> core::ops::Range<u64> {
        let extent = u64::from(extents(self.shape)[0]);
        let depth = self.depth.max(1);
        let tile_of = |z: u64| z / depth * self.deep + z % depth / extent;
        if from < to {
            tile_of(from)..tile_of(to - 1) + 1
        } else {
            0..0
        }
    }

    /// Whether a slice ends before the tiles with this number along z.
    pub fn ends_slice(&self, number: u64) -> bool {
        number.is_multiple_of(self.deep.max(1))
    }

    /// Tile number `tile`, in C order.
    #[inline(always)]
    pub fn tile(&self, tile: u64) -> TileBox {
        // Prevents a division by zero for a field without tiles.
        let [_, ys, xs] = self.counts().map(|count| count.max(1));
        self.tile_at([tile / xs / ys, tile / xs % ys, tile % xs])
    }

    /// The tile with these numbers in each dimension.
    #[inline(always)]
    pub fn tile_at(&self, mut at: [u64; 3]) -> TileBox {
        let tile = extents(self.shape);
        let mut first = 0;
        // The branch saves divisions on a GPU.
        if self.is_sliced() {
            let slice = at[0] / self.deep.max(1);
            at[0] -= slice * self.deep;
            first = slice * self.depth;
        }
        let lengths = self.slice_lengths();
        let mut found = TileBox {
            origin: [0; 3],
            left: [0; 3],
        };
        for i in 0..3 {
            found.origin[i] = at[i] * u64::from(tile[i]);
            let left = lengths[i].saturating_sub(found.origin[i]);
            found.left[i] = left.min(u64::from(FAR)) as u32;
        }
        found.origin[0] += first;
        found
    }

    /// The number in C order of a position in the field.
    #[inline(always)]
    pub const fn flat(&self, at: [u64; 3]) -> u64 {
        (at[0] * self.lengths[1] + at[1]) * self.lengths[2] + at[2]
    }
}

impl TileBox {
    /// The tile without what lies behind it along z, so that it has no far face there.
    #[inline(always)]
    #[must_use]
    pub fn without_far_slices(mut self) -> Self {
        let depth = extents(Shape::Cube)[0];
        if self.left[0] > depth {
            self.left[0] = depth;
        }
        self
    }

    /// Whether the tile has all of its own positions; far faces may be missing.
    #[inline(always)]
    pub fn is_complete(&self, shape: Shape) -> bool {
        let extents = extents(shape);
        (0..3).all(|axis| self.left[axis] >= extents[axis])
    }

    /// The number of the field's elements in a tile of this shape, in each dimension.
    #[inline(always)]
    pub fn extents(&self, shape: Shape) -> [u32; 3] {
        let tile = extents(shape);
        core::array::from_fn(|i| {
            if self.left[i] < tile[i] {
                self.left[i]
            } else {
                tile[i]
            }
        })
    }

    /// Whether a position of the tile is in the field.
    #[inline(always)]
    pub const fn has(&self, position: [u32; 3]) -> bool {
        position[0] < self.left[0] && position[1] < self.left[1] && position[2] < self.left[2]
    }

    /// The number of lanes of a step that are in the field; they start at lane 0.
    #[inline(always)]
    pub const fn lanes(&self, shape: Shape, step: u32) -> u32 {
        let [z, y, first] = position(shape, step, 0);
        if z >= self.left[0] || y >= self.left[1] {
            return 0;
        }
        let lanes = self.left[2].saturating_sub(first).div_ceil(2);
        if lanes < LANES { lanes } else { LANES }
    }

    /// The position in the field of a position of the tile.
    #[inline(always)]
    pub fn at(&self, position: [u32; 3]) -> [u64; 3] {
        core::array::from_fn(|i| self.origin[i] + u64::from(position[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn every_position_has_one_code() {
        for shape in Shape::ALL {
            let mut seen = vec![false; TILE];
            for step in 0..STEPS {
                for lane in 0..LANES {
                    let position = position(shape, step, lane);
                    assert!((0..3).all(|i| position[i] < extents(shape)[i]));
                    assert_eq!(index(shape, position), step * LANES + lane);
                    let [z, y, x] = position;
                    let tile = extents(shape);
                    seen[((z * tile[1] + y) * tile[2] + x) as usize] = true;
                }
            }
            assert!(seen.iter().all(|seen| *seen));
        }
    }

    #[test]
    fn tiles_cover_the_field_once() {
        for (shape, lengths) in [
            (Shape::Line, [1, 1, 40_000]),
            (Shape::Plane, [2, 300, 70]),
            (Shape::Cube, [17, 33, 65]),
        ] {
            let grid = TileGrid::new(shape, lengths);
            let mut seen = vec![0u8; grid.elements() as usize];
            for tile in 0..grid.tiles() {
                let tile = grid.tile(tile);
                for step in 0..STEPS {
                    for lane in 0..LANES {
                        let position = position(shape, step, lane);
                        assert_eq!(tile.has(position), lane < tile.lanes(shape, step));
                        if tile.has(position) {
                            seen[grid.flat(tile.at(position)) as usize] += 1;
                        }
                    }
                }
            }
            assert!(seen.iter().all(|seen| *seen == 1));
        }
    }
}
