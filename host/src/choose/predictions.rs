//! The predicted sizes of the streams of a field, and the samples that they are computed from.

use crate::choose::Request;
use crate::choose::weights::TileWeights;
use crate::cpu::Version;
use crate::cpu::code::fixed_length::Source;
use crate::cpu::mapping::coded::fill_field;
use crate::cpu::mapping::mask::part_bytes;
use crate::cpu::tiles::{
    Sampler, TileSample, exact_bytes, weighed_for_tuning, weighed_of, zeros_to_holes,
};
use crate::error::Error;
use crate::parallel;
use crate::sample::spread;
use crate::sampled_field::{SampledField, TilesToWeigh};
use crate::scratch::Copies;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::layout::{BlockLayout, Family, Layout};
use ferrosz_codec::container::table::ENTRY_BYTES;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::mapping::mask::{Classes, MaskLayout};
use ferrosz_codec::mapping::{Keep, ValueMapping};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{ChunkLength, TileGrid};
use ferrosz_codec::{Bound, Codec, Element};
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

/// The most parts of the mask of zeros and signs whose bytes are counted.
const MASK_PARTS: u64 = 64;

/// Whether zeros are holes in the coded field.
type AreHoles = bool;

/// The sizes of a field by the yardstick, without and with holes in place of zeros, as far as they are known from other
/// samples.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Yardsticks([Option<u128>; 2]);

/// The predictions for a field.
pub(super) struct Predictions<'a, T> {
    quantizer: &'a Quantizer<T>,
    request: &'a Request,
    field: &'a mut (dyn SampledField<T> + 'a),
    /// The samples, by their number of tiles.
    samples: HashMap<(Shape, AreHoles, u64), TileSample<T>>,
    /// The weights of the tiles of each division of the field, with holes in place of zeros or not.
    weights: HashMap<(TileGrid, AreHoles), TileWeights>,
    /// The sizes that were predicted, each with its layout, which has the length of chunks that follows from the size.
    sizes: HashMap<(Codec, Shape, Effort), (u128, Layout)>,
    yardsticks: Yardsticks,
    /// The bytes that the mask has for zeros and signs, if they were counted.
    mask: Option<u128>,
    /// Layouts that kernels predict as soon as they predict others: see [`Predictions::ahead`].
    ahead: Vec<Layout>,
}

impl<'a, T: Element> Predictions<'a, T> {
    /// `request` is for this field ([`Request::seen`]), and `yardsticks` are [`Predictions::yardsticks`] of the same field.
    pub(super) fn new(
        quantizer: &'a Quantizer<T>,
        request: &'a Request,
        yardsticks: Yardsticks,
        field: &'a mut (dyn SampledField<T> + 'a),
    ) -> Self {
        let weighed = field.kernels().map(|kernels| kernels.weighed());
        Self {
            quantizer,
            request,
            field,
            yardsticks,
            samples: HashMap::new(),
            weights: (weighed.into_iter().flatten())
                .map(|(tiles, weights)| ((tiles, false), weights))
                .collect(),
            sizes: HashMap::new(),
            mask: None,
            ahead: Vec::new(),
        }
    }

    /// Sizes of these layouts may be asked for later. Kernels predict them beside others, which takes hardly longer; threads
    /// would have to do more work.
    pub(super) fn ahead(&mut self, layouts: Vec<Layout>) {
        self.ahead = layouts;
    }

    /// Weighs the tiles of the samples of some layouts at once, if kernels weigh them: of each alone takes as long.
    pub(super) fn weigh(&mut self, layouts: &[Layout], efforts: &[Effort]) -> Result<(), Error> {
        let Some(kernels) = self.field.kernels() else {
            return Ok(());
        };
        let (request, weights) = (self.request, &mut self.weights);
        let key = |wanted: &TilesToWeigh| (wanted.tiles, wanted.zeros_are_holes);
        let mut wanted = tiles_to_weigh(request, layouts, efforts);
        wanted.retain(|wanted| !weights.contains_key(&key(wanted)));
        let found = kernels.weigh(&wanted, self.quantizer)?;
        for (wanted, bits) in wanted.iter().zip(found) {
            let of_grid = weights.entry(key(wanted)).or_default();
            of_grid.extend(&wanted.numbers, &bits);
        }
        Ok(())
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
                    self.sample(layout, tiles, is_tuned)?;
                }
                self.sampled(&new, tiles)
            }
            Effort::Exact => self.exact(&new),
        }?;
        for (layout, (bytes, chosen)) in new.iter().zip(found) {
            let bytes = bytes + self.mask_bytes(layout)?;
            self.sizes.insert(key(layout), (bytes, chosen));
        }
        let known = layouts.iter().map(|layout| self.sizes.get(&key(layout)));
        known
            .map(|found| found.copied().ok_or(Error::NotChosen))
            .collect()
    }

    /// Whether a layout's field has holes in place of zeros.
    fn has_zeros_as_holes(&self, layout: &Layout) -> AreHoles {
        self.request.keep(layout.codec).zeros
    }

    /// Predicts the samples by the predictors of layouts. Those in the memory of a machine with kernels are measured there, the
    /// others here: predictors are shared out among threads, as a sample has too few tiles for many of them.
    fn predict(
        &mut self,
        layouts: &[Layout],
        tiles: u64,
        yardsticks: [u128; 2],
    ) -> Result<(), Error> {
        let (request, own_quantizer) = (self.request, self.quantizer);
        let with_given = |layout: &Layout| layout.with_chunk(request.chunk.unwrap_or_default());
        let (mut here, mut on_machine) = (Vec::new(), Vec::new());
        let samples = self.samples.iter_mut();
        for ((shape, holes, _), sample) in samples.filter(|((.., of), _)| *of == tiles) {
            let is_own = |layout: &&Layout| {
                layout.shape == *shape && request.keep(layout.codec).zeros == *holes
            };
            let own = |layouts: &[Layout]| -> Vec<TileLayout> {
                let own = layouts.iter().filter(is_own);
                own.filter_map(|own| with_given(own).tiles()).collect()
            };
            let (own, ahead) = (own(layouts), own(&self.ahead));
            let quantizer = with_holes(own_quantizer, *holes);
            let yardstick = yardsticks[usize::from(*holes)];
            let extents = layouts.first().map(|layout| layout.extents);
            let grid = Grid::new(*shape, &extents.unwrap_or(request.extents));
            let block_shapes = request.block_shapes(*shape);
            let with_ahead = [&own[..], &ahead].concat();
            match sample.to_measure(&grid, &block_shapes, &with_ahead, &quantizer) {
                Some(wanted) => on_machine.push(((sample, yardstick), wanted)),
                None => here.push((sample, own, quantizer, yardstick)),
            }
        }
        let predicted = parallel::map(
            here.into_iter(),
            |(sample, own, quantizer, yardstick): (&mut TileSample<T>, _, _, _)| {
                sample.predict_all(&own, &quantizer, yardstick)
            },
        );
        predicted.into_iter().collect::<Result<(), Error>>()?;
        let (samples, wanted): (Vec<_>, Vec<_>) = on_machine.into_iter().unzip();
        if let Some(kernels) = self.field.kernels()
            && !wanted.is_empty()
        {
            let found = kernels.measure(&wanted, own_quantizer)?;
            for (((sample, yardstick), wanted), found) in
                samples.into_iter().zip(&wanted).zip(found)
            {
                sample.take(wanted, found, yardstick)?;
            }
        }
        Ok(())
    }

    /// The sizes of layouts by samples that there are. Layouts are shared out among threads.
    fn sampled(&mut self, layouts: &[Layout], tiles: u64) -> Result<Vec<(u128, Layout)>, Error> {
        let yardsticks = [false, true].map(|are_holes| self.yardstick(are_holes));
        self.predict(layouts, tiles, yardsticks)?;
        self.size_in_blocks(layouts, tiles);
        let (quantizer, request) = (self.quantizer, self.request);
        let are_holes = |layout: &Layout| request.keep(layout.codec).zeros;
        let samples = &self.samples;
        let size = |layout: &Layout| {
            let holes = are_holes(layout);
            let shape = request.sampled_shape(layout);
            let sample = samples
                .get(&(shape, holes, tiles))
                .ok_or(Error::NotChosen)?;
            let yardstick = yardsticks[usize::from(holes)];
            match layout
                .with_chunk(request.chunk.unwrap_or_default())
                .family()
            {
                Family::Blocks(blocks) => in_chunks(request.chunk, layout, |_| {
                    sampled_block_bytes(sample, &blocks, yardstick).ok_or(Error::NotChosen)
                }),
                Family::Tiles(tiles) => {
                    let estimate = sample.estimate(&tiles, yardstick)?;
                    in_chunks(request.chunk, layout, |layout| {
                        Ok(layout
                            .tiles()
                            .map_or(u128::MAX, |tiles| estimate.bytes(&tiles)))
                    })
                }
            }
        };
        // Other threads take longer to begin than this one needs for what kernels have measured.
        let has_holes = quantizer.has_holes() || layouts.iter().any(are_holes);
        match self.field.kernels().is_some() && !has_holes {
            true => layouts.iter().map(size).collect(),
            false => parallel::map(layouts.iter(), size).into_iter().collect(),
        }
    }

    /// Sizes the samples of so many tiles in the blocks of layouts.
    fn size_in_blocks(&mut self, layouts: &[Layout], tiles: u64) {
        let (request, quantizer) = (self.request, self.quantizer);
        let samples = self.samples.iter_mut();
        for ((shape, holes, _), sample) in samples.filter(|((.., of), _)| *of == tiles) {
            let is_own = |layout: &&Layout| {
                request.sampled_shape(layout) == *shape
                    && request.keep(layout.codec).zeros == *holes
            };
            let own = layouts.iter().filter(is_own);
            let blocks = own.filter_map(|own| Some((block_codec(own)?, own.grid().shape())));
            let blocks: Vec<_> = blocks.collect();
            sample.size_in_blocks(&blocks, &with_holes(quantizer, *holes));
        }
    }

    /// Takes the sample of a layout, if there is none yet.
    fn sample(&mut self, layout: &Layout, tiles: u64, is_tuned: bool) -> Result<(), Error> {
        let are_holes = self.has_zeros_as_holes(layout);
        let shape = self.request.sampled_shape(layout);
        let quantizer = with_holes(self.quantizer, are_holes);
        let grid = Grid::new(shape, &layout.extents);
        let tile_grid = tiles_of(&grid);
        let block_shapes = self.request.block_shapes(shape);
        let mut sampler = Sampler {
            grid: &grid,
            tiles: &tile_grid,
            row: row_of(layout),
            quantizer: &quantizer,
            tightening: self.request.tightening,
            are_holes,
            block_shapes: &block_shapes,
            weights: self.weights.entry((tile_grid, are_holes)).or_default(),
            field: &mut *self.field,
        };
        let sample = match self.samples.entry((shape, are_holes, tiles)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(TileSample::new(&mut sampler, tiles)?),
        };
        let codec = layout.codec.tiles();
        let is_fitted = codec.is_some_and(|codec| codec.predictor.fitted().is_some());
        // Splines alone hardly change with tuning beside other codecs; beside their own with other axes they do.
        let is_sensitive = is_fitted || self.request.is_named && layout.codec.has_levels();
        match is_tuned && is_sensitive {
            true => sample.tune(&mut sampler),
            false => Ok(()),
        }
    }

    /// The sizes of the field by the yardstick.
    pub(super) fn yardsticks(&self) -> Yardsticks {
        Yardsticks([false, true].map(|are_holes| Some(self.yardstick(are_holes))))
    }

    /// The size of the field by the yardstick: what is known, or the mean of what the samples say.
    fn yardstick(&self, are_holes: AreHoles) -> u128 {
        self.yardsticks.0[usize::from(are_holes)].unwrap_or_else(|| {
            let samples = self.samples.iter();
            let own = samples.filter(|((_, holes, _), _)| *holes == are_holes);
            let (sizes, count) = own.fold((0, 0), |(sizes, count), (_, sample)| {
                (sizes + sample.yardstick(), count + 1)
            });
            sizes / u128::max(count, 1)
        })
    }

    /// The bytes that the mask of a layout has for zeros and signs.
    fn mask_bytes(&mut self, layout: &Layout) -> Result<u128, Error> {
        let keep = self.request.keep(layout.codec);
        if keep == Keep::default() {
            return Ok(0);
        }
        if let Some(bytes) = self.mask {
            return Ok(bytes);
        }
        let holes = self.quantizer.has_holes().then(|| T::HOLE.to_bits64());
        let mut bytes = |keep| {
            let mapping = ValueMapping::new::<T>(Bound::default(), keep, holes);
            let classes = mapping.ok_or(Error::NotChosen)?.classes;
            sampled_mask_bytes(&layout.extents, &classes, self.field)
        };
        let added = bytes(keep)?.saturating_sub(bytes(Keep::default())?);
        self.mask = Some(added);
        Ok(added)
    }

    /// The sizes of chunk table and payload of the whole field. Codecs whose blocks have the same shape are sized at once.
    fn exact(&mut self, layouts: &[Layout]) -> Result<Vec<(u128, Layout)>, Error> {
        let chunk = self.request.chunk;
        let mut of_blocks = HashMap::new();
        let mut found = Vec::with_capacity(layouts.len());
        for layout in layouts {
            let Family::Blocks(BlockLayout { codec, grid }) = layout.family() else {
                found.push(in_chunks(chunk, layout, |it| self.exact_tile_bytes(it))?);
                continue;
            };
            let key = |codec| (codec, grid.shape());
            if !of_blocks.contains_key(&key(codec)) {
                let are_holes = self.has_zeros_as_holes(layout);
                let is_alike = |other: &&Layout| {
                    other.shape == layout.shape && self.has_zeros_as_holes(other) == are_holes
                };
                let alike = layouts.iter().filter(is_alike);
                let codecs: Vec<_> = alike.filter_map(block_codec).collect();
                let (values, quantizer) = self.whole(layout)?;
                let sizes = exact_block_bytes(&codecs, &grid, &quantizer, &values);
                of_blocks.extend(codecs.into_iter().map(key).zip(sizes));
            }
            let bytes = of_blocks.get(&key(codec)).ok_or(Error::NotChosen)?;
            found.push((*bytes, *layout));
        }
        Ok(found)
    }

    fn exact_tile_bytes(&mut self, layout: &Layout) -> Result<u128, Error> {
        let (values, quantizer) = self.whole(layout)?;
        let tiles = layout.tiles().ok_or(Error::NotChosen)?;
        exact_bytes(&tiles, &quantizer, self.request.tightening, &values)
    }

    /// The coded field that a layout has, and its quantiser.
    fn whole(&mut self, layout: &Layout) -> Result<(Vec<T>, Quantizer<T>), Error> {
        let grid = layout.grid();
        let extents = grid.lengths().map(|length| length as u32);
        let origin = [0; 3];
        let mut values = match grid.elements() {
            0 => Vec::new(),
            _ => {
                let whole = [ChunkBox { origin, extents }];
                self.field.read(&grid, &whole)?.concat()
            }
        };
        let are_holes = self.has_zeros_as_holes(layout);
        let quantizer = with_holes(self.quantizer, are_holes);
        if are_holes {
            zeros_to_holes(&mut values);
        }
        if quantizer.is_hole(T::HOLE) {
            fill_field(Copies::InMemory, layout, &mut values)?;
        }
        Ok((values, quantizer))
    }
}

/// The tiles that are weighed for the samples of some layouts, for each division into tiles.
pub(super) fn tiles_to_weigh(
    request: &Request,
    layouts: &[Layout],
    efforts: &[Effort],
) -> Vec<TilesToWeigh> {
    let mut wanted: Vec<TilesToWeigh> = Vec::new();
    for layout in layouts {
        let tiles = tiles_of(&Grid::new(request.sampled_shape(layout), &layout.extents));
        let zeros_are_holes = request.keep(layout.codec).zeros;
        let is_there =
            |other: &TilesToWeigh| (other.tiles, other.zeros_are_holes) == (tiles, zeros_are_holes);
        if wanted.iter().any(is_there) {
            continue;
        }
        let mut numbers = Vec::new();
        for effort in efforts {
            if let Effort::Sample {
                tiles: of_sample,
                is_tuned,
            } = effort
            {
                numbers.extend(weighed_of(&tiles, *of_sample));
                if *is_tuned {
                    let is_whole = *of_sample >= tiles.tiles();
                    numbers.extend(weighed_for_tuning(&tiles, is_whole));
                }
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        wanted.push(TilesToWeigh {
            tiles,
            row: row_of(layout),
            zeros_are_holes,
            numbers,
        });
    }
    wanted
}

/// The quantiser of a field that has holes in place of zeros, or not.
fn with_holes<T: Element>(quantizer: &Quantizer<T>, are_holes: AreHoles) -> Quantizer<T> {
    quantizer.with_holes(quantizer.has_holes() || are_holes)
}

/// The bytes of a mask with these classes, by some of its parts.
pub(super) fn sampled_mask_bytes<T: Element>(
    extents: &Extents,
    classes: &Classes,
    field: &mut dyn SampledField<T>,
) -> Result<u128, Error> {
    if classes.count().all() == 0 {
        return Ok(0);
    }
    let mask = MaskLayout::new(extents, classes.count());
    let parts = mask.grid.chunk_count();
    let taken = parts.min(MASK_PARTS);
    let places: Vec<ChunkBox> = spread(parts, taken).map(|part| mask.part(part)).collect();
    let values = field.read(&mask.grid, &places)?;
    let of_part = |(part, values): (&ChunkBox, &Vec<T>)| part_bytes(&mask, classes, part, values);
    let bytes: u64 = parallel::map(places.iter().zip(&values), of_part)
        .iter()
        .sum();
    let heads = if bytes == 0 {
        0
    } else {
        mask.heads_bytes() as usize
    };
    let of_chunks = u128::from(mask.chunks()) * (ENTRY_BYTES + heads) as u128;
    let of_parts = u128::from(bytes) * u128::from(parts) / u128::from(taken.max(1));
    Ok(of_chunks + of_parts + classes.to_records().len() as u128)
}

/// A field of few runs has chunks of several runs only if its size becomes at most this percentage: they may all be one chunk
/// then, which one thread decodes.
const FEW_PERCENT: u128 = 96;

/// The size with the length of chunks that follows from the size with those of a run, if none is given, and longer chunks save
/// enough.
fn in_chunks(
    given: Option<ChunkLength>,
    layout: &Layout,
    mut bytes: impl FnMut(&Layout) -> Result<u128, Error>,
) -> Result<(u128, Layout), Error> {
    let layout = layout.with_chunk(given.unwrap_or_default());
    let size = bytes(&layout)?;
    let runs = layout.tiles().map_or(0, |tiles| tiles.runs());
    let other = layout.with_chunk(ChunkLength::of_size(size, runs));
    if given.is_none() && other != layout {
        let of_other = bytes(&other)?;
        let percent = if runs <= ChunkLength::FEW_RUNS {
            FEW_PERCENT
        } else {
            100
        };
        let is_shorter = of_other < size && of_other * 100 <= size * percent;
        if is_shorter || other.chunk < layout.chunk {
            return Ok((of_other, other));
        }
    }
    Ok((size, layout))
}

/// The size of chunk table and payload in blocks of a field with a sample of tiles of a shape.
fn sampled_block_bytes<T: Element>(
    sample: &TileSample<T>,
    BlockLayout { codec, grid }: &BlockLayout,
    yardstick: u128,
) -> Option<u128> {
    let table = u128::from(grid.chunk_count()) * ENTRY_BYTES as u128;
    let payload = sample.predicted_block_bytes((*codec, grid.shape()), yardstick)?;
    Some(table + payload)
}

/// The length of a field along x.
fn row_of(layout: &Layout) -> u64 {
    let [.., row] = Grid::new(Shape::Plane, &layout.extents).lengths();
    row.max(1)
}

/// The tiles of a field with this grid of chunks.
fn tiles_of(grid: &Grid) -> TileGrid {
    TileGrid::sliced(grid.shape(), grid.slices(), grid.slice_lengths())
}

/// The codec of a layout of blocks.
fn block_codec(layout: &Layout) -> Option<BlockCodec> {
    match layout.family() {
        Family::Blocks(BlockLayout { codec, .. }) => Some(codec),
        Family::Tiles(_) => None,
    }
}

/// The sizes of chunk table and payload of a field in blocks, with each of these codecs.
fn exact_block_bytes<T: Element>(
    codecs: &[BlockCodec],
    grid: &Grid,
    quantizer: &Quantizer<T>,
    values: &[T],
) -> Vec<u128> {
    let of_chunk = |chunk| {
        let source = Source {
            field: values,
            grid,
            chunk,
        };
        Version::best().sizes(codecs, quantizer, source)
    };
    let sizes = parallel::map(0..grid.chunk_count(), of_chunk);
    let with_entry = |bytes: usize| (ENTRY_BYTES + bytes) as u128;
    let of_codec = |at: usize| sizes.iter().map(|sizes| with_entry(sizes[at])).sum();
    (0..codecs.len()).map(of_codec).collect()
}
