//! Choosing codec and shape of blocks or tiles by the sizes that a sample predicts.

use crate::cpu::{self, Version};
use crate::error::Error;
use crate::tiles::TileSample;
use ferrosz_codec::encode::chunk::{IMAGE_BYTES, Source};
use ferrosz_codec::pipeline::{TileCodec, TileCoder, TilePredictor};
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::stream::container::{Extents, Layout};
use ferrosz_codec::stream::grid::{ChunkBox, Grid};
use ferrosz_codec::stream::table::ENTRY_BYTES;
use ferrosz_codec::{Bound, Codec, Dtype, Element};
use rayon::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Chunks of the sample: about a million elements, or all of a smaller field.
const SAMPLE_CHUNKS: u64 = 128;

/// The codecs to choose from, the preferred first: all of blocks, and of tiles the one that mostly makes the
/// shortest streams and the one that does where splines do not follow a field.
pub(crate) const CODECS: [Codec; 7] = [
    Codec::Fixed,
    Codec::Plain,
    Codec::Outlier,
    Codec::Lorenzo,
    Codec::Layered,
    Codec::INTERP,
    Codec::Tiles(TileCodec {
        predictor: TilePredictor::Lorenzo,
        coder: TileCoder::Rans,
    }),
];

/// The codec that says how much more there is in a field than in some tiles of it: sampled tiles are fewer than
/// chunks, and what they hold may not be what most of the field does.
pub(crate) const YARDSTICK: Codec = Codec::Outlier;

/// What may be chosen for a field of these extents, the preferred first.
pub(crate) fn candidates(extents: &Extents) -> Vec<Layout> {
    let mut layouts = Vec::new();
    for codec in CODECS {
        for shape in Shape::ALL {
            let layout = Layout::new(codec, shape, *extents);
            // In a line the Lorenzo predictor is the one-neighbour difference.
            let is_another_name = codec == Codec::Lorenzo && layout.shape == Shape::Line;
            if layout.shape == shape && !is_another_name {
                layouts.push(layout);
            }
        }
    }
    layouts
}

/// [`choose`] for a field in memory. Compiled once for each type, in this crate: a generic function would be compiled
/// again in each crate that calls it.
pub(crate) fn choose_for<T: Element>(
    bound: Bound,
    extents: &Extents,
    field: &[T],
) -> Result<Layout, Error> {
    match T::DTYPE {
        Dtype::F32 => choose_for_f32(bound, extents, bytemuck::cast_slice(field)),
        Dtype::F64 => choose_for_f64(bound, extents, bytemuck::cast_slice(field)),
    }
}

fn choose_for_f32(bound: Bound, extents: &Extents, field: &[f32]) -> Result<Layout, Error> {
    choose_in(bound, extents, field)
}

fn choose_for_f64(bound: Bound, extents: &Extents, field: &[f64]) -> Result<Layout, Error> {
    choose_in(bound, extents, field)
}

fn choose_in<T: Element>(bound: Bound, extents: &Extents, field: &[T]) -> Result<Layout, Error> {
    let quantizer = cpu::resolve(Version::best(), bound, field);
    let read = |grid: &_, place: &_| Ok(read_box(grid, place, field));
    choose(&quantizer, extents, read)
}

/// The layout of the smallest predicted size; of several, the first. It depends on the field and the
/// bound alone: integers are compared, made of always the same chunks and tiles. `read` gives the elements of a
/// box, row by row.
///
/// # Errors
///
/// Those of `read`.
pub(crate) fn choose<T: Element>(
    quantizer: &Quantizer<T>,
    extents: &Extents,
    mut read: impl FnMut(&Grid, &ChunkBox) -> Result<Vec<T>, Error>,
) -> Result<Layout, Error> {
    let mut chunks = HashMap::new();
    let mut tiles = HashMap::new();
    let mut best = None;
    for layout in candidates(extents) {
        let grid = layout.grid();
        let mut read = |place: &_| read(&grid, place);
        let sample = once(&mut chunks, layout.shape, || {
            sample_chunks(&grid, &mut read)
        })?;
        let bytes = match layout.tiles() {
            Some(tile_layout) => {
                let make = || TileSample::new(&tile_layout.fine, quantizer, read);
                let known = once(&mut tiles, layout.shape, make)?;
                let yardstick = Layout {
                    codec: YARDSTICK,
                    ..layout
                };
                let of_all = payload_bytes(&yardstick, quantizer, sample);
                known.predicted_bytes(&tile_layout, quantizer, of_all)
            }
            None => {
                u128::from(grid.chunk_count()) * ENTRY_BYTES as u128
                    + payload_bytes(&layout, quantizer, sample)
            }
        };
        if best.is_none_or(|(fewest, _)| bytes < fewest) {
            best = Some((bytes, layout));
        }
    }
    let plain = Layout::new(Codec::Plain, Shape::Line, *extents);
    Ok(best.map_or(plain, |(_, layout)| layout))
}

/// What is known of a shape, or else made and known from then on.
fn once<S>(
    known: &mut HashMap<Shape, S>,
    shape: Shape,
    make: impl FnOnce() -> Result<S, Error>,
) -> Result<&S, Error> {
    Ok(match known.entry(shape) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => place.insert(make()?),
    })
}

/// A chunk of the sample as a field of its own.
struct Sample<T> {
    alone: Grid,
    elements: Vec<T>,
}

fn sample_chunks<T: Element>(
    grid: &Grid,
    mut read: impl FnMut(&ChunkBox) -> Result<Vec<T>, Error>,
) -> Result<Vec<Sample<T>>, Error> {
    let read = |number| {
        let chunk = grid.chunk(number);
        Ok(Sample {
            alone: Grid::alone(grid, &chunk),
            elements: read(&chunk)?,
        })
    };
    let all = grid.chunk_count();
    let taken = all.min(SAMPLE_CHUNKS);
    spread(all, taken).map(read).collect()
}

/// The predicted size of the payload.
fn payload_bytes<T: Element>(
    layout: &Layout,
    quantizer: &Quantizer<T>,
    sample: &[Sample<T>],
) -> u128 {
    let (grid, version) = (layout.grid(), Version::best());
    let elements: u64 = sample.iter().map(|chunk| chunk.elements.len() as u64).sum();
    let bytes: u64 = sample
        .par_iter()
        .map_init(
            || vec![0; IMAGE_BYTES],
            |image, Sample { alone, elements }| {
                let source = Source {
                    field: elements,
                    grid: alone,
                    chunk: 0,
                };
                version.encode(layout.codec, quantizer, source, image).1 as u64
            },
        )
        .sum();
    u128::from(bytes) * u128::from(grid.elements()) / u128::from(elements.max(1))
}

/// The elements of a box of a field in memory, row by row.
pub(crate) fn read_box<T: Element>(grid: &Grid, place: &ChunkBox, field: &[T]) -> Vec<T> {
    let [depth, height, width] = place.extents.map(u64::from);
    let [z, y, x] = place.origin;
    let mut elements = Vec::with_capacity(place.elements() as usize);
    for row in 0..depth * height {
        let first = grid.flat([z + row / height, y + row % height, x]) as usize;
        elements.extend_from_slice(&field[first..first + width as usize]);
    }
    elements
}

/// So many of the numbers below `all`, at most all: one of each of as many stretches, all of the same length. Where
/// in its stretch is as good as random, for at even distances chunks could all lie in the same rows of slices.
pub(crate) fn spread(all: u64, taken: u64) -> impl Iterator<Item = u64> {
    let start = move |i: u64| (u128::from(i) * u128::from(all) / u128::from(taken)) as u64;
    (0..taken).map(move |i| start(i) + mixed(i) % (start(i + 1) - start(i)))
}

/// A number without pattern for each number.
fn mixed(number: u64) -> u64 {
    let product = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product ^ product >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_each_chunk_once() {
        for length in [0u64, 1, 8192, 128 * 8192, 128 * 8192 + 1, 1 << 40] {
            let grid = Grid::new(Shape::Line, &Extents::line(length));
            let all = grid.chunk_count();
            let chunks: Vec<u64> = spread(all, all.min(SAMPLE_CHUNKS)).collect();
            assert_eq!(chunks.len() as u64, grid.chunk_count().min(SAMPLE_CHUNKS));
            assert!(chunks.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(chunks.last().is_none_or(|last| *last < grid.chunk_count()));
        }
    }

    #[test]
    fn shapes_that_a_field_cannot_have_are_no_candidates() {
        let names = |lengths: &[u64]| {
            let extents = Extents::new(lengths).unwrap();
            let layouts = candidates(&extents);
            layouts
                .iter()
                .map(|l| (l.codec, l.shape.rank()))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&[100]).len(), 4 + 2);
        assert_eq!(names(&[1, 100, 100]).len(), 4 + 4 + 2 * 2);
        assert_eq!(names(&[9, 100, 100]).len(), 4 + 8 + 3 * 2);
        assert!(!names(&[9, 9, 9]).contains(&(Codec::Layered, 2)));
        assert!(names(&[0]).contains(&(Codec::Plain, 1)));
    }
}
