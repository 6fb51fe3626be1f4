//! `verify`: a stream, or any decoded array, against its original.

use crate::array_in::Field;
use crate::call;
use crate::decompressor::of_device;
use crate::dtype::NumberType;
use crate::error::{argument, raised};
use crate::masked;
use crate::stream::Bytes;
use ferrosz::codec::with_value;
use ferrosz::{Bound as ErrorBound, BoundMode, Info};
use ferrosz_verify::{Claim, Comparison};
use pyo3::intern;
use pyo3::prelude::*;

/// What `ferrosz.Verification` is made of.
#[derive(IntoPyObject)]
struct Fields {
    kept: bool,
    limit: f64,
    absolute_error: f64,
    largest_error: f64,
    largest_error_at: Option<u64>,
    largest_over_promised: f64,
    size: u64,
    over_limit: u64,
    over_promised: u64,
    not_finite: u64,
    not_finite_changed: u64,
    fill_elements: u64,
    fill_elements_kept: u64,
    range: f64,
    psnr: f64,
    rmse: f64,
    nrmse: Option<f64>,
    ssim: Option<f64>,
    largest_relative_error: f64,
    error_autocorrelation: Option<f64>,
    zeros: u64,
    zeros_kept: u64,
    signs_flipped: u64,
    ratio: f64,
}

impl Fields {
    fn new(comparison: &Comparison, largest_over_promised: f64, ratio: f64) -> Self {
        let Comparison {
            judgement,
            quality,
            fills,
            ..
        } = comparison;
        Self {
            kept: comparison.is_kept(),
            limit: judgement.limit,
            absolute_error: judgement.promise,
            largest_error: judgement.largest_error,
            largest_error_at: judgement.largest_error_at,
            largest_over_promised,
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
            ratio,
        }
    }

    /// The promises for a comparison of two arrays. There is no stream, so the bound of the call is the only promise.
    fn of_arrays(comparison: &Comparison, bound: Option<ErrorBound>, ratio: f64) -> Self {
        let limit = bound.map_or(f64::INFINITY, |_| comparison.judgement.limit);
        let quality = &comparison.quality;
        let over = match bound {
            Some(own) if own.mode() == BoundMode::Pwrel => {
                over(quality.largest_relative_error, own.value())
            }
            _ => over(comparison.judgement.largest_error, limit),
        };
        Self {
            limit,
            absolute_error: limit,
            over_promised: comparison.judgement.over_limit,
            ..Self::new(comparison, over, ratio)
        }
    }
}

/// A largest error over its limit; 0 without an error.
fn over(largest: f64, limit: f64) -> f64 {
    match largest == 0.0 {
        true => 0.0,
        false => largest / limit,
    }
}

/// Decompresses a stream and compares it with the original array: see `ferrosz.verify`.
#[pyfunction]
pub fn verify_stream<'py>(
    original: &Bound<'py, PyAny>,
    stream: &Bound<'py, PyAny>,
    device: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = original.py();
    let (original, _) = masked::split(original)?;
    let (field, bytes) = (Field::new(&original)?, Bytes::new(stream)?);
    let info = info_of(py, &field, &bytes)?;
    let decompressor = of_device(py, device)?;
    let fields = call::run(py, field.bytes(), None, false, move |_| {
        with_value!(info.dtype, V => {
            let decoded: Vec<V> = decompressor.decompress(bytes.as_slice())?;
            let comparison = Comparison::new(field.values::<V>(), &decoded, &info)?;
            Ok(Fields::new(&comparison, comparison.largest_over_promise(&info), info.ratio()))
        })
    })?;
    verification(py, fields)
}

/// The properties of a stream, which must be of an array as this one is.
///
/// # Errors
///
/// `ArgumentError` if it is of another type or shape; `DamagedStream`.
pub fn info_of(py: Python<'_>, field: &Field, stream: &Bytes) -> PyResult<Info> {
    let info = ferrosz::info(stream.as_slice()).map_err(|error| raised(py, &error))?;
    let of_stream = NumberType::of(&info);
    match field.number_type() == of_stream && field.extents() == info.extents {
        true => Ok(info),
        false => {
            let of_stream = (info.number_extents(), of_stream);
            Err(other_array(py, field, "stream", of_stream))
        }
    }
}

/// Compares an array with one that was decoded by anything: see `ferrosz.verify`. Without the number of bytes of its
/// stream the ratio is NaN.
#[pyfunction]
pub fn verify_arrays<'py>(
    original: &Bound<'py, PyAny>,
    decoded: &Bound<'py, PyAny>,
    bound: Option<(String, f64)>,
    stream_bytes: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = original.py();
    let bound = bound.map(|bound| named_bound(py, &bound)).transpose()?;
    let ((original, fills), (decoded, _)) = (masked::split(original)?, masked::split(decoded)?);
    let (field, decoded) = (Field::new(&original)?, Field::new(&decoded)?);
    if field.number_type() != decoded.number_type() || field.shape() != decoded.shape() {
        let of_decoded = (decoded.shape(), decoded.number_type());
        return Err(other_array(py, &field, "decoded array", of_decoded));
    }
    let claim = Claim {
        extents: field.extents(),
        bound: bound
            .map_or_else(|| ErrorBound::abs(f64::MAX), Ok)
            .map_err(|error| raised(py, &error.into()))?,
        absolute_error: f64::MAX,
        fills,
        safeguards: Vec::new(),
        bounds: None,
    };
    let ratio = stream_bytes.map_or(f64::NAN, |bytes| field.bytes() as f64 / bytes as f64);
    let fields = call::run(py, 2 * field.bytes(), None, false, move |_| {
        with_value!(field.value_type(), V => {
            let comparison = Comparison::of_claim(field.values::<V>(), decoded.values::<V>(), &claim)?;
            Ok(Fields::of_arrays(&comparison, bound, ratio))
        })
    })?;
    verification(py, fields)
}

fn named_bound(py: Python<'_>, (name, value): &(String, f64)) -> PyResult<ErrorBound> {
    let mode = (BoundMode::ALL.into_iter().find(|mode| mode.name() == name))
        .ok_or_else(|| argument(py, format!("{name}: this is no kind of bound")))?;
    ErrorBound::new(mode, *value).map_err(|error| raised(py, &error.into()))
}

fn other_array(
    py: Python<'_>,
    field: &Field,
    what: &str,
    (shape, kind): (&[u64], NumberType),
) -> PyErr {
    let message = format!(
        "original: it has the shape {:?} of {}, and the {what} {:?} of {}",
        field.shape(),
        field.number_type(),
        shape,
        kind
    );
    argument(py, message)
}

fn verification<'py>(py: Python<'py>, fields: Fields) -> PyResult<Bound<'py, PyAny>> {
    let module = py.import(intern!(py, "ferrosz._verification"))?;
    let class = module.getattr("Verification")?;
    class.call((), Some(&fields.into_pyobject(py)?))
}
