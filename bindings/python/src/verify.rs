//! `verify`: a stream against its original.

use crate::array_in::Field;
use crate::call;
use crate::decompressor::of_device;
use crate::dtype::NumberType;
use crate::error::{argument, raised};
use crate::masked;
use crate::stream::Bytes;
use ferrosz::codec::with_value;
use ferrosz::{Error, Info, Value};
use ferrosz_verify::Comparison;
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
    fn new(comparison: &Comparison, info: &Info) -> Self {
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

/// Decompresses a stream and compares it with the original array, in exact arithmetic where the bound is judged. A masked
/// array is compared with its fill value in the place of masked elements. Of complex numbers each part is a value of its own.
///
/// >>> array = np.sin(np.arange(10000, dtype="float32") / 100)
/// >>> found = ferrosz.verify(array, ferrosz.compress(array, abs=1e-3))
/// >>> bool(found), found.largest_error <= 1e-3, found.size
/// (True, True, 10000)
#[pyfunction]
#[pyo3(signature = (original, stream, *, device="auto"))]
pub fn verify<'py>(
    original: &Bound<'py, PyAny>,
    stream: &Bound<'py, PyAny>,
    device: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = original.py();
    let (original, _) = masked::split(original)?;
    let (field, bytes) = (Field::new(&original)?, Bytes::new(stream)?);
    let info = ferrosz::info(bytes.as_slice()).map_err(|error| raised(py, &error))?;
    let of_stream = NumberType::of(&info);
    if field.number_type() != of_stream || field.extents() != info.extents {
        let message = format!(
            "original: it has the shape {:?} of {}, and the stream {:?} of {}",
            field.shape(),
            field.number_type(),
            info.number_extents(),
            of_stream
        );
        return Err(argument(py, message));
    }
    let decompressor = of_device(py, device)?;
    let fields = call::run(
        py,
        field.bytes(),
        None,
        false,
        move |_| with_value!(info.dtype, V => compare::<V>(&decompressor, &field, bytes.as_slice(), &info)),
    )?;
    let module = py.import(intern!(py, "ferrosz._verification"))?;
    let class = module.getattr("Verification")?;
    class.call((), Some(&fields.into_pyobject(py)?))
}

fn compare<V: Value>(
    decompressor: &ferrosz::Decompressor,
    field: &Field,
    stream: &[u8],
    info: &Info,
) -> Result<Fields, Error> {
    let decoded: Vec<V> = decompressor.decompress(stream)?;
    let comparison = Comparison::new(field.values::<V>(), &decoded, info)?;
    Ok(Fields::new(&comparison, info))
}
