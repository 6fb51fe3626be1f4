//! Choosing codec and shape of blocks by the sizes that a sample predicts.

use crate::cpu;
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::stream::container::{Extents, Layout};
use ferrosz_codec::stream::grid::Grid;
use ferrosz_codec::stream::table::ENTRY_BYTES;
use ferrosz_codec::{Bound, Codec, Element};

/// Chunks of the sample: about a million elements, or all of a smaller field.
const SAMPLE_CHUNKS: u64 = 128;

/// What may be chosen for a field of these extents, the preferred first.
pub(crate) fn candidates(extents: &Extents) -> Vec<Layout> {
    let mut layouts = Vec::new();
    for codec in Codec::ALL {
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
/// bound alone: integers throughout, and always the same chunks.
pub(crate) fn choose<T: Element>(bound: Bound, extents: &Extents, field: &[T]) -> Layout {
    let quantizer = cpu::resolve(bound, field);
    candidates(extents)
        .into_iter()
        .min_by_key(|layout| predicted_bytes(layout, &quantizer, field))
        .unwrap_or(Layout::new(Codec::Plain, Shape::Line, *extents))
}

/// The predicted size of chunk table and payload.
fn predicted_bytes<T: Element>(layout: &Layout, quantizer: &Quantizer<T>, field: &[T]) -> u128 {
    let grid = layout.grid();
    let chunks = sample(&grid);
    let elements: u64 = chunks
        .iter()
        .map(|chunk| u64::from(grid.chunk(*chunk).elements()))
        .sum();
    let bytes = cpu::encoded_bytes(layout.codec, quantizer, &grid, field, &chunks);
    let payload = u128::from(bytes) * u128::from(grid.elements()) / u128::from(elements.max(1));
    u128::from(grid.chunk_count()) * ENTRY_BYTES as u128 + payload
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
