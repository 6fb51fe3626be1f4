//! What the CPU finds out about tiles, for tests of machines that run kernels.

use crate::choose::weights::TileWeights;
use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::cpu::tiles::estimate::sampler::Sampler;
use crate::cpu::tiles::estimate::weigh::Clusters;
use crate::cpu::tiles::estimate::{TileSample, fill_holes};
use crate::error::Error;
use crate::sampled_field::{
    Holes, Leavings, PredictBy, SampleMeasures, SampleToMeasure, TilesToWeigh,
};
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::difference::steps_of;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::{Element, Preference, Shape};
use std::collections::HashMap;

/// Tiles of a field of this division, with their elements; zeros may be holes.
fn tiles_of<T: Element>(
    (grid, tiles): (&Grid, &TileGrid),
    are_holes: bool,
    numbers: impl Iterator<Item = u64>,
    quantizer: &Quantizer<T>,
    field: &[T],
) -> Vec<SampleTile<T>> {
    let mut read = |grid: &Grid, places: &[ChunkBox]| {
        let read = |place| crate::choose::read_box(grid, place, field);
        Ok(places.iter().map(read).collect())
    };
    let mut sampler = Sampler {
        grid,
        tiles,
        row: 1,
        quantizer,
        tightening: Preference::Ratio.tightening(),
        are_holes,
        block_shapes: &[],
        weights: &mut TileWeights::default(),
        field: &mut read,
    };
    let mut all: Vec<_> = numbers
        .map(|number| SampleTile::new(tiles, number))
        .collect();
    sampler.read(&mut all).unwrap();
    all
}

/// The bits of the differences between neighbours of tiles.
pub(crate) fn bits_on_cpu<T: Element>(
    grid: &Grid,
    wanted: &TilesToWeigh,
    quantizer: &Quantizer<T>,
    field: &[T],
) -> Vec<u64> {
    let numbers = wanted.numbers.iter().copied();
    let of = (grid, &wanted.tiles);
    let tiles = tiles_of(of, wanted.zeros_are_holes, numbers, quantizer, field);
    let steps = steps_of(quantizer.error());
    let bits = |tile: &SampleTile<T>| tile.difference_bits(&wanted.tiles, wanted.row, steps);
    tiles.iter().map(bits).collect()
}

/// The measures of tiles of a field.
pub(crate) fn measures_on_cpu<T: Element>(
    wanted: &SampleToMeasure<T>,
    quantizer: &Quantizer<T>,
    field: &[T],
) -> Result<SampleMeasures<T>, Error> {
    let SampleToMeasure { grid, tiles, .. } = wanted;
    let are_holes = wanted.holes == Holes::WithZeros;
    let read = |numbers: &mut dyn Iterator<Item = u64>| {
        let mut all = tiles_of((grid, tiles), are_holes, numbers, quantizer, field);
        fill_holes(&mut all, tiles.shape(), quantizer);
        all
    };
    let blocks = |shape: &Shape| {
        let codecs = BlockCodec::ALL.map(|codec| (codec, *shape));
        codecs
            .into_iter()
            .filter(|(codec, shape)| codec.takes(*shape))
    };
    let blocks: Vec<_> = wanted.shapes.iter().flat_map(blocks).collect();
    let sizes = |mut tile: SampleTile<T>| {
        tile.size_in_blocks(&blocks, tiles, quantizer);
        tile.sizes
    };
    let sized = read(&mut wanted.sized.iter().copied());
    let sizes = sized.into_iter().map(sizes).collect();
    let mut taken = read(&mut wanted.taken.iter().map(|[number, _]| *number));
    for (tile, [_, weight]) in taken.iter_mut().zip(&wanted.taken) {
        tile.weight = *weight;
    }
    let sample = TileSample {
        grid: *tiles,
        tiles: taken,
        is_whole: false,
        clusters: Clusters::none(),
        yardstick: 1,
        tightening: Preference::Ratio.tightening(),
        tuning: read(&mut (0..tiles.tiles())),
        has_kernels: false,
        holes: wanted.holes,
        predicted: HashMap::new(),
    };
    let of_prediction = |(layout, way): &(TileLayout, PredictBy<T>)| {
        let predicted = sample.predict(layout, quantizer, way.clone());
        Ok(Leavings {
            planes: predicted.bytes_of_tiles(layout, &sample.tiles)?,
            resolved: predicted.resolved,
            counts: predicted.tally.counts,
            coded: predicted.tally.coded,
            anchors: predicted.anchors,
        })
    };
    let leavings = wanted.predictions.iter().map(of_prediction);
    let leavings = leavings.collect::<Result<_, Error>>()?;
    Ok(SampleMeasures { sizes, leavings })
}
