//! The measures of tiles by the CPU, for tests of machines that run kernels.

use crate::cpu::code::fixed_length::IMAGE_BYTES;
use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::cpu::tiles::estimate::sampler::Sampler;
use crate::sampled_field::{Measures, Sizes, TilesToMeasure};
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::difference::steps_of;
use ferrosz_codec::quantize::field::Quantizer;

/// The measures of tiles of a field without holes.
pub(crate) fn measures_on_cpu<T: Element>(
    wanted: &TilesToMeasure<'_>,
    quantizer: &Quantizer<T>,
    field: &[T],
) -> Vec<Measures> {
    let mut read = |grid: &Grid, places: &[ChunkBox]| {
        let read = |place| crate::choose::read_box(grid, place, field);
        Ok(places.iter().map(read).collect())
    };
    let mut sampler = Sampler {
        grid: wanted.grid,
        tiles: wanted.tiles,
        row: wanted.row,
        quantizer,
        are_holes: false,
        block_shapes: wanted.shapes,
        is_in_blocks: true,
        field: &mut read,
    };
    let Ok(weighed) = sampler.weigh(wanted.numbers.to_vec()) else {
        return Vec::new();
    };
    let (steps, mut image) = (steps_of(quantizer.error()), vec![0; IMAGE_BYTES]);
    let mut measures = |tile: &SampleTile<T>| {
        let mut sizes = Sizes::new();
        for shape in wanted.shapes {
            for codec in BlockCodec::ALL
                .into_iter()
                .filter(|codec| codec.takes(*shape))
            {
                let bytes = tile.block_bytes((codec, *shape), wanted.tiles, quantizer, &mut image);
                sizes.push(((codec, *shape), bytes));
            }
        }
        Measures {
            bits: tile.difference_bits(wanted.tiles, wanted.row, steps),
            sizes,
        }
    };
    weighed.tiles.iter().map(&mut measures).collect()
}
