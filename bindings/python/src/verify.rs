//! `verify`: a stream against its original.

use crate::array_in::Field;
use crate::call;
use crate::decompressor::of_device;
use crate::error::{argument, raised};
use crate::stream::Bytes;
use ferrosz::codec::with_value;
use ferrosz::{Error, Info, Value};
use ferrosz_cli::verify::Comparison;
use pyo3::prelude::*;

/// A stream compared with its original, with the figures of the command `ferrosz verify`. It is true if the bound is kept.
#[pyclass(frozen, get_all, module = "ferrosz")]
pub struct Verification {
    /// Whether no error exceeds the bound or the stream's absolute error, and all NaNs and infinities came back.
    kept: bool,
    /// The absolute error that the bound means for this array.
    limit: f64,
    /// The absolute error that the stream promises.
    absolute_error: f64,
    /// The largest error.
    largest_error: f64,
    /// The number of the element with the largest error, in C order.
    largest_error_at: Option<u64>,
    /// The largest error over the stream's absolute error.
    largest_over_promised: f64,
    /// Elements.
    size: u64,
    /// Elements whose error exceeds the bound.
    over_limit: u64,
    /// Elements whose error exceeds the stream's absolute error.
    over_promised: u64,
    /// NaNs and infinities of the original.
    not_finite: u64,
    /// Those of them that did not come back bit for bit.
    not_finite_changed: u64,
    /// Elements with a finite fill value.
    fill_elements: u64,
    /// Those of them that came back bit for bit.
    fill_elements_kept: u64,
    /// Largest minus smallest of the finite values.
    range: f64,
    /// The peak signal-to-noise ratio in decibels, the range being the peak; infinite if all values are exact.
    psnr: f64,
    /// The root of the mean squared error.
    rmse: f64,
    /// The RMSE over the range; none if the range is 0.
    nrmse: Option<f64>,
    /// The mean structural similarity; none if no window is finite.
    ssim: Option<f64>,
    /// The largest error relative to its value.
    largest_relative_error: f64,
    /// The correlation of errors of neighbours in memory; none if all errors are equal.
    error_autocorrelation: Option<f64>,
    /// Zeros of the original.
    zeros: u64,
    /// Those of them that came back as zeros.
    zeros_kept: u64,
    /// Values above 0 that came back below 0, and the reverse.
    signs_flipped: u64,
    /// Bytes of the array over bytes of the stream.
    ratio: f64,
}

impl Verification {
    fn new(comparison: &Comparison, info: &Info) -> Self {
        let Comparison {
            judgement,
            quality,
            fills,
        } = comparison;
        Self {
            kept: judgement.is_kept(),
            limit: judgement.limit,
            absolute_error: judgement.promise,
            largest_error: judgement.largest_error,
            largest_error_at: judgement.largest_error_at,
            largest_over_promised: comparison.largest_over_promise(info),
            size: judgement.values,
            over_limit: judgement.over_limit,
            over_promised: judgement.over_promise,
            not_finite: judgement.not_finite - fills.count,
            not_finite_changed: judgement.not_finite_changed - (fills.count - fills.kept),
            fill_elements: fills.count,
            fill_elements_kept: fills.kept,
            range: judgement.range,
            psnr: judgement.psnr(),
            rmse: quality.rmse,
            nrmse: comparison.nrmse(),
            ssim: quality.ssim,
            largest_relative_error: quality.largest_relative_error,
            error_autocorrelation: quality.error_autocorrelation,
            zeros: quality.zeros.count,
            zeros_kept: quality.zeros.kept,
            signs_flipped: quality.signs_flipped,
            ratio: info.ratio(),
        }
    }
}

#[pymethods]
impl Verification {
    fn __bool__(&self) -> bool {
        self.kept
    }

    fn __repr__(&self) -> String {
        let verdict = match self.kept {
            true => "bound kept".to_owned(),
            false => format!(
                "BOUND NOT KEPT by {} of {} values",
                self.over_limit.max(self.over_promised),
                self.size
            ),
        };
        format!(
            "<ferrosz.Verification: {verdict}; largest error {:.4e} of {:.4e} promised; PSNR {:.2} dB, ratio {:.2}>",
            self.largest_error, self.absolute_error, self.psnr, self.ratio
        )
    }
}

/// Decompresses a stream and compares it with the original array, in exact arithmetic where the bound is judged.
///
/// >>> array = np.sin(np.arange(10000, dtype="float32") / 100)
/// >>> found = ferrosz.verify(array, ferrosz.compress(array, abs=1e-3))
/// >>> bool(found), found.largest_error <= 1e-3, found.size
/// (True, True, 10000)
#[pyfunction]
#[pyo3(signature = (original, stream, *, device="auto"))]
pub fn verify(
    original: &Bound<'_, PyAny>,
    stream: &Bound<'_, PyAny>,
    device: &str,
) -> PyResult<Verification> {
    let py = original.py();
    let (field, bytes) = (Field::new(original)?, Bytes::new(stream)?);
    let info = ferrosz::info(bytes.as_slice()).map_err(|error| raised(py, &error))?;
    if field.value_type() != info.dtype || field.extents() != info.extents {
        let message = format!(
            "original: it has the shape {:?} of {}, and the stream {:?} of {}",
            field.extents(),
            field.value_type(),
            info.extents,
            info.dtype
        );
        return Err(argument(py, message));
    }
    let decompressor = of_device(py, device)?;
    call::run(
        py,
        field.bytes(),
        None,
        false,
        move |_| with_value!(info.dtype, V => compare::<V>(&decompressor, &field, bytes.as_slice(), &info)),
    )
}

fn compare<V: Value>(
    decompressor: &ferrosz::Decompressor,
    field: &Field,
    stream: &[u8],
    info: &Info,
) -> Result<Verification, Error> {
    let decoded: Vec<V> = decompressor.decompress(stream)?;
    let comparison = Comparison::new(field.values::<V>(), &decoded, info)?;
    Ok(Verification::new(&comparison, info))
}
