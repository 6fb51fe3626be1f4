//! Slabs of a field of a codec of blocks: layers of chunks.

use crate::slabs::{Part, Slab};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::roles::Role;
use ferrosz_codec::shape::Shape;
use std::ops::Range;

/// How a field is cut.
pub(super) struct Cut {
    /// The axis, among those of the grid.
    axis: usize,
    /// Indices of a layer along it.
    indices: u64,
    /// Whole layers, at least one of a field with elements. A rest belongs to the last one: so it has a chunk that is whole
    /// along the axis, and its grid has chunks of the same extents as that of the field.
    pub(super) layers: u64,
    /// Chunks of a layer.
    chunks: u64,
}

impl Cut {
    pub(super) fn new(grid: &Grid) -> Self {
        let (lengths, chunks) = (grid.lengths(), grid.chunks());
        let axis = match grid.shape() {
            Shape::Line => 2,
            Shape::Plane | Shape::Cube => usize::from(lengths[0] == 1),
        };
        if grid.slices() > 1 {
            return Self {
                axis,
                indices: grid.slice_lengths()[0],
                layers: grid.slices(),
                chunks: grid.chunk_count() / grid.slices(),
            };
        }
        let edge = 1 << grid.tile()[axis];
        Self {
            axis,
            indices: edge,
            layers: (lengths[axis] / edge).max(u64::from(grid.elements() > 0)),
            chunks: grid.chunk_count() / chunks[axis].max(1),
        }
    }

    /// The slab of some layers of a field.
    pub(super) fn slab(&self, layout: &Layout, grid: &Grid, layers: Range<u64>) -> Slab {
        let mut lengths = grid.lengths();
        let is_last = layers.end == self.layers;
        let first_index = layers.start * self.indices;
        let end = match is_last {
            true => lengths[self.axis],
            false => layers.end * self.indices,
        };
        lengths[self.axis] = end - first_index;
        let of_index: u64 = lengths[self.axis + 1..].iter().product();
        let extents = match grid.slices() {
            1 => Extents::new(&lengths[self.axis..]),
            _ => of_slices(layers.end - layers.start, grid.slice_lengths()),
        };
        // The lengths are at most the field's.
        let extents = extents.unwrap_or(layout.extents);
        let of_slab = Layout::new(layout.codec, layout.shape, extents);
        debug_assert!(of_slab.grid().tile() == grid.tile());
        let first = layers.start * self.chunks;
        Slab {
            chunks: first..first + of_slab.grid().chunk_count(),
            part: Part::Field(of_slab),
            elements: first_index * of_index..end * of_index,
            behind: 0,
            read: 0,
            shared: 0,
            chunks_behind: 0,
        }
    }
}

/// The extents of so many slices.
pub(super) fn of_slices(count: u64, [depth, height, width]: [u64; 3]) -> Option<Extents> {
    let extents = Extents::new(&[count, depth, height, width])?;
    extents.with_roles(&[Role::Slice, Role::Z, Role::Y, Role::X])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slabs::divide;
    use ferrosz_codec::Codec;
    use ferrosz_codec::container::grid::ChunkBox;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    fn layouts(rng: &mut SmallRng) -> Vec<Layout> {
        let rank = rng.random_range(1..5);
        let lengths: Vec<u64> = (0..rank)
            .map(|_| match rng.random_range(0..4) {
                0 => 1,
                1 => rng.random_range(1..8),
                2 => rng.random_range(1..40),
                _ => rng.random_range(1..300),
            })
            .collect();
        let mut all = vec![Extents::new(&lengths).expect("extents")];
        if rank == 4 {
            all.push(of_slices(lengths[0], [lengths[1], lengths[2], lengths[3]]).expect("extents"));
        }
        let of_shape =
            |extents: Extents| Shape::ALL.map(|shape| Layout::new(Codec::LORENZO, shape, extents));
        all.into_iter().flat_map(of_shape).collect()
    }

    #[test]
    fn chunks_of_slabs_are_those_of_the_field() {
        let mut rng = SmallRng::seed_from_u64(1);
        let (mut divided, mut sliced) = (0, 0);
        for _ in 0..300 {
            for layout in layouts(&mut rng) {
                let grid = layout.grid();
                for most in [1, 2, 3, 4, 7, 64] {
                    let slabs = divide(&layout, most);
                    divided += usize::from(slabs.len() > 1);
                    sliced += usize::from(slabs.len() > 1 && grid.slices() > 1);
                    assert!((1..=most).contains(&slabs.len()), "{layout:?}");
                    let (mut element, mut chunk) = (0, 0);
                    for slab in &slabs {
                        assert_eq!((slab.elements.start, slab.chunks.start), (element, chunk));
                        let Part::Field(of_slab) = slab.part else {
                            panic!("{slab:?}");
                        };
                        let own = of_slab.grid();
                        assert_eq!(own.shape(), grid.shape());
                        assert_eq!(of_slab.codec, layout.codec);
                        for number in 0..own.chunk_count() {
                            let (of_slab, of_field) = (own.chunk(number), grid.chunk(chunk));
                            assert_eq!(of_slab.extents, of_field.extents, "{layout:?} {slab:?}");
                            let flat = |grid: &Grid, place: ChunkBox| grid.flat(place.origin);
                            assert_eq!(flat(&own, of_slab) + element, flat(&grid, of_field));
                            chunk += 1;
                        }
                        assert_eq!(
                            own.lengths()[2],
                            match grid.shape() {
                                Shape::Line => own.elements(),
                                _ => grid.lengths()[2],
                            }
                        );
                        element += own.elements();
                        assert_eq!((slab.elements.end, slab.chunks.end), (element, chunk));
                    }
                    assert_eq!((element, chunk), (grid.elements(), grid.chunk_count()));
                }
            }
        }
        assert!(divided > 500 && sliced > 50, "{divided} {sliced}");
    }

    #[test]
    fn slabs_are_even() {
        let layout = |lengths: &[u64]| {
            Layout::new(
                Codec::PLAIN,
                Shape::Cube,
                Extents::new(lengths).expect("extents"),
            )
        };
        let elements = |slabs: Vec<Slab>| {
            let counts = slabs
                .into_iter()
                .map(|slab| slab.elements.end - slab.elements.start);
            counts.collect::<Vec<u64>>()
        };
        assert_eq!(elements(divide(&layout(&[512, 512, 512]), 4)), [1 << 25; 4]);
        assert_eq!(
            elements(divide(&layout(&[50, 64, 64]), 2)),
            [16, 34].map(|planes| planes * 4096)
        );
        assert_eq!(divide(&layout(&[3, 100, 100]), 4).len(), 1);
        assert!(divide(&layout(&[0, 100, 100]), 4).is_empty());
    }
}
