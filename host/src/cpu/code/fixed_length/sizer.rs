//! The lengths that a chunk has with each of several codecs, without its bytes.

use crate::cpu::code::fixed_length::encoder::is_constant;
use crate::cpu::code::fixed_length::quantizer::{BlockQuantizer, ExceptionMask};
use crate::cpu::code::fixed_length::{Source, blocks};
use crate::cpu::lanes::Lanes;
use ferrosz_codec::code::fixed_length::block::choose_rate;
use ferrosz_codec::container::chunk::Sections;
use ferrosz_codec::element::Element;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::Predictor;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::StaticShape;

/// The words of a chunk with each codec. Its values are read and rounded once for all codecs, and predicted once for those
/// that have the same predictor.
#[inline(always)]
pub(super) fn words<L: Lanes, S: StaticShape, T: Element, const G: usize>(
    lanes: L,
    codecs: &[BlockCodec],
    quantizer: &Quantizer<T>,
    source: Source<'_, T>,
) -> Vec<u32> {
    let chunk = source.grid.chunk(source.chunk);
    let of_codec = |codec: &BlockCodec| CodecSize {
        quantize: BlockQuantizer::new(*codec, quantizer),
        sections: Sections::of(chunk.block_count(S::SHAPE), S::SHAPE, *codec),
    };
    let mut all: Vec<_> = codecs.iter().map(of_codec).collect();
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let rounding = BlockQuantizer::new(first.quantize.codec, quantizer);
    for position in blocks(chunk, S::SHAPE) {
        let (values, inside) = source.block::<S, G>(&chunk, &position);
        let nearest = rounding.nearest(&values);
        let mut known = None;
        for sized in &mut all {
            let (codes, masks) = sized.quantize.block::<S, G>(&values, &inside, nearest);
            sized.note(&masks);
            sized.add_body::<L, S, G>(lanes, &codes, &inside, &mut known);
        }
    }
    let is_constant = quantizer.is_lossless() && is_constant(source.rows(chunk));
    let words = |sized: &CodecSize<'_, T>| {
        let initial = sized.quantize.initial();
        let elements = chunk.elements();
        (sized
            .sections
            .choose(elements, T::WORDS as u32, initial, is_constant))
        .1
    };
    all.iter().map(words).collect()
}

/// What is known of the chunk with a codec.
struct CodecSize<'a, T> {
    quantize: BlockQuantizer<'a, T>,
    sections: Sections,
}

/// The bits of a block's differences from the predictions of a predictor that keeps nothing of other blocks.
type Bits = (Predictor, (u32, u32));

impl<T: Element> CodecSize<'_, T> {
    /// Counts the exceptions of a block.
    #[inline(always)]
    fn note(&mut self, masks: &[ExceptionMask]) {
        for mask in masks {
            self.sections.flagged_groups += u32::from(*mask != 0);
            self.sections.exceptions += mask.count_ones();
        }
    }

    /// Adds the length of a block's body. `known` are the bits of this block, if another codec has found some.
    #[inline(always)]
    fn add_body<L: Lanes, S: StaticShape, const G: usize>(
        &mut self,
        lanes: L,
        codes: &[Group; G],
        inside: &[u32; G],
        known: &mut Option<Bits>,
    ) {
        let codec = self.quantize.codec;
        let is_known = |(of, _): &Bits| *of == codec.predictor() && !codec.is_layered();
        let (first, others) = match known.filter(is_known) {
            Some((_, bits)) => bits,
            None => {
                let groups = self.quantize.differences::<L, S, G>(lanes, codes, inside);
                lanes.magnitude_bits(&groups)
            }
        };
        *known = (!codec.is_layered()).then_some((codec.predictor(), (first, others)));
        let rate = choose_rate(first, others, G as u32, codec);
        self.sections.body_bytes += rate.body_bytes(G as u32);
    }
}

#[cfg(test)]
mod tests {
    use crate::cpu::Version;
    use crate::cpu::code::fixed_length::{IMAGE_BYTES, Source};
    use ferrosz_codec::Shape;
    use ferrosz_codec::bound::{Bound, Extremes};
    use ferrosz_codec::container::extents::Extents;
    use ferrosz_codec::container::grid::Grid;
    use ferrosz_codec::pipeline::BlockCodec;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// Waves with noise, and now and then a value that no code or a code far away represents.
    fn field(random: &mut SmallRng, elements: u64) -> Vec<f32> {
        let (noise, rare) = (random.random_range(0.0..2.0), random.random_range(1..400));
        let value = |i: u64| match random.random_range(0..rare) {
            0 => [f32::NAN, f32::INFINITY, 3e30, -0.0, 4e9][random.random_range(0..5)],
            _ => (i as f32 * 0.01).sin() * 9.0 + random.random_range(-1.0..1.0) * noise,
        };
        (0..elements).map(value).collect()
    }

    #[test]
    fn a_chunk_has_the_lengths_that_encoding_gives() {
        let mut random = SmallRng::seed_from_u64(40);
        for case in 0..60 {
            let lengths: [u64; 3] = [[1, 1, 9000], [1, 70, 90], [9, 21, 33]][case % 3]
                .map(|n| random.random_range(1..=n));
            let field = match case % 7 {
                0 => vec![0.25; lengths.iter().product::<u64>() as usize],
                _ => field(&mut random, lengths.iter().product()),
            };
            let bound = [Bound::abs(0.01), Bound::abs(1e-5), Bound::abs(0.0)][case / 3 % 3];
            let quantizer = bound.unwrap().resolve::<f32>(&Extremes::default());
            let quantizer = quantizer.with_holes(case % 2 == 0);
            for (shape, version) in Shape::ALL
                .into_iter()
                .flat_map(|shape| Version::all().map(move |version| (shape, version)))
            {
                let grid = Grid::new(shape, &Extents::new(&lengths).unwrap());
                let codecs = BlockCodec::ALL
                    .into_iter()
                    .filter(|codec| codec.takes(shape));
                let codecs: Vec<_> = codecs.collect();
                for chunk in 0..grid.chunk_count() {
                    let source = Source {
                        field: &field,
                        grid: &grid,
                        chunk,
                    };
                    let mut image = vec![0xA5; IMAGE_BYTES];
                    let mut encode =
                        |codec| version.encode(codec, &quantizer, source, &mut image).1;
                    let wanted: Vec<_> = codecs.iter().map(|codec| encode(*codec)).collect();
                    let found = version.sizes(&codecs, &quantizer, source);
                    assert_eq!(found, wanted, "{lengths:?} {shape} {quantizer:?}");
                }
            }
        }
    }
}
