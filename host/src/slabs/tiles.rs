//! Slabs of a field of a codec of tiles: layers of tiles that begin and end with chunks and runs.

use crate::gpu::tiles::slab::TileSlab;
use crate::slabs::{Part, Slab};
use ferrosz_codec::container::tiles::{FIRST_ENTRY, TileLayout};
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{self, RUN_TILES, TileGrid};
use std::ops::Range;

/// How a field is cut.
pub(super) struct Cut<'a> {
    layout: &'a TileLayout,
    /// The axis, among those of the grid.
    axis: usize,
    /// Indices of a layer along it.
    indices: u64,
    /// Layers of tiles, or of slices, whose tiles have no neighbours in others.
    layers: u64,
    /// Layers between places where chunks and runs begin.
    step: u64,
    /// Whether the prediction of a layer reads from the next one.
    has_faces: bool,
}

impl<'a> Cut<'a> {
    pub(super) fn new(layout: &'a TileLayout) -> Self {
        let grid = &layout.fine;
        let lengths = grid.lengths();
        let axis = match grid.shape() {
            Shape::Line => 2,
            Shape::Plane | Shape::Cube => usize::from(lengths[0] == 1),
        };
        let is_sliced = grid.slices() > 1;
        let (indices, layers) = match is_sliced {
            true => (grid.slice_lengths()[0], grid.slices()),
            false => (
                tile::extents(grid.shape())[axis].into(),
                grid.counts()[axis],
            ),
        };
        let of_chunk = u64::from(layout.chunk.tiles().max(RUN_TILES));
        let of_layer = grid.tiles() / layers.max(1);
        // Lengths of chunks and runs are powers of two, so this is their greatest common divisor.
        let common = of_chunk.min(1 << of_layer.trailing_zeros().min(63));
        let is_along_shape = axis >= 3 - usize::from(grid.shape().rank());
        let predictor = layout.codec.predictor;
        // The tiles of slices have no far faces along z.
        let is_open = axis > 0 || predictor.fitted() != FittedKind::Slices;
        Self {
            layout,
            axis,
            indices,
            layers,
            step: of_chunk / common,
            has_faces: predictor.geometry().is_some() && !is_sliced && is_along_shape && is_open,
        }
    }

    /// How many slabs there can be.
    pub(super) fn most(&self) -> u64 {
        self.layers.div_ceil(self.step)
    }

    /// The slab between two of so many steps.
    pub(super) fn slab(&self, steps: Range<u64>) -> Slab {
        let [start, end] = [steps.start, steps.end].map(|at| self.layers.min(at * self.step));
        let behind = match self.has_faces {
            true => self.layers.min(end + self.step),
            false => end,
        };
        let [before, own, memory] =
            [0..start, start..end, start..behind].map(|layers| self.grid(layers));
        let tiles = TileSlab::new(self.layout, [before, own, memory]);
        let shared = FIRST_ENTRY + self.layout.coarse_chunks();
        let chunks = |grid: &TileGrid| self.layout.chunk.count(grid);
        let first = shared + tiles.first_chunk();
        // One index along the axis is what a prediction reads.
        let of_index = own.elements() / own.lengths()[self.axis].max(1);
        Slab {
            elements: before.elements()..before.elements() + own.elements(),
            behind: memory.elements() - own.elements(),
            read: match behind > end {
                true => of_index,
                false => 0,
            },
            shared,
            chunks: first..first + chunks(&own),
            chunks_behind: chunks(&memory) - chunks(&own),
            part: Part::Tiles(Box::new(tiles)),
        }
    }

    /// The elements of some layers.
    fn grid(&self, layers: Range<u64>) -> TileGrid {
        let grid = &self.layout.fine;
        let mut lengths = grid.lengths();
        if grid.slices() > 1 {
            let slices = layers.end - layers.start;
            return TileGrid::sliced(grid.shape(), slices, grid.slice_lengths());
        }
        let [start, end] =
            [layers.start, layers.end].map(|layer| lengths[self.axis].min(layer * self.indices));
        lengths[self.axis] = end - start;
        TileGrid::new(grid.shape(), lengths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slabs::divide;
    use ferrosz_codec::Codec;
    use ferrosz_codec::container::extents::Extents;
    use ferrosz_codec::container::layout::Layout;
    use ferrosz_codec::tile::{ChunkLength, TileBox};
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    fn layout(rng: &mut SmallRng) -> Layout {
        let codecs = Codec::ALL
            .into_iter()
            .filter(|codec| codec.tiles().is_some());
        let codecs: Vec<Codec> = codecs.collect();
        let codec = codecs[rng.random_range(0..codecs.len())];
        let lengths: Vec<u64> = (0..rng.random_range(1..5))
            .map(|_| match rng.random_range(0..4) {
                0 => 1,
                1 => rng.random_range(1..40),
                _ => rng.random_range(1..900),
            })
            .collect();
        let mut extents = Extents::new(&lengths).expect("extents");
        if let [slices, z, y, x] = lengths[..]
            && rng.random()
        {
            extents = crate::slabs::blocks::of_slices(slices, [z, y, x]).expect("extents");
        }
        let shape = Shape::ALL[rng.random_range(0..Shape::ALL.len())];
        let length = ChunkLength::ALL[rng.random_range(0..ChunkLength::ALL.len())];
        Layout::new(codec, shape, extents).with_chunk(length)
    }

    /// The position of a tile in the field's order, and how far it reaches, with the far faces that its prediction reads.
    fn place(field: &TileLayout, grid: &TileGrid, tile: &TileBox) -> (u64, [u32; 3]) {
        let extents = tile::extents(grid.shape());
        let predictor = field.codec.predictor;
        let reach = |axis: usize| {
            let is_open = axis > 0 || predictor.fitted() != FittedKind::Slices;
            let is_along_shape = axis >= 3 - usize::from(grid.shape().rank());
            let has_face = predictor.geometry().is_some() && is_open && is_along_shape;
            tile.left[axis].min(extents[axis] + u32::from(has_face))
        };
        (grid.flat(tile.origin), std::array::from_fn(reach))
    }

    #[test]
    fn tiles_of_slabs_are_those_of_the_field() {
        let mut rng = SmallRng::seed_from_u64(2);
        let (mut divided, mut with_faces) = (0, 0);
        for _ in 0..600 {
            let layout = layout(&mut rng);
            let field = layout.tiles().expect("a codec of tiles");
            let slabs = divide(&layout, rng.random_range(1..9));
            divided += usize::from(slabs.len() > 1);
            let shared = FIRST_ENTRY + field.coarse_chunks();
            let (mut element, mut number, mut chunk) = (0, 0, shared);
            for slab in &slabs {
                assert_eq!((slab.elements.start, slab.chunks.start), (element, chunk));
                assert_eq!(slab.shared, shared);
                let Part::Tiles(tiles) = &slab.part else {
                    panic!("{slab:?}");
                };
                assert_eq!(tiles.first_chunk() + shared, chunk);
                for own in 0..tiles.own().tiles() {
                    let memory = tiles.memory();
                    let (first, reach) = place(&field, memory, &memory.tile(own));
                    let wanted = place(&field, &field.fine, &field.fine.tile(number));
                    assert_eq!((first + element, reach), wanted, "{layout:?} {slab:?}");
                    number += 1;
                }
                // The chunks behind are whole, as their codes are decoded.
                let end = slab.chunks.end + slab.chunks_behind - shared;
                let chunks = field.chunk.count(tiles.memory());
                assert_eq!(chunks, end - tiles.first_chunk());
                let last = tiles.first_chunk() + chunks == field.fine_chunks();
                let of_chunk = u64::from(field.chunk.tiles());
                assert!(last || tiles.memory().tiles().is_multiple_of(of_chunk));
                assert!(slab.read <= slab.behind);
                with_faces += usize::from(slab.read > 0);
                element = slab.elements.end;
                chunk = slab.chunks.end;
            }
            assert_eq!(element, field.fine.elements());
            assert_eq!(
                (number, chunk),
                (field.fine.tiles(), shared + field.fine_chunks())
            );
        }
        assert!(divided > 100 && with_faces > 100, "{divided} {with_faces}");
    }
}
