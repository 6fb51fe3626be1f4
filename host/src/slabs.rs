//! Slabs: a field as several machines have it. Each has whole chunks along the slowest axis, and compresses them as a field
//! of its own.
//!
//! The chunks of a slab have the same elements in both fields, and the checksum of a chunk starts from a seed that follows
//! from the stream and the chunk's number. So a stream of the slab becomes a part of the stream of the field when the entries
//! of its table get other seeds and starts, and the other way round ([`entries`]).

pub(crate) mod compress;
pub(crate) mod decompress;
pub(crate) mod entries;
pub(crate) mod machines;

use crate::device::Device;
use crate::error::Error;
use crate::stream_layout::StreamLayout;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::header::HEADER_BYTES;
use ferrosz_codec::container::layout::{BlockLayout, Family, Layout};
use ferrosz_codec::container::roles::Role;
use ferrosz_codec::container::table::ENTRY_BYTES;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::{Bound, BoundMode};
use machines::Machines;
use std::ops::Range;

/// A slab of a field: consecutive elements, and consecutive chunks of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slab {
    /// The layout of the slab as a field of its own.
    pub(crate) layout: Layout,
    /// The elements.
    pub(crate) elements: Range<u64>,
    /// The numbers of the chunks.
    pub(crate) chunks: Range<u64>,
}

impl Slab {
    /// The layout of the stream of the slab as a field of its own.
    pub(crate) fn stream_layout(&self, of_field: &StreamLayout) -> StreamLayout {
        StreamLayout {
            value_type: of_field.value_type,
            ..self.layout.into()
        }
    }

    /// Where the payload of that stream starts.
    pub(crate) fn payload_start(&self) -> usize {
        HEADER_BYTES + ENTRY_BYTES * (self.chunks.end - self.chunks.start) as usize
    }

    /// The slab's part of a field whose elements have so many bytes.
    pub(crate) fn bytes<'a>(&self, field: &'a [u8], element_bytes: usize) -> &'a [u8] {
        let [start, end] = [self.elements.start, self.elements.end].map(|at| at as usize);
        &field[start * element_bytes..end * element_bytes]
    }
}

/// Whether the field of a stream is the coded field, so that its chunks are those of its slabs.
pub(crate) fn is_divisible(layout: &StreamLayout, bound: Bound) -> bool {
    layout.layout.tiles().is_none()
        && !layout.is_mapped()
        && layout.value_type.is_coded_as_is()
        && bound.mode() != BoundMode::Pwrel
}

/// Several GPUs and their slabs of a field, if the device is several GPUs and the field can be divided among them.
///
/// # Errors
///
/// [`Error::NoDevice`] and [`Error::OldGpu`].
pub(crate) fn divided(
    device: Device,
    layout: &StreamLayout,
    bound: Bound,
) -> Result<Option<(Machines, Vec<Slab>)>, Error> {
    let Device::Gpus(gpus) = device else {
        return Ok(None);
    };
    if !is_divisible(layout, bound) {
        return Ok(None);
    }
    let slabs = divide(&layout.layout, Machines::count(gpus)?);
    match slabs.len() {
        0 | 1 => Ok(None),
        count => Ok(Some((Machines::first(gpus, count)?, slabs))),
    }
}

/// The slabs of a field of a codec of blocks: at most `most`, as even as layers of chunks are. A field with slices is
/// divided between them. There are none of a field without elements.
pub(crate) fn divide(layout: &Layout, most: usize) -> Vec<Slab> {
    let Family::Blocks(BlockLayout { grid, .. }) = layout.family() else {
        return Vec::new();
    };
    let cut = Cut::new(&grid);
    let count = (most as u64).min(cut.layers);
    let start = |number: u64| number * cut.layers / count;
    let slabs = (0..count).map(|number| cut.slab(layout, &grid, start(number)..start(number + 1)));
    slabs.collect()
}

/// How a field is cut.
struct Cut {
    /// The axis, among those of the grid.
    axis: usize,
    /// Indices of a layer along it.
    indices: u64,
    /// Whole layers, at least one of a field with elements. A rest belongs to the last one: so it has a chunk that is whole
    /// along the axis, and its grid has chunks of the same extents as that of the field.
    layers: u64,
    /// Chunks of a layer.
    chunks: u64,
}

impl Cut {
    fn new(grid: &Grid) -> Self {
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
    fn slab(&self, layout: &Layout, grid: &Grid, layers: Range<u64>) -> Slab {
        let mut lengths = grid.lengths();
        let is_last = layers.end == self.layers;
        let first = layers.start * self.indices;
        let end = match is_last {
            true => lengths[self.axis],
            false => layers.end * self.indices,
        };
        lengths[self.axis] = end - first;
        let of_index: u64 = lengths[self.axis + 1..].iter().product();
        let extents = match grid.slices() {
            1 => Extents::new(&lengths[self.axis..]),
            _ => of_slices(layers.end - layers.start, grid.slice_lengths()),
        };
        let slab = Slab {
            // The lengths are at most the field's.
            layout: Layout::new(
                layout.codec,
                layout.shape,
                extents.unwrap_or(layout.extents),
            ),
            elements: first * of_index..end * of_index,
            chunks: layers.start * self.chunks..match is_last {
                true => grid.chunk_count(),
                false => layers.end * self.chunks,
            },
        };
        debug_assert!(slab.layout.grid().tile() == grid.tile());
        debug_assert!(slab.layout.grid().chunk_count() == slab.chunks.end - slab.chunks.start);
        slab
    }
}

/// The extents of so many slices.
fn of_slices(count: u64, [depth, height, width]: [u64; 3]) -> Option<Extents> {
    let extents = Extents::new(&[count, depth, height, width])?;
    extents.with_roles(&[Role::Slice, Role::Z, Role::Y, Role::X])
}

#[cfg(test)]
mod tests {
    use super::*;
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
                        let own = slab.layout.grid();
                        assert_eq!(own.shape(), grid.shape());
                        assert_eq!(slab.layout.codec, layout.codec);
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
