//! Choosing codec and shape of blocks by the sizes that a sample predicts.

use crate::cpu::Version;
use crate::error::Error;
use ferrosz_codec::encode::chunk::{IMAGE_BYTES, Source};
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::stream::container::{Extents, Layout};
use ferrosz_codec::stream::grid::Grid;
use ferrosz_codec::stream::table::ENTRY_BYTES;
use ferrosz_codec::{Codec, Element};
use rayon::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Chunks of the sample: about a million elements, or all of a smaller field.
const SAMPLE_CHUNKS: u64 = 128;

/// What may be chosen for a field of these extents, the preferred first.
pub(crate) fn candidates(extents: &Extents) -> Vec<Layout> {
    let mut layouts = Vec::new();
    for codec in Codec::BLOCKS {
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

/// The layout of the smallest predicted size; of several, the first. It depends on the field and the
/// bound alone: integers throughout, and always the same chunks. `read` gives a chunk's elements, row by
/// row.
///
/// # Errors
///
/// Those of `read`.
pub(crate) fn choose<T: Element>(
    quantizer: &Quantizer<T>,
    extents: &Extents,
    mut read: impl FnMut(&Grid, u64) -> Result<Vec<T>, Error>,
) -> Result<Layout, Error> {
    let mut samples: HashMap<Shape, Vec<Sample<T>>> = HashMap::new();
    let mut best = None;
    for layout in candidates(extents) {
        let grid = layout.grid();
        let sample = match samples.entry(layout.shape) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let read = |number| {
                    let elements = read(&grid, number)?;
                    let alone = Grid::alone(&grid, &grid.chunk(number));
                    Ok(Sample { alone, elements })
                };
                let read: Result<_, Error> = sample(&grid).into_iter().map(read).collect();
                place.insert(read?)
            }
        };
        let bytes = predicted_bytes(&layout, quantizer, sample);
        if best.is_none_or(|(fewest, _)| bytes < fewest) {
            best = Some((bytes, layout));
        }
    }
    let plain = Layout::new(Codec::Plain, Shape::Line, *extents);
    Ok(best.map_or(plain, |(_, layout)| layout))
}

/// A chunk of the sample as a field of its own.
struct Sample<T> {
    alone: Grid,
    elements: Vec<T>,
}

/// The predicted size of chunk table and payload.
fn predicted_bytes<T: Element>(
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
    let payload = u128::from(bytes) * u128::from(grid.elements()) / u128::from(elements.max(1));
    u128::from(grid.chunk_count()) * ENTRY_BYTES as u128 + payload
}

/// The elements of a chunk of a field in memory, row by row.
pub(crate) fn read_chunk<T: Element>(grid: &Grid, number: u64, field: &[T]) -> Vec<T> {
    let chunk = grid.chunk(number);
    let [depth, height, width] = chunk.extents.map(u64::from);
    let [z, y, x] = chunk.origin;
    let mut elements = Vec::with_capacity(chunk.elements() as usize);
    for row in 0..depth * height {
        let first = grid.flat([z + row / height, y + row % height, x]) as usize;
        elements.extend_from_slice(&field[first..first + width as usize]);
    }
    elements
}

/// Chunks spread over a field: one of each of as many stretches, all of the same length. Where in its
/// stretch is as good as random, for at even distances they could all lie in the same rows of slices.
fn sample(grid: &Grid) -> Vec<u64> {
    let (all, taken) = (grid.chunk_count(), grid.chunk_count().min(SAMPLE_CHUNKS));
    let start = |i: u64| (u128::from(i) * u128::from(all) / u128::from(taken)) as u64;
    (0..taken)
        .map(|i| start(i) + mixed(i) % (start(i + 1) - start(i)))
        .collect()
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
            let chunks = sample(&grid);
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
        assert_eq!(names(&[100]).len(), 4);
        assert_eq!(names(&[1, 100, 100]).len(), 4 + 4);
        assert_eq!(names(&[9, 100, 100]).len(), 4 + 8);
        assert!(!names(&[9, 9, 9]).contains(&(Codec::Layered, 2)));
        assert!(names(&[0]).contains(&(Codec::Plain, 1)));
    }
}
