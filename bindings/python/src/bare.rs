//! `bare_compress` and `bare_decompress`: streams of cuSZp and AATROX, which have no header.

mod examine;
mod replace;

pub use examine::{bare_check, bare_outline};
pub use replace::bare_replace;

use crate::array_in::Field;
use crate::array_out::array_of;
use crate::call;
use crate::dtype::{self, NumberType};
use crate::error::{UNSUPPORTED_TYPE, argument, raised_bare, typed};
use crate::options::device as device_of;
use crate::part::IndexedBox;
use crate::stream::Bytes;
use ferrosz::Dtype;
use ferrosz::codec::with_element;
use ferrosz_cuszp::bound::{Arithmetic, absolute_error};
use ferrosz_cuszp::cuszp::{self, Framing, Mode};
use ferrosz_cuszp::{Bare, BoundMode, Device, Element, Error, Part, Shape, aatrox};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::Range;

/// The attributes of `ferrosz.bare.Parameters` that name a format.
#[derive(FromPyObject)]
pub struct Format {
    format: String,
    mode: String,
    rank: Option<u8>,
    v1: bool,
}

/// The attributes of `ferrosz.bare.Parameters` about an array.
#[derive(FromPyObject)]
pub struct ArrayOfStream<'py> {
    shape: Vec<u64>,
    dtype: Bound<'py, PyAny>,
    abs: f64,
}

/// A format with its parameters but those of an array.
#[derive(Clone, Copy)]
enum Kind {
    Cuszp {
        mode: Mode,
        rank: Option<Shape>,
        framing: Framing,
        strict: bool,
        allow_missing: bool,
    },
    Aatrox,
}

impl Kind {
    /// The format of these names; neither strict nor with bytes allowed to be missing.
    fn of(py: Python<'_>, format: &Format) -> PyResult<Self> {
        let Format {
            format,
            mode,
            rank,
            v1,
        } = format;
        let mode = Mode::from_name(mode).ok_or_else(|| {
            argument(py, format!("mode: '{mode}' is not fixed, plain or outlier"))
        })?;
        let rank = match rank {
            None => None,
            Some(rank) => Some(
                Shape::of_rank(*rank)
                    .ok_or_else(|| argument(py, format!("rank: {rank} is not 1, 2 or 3")))?,
            ),
        };
        match format.as_str() {
            "cuszp" => Ok(Self::Cuszp {
                mode,
                rank,
                framing: if *v1 { Framing::V1 } else { Framing::V3 },
                strict: false,
                allow_missing: false,
            }),
            "aatrox" => Ok(Self::Aatrox),
            _ => Err(argument(
                py,
                format!("format: '{format}' is not cuszp or aatrox"),
            )),
        }
    }

    /// For an array of these extents.
    fn bare<T: Element>(self, extents: &[u64], error: T) -> Result<Bare<T>, Error> {
        Ok(match self {
            Self::Cuszp {
                mode,
                rank,
                framing,
                strict,
                allow_missing,
            } => {
                let params = cuszp::Params::of_array(extents, framing, mode, error)?;
                cuszp::Params {
                    shape: rank.unwrap_or(params.shape),
                    strict,
                    allow_missing,
                    ..params
                }
                .into()
            }
            Self::Aatrox => aatrox::Params {
                elements: extents
                    .iter()
                    .fold(1, |product, length| product.saturating_mul(*length)),
                error,
            }
            .into(),
        })
    }
}

/// Compresses an array to a stream without header. Returns it, and its absolute error.
#[pyfunction]
#[pyo3(signature = (array, format, bound, *, float_bound, strict, device))]
pub fn bare_compress<'py>(
    array: &Bound<'py, PyAny>,
    format: Format,
    bound: (String, f64),
    float_bound: bool,
    strict: bool,
    device: &str,
) -> PyResult<(Bound<'py, PyBytes>, f64)> {
    let py = array.py();
    let field = Field::new(array)?;
    let (mut kind, device) = (Kind::of(py, &format)?, device_of(py, device)?);
    if let Kind::Cuszp {
        strict: is_strict, ..
    } = &mut kind
    {
        *is_strict = strict;
    }
    let (name, value) = bound;
    let mode = (BoundMode::ALL.into_iter().find(|mode| mode.name() == name))
        .ok_or_else(|| argument(py, format!("'{name}' is no kind of bound")))?;
    let bound = ferrosz::Bound::new(mode, value)
        .map_err(|error| argument(py, format!("{name}: {error}")))?;
    let arithmetic = match float_bound {
        true => Arithmetic::Floats,
        false => Arithmetic::Elements,
    };
    let dtype = element_type(py, field.number_type())?;
    let done = call::run(py, field.bytes(), None, false, move |_| {
        Ok(with_element!(dtype, E => {
            compress::<E>(&field, kind, |values| Ok(absolute_error(bound, arithmetic, values)?), device)
        }))
    })?;
    let (stream, error) = done.map_err(|error| raised_bare(py, &error))?;
    Ok((PyBytes::new(py, &stream), error))
}

fn compress<T: Element>(
    field: &Field,
    kind: Kind,
    error_of: impl FnOnce(&[T]) -> Result<T, Error>,
    device: Device,
) -> Result<(Vec<u8>, f64), Error> {
    let values = field.values::<T>();
    let error = error_of(values)?;
    let bare = kind.bare(field.shape(), error)?;
    Ok((bare.compress_on(device, values)?, error.to_f64()))
}

/// Decompresses a stream without header, or a part of its array: some elements by their numbers, or a box by an index.
#[pyfunction]
#[pyo3(signature = (stream, parameters, *, elements, r#box, allow_missing, device))]
pub fn bare_decompress<'py>(
    stream: &Bound<'py, PyAny>,
    parameters: &Bound<'py, PyAny>,
    elements: Option<(u64, u64)>,
    r#box: Option<&Bound<'py, PyAny>>,
    allow_missing: bool,
    device: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = stream.py();
    let (bytes, device) = (Bytes::new(stream)?, device_of(py, device)?);
    let mut kind = Kind::of(py, &parameters.extract()?)?;
    if let Kind::Cuszp {
        allow_missing: is_allowed,
        ..
    } = &mut kind
    {
        *is_allowed = allow_missing;
    }
    let array = OfArray::new(parameters)?;
    let (part, of_result) = part_of(py, elements, r#box, &array.shape)?;
    let size = of_result
        .iter()
        .fold(8, |product: u64, length| product.saturating_mul(*length));
    with_element!(array.dtype, E => {
        let bare = array.bare::<E>(py, kind)?;
        let work = move || match &part {
            None => bare.decompress_on(device, bytes.as_slice()),
            Some(part) => bare.decompress_part(bytes.as_slice(), part),
        };
        let found = call::run(py, size as usize, None, false, move |_| Ok(work()))?;
        array_of(py, found.map_err(|error| raised_bare(py, &error))?, NumberType::real(E::DTYPE.value_type()), &of_result)
    })
}

/// The shape, the element type and the absolute error of a stream's array, which the stream does not hold.
struct OfArray {
    shape: Vec<u64>,
    dtype: Dtype,
    bound: ferrosz::Bound,
}

impl OfArray {
    fn new(parameters: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = parameters.py();
        let ArrayOfStream { shape, dtype, abs } = parameters.extract()?;
        Ok(Self {
            shape,
            dtype: element_type(py, dtype::named(&dtype)?)?,
            bound: (ferrosz::Bound::abs(abs))
                .map_err(|error| argument(py, format!("abs: {error}")))?,
        })
    }

    /// The parameters of a stream of this array, whose elements are of this type.
    fn bare<T: Element>(&self, py: Python<'_>, kind: Kind) -> PyResult<Bare<T>> {
        let error = absolute_error::<T>(self.bound, Arithmetic::Elements, &[])
            .map_err(|error| argument(py, format!("abs: {error}")))?;
        kind.bare(&self.shape, error)
            .map_err(|error| raised_bare(py, &error))
    }
}

/// The part that arguments name, and the shape of its array.
fn part_of(
    py: Python<'_>,
    elements: Option<(u64, u64)>,
    index: Option<&Bound<'_, PyAny>>,
    shape: &[u64],
) -> PyResult<(Option<Part>, Vec<u64>)> {
    let fault = |error: ferrosz_cuszp::PartError| argument(py, error.to_string());
    match (elements, index) {
        (None, None) => Ok((None, shape.to_vec())),
        (Some((start, end)), None) => {
            let all = (shape.iter()).try_fold(1u64, |product, length| product.checked_mul(*length));
            let range: Range<u64> = start..end;
            let part = Part::elements(all.unwrap_or(u64::MAX), range).map_err(fault)?;
            let lengths = part.extents();
            Ok((Some(part), lengths))
        }
        (None, Some(index)) => {
            let IndexedBox {
                ranges,
                shape: of_result,
                ..
            } = IndexedBox::new(index, shape)?;
            Ok((
                Some(Part::region(shape, &ranges).map_err(fault)?),
                of_result,
            ))
        }
        (Some(_), Some(_)) => Err(argument(py, "give elements or box, not both")),
    }
}

/// The type of elements that these streams hold.
fn element_type(py: Python<'_>, number_type: NumberType) -> PyResult<Dtype> {
    let found = Dtype::ALL
        .into_iter()
        .find(|dtype| NumberType::real(dtype.value_type()) == number_type);
    found.ok_or_else(|| {
        let message =
            format!("streams of cuSZp and AATROX hold float32 or float64, not {number_type}");
        typed(py, UNSUPPORTED_TYPE, message)
    })
}
