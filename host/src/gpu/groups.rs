//! Where the tiles of a sample lie on a machine: in the field itself or, if they may have holes, in copies with values in place of
//! these.
//!
//! A copy has a tile with its far faces. Copies of the same extents are the slices of a field of their own, in which kernels find
//! the tiles as they find those of any field.

use crate::gpu::tiles::workspace::Sections;
use crate::sampled_field::{Holes, SampleToMeasure, Way};
use ferrosz_codec::Shape;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::tile::TileGrid;
use ferrosz_gpu_kernels::primitives::read_boxes::BoxToRead;
use ferrosz_simt::View;
use std::collections::BTreeMap;

/// The fields in which the tiles of a sample lie.
pub(super) struct Groups {
    pub(super) all: Vec<Group>,
    /// The group of each tile of the sample and its number there; none if the only group is the field itself.
    places: Option<BTreeMap<u64, (usize, u64)>>,
}

/// Tiles that lie in one field.
pub(super) struct Group {
    /// The division of that field.
    pub(super) tiles: TileGrid,
    pub(super) grid: Grid,
    pub(super) copies: Option<Copies>,
}

/// Copies of tiles.
pub(super) struct Copies {
    /// The tiles in the field of the sample.
    boxes: Vec<ChunkBox>,
    /// The extents of each copy in memory, and of its tile without the far faces.
    pub(super) extents: [u64; 3],
    pub(super) own: [u32; 3],
}

impl Groups {
    /// Those of a sample.
    pub(super) fn new<T>(sample: &SampleToMeasure<T>) -> Self {
        if sample.holes == Holes::None {
            let field = Group {
                tiles: sample.tiles,
                grid: sample.grid,
                copies: None,
            };
            return Self {
                all: vec![field],
                places: None,
            };
        }
        let shape = sample.tiles.shape();
        let mut of_extents: BTreeMap<[u32; 3], Vec<(u64, ChunkBox)>> = BTreeMap::new();
        for number in numbers(sample) {
            let tile = sample.tiles.tile(number);
            let with_faces = store::extents(shape);
            let copy = ChunkBox {
                origin: tile.origin,
                extents: std::array::from_fn(|i| with_faces[i].min(tile.left[i])),
            };
            of_extents
                .entry(copy.extents)
                .or_default()
                .push((number, copy));
        }
        let (mut all, mut places) = (Vec::new(), BTreeMap::new());
        for (_, of_group) in of_extents {
            let (numbers, boxes): (Vec<u64>, Vec<ChunkBox>) = of_group.into_iter().unzip();
            let group = Group::of_copies(shape, boxes);
            let of_slice = group.tiles_of_slice();
            let own = (0..).zip(&numbers);
            places.extend(own.map(|(i, number)| (*number, (all.len(), i * of_slice))));
            all.push(group);
        }
        Self {
            all,
            places: Some(places),
        }
    }

    /// The group of a tile of the sample, and its number there.
    pub(super) fn place(&self, number: u64) -> (usize, u64) {
        match &self.places {
            None => (0, number),
            Some(places) => places.get(&number).copied().unwrap_or_default(),
        }
    }

    /// Tiles of the sample, each with another number: those of each group, in their order, with their numbers there.
    pub(super) fn divided(&self, tiles: impl Iterator<Item = [u64; 2]>) -> Vec<Vec<[u64; 2]>> {
        let mut divided = vec![Vec::new(); self.all.len()];
        for [number, other] in tiles {
            let (group, number) = self.place(number);
            divided[group].push([number, other]);
        }
        divided
    }
}

/// The tiles that a sample needs, in ascending order.
fn numbers<T>(sample: &SampleToMeasure<T>) -> Vec<u64> {
    let taken = sample.taken.iter().map(|[number, _]| number);
    let mut all: Vec<u64> = sample.sized.iter().chain(taken).copied().collect();
    for (_, way) in &sample.predictions {
        if let Way::Tuned(tuning) = way {
            all.extend(tuning.fitted.iter().chain(&tuning.scored));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

impl Group {
    /// Copies of these boxes, of the same extents.
    fn of_copies(shape: Shape, boxes: Vec<ChunkBox>) -> Self {
        let count = boxes.len() as u64;
        let with_faces = boxes.first().map_or([1; 3], |first| first.extents);
        let own = ferrosz_codec::tile::extents(shape);
        let mut extents = with_faces.map(u64::from);
        // Lines are sized in chunks that begin at multiples of 16 bytes. The last tile of a field has no far face, and is alone.
        if matches!(shape, Shape::Line) && with_faces[2] > own[2] {
            extents[2] = extents[2].next_multiple_of(4);
        }
        let [depth, height, width] = extents;
        let all = [count * depth, height, width];
        Self {
            tiles: TileGrid::sliced(shape, count, extents),
            grid: Grid::new(shape, &Extents::new(&all).unwrap_or(Extents::line(0))),
            copies: Some(Copies {
                boxes,
                extents,
                own: std::array::from_fn(|i| own[i].min(with_faces[i])),
            }),
        }
    }

    /// Tiles of a slice of copies, of which the first one is that of the sample.
    pub(super) fn tiles_of_slice(&self) -> u64 {
        self.tiles.tiles() / self.copies.as_ref().map_or(1, Copies::count).max(1)
    }

    /// The box of a tile without its far faces.
    pub(super) fn place(&self, number: u64) -> ChunkBox {
        let tile = self.tiles.tile(number);
        let shape = self.tiles.shape();
        let extents = match &self.copies {
            Some(copies) => copies.own,
            None => tile.extents(shape),
        };
        // The grid of lines is one line.
        let origin = match shape {
            Shape::Line => [0, 0, self.tiles.flat(tile.origin)],
            Shape::Plane | Shape::Cube => tile.origin,
        };
        ChunkBox { origin, extents }
    }
}

impl Copies {
    fn count(&self) -> u64 {
        self.boxes.len() as u64
    }

    /// Elements of a copy.
    pub(super) fn elements(&self) -> u64 {
        self.extents.iter().product()
    }

    /// What is copied, as [`BoxToRead::to_list`] has it.
    pub(super) fn list(&self, grid: &Grid) -> Vec<u64> {
        let to_list = |(place, from): (u64, &ChunkBox)| {
            BoxToRead {
                from: grid.flat(from.origin),
                to: place * self.elements(),
                extents: from.extents,
            }
            .to_list()
        };
        (0..).zip(&self.boxes).flat_map(to_list).collect()
    }

    /// Words of all copies, and of those with values in place of holes.
    pub(super) fn words(&self, element_words: u64, sections: &mut Sections) -> [View<u32>; 2] {
        let words = self.count() * self.elements() * element_words;
        [0, 1].map(|_| sections.words(words))
    }
}
