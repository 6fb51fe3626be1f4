//! The layout of a stream: its codec, and the division of the field by it.

use crate::container::chunk::CHUNK;
use crate::container::extents::Extents;
use crate::container::grid::Grid;
use crate::container::table::Split;
use crate::container::tiles::TileLayout;
use crate::mapping::mask::{ClassCount, MaskLayout};
use crate::pipeline::{BlockCodec, Codec};
use crate::shape::Shape;
use crate::tile::ChunkLength;

/// The properties of a stream that a decoder must know, except its error bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Codec of the chunks.
    pub codec: Codec,
    /// Shape of the blocks.
    pub shape: Shape,
    /// Extents of the coded field, and the roles of its axes.
    pub extents: Extents,
    /// Classes of the mask, at most [`MAX_CLASSES`](crate::mapping::mask::MAX_CLASSES); none without a mask.
    pub classes: ClassCount,
    /// The length of chunks of a codec of tiles with statistics; the shortest with other codecs.
    pub chunk: ChunkLength,
    /// How many of the lowest levels are coded apart, each in a line of its own; 0 if codes of all levels lie together.
    pub levels: u8,
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
    /// The layout of streams of fields with these extents. The shape becomes the one that [`Grid::new`] gives. Roles of
    /// axes become the default rule where this gives the same division of the field. A codec of slices needs cubes; elsewhere
    /// it becomes that of stencils. One that predicts nothing has lines.
    pub fn new(codec: Codec, shape: Shape, extents: Extents) -> Self {
        let shape = match codec {
            Codec::Blocks(codec) if !codec.takes(shape) => Shape::Line,
            Codec::Tiles(_) if codec.is_of_lines() => Shape::Line,
            Codec::Blocks(_) | Codec::Tiles(_) => shape,
        };
        let grid = Grid::new(shape, &extents);
        let codec = codec.in_shape(grid.shape());
        let plain = extents.with_default_roles();
        let is_plain = grid == Grid::new(grid.shape(), &plain);
        Self {
            codec,
            shape: grid.shape(),
            extents: if is_plain { plain } else { extents },
            classes: ClassCount::default(),
            chunk: ChunkLength::default(),
            levels: 0,
        }
    }

    /// The same layout with a mask of these classes.
    #[must_use]
    pub fn with_classes(self, classes: ClassCount) -> Self {
        Self { classes, ..self }
    }

    /// The same layout with chunks of this length, if the codec has chunks of several lengths.
    #[must_use]
    pub fn with_chunk(self, chunk: ChunkLength) -> Self {
        let has_lengths = self
            .codec
            .tiles()
            .is_some_and(|codec| codec.coder.has_tables());
        match has_lengths {
            true => Self { chunk, ..self },
            false => self,
        }
    }

    /// The same layout with so many levels coded apart, or as many as the codec has.
    #[must_use]
    pub fn with_levels(self, levels: u8) -> Self {
        let most = self
            .codec
            .tiles()
            .map_or(0, |codec| codec.levels(self.shape));
        Self {
            levels: if levels < most { levels } else { most },
            ..self
        }
    }

    /// How the entries of the chunk table are divided.
    pub fn split(&self) -> Split {
        match self.chunk {
            ChunkLength::One | ChunkLength::Four => Split::SHORT,
            ChunkLength::Sixteen | ChunkLength::SixtyFour => Split::LONG,
        }
    }

    /// The mask's chunks; none without a mask.
    pub fn mask(&self) -> Option<MaskLayout> {
        (self.classes.all() > 0).then(|| MaskLayout::new(&self.extents, self.classes))
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
            Codec::Tiles(codec) => Family::Tiles(TileLayout {
                levels: self.levels,
                ..TileLayout::new(codec, &grid, self.chunk)
            }),
        }
    }

    /// The division of the field by a codec of tiles; none for other codecs.
    pub fn tiles(&self) -> Option<TileLayout> {
        match self.family() {
            Family::Blocks(_) => None,
            Family::Tiles(layout) => Some(layout),
        }
    }

    /// Entries of the chunk table: those of the field, then those of the mask.
    pub fn entries(&self) -> u64 {
        self.field_entries() + self.mask().map_or(0, |mask| mask.chunks())
    }

    /// The entries before those of the mask.
    pub fn field_entries(&self) -> u64 {
        match self.family() {
            Family::Blocks(layout) => layout.grid.chunk_count(),
            Family::Tiles(layout) => layout.entries(),
        }
    }

    /// The most elements of a chunk.
    pub fn chunk_elements(&self) -> u32 {
        match self.codec {
            Codec::Blocks(_) => CHUNK as u32,
            Codec::Tiles(_) => self.chunk.elements(),
        }
    }
}
