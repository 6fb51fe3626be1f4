//! The layout of a stream: its codec, and the division of the field by it.

use crate::container::chunk::CHUNK;
use crate::container::extents::Extents;
use crate::container::grid::Grid;
use crate::container::tiles::{self, TileLayout};
use crate::pipeline::{BlockCodec, Codec};
use crate::shape::Shape;

/// The properties of a stream that a decoder must know, except its error bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Codec of the chunks.
    pub codec: Codec,
    /// Shape of the blocks.
    pub shape: Shape,
    /// Extents of the field.
    pub extents: Extents,
}

/// A codec of blocks, and the division of a field into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLayout {
    /// Predictor and coder.
    pub codec: BlockCodec,
    /// The chunks of the field.
    pub grid: Grid,
}

/// A [`Layout`] by the family of its codec: codecs of blocks and codecs of tiles divide a field in different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// A codec of blocks.
    Blocks(BlockLayout),
    /// A codec of tiles.
    Tiles(TileLayout),
}

impl Layout {
    /// The layout of streams of fields with these extents. The shape becomes the one that [`Grid::new`] gives.
    pub fn new(codec: Codec, shape: Shape, extents: Extents) -> Self {
        let shape = if codec.takes(shape) {
            shape
        } else {
            Shape::Line
        };
        Self {
            codec,
            shape: Grid::new(shape, &extents).shape(),
            extents,
        }
    }

    /// The division of the field into chunks by a codec of blocks.
    pub fn grid(&self) -> Grid {
        Grid::new(self.shape, &self.extents)
    }

    /// The codec and the division of the field, by family.
    pub fn family(&self) -> Family {
        let grid = self.grid();
        match self.codec {
            Codec::Blocks(codec) => Family::Blocks(BlockLayout { codec, grid }),
            Codec::Tiles(codec) => Family::Tiles(TileLayout::new(codec, &grid)),
        }
    }

    /// The division of the field by a codec of tiles; none for other codecs.
    pub fn tiles(&self) -> Option<TileLayout> {
        match self.family() {
            Family::Blocks(_) => None,
            Family::Tiles(layout) => Some(layout),
        }
    }

    /// Entries of the chunk table.
    pub fn entries(&self) -> u64 {
        match self.family() {
            Family::Blocks(layout) => layout.grid.chunk_count(),
            Family::Tiles(layout) => layout.entries(),
        }
    }

    /// The most elements of a chunk.
    pub fn chunk_elements(&self) -> u32 {
        match self.codec {
            Codec::Blocks(_) => CHUNK as u32,
            Codec::Tiles(_) => tiles::CHUNK_ELEMENTS,
        }
    }
}
