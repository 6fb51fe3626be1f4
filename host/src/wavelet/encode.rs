//! From a coded field to the stream of its coefficients, without corrections.

use crate::compress::Compressor;
use crate::cpu::mapping::coded::Prepared;
use crate::cpu::sink::Sink;
use crate::cpu::writer::Writer;
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::job::Job;
use crate::stream_ref::StreamRef;
use crate::wavelet::coefficients::{FieldCoefficients, as_filled};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::mapping::wavelet::Wavelets;
use ferrosz_codec::{Bound, Codec, Element};
use std::borrow::Cow;

/// The error of coefficients, as a share of the bound of values, if no other is asked for.
const SHARE: f64 = 0.75;

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
    let filled = as_filled(&layout.extents);
    let Prepared {
        mask,
        coded,
        quantizer,
        ..
    } = Prepared::new(version, job, (compressor.copies, &filled), values)?;
    let values = coded.as_deref().unwrap_or(values);
    let error = quantizer.error().to_f64();
    let bound = Bound::abs(error_of_coefficients::<T>(compressor, error)?)?;
    let mut records = job.records();
    let coefficients = match error > 0.0 {
        false => Cow::Borrowed(values),
        true => {
            let all = FieldCoefficients::new(&layout.extents, values, false)?;
            let (order, best) = all.best(&bound.resolve(&Extremes::default()));
            records.extend(Wavelets { error, order }.to_records());
            Cow::Owned(best)
        }
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
