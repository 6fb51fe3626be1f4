//! Measures ferrosz's own streams.

use super::agree::{Expected, time_both_ways, time_verified};
use super::gpu::{OnDevice, OneGpu};
use super::row::{Row, Timed};
use super::{
    coding::Coding, device_memory::DeviceMemory, field::Subject, machine::Machine, memory::Memory,
    times::Times,
};
use ferrosz::cuda::Workspace;
use ferrosz::stream::{Extents, Layout, StreamLayout};
use ferrosz::{Bound, Compressor, Decompressor, Device, Element, Part};
use ferrosz_cli::failure::Failure;
use ferrosz_verify::judge;

/// The longest edge of the decoded box.
const BOX_EDGE: u64 = 64;

/// Distance of the box's start from the middle of a field, so that its edges are not edges of chunks.
const BOX_BEFORE_MIDDLE: u64 = 27;

/// Streams of ferrosz.
pub struct Container {
    compressor: Compressor,
    layout: StreamLayout,
    room: u64,
    /// The part of the field that is decoded; none for the whole.
    part: Option<Part>,
}

impl Container {
    /// The streams that a compressor makes of fields like this.
    ///
    /// # Errors
    ///
    /// If it makes none.
    pub fn new<V: OnDevice>(compressor: &Compressor, field: &[V]) -> Result<Self, Failure> {
        let elements = field.len() as u64;
        Ok(Self {
            compressor: compressor.device(Device::Cpu),
            layout: compressor.stream_layout(elements, V::TYPE)?,
            room: compressor.max_compressed_len(elements, V::TYPE)?,
            part: None,
        })
    }
}

impl<V: OnDevice> Coding<V> for Container {
    fn compress(&self, field: &[V]) -> Result<Vec<u8>, Failure> {
        Ok(self.compressor.compress(field)?)
    }

    fn decompress(&self, stream: &[u8], values: &mut Vec<V>) -> Result<(), Failure> {
        let decoder = Decompressor::new().device(Device::Cpu);
        match &self.part {
            Some(part) => *values = decoder.decompress_part(stream, part)?,
            None => {
                let elements = self.layout.layout.extents.elements();
                values.resize(elements as usize, V::default());
                decoder.decompress_into(stream, values)?;
            }
        }
        Ok(())
    }

    fn room(&self) -> Result<u64, Failure> {
        Ok(self.room)
    }

    fn workspace(&self, at: &OneGpu) -> Result<Workspace, Failure> {
        // It serves the box that is timed, too.
        let part = middle(self.layout.layout.extents);
        Ok((at.gpu).workspace_for_part(&at.stream, self.layout, &part)?)
    }

    fn enqueue_compress(&self, at: &OneGpu, memory: &mut DeviceMemory<V>) -> Result<(), Failure> {
        let DeviceMemory {
            input,
            bytes,
            workspace,
            ..
        } = memory;
        Ok((at.gpu).compress(&at.stream, &self.compressor, input, bytes, workspace)?)
    }

    fn enqueue_decompress(&self, at: &OneGpu, memory: &mut DeviceMemory<V>) -> Result<(), Failure> {
        let whole = Part::Elements(0..self.layout.layout.extents.elements());
        Ok(at.gpu.decompress_part(
            &at.stream,
            &Decompressor::new(),
            self.layout,
            &memory.bytes,
            self.part.as_ref().unwrap_or(&whole),
            &mut memory.output,
            &mut memory.workspace,
        )?)
    }
}

/// The bytes of a compressor's stream, and the times of both directions.
///
/// # Errors
///
/// If a result is wrong, or the machine fails, here and below.
pub fn both_ways<V: OnDevice>(
    machine: &Machine,
    compressor: &Compressor,
    field: &[V],
) -> Result<(u64, [Times; 2]), Failure> {
    let coding = Container::new(compressor, field)?;
    let stream = coding.compress(field)?;
    let mut memory = Memory::new(machine, field, &coding)?;
    let (timed, _) = time_both_ways(&mut memory, &coding, &stream)?;
    Ok((stream.len() as u64, timed.map(|timed| timed.single)))
}

/// Measures one layout at one bound.
pub fn measure<T: Element + OnDevice>(
    machine: &Machine,
    subject: &Subject<T>,
    layout: Layout,
    bound: Bound,
) -> Result<Row, Failure> {
    let field = &subject.values;
    let as_given = Container::new(&compressor(layout, bound)?, field)?;
    let stream = as_given.compress(field)?;
    let info = ferrosz::info(&stream)?;
    // Compression by a caller that knows the range, without the scan for it.
    let resolved = match bound.needs_extremes() {
        true => Bound::abs(info.absolute_error).map_err(Failure::failed)?,
        false => bound,
    };
    let known = Container::new(&compressor(layout, resolved)?, field)?;
    let mut memory = Memory::new(machine, field, &as_given)?;
    let known_stream = known.compress(field)?;
    let compress = time_verified(&mut memory, &known, Expected::Stream(&known_stream))?;
    drop(known_stream);
    let ([call, decompress], values) = time_both_ways(&mut memory, &as_given, &stream)?;
    if machine.gpu.is_none() {
        // There is no other machine to compare the CPU with: its result must be within the bound.
        check_bound(field, &values, bound, info.absolute_error)?;
    }
    drop(values);

    let part = Some(time_box(&mut memory, as_given, layout.extents, &stream)?);
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

/// Times decompression of a box of the stream in memory; returns the box's lengths, too.
fn time_box<T: OnDevice>(
    memory: &mut Memory<'_, T>,
    mut coding: Container,
    extents: Extents,
    stream: &[u8],
) -> Result<(Vec<u64>, Timed), Failure> {
    let part = middle(extents);
    let lengths = lengths(&part);
    coding.part = Some(part);
    let mut values: Vec<T> = Vec::new();
    coding.decompress(stream, &mut values)?;
    let timed = time_verified(memory, &coding, Expected::Values(&values))?;
    Ok((lengths, timed))
}

/// The compressor of a layout.
fn compressor(layout: Layout, bound: Bound) -> Result<Compressor, Failure> {
    Ok(Compressor::new(layout.codec, bound)
        .with_rank(layout.shape.rank())?
        .extents(layout.extents.lengths())?
        .chunk_length(layout.chunk)
        .levels_apart(layout.levels)?)
}

fn check_bound<T: Element>(
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
