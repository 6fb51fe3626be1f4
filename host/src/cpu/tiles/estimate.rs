//! The size of a stream of tiles, estimated from a sample of its field.
//!
//! Tiles of the sample are predicted as in the stream. Their codes are counted, not coded: the counts say how many bits
//! the coder will write. What a chunk costs besides its codes is a constant here.

mod codes;
mod holes;
mod measured;
#[cfg(all(test, feature = "cuda", feature = "emulator"))]
pub(crate) mod reference;
mod sample;
mod sampler;
mod size;
mod tally;
mod weigh;

pub(crate) use sampler::{Sampler, zeros_to_holes};

use crate::cpu::Version;
use crate::cpu::code::image::ChunkTiles;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::predict::interp::Model;
use crate::cpu::predict::tune::{ReadRows, Tuned, tune_on};
use crate::cpu::tiles::coder::{Encoder, Scratch};
use crate::cpu::tiles::codes::apart;
use crate::cpu::tiles::compress::Field;
use crate::cpu::tiles::estimate::codes::{anchor_classes, interpolate, predict_lorenzo};
use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::cpu::tiles::estimate::tally::Tally;
use crate::cpu::tiles::estimate::weigh::{Clusters, WEIGHT_BITS, Weighed, sampled, weights};
use crate::cpu::tiles::holder::Alone;
use crate::encoded::EncodedChunks;
use crate::error::Error;
use crate::parallel;
use crate::sampled_field::{AnchorClasses, Holes, PredictBy, TuningOnTiles};
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::container::table::ENTRY_BYTES;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::pipeline::{BlockCodec, TilePredictor};
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::sample::Samples;
use ferrosz_codec::predict::interp::tune::search::Search;
use ferrosz_codec::predict::interp::tune::{TighteningChoice, Tuning};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::code::{TileCodes, is_counted_hole};
use ferrosz_codec::tile::{ChunkLength, TILE, TileGrid};
use ferrosz_codec::{Element, Shape};
use std::collections::HashMap;

/// Bytes of a chunk that has codes, besides their bits: what is stored of the coder's states, and padding.
const CHUNK_BYTES: u128 = 88;

/// For each tile of the sample, so many are weighed, which costs little; more if most of them are empty.
/// Those that weigh more are more likely to be in the sample.
const WEIGHED: u64 = 4;
const WEIGHED_IF_EMPTY: u64 = 8;

/// The most tiles that stencils are fitted to here, of small fields one of so many of all, and from how many times as many
/// these are taken.
const TUNED: usize = 8;
const TUNED_SHARE: usize = 8;
const TUNED_OF: usize = 4;

/// Splines alone are tuned on one of this many of these tiles.
const SPLINES_ONE_OF: usize = 4;

/// The candidates of a tuning with coefficients are scored on one of this many of these tiles.
const SCORED_ONE_OF: usize = 2;

/// The tiles that are weighed for a sample of the elements of about `wanted` whole ones, if most of them have codes.
pub(crate) fn weighed_of(grid: &TileGrid, wanted: u64) -> Vec<u64> {
    sampled(grid, wanted.saturating_mul(WEIGHED))
}

/// The tiles that are weighed to find those that stencils are fitted to; `is_whole` says that the sample has all tiles.
pub(crate) fn weighed_for_tuning(grid: &TileGrid, is_whole: bool) -> Vec<u64> {
    let samples = Samples::most(grid.tiles());
    let every = (samples.count() as usize / (TUNED_OF * tuned(grid, is_whole))).max(1);
    let numbers = (0..samples.count()).step_by(every);
    numbers.map(|sample| samples.tile(sample)).collect()
}

/// How many tiles stencils are fitted to.
fn tuned(grid: &TileGrid, is_whole: bool) -> usize {
    match is_whole {
        true => TUNED,
        false => TUNED.min((grid.tiles() as usize / TUNED_SHARE).max(1)),
    }
}

/// A sample of a field's tiles, and what is known of their codes.
pub(crate) struct TileSample<T> {
    grid: TileGrid,
    tiles: Vec<SampleTile<T>>,
    /// Whether these are all of the field's tiles.
    is_whole: bool,
    clusters: Clusters,
    /// The weight of the field by the yardstick, as far as these tiles tell.
    yardstick: u128,
    tightening: TighteningChoice,
    /// The tiles that stencils are fitted to. Without them there are only splines.
    tuning: Vec<SampleTile<T>>,
    /// Whether the machine that has the field predicts the tiles, and the holes that they may have there.
    has_kernels: bool,
    holes: Holes,
    predicted: HashMap<PredictedBy, Predicted<T>>,
}

/// A predictor, and whether its parameters are tuned.
type PredictedBy = (TilePredictor, bool);

/// What a predictor leaves of a sample, and its part of the prologue.
struct Predicted<T> {
    resolved: Option<Resolved<T>>,
    tally: Tally,
    anchors: AnchorClasses,
    planes: Planes,
}

/// The codes of the sampled tiles, which bit planes are made of; or the lengths of the bit planes, if kernels made them.
enum Planes {
    /// The codes of each tile.
    Codes(Vec<TileCodes>),
    /// The bytes of each tile.
    Measured(Vec<u64>),
}

impl<T: Element> TileSample<T> {
    /// Tiles of a field with the elements of about `wanted` whole ones.
    pub(crate) fn new(sampler: &mut Sampler<'_, T>, wanted: u64) -> Result<Self, Error> {
        let grid = sampler.tiles;
        let mut weighed = sampler.weigh(weighed_of(grid, wanted))?;
        if weighed.coded() < wanted {
            weighed = sampler.weigh(sampled(grid, wanted.saturating_mul(WEIGHED_IF_EMPTY)))?;
        }
        let clusters = weighed.clusters();
        let Weighed {
            mut tiles, bits, ..
        } = weighed;
        let of_all = grid.elements();
        let of_tiles: u64 = tiles.iter().map(|tile| tile.count(grid)).sum();
        // What weighs little may still need many bytes: a third of the sample is taken whatever the tiles weigh.
        let whole = TILE as u128;
        let mean = u128::from(bits.iter().sum::<u64>()) * whole / u128::from(of_tiles.max(1));
        let size = |(tile, bits): (&SampleTile<T>, &u64)| {
            let even = (mean / 2 + whole / 32) * u128::from(tile.count(grid)) / whole;
            bits + even as u64 + 1
        };
        let sizes: Vec<u64> = tiles.iter().zip(&bits).map(size).collect();
        let taken =
            u128::from(wanted) * tiles.len() as u128 * TILE as u128 / u128::from(of_tiles.max(1));
        let weights = weights(&sizes, taken.clamp(1, u128::from(u32::MAX)) as usize);
        let is_taken = |(_, weight): &(&mut SampleTile<T>, u64)| *weight > 0;
        for (tile, weight) in tiles.iter_mut().zip(weights).filter(is_taken) {
            tile.weight = (u128::from(weight) * u128::from(of_all))
                .div_ceil(u128::from(of_tiles.max(1))) as u64;
        }
        tiles.retain(|tile| tile.weight > 0);
        sampler.read(&mut tiles)?;
        fill_holes(&mut tiles, grid.shape(), sampler.quantizer);
        let yardstick = u128::from(sizes.iter().sum::<u64>()) * u128::from(of_all);
        Ok(Self {
            is_whole: tiles.len() as u64 == grid.tiles(),
            grid: *grid,
            tiles,
            clusters,
            yardstick: yardstick / u128::from(of_tiles.max(1)) + 1,
            tightening: sampler.tightening,
            tuning: Vec::new(),
            has_kernels: sampler.has_kernels(),
            holes: sampler.holes(),
            predicted: HashMap::new(),
        })
    }

    /// Gives stencils about the parameters that they have in a stream: they are fitted to those of a stream's sample tiles
    /// that weigh most, which decide there.
    pub(crate) fn tune(&mut self, sampler: &mut Sampler<'_, T>) -> Result<(), Error> {
        let grid = sampler.tiles;
        if self.tuning.is_empty() {
            let numbers = weighed_for_tuning(grid, self.is_whole);
            self.tuning = sampler.weigh(numbers)?.heaviest(tuned(grid, self.is_whole));
            if !self.has_kernels {
                sampler.read(&mut self.tuning)?;
                fill_holes(&mut self.tuning, grid.shape(), sampler.quantizer);
            }
        }
        Ok(())
    }

    /// The predicted size of the field with [`YARDSTICK`](crate::sample::YARDSTICK)(crate::sample::YARDSTICK).
    pub(crate) fn yardstick(&self) -> u128 {
        self.yardstick
    }

    /// Predicts the sample by the predictors of some layouts, as far as that is not done. Of several ways to predict, the
    /// one with the fewest bytes is kept.
    pub(crate) fn predict_all(
        &mut self,
        layouts: &[TileLayout],
        quantizer: &Quantizer<T>,
        yardstick: u128,
    ) -> Result<(), Error> {
        let new = self.new_predictors(layouts);
        // A sample of all tiles has been predicted without tuning.
        let untuned = |layout: &TileLayout| (layout.codec.predictor, false);
        let known: Vec<_> = (new.iter())
            .map(|layout| self.predicted.remove(&untuned(layout)))
            .collect();
        let of_layout = |(layout, known): (&TileLayout, Option<Predicted<T>>)| {
            let is_known =
                |way: &PredictBy<T>| known.is_some() && matches!(way, PredictBy::Given(_));
            let ways = self.ways(layout, quantizer).into_iter();
            let (of_known, ways): (Vec<_>, Vec<_>) = ways.partition(is_known);
            let predict = |way| self.predict(layout, quantizer, way);
            let mut predicted = parallel::map(ways.into_iter(), predict);
            predicted.extend(known.filter(|_| !of_known.is_empty()));
            self.best(layout, predicted, yardstick)
        };
        for found in parallel::map(new.iter().zip(known), of_layout) {
            self.predicted.extend(found?);
        }
        Ok(())
    }

    /// The predictor of a layout. Its parameters are tuned as soon as there are tiles for that.
    fn predicted_by(&self, layout: &TileLayout) -> PredictedBy {
        let predictor = layout.codec.predictor;
        let is_tuned = predictor.geometry().is_some() && !self.tuning.is_empty();
        (predictor, is_tuned)
    }

    /// Layouts of all predictors that have not predicted the sample.
    fn new_predictors(&self, layouts: &[TileLayout]) -> Vec<TileLayout> {
        let mut new: Vec<TileLayout> = Vec::new();
        for layout in layouts {
            let predictor = layout.codec.predictor;
            let is_taken = new.iter().any(|taken| taken.codec.predictor == predictor);
            if !is_taken && !self.predicted.contains_key(&self.predicted_by(layout)) {
                new.push(*layout);
            }
        }
        new
    }

    /// The best of several ways to predict; of equally good ones the first.
    fn best(
        &self,
        layout: &TileLayout,
        ways: Vec<Predicted<T>>,
        yardstick: u128,
    ) -> Result<Option<(PredictedBy, Predicted<T>)>, Error> {
        // The bytes of a single way need not be known here.
        let is_alone = ways.len() == 1;
        let mut best = None;
        for way in ways {
            let bytes = match is_alone {
                true => 0,
                false => self.estimate_of(&way, layout, yardstick)?.bytes(layout),
            };
            if best
                .as_ref()
                .is_none_or(|(least, _): &(u128, _)| bytes < *least)
            {
                best = Some((bytes, way));
            }
        }
        Ok(best.map(|(_, way)| (self.predicted_by(layout), way)))
    }

    /// The parameters that a stream may have. A fit to few tiles may be worse than none; a stream's is to more. Slices without a
    /// fit are as long as stencils without one, which are predicted anyway.
    fn ways(&self, layout: &TileLayout, quantizer: &Quantizer<T>) -> Vec<PredictBy<T>> {
        let Some(tuning) = layout.codec.predictor.tuning(self.tightening) else {
            return vec![PredictBy::Lorenzo];
        };
        let start = Search::new(tuning, layout.shape(), 0, 0).start(0.0);
        let start = PredictBy::Given(Resolved::new(start, quantizer.error()));
        if self.tuning.is_empty() {
            return vec![start];
        }
        let tuned = PredictBy::Tuned(self.tuning_of(tuning, &layout.fine));
        match tuning.fitted == FittedKind::Stencils {
            true => vec![tuned, start],
            false => vec![tuned],
        }
    }

    /// The search for the parameters on the tiles that there are for that; on a few of them with splines, which have no
    /// coefficients that must be found.
    fn tuning_of(&self, tuning: Tuning, grid: &TileGrid) -> TuningOnTiles {
        let (every, one_of) = match (self.is_whole, tuning.is_fitted()) {
            (true, _) => (1, 1),
            (false, true) => (1, SCORED_ONE_OF),
            (false, false) => (SPLINES_ONE_OF, 1),
        };
        let numbers = self.tuning.iter().map(|tile| tile.number);
        let fitted: Vec<u64> = numbers.step_by(every).collect();
        let scored: Vec<u64> = fitted.iter().copied().step_by(one_of).collect();
        TuningOnTiles {
            search: Search::new(tuning, grid.shape(), scored.len() as u64, grid.tiles()),
            fitted,
            scored,
        }
    }

    fn predict(
        &self,
        layout: &TileLayout,
        quantizer: &Quantizer<T>,
        way: PredictBy<T>,
    ) -> Predicted<T> {
        let sample = &self.tiles;
        let tuned = match way {
            PredictBy::Lorenzo => None,
            PredictBy::Given(resolved) => Some((resolved, None)),
            PredictBy::Tuned(tuning) => {
                let tuned = self.tune_on(&tuning, &layout.fine, quantizer.error());
                let resolved = Resolved::new(tuned.parameters, quantizer.error());
                Some((resolved, tuned.coefficients))
            }
        };
        let mut codes = match &tuned {
            None => predict_lorenzo(layout, quantizer, sample),
            Some((resolved, coefficients)) => {
                let coefficients = coefficients.as_ref();
                let model = Model {
                    resolved,
                    coefficients,
                };
                interpolate(layout, model, sample)
            }
        };
        let resolved = tuned.map(|(resolved, _)| resolved);
        clear_holes(sample, &mut codes, resolved.is_some());
        let shifts = resolved.map_or(Shifts::NONE, |resolved| resolved.parameters.shifts);
        let map = ZoneMap::new(layout.codec.order(layout.shape()), shifts);
        let anchors = |resolved| anchor_classes(&resolved, layout.shape(), sample);
        Predicted {
            resolved,
            tally: Tally::of(&map, sample, &codes),
            anchors: resolved.map_or_else(AnchorClasses::default, anchors),
            planes: Planes::Codes(codes),
        }
    }

    /// The parameters that a search finds.
    fn tune_on(&self, tuning: &TuningOnTiles, grid: &TileGrid, error: T) -> Tuned {
        let TuningOnTiles {
            search,
            fitted,
            scored,
        } = tuning;
        let of_fit = |tile: &&SampleTile<T>| fitted.contains(&tile.number);
        let reads: Vec<_> = (self.tuning.iter().filter(of_fit))
            .map(|tile| (tile.tile, |at, row: &mut [T]| tile.read_row(at, row)))
            .collect();
        let tiles: Vec<(_, ReadRows<'_, T>)> = (reads.iter())
            .map(|(tile, read)| (*tile, read as _))
            .collect();
        let one_of = fitted.len().div_ceil(scored.len().max(1));
        let scope = Samples::most(grid.tiles()).scope();
        tune_on(Version::best(), search, scope, &tiles, one_of, error, 0.0)
    }

    /// A size of the field, as far as these tiles tell, with a better yardstick.
    fn scaled(&self, size: u128, yardstick: u128) -> u128 {
        match self.is_whole {
            true => size,
            false => size * yardstick / self.yardstick,
        }
    }

    /// Sizes the tiles in blocks, as far as that is not done: each in all kinds of blocks while it is in the cache.
    pub(crate) fn size_in_blocks(
        &mut self,
        wanted: &[(BlockCodec, Shape)],
        quantizer: &Quantizer<T>,
    ) {
        let is_unsized =
            |tile: &SampleTile<T>| wanted.iter().any(|of| tile.block_bytes(*of).is_none());
        // Other threads take longer to begin than this one needs to see that kernels have sized all.
        if !self.tiles.iter().any(is_unsized) {
            return;
        }
        let grid = self.grid;
        let size = |tile: &mut SampleTile<T>| tile.size_in_blocks(wanted, &grid, quantizer);
        parallel::each(self.tiles.iter_mut(), size);
    }

    /// The predicted size of the payload in blocks of a shape that the tiles are sized in, if `yardstick` is a better
    /// prediction than [`TileSample::yardstick`].
    pub(crate) fn predicted_block_bytes(
        &self,
        blocks: (BlockCodec, Shape),
        yardstick: u128,
    ) -> Option<u128> {
        let of_tile = |tile: &SampleTile<T>| {
            let bytes = tile.block_bytes(blocks)?;
            Some(u128::from(bytes) * u128::from(tile.weight))
        };
        let all: Option<u128> = self.tiles.iter().map(of_tile).sum();
        Some(self.scaled(all? >> WEIGHT_BITS, yardstick))
    }
}

impl<T: Element> Predicted<T> {
    /// The bytes of the field's codes in bit planes, from chunks of one tile.
    fn plane_bytes(&self, layout: &TileLayout, sample: &[SampleTile<T>]) -> Result<u128, Error> {
        let bytes = self.bytes_of_tiles(layout, sample)?;
        let weighted =
            |(tile, bytes): (&SampleTile<T>, &u64)| u128::from(*bytes) * u128::from(tile.weight);
        let all = sample.iter().zip(&bytes).map(weighted);
        Ok(all.sum::<u128>() >> WEIGHT_BITS)
    }

    /// The bytes of the codes of each tile in bit planes.
    fn bytes_of_tiles(
        &self,
        layout: &TileLayout,
        sample: &[SampleTile<T>],
    ) -> Result<Vec<u64>, Error> {
        let codes = match &self.planes {
            Planes::Measured(bytes) => return Ok(bytes.clone()),
            Planes::Codes(codes) => codes,
        };
        let shape = layout.shape();
        let map = ZoneMap::new(layout.codec.order(shape), Shifts::NONE);
        let encoder = Encoder::BitPlane;
        let of_tile = |scratch: &mut Scratch, (tile, codes): (&SampleTile<T>, &TileCodes)| {
            let boxes = [tile.tile];
            let chunk = ChunkTiles {
                map: &map,
                tiles: &boxes,
            };
            let codes = std::slice::from_ref(codes);
            let value = |_, at| tile.coded(shape, at);
            let (_, bytes) =
                apart(|| encoder.encode(Version::best(), chunk, codes, value, scratch));
            bytes as u64
        };
        let scratch = || Scratch::new(ChunkLength::Four);
        parallel::try_map_with(sample.iter().zip(codes), scratch, of_tile)
    }
}

/// Sets the codes of holes to 0: of all of them, or with `are_counted` of those that [do not count](is_counted_hole).
fn clear_holes<T>(sample: &[SampleTile<T>], codes: &mut [TileCodes], are_counted: bool) {
    for (codes, tile) in codes.iter_mut().zip(sample) {
        let is_cleared = |hole: &&u32| !(are_counted && is_counted_hole(**hole));
        for hole in tile.holes.iter().filter(is_cleared) {
            codes[*hole as usize] = 0;
        }
    }
}

/// The size of chunk table and payload of a field.
pub(crate) fn exact_bytes<T: Element>(
    layout: &TileLayout,
    quantizer: &Quantizer<T>,
    tightening: TighteningChoice,
    values: &[T],
) -> Result<u128, Error> {
    if values.is_empty() {
        return Ok(0);
    }
    let table = u128::from(layout.entries()) * ENTRY_BYTES as u128;
    let mut bytes = table;
    let mut add = |wave: &[EncodedChunks], _| {
        let parts = wave.iter().map(|chunks| chunks.bytes.len() as u128);
        bytes += parts.sum::<u128>();
        Ok(())
    };
    let field = Field {
        version: Version::best(),
        layout,
        quantizer,
    };
    let holder = Alone::new(layout, values);
    field.encode_all(tightening, &holder, &|_| {}, &mut add)?;
    Ok(bytes)
}

/// Puts values in place of the holes of tiles.
fn fill_holes<T: Element>(tiles: &mut [SampleTile<T>], shape: Shape, quantizer: &Quantizer<T>) {
    if quantizer.is_hole(T::HOLE) {
        parallel::each(tiles.iter_mut(), |tile| tile.fill_holes(shape));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::weights::TileWeights;
    use ferrosz_codec::bound::{Bound, Extremes};
    use ferrosz_codec::container::extents::Extents;
    use ferrosz_codec::container::grid::{ChunkBox, Grid};
    use ferrosz_codec::container::layout::Layout;
    use ferrosz_codec::{Codec, Preference};

    const LENGTHS: [u64; 3] = [40, 50, 130];

    /// The predicted and the exact size of a field whose tiles are all in the sample.
    fn sizes(codec: Codec, shape: Shape, chunk: ChunkLength, error: f64) -> [u128; 2] {
        let field: Vec<f32> = (0..LENGTHS.iter().product::<u64>())
            .map(|i| {
                let [z, y, x] = [i / 130 / 50, i / 130 % 50, i % 130].map(|at| at as f32);
                let noise = (i * 7919 % 101) as f32 * 1e-4;
                (z * 0.11).sin() * (y * 0.07).cos() + (x * 0.05).sin() + noise
            })
            .collect();
        let bound = Bound::abs(error).unwrap();
        let quantizer = bound.resolve::<f32>(&Extremes::default());
        let layout = Layout::new(codec, shape, Extents::new(&LENGTHS).unwrap());
        let layout = layout.with_chunk(chunk);
        let (grid, tiles) = (layout.grid(), layout.tiles().unwrap());
        let mut read = |grid: &Grid, places: &[ChunkBox]| {
            let read = |place| crate::choose::read_box(grid, place, &field);
            Ok(places.iter().map(read).collect())
        };
        let mut sampler = Sampler {
            grid: &grid,
            tiles: &tiles.fine,
            row: 130,
            quantizer: &quantizer,
            tightening: Preference::Ratio.tightening(),
            are_holes: false,
            block_shapes: &[],
            weights: &mut TileWeights::default(),
            field: &mut read,
        };
        let mut sample = TileSample::new(&mut sampler, 1 << 20).unwrap();
        sample.tune(&mut sampler).unwrap();
        let yardstick = sample.yardstick();
        sample.predict_all(&[tiles], &quantizer, yardstick).unwrap();
        let found = sample.estimate(&tiles, yardstick).unwrap().bytes(&tiles);
        let tightening = Preference::Ratio.tightening();
        [
            found,
            exact_bytes(&tiles, &quantizer, tightening, &field).unwrap(),
        ]
    }

    /// Of a field whose tiles are all in the sample, only the constants and the frequencies are estimates.
    #[test]
    fn a_whole_field_has_its_size() {
        for (error, codec) in [1e-2, 1e-4]
            .into_iter()
            .flat_map(|error| [Codec::LORENZO_RANS, Codec::STENCIL].map(|codec| (error, codec)))
        {
            for shape in Shape::ALL {
                let [found, exact] = sizes(codec, shape, ChunkLength::Four, error);
                assert!(
                    found.abs_diff(exact) <= exact / 20 + 400,
                    "{codec} {shape} {error}: {found}, {exact}"
                );
            }
        }
    }

    #[test]
    fn long_chunks_save_what_a_chunk_costs() {
        for codec in [Codec::LORENZO_RANS, Codec::STENCIL] {
            let of = |chunk| sizes(codec, Shape::Cube, chunk, 1e-2);
            let [short, long] = [ChunkLength::Four, ChunkLength::SixtyFour].map(of);
            let [found, exact] = [0, 1].map(|i| short[i] - long[i]);
            assert!(
                found.abs_diff(exact) <= exact / 4,
                "{codec}: {found}, {exact}"
            );
        }
    }
}
