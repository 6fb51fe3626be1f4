//! From a coded field to the stream of its coefficients, without corrections.

use crate::compress::Compressor;
use crate::cpu::mapping::coded::Prepared;
use crate::cpu::sink::Sink;
use crate::cpu::writer::Writer;
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::job::Job;
use crate::parallel;
use crate::stream_ref::StreamRef;
use crate::wavelet::transform;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::wavelet::{FieldBoxes, Wavelets};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::{Bound, Codec, Element};
use std::borrow::Cow;

/// The error of coefficients, as a share of the bound of values, if no other is asked for.
const SHARE: f64 = 0.75;

/// By how much of a step coefficients are nearer to 0 before they get codes, where few of them have one.
pub(super) const DEAD_ZONE: f64 = 0.15;

/// Values of a task.
const TASK: usize = 1 << 16;

/// Compresses a coded field, whose axes are in the order of the job. A field that is coded without loss is not transformed.
///
/// # Errors
///
/// Those of the sink, and of the machine that codes.
pub(crate) fn compress<T: Element>(
    compressor: &Compressor,
    version: Version,
    job: &Job,
    values: &[T],
    sink: &mut dyn Sink,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let Job { layout, .. } = job;
    // Holes get values all over the field, as with stencils.
    let filled = Layout::new(Codec::STENCIL, Shape::Cube, layout.extents);
    let filled = filled.with_classes(layout.classes);
    let Prepared {
        mask,
        coded,
        quantizer,
        ..
    } = Prepared::new(version, job, (compressor.copies, &filled), values)?;
    let values = coded.as_deref().unwrap_or(values);
    let error = quantizer.error().to_f64();
    let mut records = job.records();
    let coefficients = match error > 0.0 {
        false => Cow::Borrowed(values),
        true => {
            records.extend(Wavelets { error }.to_records());
            let boxes = FieldBoxes::new(&layout.extents);
            Cow::Owned(transform::coefficients(&boxes, &finite(values))?)
        }
    };
    let coarse = error_of_coefficients::<T>(compressor, error)?;
    let bound = Bound::abs(coarse)?;
    let coefficients = match coarse > 0.0 {
        true => Cow::Owned(nearer_to_zero(&coefficients, 2.0 * coarse * DEAD_ZONE)),
        false => coefficients,
    };
    let coder = Compressor::new(Codec::DIRECT_RANS, bound)
        .chunk_length(layout.chunk)
        .device(compressor.device)
        .statistics(false);
    let stream = coder.compress(&coefficients[..])?;
    let read = StreamRef::read(&stream)?;
    let header = Header {
        chunk: read.header.chunk,
        ..job.header(&records, read.header.error_bits)
    };
    let mut writer = Writer::new(header, &records, sink)?;
    writer.append(&read.encoded(0..read.header.chunks())?)?;
    writer.append(&[mask])?;
    writer.finish()?;
    progress(values.len() as u64);
    Ok(())
}

/// The error of coefficients for an error of values: the first one of these that is not 0 for the quantiser; 0 without loss.
fn error_of_coefficients<T: Element>(compressor: &Compressor, error: f64) -> Result<f64, Error> {
    let given = compressor.coefficient_error();
    for coarse in [given.unwrap_or(0.0), SHARE * error] {
        let quantizer = Bound::abs(coarse)?.resolve::<T>(&Extremes::default());
        if error > 0.0 && quantizer.error() > T::ZERO {
            return Ok(coarse);
        }
    }
    Ok(error)
}

/// The values with numbers in place of those that are not finite: the last number before.
pub(super) fn finite<T: Element>(values: &[T]) -> Cow<'_, [T]> {
    if values.iter().all(|value| value.is_finite()) {
        return Cow::Borrowed(values);
    }
    let mut last = T::ZERO;
    let number = |value: &T| {
        if value.is_finite() {
            last = *value;
        }
        last
    };
    Cow::Owned(values.iter().map(number).collect())
}

/// Numbers whose magnitudes are less by a distance, or 0.
fn nearer_to_zero<T: Element>(values: &[T], distance: f64) -> Vec<T> {
    let distance = T::from_f64(distance);
    let parts = parallel::map(values.chunks(TASK), |values| {
        let nearer = |value: &T| match *value {
            value if value > distance => value - distance,
            value if value < T::ZERO - distance => value + distance,
            _ => T::ZERO,
        };
        values.iter().map(nearer).collect::<Vec<T>>()
    });
    parts.concat()
}
