//! Whole calls on the CPU, by the family of the codec.

use crate::cpu::mapping::mask::{Mask, MaskDecoder, coded_values, decode_values, fill_field};
use crate::cpu::sink::Sink;
use crate::cpu::{Progress, Version, blocks, tiles};
use crate::error::Error;
use crate::stream::StreamRef;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::with_element;
use ferrosz_codec::{Bound, Element};
use rayon::prelude::*;

/// Values of a task of the search for extremes.
const SCAN: usize = 1 << 17;

/// The quantiser of a bound on a field.
pub(crate) fn resolve<T: Element>(version: Version, bound: Bound, values: &[T]) -> Quantizer<T> {
    let mut found = Extremes::default();
    if bound.needs_extremes() {
        found = extremes(version, values);
    }
    bound.resolve(&found)
}

/// Smallest and largest finite value of a field.
pub fn extremes<T: Element>(version: Version, values: &[T]) -> Extremes<T> {
    values
        .par_chunks(SCAN)
        .map(|values| version.extremes(values))
        .reduce(Extremes::default, Extremes::union)
}

/// Compresses a field whose extents have been checked.
pub(crate) fn compress<T: Element>(
    version: Version,
    layout: Layout,
    bound: Bound,
    mapping: &ValueMapping,
    values: &[T],
    sink: &mut dyn Sink,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let job = (version, layout, bound, mapping, progress);
    // A static is compiled in this crate. A generic function would be compiled in each crate that calls it, with all
    // functions that it calls.
    with_element!(T::DTYPE, E => {
        static COMPRESS: fn(Compression<'_>, &[E], &mut dyn Sink) -> Result<(), Error> = compress_of::<E>;
        COMPRESS(job, bytemuck::cast_slice(values), sink)
    })
}

/// The arguments without the field and the destination.
type Compression<'a> = (Version, Layout, Bound, &'a ValueMapping, Progress<'a>);

fn compress_of<T: Element>(
    (version, layout, bound, mapping, progress): Compression<'_>,
    values: &[T],
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let mask = Mask::encode(&layout, &mapping.classes, values);
    let mut coded = coded_values(mapping, values)?;
    let quantizer = resolve(version, bound, coded.as_deref().unwrap_or(values));
    let quantizer = quantizer.with_holes(mapping.has_holes());
    if let Some(coded) = coded.as_mut().filter(|_| mapping.has_holes()) {
        fill_field(&layout, coded);
    }
    let values = coded.as_deref().unwrap_or(values);
    let header = layout.header(T::DTYPE, bound, quantizer.error().to_bits64());
    let header = mask.header(header);
    match layout.family() {
        Family::Blocks(blocks) => blocks::compress(
            version, blocks, header, &mask, &quantizer, values, sink, progress,
        ),
        Family::Tiles(tiles) => tiles::compress(
            version, &tiles, header, &mask, &quantizer, values, sink, progress,
        ),
    }
}

/// Turns the decoded values of regions, one after the other, into elements. The regions are those of the mask's
/// dimensions.
pub(crate) fn take_back<T: Element>(
    stream: &StreamRef<'_>,
    regions: &[Region],
    verify: bool,
    values: &mut [T],
) -> Result<(), Error> {
    decode_values(&stream.mapping, values);
    let Some(decoder) = MaskDecoder::new(stream, verify) else {
        return Ok(());
    };
    let mut rest = values;
    for region in regions {
        let (own, behind) = rest.split_at_mut(region.elements() as usize);
        if let Some((_, fault)) = decoder.lay_over(region, own).into_iter().next() {
            return Err(fault.into());
        }
        rest = behind;
    }
    Ok(())
}

/// Decodes the elements of a region, which is within the field, into `values`, which has as many positions. They are
/// those of the coded field.
pub(crate) fn decompress<T: Element>(
    version: Version,
    stream: &StreamRef<'_>,
    region: &Region,
    verify: bool,
    values: &mut [T],
    progress: Progress<'_>,
) -> Result<(), Error> {
    let job = (version, stream, region, verify, progress);
    // A static; see `compress`.
    with_element!(T::DTYPE, E => {
        static DECOMPRESS: fn(Decompression<'_>, &mut [E]) -> Result<(), Error> = decompress_of::<E>;
        DECOMPRESS(job, bytemuck::cast_slice_mut(values))
    })
}

/// The arguments without the output.
type Decompression<'a> = (Version, &'a StreamRef<'a>, &'a Region, bool, Progress<'a>);

fn decompress_of<T: Element>(
    (version, stream, region, verify, progress): Decompression<'_>,
    values: &mut [T],
) -> Result<(), Error> {
    match stream.header.layout().family() {
        Family::Blocks(layout) => {
            blocks::decompress(version, stream, layout, region, verify, values, progress)
        }
        Family::Tiles(layout) => {
            tiles::decompress(version, stream, &layout, region, verify, values, progress)
        }
    }
}
