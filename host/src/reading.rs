//! What is decoded of a stream.

use crate::cpu::mapping::mask;
use crate::cpu::tiles;
use crate::error::Error;
use crate::part::{Part, Piece};
use ferrosz_codec::Codec;
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::shape::Shape;
use std::collections::BTreeSet;

/// A part of a stream's field, or all of it, found once for a call: in the dimensions of the codec, and in those of the mask.
pub(crate) struct Reading {
    layout: Layout,
    /// In the dimensions of the codec.
    pub(crate) pieces: Vec<Piece>,
    /// In those of the mask.
    pub(crate) of_mask: Vec<Piece>,
}

impl Reading {
    /// A part of the field of streams with this layout and this order of axes, or all of it.
    ///
    /// # Errors
    ///
    /// [`Error::RangeOutside`] and [`Error::BoxOutside`].
    pub(crate) fn new(layout: &Layout, order: &Order, part: Option<&Part>) -> Result<Self, Error> {
        let pieces = |layout: &Layout| match part {
            None => Ok(vec![Piece::of_field(layout, order)]),
            Some(part) => part.pieces(layout, order),
        };
        Ok(Self {
            pieces: pieces(layout)?,
            // The layout whose chunks are the parts of the mask.
            of_mask: pieces(&Layout::new(Codec::PLAIN, Shape::Cube, layout.extents))?,
            layout: *layout,
        })
    }

    /// How many elements there are.
    pub(crate) fn elements(&self) -> u64 {
        self.pieces.iter().map(Piece::elements).sum()
    }

    /// The regions with elements, in the dimensions of the codec.
    pub(crate) fn regions(&self) -> Vec<Region> {
        regions(&self.pieces)
    }

    /// Whether it is the whole field.
    pub(crate) fn is_whole(&self) -> bool {
        self.regions() == [Region::whole(&self.layout.grid())]
    }

    /// The numbers of the entries of the chunk table that it needs.
    pub(crate) fn entries(&self) -> BTreeSet<u64> {
        let layout = &self.layout;
        let mut entries = BTreeSet::new();
        for region in self.regions() {
            match layout.family() {
                Family::Blocks(_) => entries.extend(chunks_of_blocks(layout, &region)),
                Family::Tiles(tiles) => entries.extend(tiles::entries(&tiles, &region)),
            }
        }
        entries.extend(self.entries_of_mask());
        entries
    }

    /// Those of the mask.
    pub(crate) fn entries_of_mask(&self) -> BTreeSet<u64> {
        let (layout, mut entries) = (&self.layout, BTreeSet::new());
        if let Some(of_field) = layout.mask() {
            for region in regions(&self.of_mask) {
                let chunks = mask::chunks_of(&of_field, &region);
                entries.extend(chunks.iter().map(|chunk| layout.field_entries() + chunk));
            }
        }
        entries
    }
}

/// The regions of pieces that have elements.
pub(crate) fn regions(pieces: &[Piece]) -> Vec<Region> {
    let regions = pieces.iter().flat_map(Piece::regions);
    regions.filter(|region| region.elements() > 0).collect()
}

/// The numbers of the chunks of blocks with an element of a region.
fn chunks_of_blocks(layout: &Layout, region: &Region) -> impl Iterator<Item = u64> {
    let grid = layout.grid();
    region.chunk_numbers(&grid).filter(move |chunk| {
        let positions = grid.chunk(*chunk);
        // Between the rows of a region there may be whole chunks of lines.
        let mut has_elements = grid.shape() != Shape::Line;
        let elements = u64::from(positions.elements());
        region.cut(grid.flat(positions.origin), elements, |_, _| {
            has_elements = true
        });
        has_elements
    })
}
