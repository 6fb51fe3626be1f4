//! Where the tiles of a sample lie on a machine: in the field itself or, if they may have holes, in copies with values in place of
//! these.
//!
//! A copy has a tile with its far faces. Copies of the same extents are the slices of a field of their own, in which kernels find
//! the tiles as they find those of any field.

use crate::gpu::tiles::workspace::Sections;
use crate::sampled_field::{Holes, PredictBy, SampleToMeasure};
use ferrosz_codec::Shape;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::tile::TileGrid;
use ferrosz_gpu_kernels::primitives::read_boxes::BoxToRead;
use ferrosz_simt::View;

/// The fields in which the tiles of a sample lie.
pub(super) struct Groups {
    pub(super) all: Vec<Group>,
    /// For each tile of the sample, in ascending order, its group and its number there; none if the only group is the field
    /// itself.
    places: Option<Vec<(u64, (usize, u64))>>,
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
        Self::of_copies(&sample.tiles, &numbers(sample))
    }

    /// Copies of these tiles, which ascend.
    fn of_copies(tiles: &TileGrid, numbers: &[u64]) -> Self {
        let shape = tiles.shape();
        let with_faces = store::extents(shape);
        let mut of_extents: Vec<Vec<ChunkBox>> = Vec::new();
        let mut places = Vec::new();
        for number in numbers {
            let tile = tiles.tile(*number);
            let copy = ChunkBox {
                origin: tile.origin,
                extents: std::array::from_fn(|i| with_faces[i].min(tile.left[i])),
            };
            let is_own = |group: &Vec<ChunkBox>| group[0].extents == copy.extents;
            let group = of_extents.iter().position(is_own).unwrap_or_else(|| {
                of_extents.push(Vec::new());
                of_extents.len() - 1
            });
            places.push((*number, (group, of_extents[group].len() as u64)));
            of_extents[group].push(copy);
        }
        let of_group = |boxes| Group::of_copies(shape, boxes);
        let all: Vec<Group> = of_extents.into_iter().map(of_group).collect();
        for (_, (group, place)) in &mut places {
            *place *= all[*group].tiles_of_slice();
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
            Some(places) => {
                let found = places.binary_search_by_key(&number, |(number, _)| *number);
                found.map_or_else(|_| Default::default(), |at| places[at].1)
            }
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
        if let PredictBy::Tuned(tuning) = way {
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
