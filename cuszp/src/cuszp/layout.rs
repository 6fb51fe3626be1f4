//! Which element lies at which position of which block (cuSZp stream, sections 2 and 6).

use crate::cuszp::error::CuszpError;
use crate::cuszp::framing::Framing;
use core::ops::Range;
use ferrosz_codec::shape::Shape;

/// Blocks of a chunk in 1D: the rate section is padded to whole ones.
const CHUNK_BLOCKS: u64 = 1024;

/// Elements of a block in 1D.
const BLOCK_1D: u64 = 32;

/// Fours of a block in 1D.
const BLOCK_FOURS: u32 = 8;

/// The blocks of an array.
///
/// Elements are numbered in fours: four `f` holds the elements `4 * f` to `4 * f + 3`, and all that a row of a block has
/// is whole fours. Numbers of fours are those of 32 bits, also where there are more elements.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    framing: Framing,
    /// Lengths along z, y and x; not used in 1D.
    dims: [u32; 3],
    /// Blocks along y and x, not 0.
    grid: [u32; 2],
    blocks: u32,
    elements: u64,
}

/// The coordinates of a block's position 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corner {
    /// Slice.
    pub z: u32,
    /// Row.
    pub y: u32,
    /// Column; in 1D the four.
    pub x: u32,
}

/// The content of a position of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The element of this index.
    Element(u64),
    /// An element behind the array in memory. It is taken for the value 0; its code is not 0 where
    /// 0.5 / error is infinite.
    ZeroValue,
    /// Nothing: the difference is 0.
    Nothing,
}

/// Consecutive blocks whose elements lie together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The blocks.
    pub blocks: Range<u32>,
    /// The elements that no later span holds. Its last blocks may share four more with the next
    /// span, whose first elements these are.
    pub elements: Range<usize>,
}

impl Layout {
    /// For lengths along z, y and x.
    ///
    /// # Errors
    ///
    /// [`CuszpError::TooManyElements`] if cuSZp's indices are too short for the number of elements.
    pub fn new(shape: Shape, framing: Framing, dims: [u64; 3]) -> Result<Self, CuszpError> {
        let index_bits = if shape == Shape::Line { 31 } else { 32 };
        let elements = product(dims)
            .filter(|elements| elements >> index_bits == 0)
            .ok_or(CuszpError::TooManyElements { dims, index_bits })?;
        let [z, y, x] = if elements == 0 { [0; 3] } else { dims };
        let grid = match shape {
            Shape::Line => return Ok(Self::line(framing, elements)),
            Shape::Plane => [z, y.div_ceil(8), x.div_ceil(8)],
            Shape::Cube => [z.div_ceil(4), y.div_ceil(4), x.div_ceil(4)],
        };
        // All are at most the number of elements.
        let [grid_z, grid_y, grid_x] = grid.map(|blocks| blocks as u32);
        Ok(Self {
            shape,
            framing,
            dims: [z, y, x].map(|length| length as u32),
            grid: [grid_y.max(1), grid_x.max(1)],
            blocks: grid_z * grid_y * grid_x,
            elements,
        })
    }

    /// For the layers of AATROX, whose blocks are those of lines; none if 32 bits do not number the fours of the array.
    pub fn of_layers(elements: u64) -> Option<Self> {
        let is_numbered = elements >> (u32::BITS + 2) == 0;
        is_numbered.then(|| Self::line(Framing::V3, elements))
    }

    /// For a line, whose fours 32 bits must number.
    fn line(framing: Framing, elements: u64) -> Self {
        let blocks = match framing {
            Framing::V1 => elements.div_ceil(BLOCK_1D),
            Framing::V3 => elements.div_ceil(BLOCK_1D * CHUNK_BLOCKS) * CHUNK_BLOCKS,
        };
        Self {
            shape: Shape::Line,
            framing,
            dims: [0; 3],
            grid: [1, (blocks as u32).max(1)],
            blocks: blocks as u32,
            elements,
        }
    }

    /// The shape of a block.
    #[inline(always)]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The arrangement of the stream.
    #[inline(always)]
    pub const fn framing(&self) -> Framing {
        self.framing
    }

    /// The elements that are in no block (section 6.2): up to two at the end of an array whose rows
    /// have a length of 3 modulo 4.
    #[inline(always)]
    pub const fn uncovered(&self) -> Range<u64> {
        let [z, y, x] = self.dims;
        let rows = z.wrapping_mul(y);
        if matches!(self.shape, Shape::Line) || rows == 0 {
            return 0..0;
        }
        let into_four = (rows - 1).wrapping_mul(x) % 4 + x % 4;
        let count = into_four.saturating_sub(4) as u64;
        self.elements - count..self.elements
    }

    /// Elements of the array.
    #[inline(always)]
    pub const fn elements(&self) -> u64 {
        self.elements
    }

    /// Blocks, each with a rate byte; in 1D those that fill up the last chunk, too.
    #[inline(always)]
    pub const fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Bytes before the first body.
    #[inline(always)]
    pub const fn payload_start(&self) -> u64 {
        let blocks = self.blocks as u64;
        match self.shape {
            Shape::Line => blocks,
            Shape::Plane | Shape::Cube => blocks.next_multiple_of(4),
        }
    }

    /// The first position of a block; `block` is below [`Layout::blocks`].
    #[inline(always)]
    pub const fn corner(&self, block: u32) -> Corner {
        // Not 0, which only the compiler cannot see.
        let grid_y = at_least_one(self.grid[0]);
        let grid_x = at_least_one(self.grid[1]);
        let (z, y, x) = (
            block / grid_x / grid_y,
            block / grid_x % grid_y,
            block % grid_x,
        );
        match self.shape {
            Shape::Line => Corner {
                z: 0,
                y: 0,
                x: block.wrapping_mul(BLOCK_FOURS),
            },
            Shape::Plane => Corner {
                z,
                y: y * 8,
                x: x * 8,
            },
            Shape::Cube => Corner {
                z: z.wrapping_mul(4),
                y: y * 4,
                x: x * 4,
            },
        }
    }

    /// The four that the positions from `4 * quad` on hold. None where they hold nothing. In 2D and 3D a row begins with
    /// the four that has its first element, which may begin *before* the row (section 6.2).
    #[inline(always)]
    pub const fn quad(&self, corner: Corner, quad: u32) -> Option<u32> {
        let Corner { z, y, x } = corner;
        let (z, y, right) = match self.shape {
            Shape::Line => {
                let four = x.wrapping_add(quad);
                let start = first_of(four);
                let holds_codes = matches!(self.framing, Framing::V1) || start < self.elements;
                return if holds_codes { Some(four) } else { None };
            }
            Shape::Plane => (z, y.wrapping_add(quad / 2), quad % 2),
            Shape::Cube => (z.wrapping_add(quad / 4), y.wrapping_add(quad % 4), 0),
        };
        let [size_z, size_y, size_x] = self.dims;
        // Rows are cut in groups of four columns, whatever their length is (section 6.1).
        let is_outside = z >= size_z || y >= size_y || x >= size_x || 4 * right >= size_x - x;
        if is_outside {
            return None;
        }
        let row = z.wrapping_mul(size_y).wrapping_add(y);
        let start = row.wrapping_mul(size_x).wrapping_add(x);
        Some(start / 4 + right)
    }

    /// The row, counted through all slices, of a position that [`Layout::quad`] has an index for; 0 in
    /// 1D.
    #[inline(always)]
    pub const fn row(&self, corner: Corner, quad: u32) -> u32 {
        let (z, y) = match self.shape {
            Shape::Line => return 0,
            Shape::Plane => (corner.z, corner.y + quad / 2),
            Shape::Cube => (corner.z + quad / 4, corner.y + quad % 4),
        };
        z.wrapping_mul(self.dims[1]).wrapping_add(y)
    }

    /// The content of position `position` of a block.
    #[inline(always)]
    pub const fn position(&self, corner: Corner, position: u32) -> Place {
        let Some(four) = self.quad(corner, position / 4) else {
            return Place::Nothing;
        };
        self.in_four(four, position % 4)
    }

    /// Whether all elements of a four are in the array.
    #[inline(always)]
    pub const fn is_whole(&self, four: u32) -> bool {
        first_of(four) + 3 < self.elements
    }

    /// The content of the place `at`, 0 to 3, in a four that [`Layout::quad`] gave.
    #[inline(always)]
    pub const fn in_four(&self, four: u32, at: u32) -> Place {
        let index = first_of(four) + at as u64;
        match (self.shape, self.framing) {
            _ if index < self.elements => Place::Element(index),
            (Shape::Line, Framing::V3) => Place::Nothing,
            _ => Place::ZeroValue,
        }
    }

    /// Whether blocks share elements: rows begin at multiples of 4, and so before their first
    /// element where their length is none (section 6.2).
    #[inline(always)]
    pub const fn is_shared(&self) -> bool {
        !matches!(self.shape, Shape::Line) && !self.dims[2].is_multiple_of(4)
    }

    /// The rows that hold a four that [`Layout::quad`] gave; rows are counted through all slices. None but where
    /// [`Layout::is_shared`].
    #[inline(always)]
    pub const fn sharers(&self, four: u32) -> Range<u32> {
        let [z, y, x] = self.dims;
        if !self.is_shared() {
            return 0..0;
        }
        // Row r holds fours r * x / 4, rounded down, to x / 4, rounded up, further.
        let fours = x.div_ceil(4);
        let least = (four + 1).saturating_sub(fours);
        let first = (4 * least).div_ceil(x);
        let (last, rows) = ((4 * four + 3) / x, z.wrapping_mul(y));
        first..if last < rows { last + 1 } else { rows }
    }

    /// The blocks that hold a four of the array, from the lowest row on.
    pub fn holders(&self, four: u32) -> impl Iterator<Item = u32> + use<> {
        let layout = *self;
        let rows = match self.shape {
            Shape::Line => 0..1,
            _ if self.is_shared() => self.sharers(four),
            _ => {
                let row = four / (self.dims[2] / 4).max(1);
                row..row + 1
            }
        };
        rows.map(move |row| layout.sharing_block(row, four))
    }

    /// The block in which a row that holds a four has it.
    #[inline(always)]
    pub const fn sharing_block(&self, row: u32, four: u32) -> u32 {
        let [_, size_y, size_x] = self.dims;
        let [grid_y, grid_x] = self.grid;
        let size_y = at_least_one(size_y);
        let (z, y) = (row / size_y, row % size_y);
        let four = four.wrapping_sub(row.wrapping_mul(size_x) / 4);
        let (block_z, block_y, block_x) = match self.shape {
            Shape::Line => (0, 0, four / BLOCK_FOURS),
            Shape::Plane => (z, y / 8, four / 2),
            Shape::Cube => (z / 4, y / 4, four),
        };
        (block_z.wrapping_mul(grid_y).wrapping_add(block_y))
            .wrapping_mul(grid_x)
            .wrapping_add(block_x)
    }

    /// Number of spans.
    pub const fn spans(&self) -> u32 {
        self.blocks.div_ceil(self.span_blocks())
    }

    /// Blocks of a span; the last may have fewer.
    pub(crate) const fn span_blocks(&self) -> u32 {
        let [grid_y, grid_x] = self.grid;
        match self.shape {
            Shape::Line => CHUNK_BLOCKS as u32,
            Shape::Plane => grid_x,
            Shape::Cube => grid_x * grid_y,
        }
    }

    /// The span of this number, below [`Layout::spans`].
    pub fn span(&self, span: u32) -> Span {
        let first = span.saturating_mul(self.span_blocks()).min(self.blocks);
        let end = first.saturating_add(self.span_blocks()).min(self.blocks);
        Span {
            blocks: first..end,
            elements: self.span_start(first)..self.span_start(end),
        }
    }

    /// The first element of the span that begins with this block.
    fn span_start(&self, block: u32) -> usize {
        let four = if block >= self.blocks {
            None
        } else {
            self.quad(self.corner(block), 0)
        };
        four.map_or(self.elements, first_of).min(self.elements) as usize
    }
}

/// The first element of a four.
#[inline(always)]
const fn first_of(four: u32) -> u64 {
    4 * four as u64
}

#[inline(always)]
const fn at_least_one(count: u32) -> u32 {
    if count == 0 { 1 } else { count }
}

fn product(dims: [u64; 3]) -> Option<u64> {
    if dims.contains(&0) {
        return Some(0);
    }
    let [z, y, x] = dims;
    z.checked_mul(y)?.checked_mul(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::{BTreeMap, BTreeSet};

    #[test]
    fn rows_begin_at_multiples_of_four() {
        let layout = Layout::new(Shape::Plane, Framing::V3, [1, 3, 5]).unwrap();
        let corner = layout.corner(0);
        let quads: [Option<u32>; 8] = core::array::from_fn(|quad| layout.quad(corner, quad as u32));
        let (a, b, c) = (Some(0), Some(1), Some(2));
        assert_eq!(quads, [a, b, b, c, c, Some(3), None, None]);
        assert_eq!(layout.position(corner, 2 * 8 + 4 + 2), Place::Element(14));
        assert_eq!(layout.position(corner, 2 * 8 + 4 + 3), Place::ZeroValue);
        assert_eq!((layout.blocks(), layout.payload_start()), (1, 4));
    }

    #[test]
    fn limits_are_those_of_cuszps_indices() {
        let elements = |shape, dims| Layout::new(shape, Framing::V3, dims).map(|l| l.elements());
        let most = (1 << 31) - 1;
        assert_eq!(elements(Shape::Line, [1, 1, most]), Ok(most));
        assert!(elements(Shape::Line, [1, 2, 1 << 30]).is_err());
        assert!(elements(Shape::Plane, [1, 2, 1 << 30]).is_ok());
        assert!(elements(Shape::Plane, [4, 1, 1 << 30]).is_err());
        assert!(elements(Shape::Cube, [u64::MAX; 3]).is_err());
        assert_eq!(elements(Shape::Cube, [u64::MAX, u64::MAX, 0]), Ok(0));
    }

    /// Layers have no limit of cuSZp's, and their fours have numbers of 32 bits.
    #[test]
    fn layers_are_numbered_up_to_two_to_the_34() {
        for elements in [
            (1 << 31) - 1,
            1 << 31,
            (1 << 31) + 1,
            (1 << 32) - 1,
            1 << 32,
            (1 << 32) + 33,
            (1 << 34) - 32_768,
            (1 << 34) - 1,
        ] {
            let layout = Layout::of_layers(elements).unwrap();
            let layers = elements.div_ceil(32_768);
            assert_eq!(u64::from(layout.blocks()), 1024 * layers);
            assert_eq!(layout.elements(), elements);
            let last = elements - 1;
            let (block, position) = ((last / 32) as u32, (last % 32) as u32);
            let at = |block, position| layout.position(layout.corner(block), position);
            assert_eq!(at(block, position), Place::Element(last));
            assert_eq!(at(block, 0), Place::Element(last - last % 32));
            // What follows the last element: a place of the block, or the next block.
            let (block, position) = ((elements / 32) as u32, (elements % 32) as u32);
            assert_eq!(at(block, position), Place::Nothing);
            let four = (last / 4) as u32;
            assert_eq!(layout.is_whole(four), elements.is_multiple_of(4));
            assert!(layout.is_whole(four - 1));
            assert!(layout.holders(four).eq([(last / 32) as u32]));
        }
        assert_eq!(Layout::of_layers(1 << 34), None);
        assert_eq!(Layout::of_layers(u64::MAX), None);
    }

    #[test]
    fn sharers_are_the_blocks_that_hold_an_element() {
        for shape in [Shape::Plane, Shape::Cube] {
            for dims in [
                [2, 9, 8],
                [5, 6, 20],
                [4, 5, 1],
                [3, 9, 2],
                [2, 9, 3],
                [6, 5, 5],
                [1, 9, 15],
                [2, 3, 10],
            ] {
                let layout = Layout::new(shape, Framing::V3, dims).unwrap();
                let mut holders = BTreeMap::<u32, BTreeSet<u32>>::new();
                for block in 0..layout.blocks() {
                    let corner = layout.corner(block);
                    for four in (0..16).filter_map(|quad| layout.quad(corner, quad)) {
                        holders.entry(four).or_default().insert(block);
                    }
                }
                for (four, blocks) in holders {
                    let found = layout.holders(four).collect();
                    assert_eq!(blocks, found, "{shape:?} {dims:?} {four}");
                    if layout.is_shared() {
                        let rows = layout.sharers(four);
                        let found = rows.map(|row| layout.sharing_block(row, four)).collect();
                        assert_eq!(blocks, found, "{shape:?} {dims:?} {four}");
                    }
                }
            }
        }
    }

    #[test]
    fn spans_follow_each_other() {
        for shape in Shape::ALL {
            for dims in [[1, 1, 1], [5, 1, 1], [3, 17, 5], [9, 10, 3], [2, 200, 401]] {
                let layout = Layout::new(shape, Framing::V3, dims).unwrap();
                let (mut block, mut element) = (0, 0);
                for span in (0..layout.spans()).map(|span| layout.span(span)) {
                    assert_eq!((span.blocks.start, span.elements.start), (block, element));
                    (block, element) = (span.blocks.end, span.elements.end);
                }
                assert_eq!(
                    (block, element),
                    (layout.blocks(), layout.elements() as usize)
                );
            }
        }
    }
}
