//! Measures ferrosz's own streams.

use super::agree::{Expected, time_verified};
use super::field::Subject;
use super::machine::{Buffers, Format, Machine, Value, Work};
use super::row::{Row, Timed};
use ferrosz::{Bound, Compressor, Decompressor, Device, Extents, Layout, Part};
use ferrosz_cli::failure::Failure;
use ferrosz_verify::judge;

/// The longest edge of the decoded box.
const BOX_EDGE: u64 = 64;

/// Distance of the box's start from the middle of a field, so that its edges are not edges of chunks.
const BOX_BEFORE_MIDDLE: u64 = 27;

/// Measures one layout at one bound.
///
/// # Errors
///
/// If a result is wrong, or the machine fails.
pub fn measure<T: Value, M: Machine>(
    machine: &M,
    subject: &Subject<T>,
    layout: Layout,
    bound: Bound,
) -> Result<Row, Failure> {
    let field = &subject.values;
    let as_given = compressor(layout, bound)?;
    let stream = as_given.compress(field)?;
    let info = ferrosz::info(&stream)?;
    // Compression by a caller that knows the range, without the scan for it.
    let resolved = match bound.needs_extremes() {
        true => Bound::abs(info.absolute_error).map_err(Failure::failed)?,
        false => bound,
    };
    let known = compressor(layout, resolved)?;
    // With the classes of a mask.
    let layout = as_given.stream_layout(field.len() as u64, T::DTYPE)?.layout;
    let mut buffers = machine.buffers(field, Format::Container(layout))?;

    let work = Work::Compress(&known);
    let known_stream = known.compress(field)?;
    let compress = time_verified(&mut buffers, &work, Expected::Stream(&known_stream))?;
    drop(known_stream);

    // This comes last, so that the decompression below decodes this stream.
    let work = Work::Compress(&as_given);
    let call = time_verified(&mut buffers, &work, Expected::Stream(&stream))?;

    let values: Vec<T> = Decompressor::new()
        .device(Device::Cpu)
        .decompress(&stream)?;
    let is_cpu = machine.about().device == Device::Cpu;
    if is_cpu {
        // There is no other machine to compare the CPU with: its result must be within the bound.
        check_bound(field, &values, bound, info.absolute_error)?;
    }
    let work = Work::Decompress(layout);
    let decompress = time_verified(&mut buffers, &work, Expected::Values(&values))?;
    drop(values);

    // A GPU decodes streams of tiles as a whole.
    let part = match layout.tiles() {
        Some(_) if !is_cpu => None,
        _ => Some(time_box(&mut buffers, layout, &stream)?),
    };
    Ok(Row {
        codec: layout.codec.name().to_owned(),
        rank: layout.shape.rank(),
        bound,
        absolute_error: info.absolute_error,
        field_bytes: info.field_bytes,
        stream_bytes: info.stream_bytes,
        compress,
        call: Some(call),
        decompress,
        part,
    })
}

/// Times decompression of a box of the stream in the buffers; returns the box's lengths, too.
fn time_box<T: Value>(
    buffers: &mut impl Buffers<T>,
    layout: Layout,
    stream: &[u8],
) -> Result<(Vec<u64>, Timed), Failure> {
    let part = middle(layout.extents);
    let decoder = Decompressor::new().device(Device::Cpu);
    let values: Vec<T> = decoder.decompress_part(stream, &part)?;
    let work = Work::DecompressPart(layout, &part);
    let timed = time_verified(buffers, &work, Expected::Values(&values))?;
    Ok((lengths(&part), timed))
}

/// The compressor of a layout, on the CPU, whose streams are the expected ones.
fn compressor(layout: Layout, bound: Bound) -> Result<Compressor, Failure> {
    let compressor = Compressor::new(layout.codec, bound)
        .with_rank(layout.shape.rank())?
        .extents(layout.extents.lengths())?
        .chunk_length(layout.chunk);
    Ok(compressor.device(Device::Cpu))
}

fn check_bound<T: Value>(
    field: &[T],
    decoded: &[T],
    bound: Bound,
    absolute_error: f64,
) -> Result<(), Failure> {
    let judgement = judge(field, decoded, bound, absolute_error);
    match judgement.is_kept() {
        true => Ok(()),
        false => Err(Failure::failed(format_args!(
            "the bound is not kept: an error of {:e}",
            judgement.largest_error
        ))),
    }
}

/// A box in the middle of a field.
fn middle(extents: Extents) -> Part {
    let range = |length: &u64| {
        let from = (length / 2).saturating_sub(BOX_BEFORE_MIDDLE);
        from..(from + BOX_EDGE).min(*length)
    };
    Part::Box(extents.lengths().iter().map(range).collect())
}

fn lengths(part: &Part) -> Vec<u64> {
    match part {
        Part::Box(ranges) => ranges.iter().map(|range| range.end - range.start).collect(),
        Part::Elements(range) => vec![range.end - range.start],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_lies_within_the_field() {
        let lengths_in = |extents: &[u64]| lengths(&middle(Extents::new(extents).unwrap()));
        assert_eq!(lengths_in(&[256, 256, 256]), [64, 64, 64]);
        assert_eq!(lengths_in(&[10, 300]), [10, 64]);
        assert_eq!(lengths_in(&[100]), [64]);
        assert_eq!(lengths_in(&[1]), [1]);
    }
}
