//! Trials: a field is compressed and decompressed, timed and judged.

use crate::{array::Array, failure::Failure, report};
use ferrosz::{Compressor, Decompressor, Device, Error, Info, Value};
use ferrosz_verify::{Comparison, Judgement, Quality};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The result of a trial.
#[derive(Debug)]
pub struct Trial {
    /// The description of the stream.
    pub info: Info,
    /// The comparison with the original field.
    pub judgement: Judgement,
    /// The figures of the reconstruction.
    pub quality: Quality,
    /// Median time of a call that compresses, including the choice of a codec.
    pub compress_seconds: f64,
    /// Median time of a call that decompresses.
    pub decompress_seconds: f64,
    /// The device that compressed.
    pub compress_device: Device,
    /// The device that decompressed.
    pub decompress_device: Device,
}

/// The number of timed calls; one call before them is not timed.
#[derive(Debug, Clone, Copy)]
pub struct Runs {
    /// Timed calls at most; at least one call is timed.
    pub most: u32,
    /// No further timed call begins after this time.
    pub patience: Duration,
}

impl Trial {
    /// Compresses a field in host memory and decompresses the stream; returns the trial and the decompressed values.
    ///
    /// # Errors
    ///
    /// The library's errors.
    pub fn run<V: Value>(
        compressor: Compressor,
        device: Device,
        array: &Array<V>,
        runs: Runs,
    ) -> Result<(Self, Vec<V>), Failure> {
        let compressor = compressor.extents(&array.extents)?.device(device);
        let decompressor = Decompressor::new().device(device);
        let (stream, compress_seconds) = runs.time(|| compressor.compress(&array.values))?;
        let (decoded, decompress_seconds) = runs.time(|| decompressor.decompress::<V>(&stream))?;
        let info = ferrosz::info(&stream)?;
        let chosen = Compressor::new(info.codec, info.bound).device(device);
        let Comparison {
            judgement, quality, ..
        } = Comparison::new(&array.values, &decoded, &info)?;
        let trial = Self {
            judgement,
            quality,
            compress_seconds,
            decompress_seconds,
            compress_device: chosen.device_for(info.elements, info.dtype)?,
            decompress_device: decompressor.device_for(&stream, decoded.len())?,
            info,
        };
        Ok((trial, decoded))
    }

    /// Megabytes of the field compressed in a second.
    pub fn compress_speed(&self) -> f64 {
        report::megabytes_per_second(self.info.field_bytes, self.compress_seconds)
    }

    /// Megabytes of the field decompressed in a second.
    pub fn decompress_speed(&self) -> f64 {
        report::megabytes_per_second(self.info.field_bytes, self.decompress_seconds)
    }
}

impl Runs {
    /// Times the calls; returns the result of the first one, and the median time of the others.
    ///
    /// # Errors
    ///
    /// Those of the calls.
    pub fn time<R>(self, call: impl Fn() -> Result<R, Error>) -> Result<(R, f64), Error> {
        let result = call()?;
        let begin = Instant::now();
        let mut seconds = Vec::new();
        while seconds.is_empty()
            || (seconds.len() < self.most as usize && begin.elapsed() < self.patience)
        {
            let start = Instant::now();
            black_box(call()?);
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let median = seconds.get(seconds.len() / 2).copied();
        Ok((result, median.unwrap_or_default()))
    }
}

/// A sentence that says whether all trials kept their bounds.
pub fn verdict<'a>(trials: impl Iterator<Item = &'a Trial>) -> String {
    let (mut all, mut broken) = (0, 0);
    for trial in trials {
        all += 1;
        broken += u32::from(!trial.judgement.is_kept());
    }
    match broken {
        0 => "Every value of every reconstruction is within its bound.".to_owned(),
        _ => format!("BOUND NOT KEPT in {broken} of {all} rows."),
    }
}
