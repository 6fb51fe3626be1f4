//! The predicted sizes of the streams of a field, and the samples that they are computed from.

use crate::cpu::Version;
use crate::cpu::code::fixed_length::{IMAGE_BYTES, Source};
use crate::cpu::mapping::mask::fill_field;
use crate::cpu::tiles::{TileSample, exact_bytes};
use crate::error::Error;
use crate::parallel;
use crate::scratch::Copies;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::layout::{BlockLayout, Family, Layout};
use ferrosz_codec::container::table::ENTRY_BYTES;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{ChunkLength, TileGrid};
use ferrosz_codec::{Codec, Element};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// How closely a size is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Effort {
    /// By about this many tiles, with or without stencils that are fitted to a few.
    Sample { tiles: u64, is_tuned: bool },
    /// By compressing the field.
    Exact,
}

impl Effort {
    /// By all tiles.
    pub(super) const ALL: Self = Self::Sample {
        tiles: u64::MAX / 8,
        is_tuned: true,
    };
}

/// Gives the elements of boxes of the coded field, each row by row. It is a trait object: a type parameter would make a
/// copy of the predictions for each function that reads, and add 0.46 MB to the command.
pub(super) type Read<'a, T> = dyn FnMut(&Grid, &[ChunkBox]) -> Result<Vec<Vec<T>>, Error> + 'a;

/// The predictions for a field.
pub(super) struct Predictions<'a, T> {
    quantizer: &'a Quantizer<T>,
    read: &'a mut Read<'a, T>,
    samples: HashMap<(Shape, Effort), TileSample<T>>,
    /// The sizes that were predicted, each with its layout, which has the length of chunks that follows from the size.
    sizes: HashMap<(Codec, Shape, Effort), (u128, Layout)>,
    /// The length of chunks, if it is given.
    chunk: Option<ChunkLength>,
    /// The size of the field by the yardstick, if it is known from other samples.
    yardstick: Option<u128>,
}

impl<'a, T: Element> Predictions<'a, T> {
    /// `yardstick` is the size of the same field by [`Predictions::yardstick`], if it is known, and `chunk` the length of
    /// chunks, if it is given.
    pub(super) fn new(
        quantizer: &'a Quantizer<T>,
        yardstick: Option<u128>,
        chunk: Option<ChunkLength>,
        read: &'a mut Read<'a, T>,
    ) -> Self {
        Self {
            quantizer,
            read,
            yardstick,
            chunk,
            samples: HashMap::new(),
            sizes: HashMap::new(),
        }
    }

    /// The predicted sizes of chunk table and payload of some layouts, with the length of chunks that they will have.
    /// Samples of different shapes are not of the same places, and so are compared by the yardstick.
    pub(super) fn of(
        &mut self,
        layouts: &[Layout],
        effort: Effort,
    ) -> Result<Vec<(u128, Layout)>, Error> {
        let key = |layout: &Layout| (layout.codec, layout.shape, effort);
        let is_new = |layout: &&Layout| !self.sizes.contains_key(&key(layout));
        let new: Vec<Layout> = layouts.iter().filter(is_new).copied().collect();
        let found = match effort {
            Effort::Sample { tiles, is_tuned } => {
                for layout in &new {
                    self.sample(layout, effort, tiles, is_tuned)?;
                }
                self.sampled(&new, effort)
            }
            Effort::Exact => {
                let chunk = self.chunk;
                let exact =
                    |layout: &Layout| in_chunks(chunk, layout, |layout| self.exact_bytes(layout));
                new.iter().map(exact).collect()
            }
        }?;
        self.sizes.extend(new.iter().map(key).zip(found));
        let known = layouts.iter().map(|layout| self.sizes.get(&key(layout)));
        known
            .map(|found| found.copied().ok_or(Error::NotChosen))
            .collect()
    }

    /// The sizes of layouts by samples that there are. Predictors, and then layouts, are shared out among threads: a sample
    /// has too few tiles for many of them.
    fn sampled(
        &mut self,
        layouts: &[Layout],
        effort: Effort,
    ) -> Result<Vec<(u128, Layout)>, Error> {
        let yardstick = self.yardstick.unwrap_or_else(|| self.yardstick());
        let (quantizer, chunk) = (self.quantizer, self.chunk);
        let with_given = |layout: &Layout| layout.with_chunk(chunk.unwrap_or_default());
        let samples = self.samples.iter_mut().filter(|((_, of), _)| *of == effort);
        let samples: Vec<_> = samples.collect();
        parallel::each(samples.into_iter(), |((shape, _), sample)| {
            let layouts = layouts.iter().filter(|layout| layout.shape == *shape);
            let layouts = layouts.filter_map(|layout| with_given(layout).tiles());
            let layouts: Vec<TileLayout> = layouts.collect();
            sample.predict_all(&layouts, quantizer, yardstick);
        });
        let samples = &self.samples;
        let size = |layout: &Layout| {
            let sample = samples
                .get(&(layout.shape, effort))
                .ok_or(Error::NotChosen)?;
            in_chunks(chunk, layout, |layout| {
                Ok(sampled_bytes(sample, layout, quantizer, yardstick))
            })
        };
        parallel::map(layouts.iter(), size).into_iter().collect()
    }

    fn sample(
        &mut self,
        layout: &Layout,
        effort: Effort,
        tiles: u64,
        is_tuned: bool,
    ) -> Result<(), Error> {
        let (grid, quantizer) = (layout.grid(), self.quantizer);
        let tile_grid = tiles_of(&grid);
        let [.., row] = Grid::new(Shape::Plane, &layout.extents).lengths();
        let mut read = |places: &[ChunkBox]| (self.read)(&grid, places);
        let sample = match self.samples.entry((layout.shape, effort)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(TileSample::new(
                &tile_grid,
                row.max(1),
                tiles,
                quantizer,
                &mut read,
            )?),
        };
        let codec = layout.codec.tiles();
        let is_fitted = codec.is_some_and(|codec| codec.predictor.fitted() != FittedKind::None);
        match is_tuned && is_fitted {
            true => sample.tune(&tile_grid, row.max(1), quantizer, read),
            false => Ok(()),
        }
    }

    /// The size of the field by the yardstick: the mean of what the samples say.
    pub(super) fn yardstick(&self) -> u128 {
        let sizes = self.samples.values().map(TileSample::yardstick);
        sizes.sum::<u128>() / u128::max(self.samples.len() as u128, 1)
    }

    fn exact_bytes(&mut self, layout: &Layout) -> Result<u128, Error> {
        let grid = layout.grid();
        let extents = grid.lengths().map(|length| length as u32);
        let origin = [0; 3];
        let mut values = match grid.elements() {
            0 => Vec::new(),
            _ => (self.read)(&grid, &[ChunkBox { origin, extents }])?.concat(),
        };
        if self.quantizer.is_hole(T::HOLE) {
            fill_field(Copies::InMemory, layout, &mut values)?;
        }
        Ok(match layout.family() {
            Family::Blocks(blocks) => exact_block_bytes(&blocks, self.quantizer, &values),
            Family::Tiles(tiles) => exact_bytes(&tiles, self.quantizer, &values),
        })
    }
}

/// The size with the length of chunks that follows from the size with short chunks, if none is given and longer chunks
/// save anything.
fn in_chunks(
    given: Option<ChunkLength>,
    layout: &Layout,
    mut bytes: impl FnMut(&Layout) -> Result<u128, Error>,
) -> Result<(u128, Layout), Error> {
    let layout = layout.with_chunk(given.unwrap_or_default());
    let size = bytes(&layout)?;
    let runs = layout.tiles().map_or(0, |tiles| tiles.runs());
    let longer = layout.with_chunk(ChunkLength::of_size(size, runs));
    if given.is_none() && longer != layout {
        let of_longer = bytes(&longer)?;
        if of_longer < size {
            return Ok((of_longer, longer));
        }
    }
    Ok((size, layout))
}

/// The size of chunk table and payload of a layout, whose predictor has predicted the sample.
fn sampled_bytes<T: Element>(
    sample: &TileSample<T>,
    layout: &Layout,
    quantizer: &Quantizer<T>,
    yardstick: u128,
) -> u128 {
    match layout.family() {
        Family::Blocks(BlockLayout { codec, grid }) => {
            let table = u128::from(grid.chunk_count()) * ENTRY_BYTES as u128;
            let tiles = tiles_of(&grid);
            table + sample.predicted_block_bytes(codec, &tiles, quantizer, yardstick)
        }
        Family::Tiles(tiles) => sample.predicted_bytes(&tiles, yardstick),
    }
}

/// The tiles of a field with this grid of chunks.
fn tiles_of(grid: &Grid) -> TileGrid {
    TileGrid::sliced(grid.shape(), grid.slices(), grid.slice_lengths())
}

/// The size of chunk table and payload of a field in blocks.
fn exact_block_bytes<T: Element>(
    layout: &BlockLayout,
    quantizer: &Quantizer<T>,
    values: &[T],
) -> u128 {
    let BlockLayout { codec, grid } = layout;
    let mut image = vec![0; IMAGE_BYTES];
    let mut encode = |chunk| {
        let source = Source {
            field: values,
            grid,
            chunk,
        };
        (Version::best().encode(*codec, quantizer, source, &mut image)).1 as u128
    };
    let chunks = 0..grid.chunk_count();
    chunks
        .map(|chunk| ENTRY_BYTES as u128 + encode(chunk))
        .sum()
}
