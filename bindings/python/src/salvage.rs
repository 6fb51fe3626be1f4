//! `salvage`: the elements of a damaged stream that are not lost.

use crate::array_out::array_of;
use crate::call;
use crate::dtype::NumberType;
use crate::error::raised;
use crate::stream::Bytes;
use ferrosz::Info;
use ferrosz::codec::with_value;
use ferrosz::stream::Damage;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};
use std::ops::Range;

/// Decompresses the whole chunks of a damaged or cut off stream. Returns the array, and a `Damage` for each damaged chunk, in the
/// order of their numbers; none if the stream is whole. Lost elements are NaN, or 0 in integer types. In a stream of
/// interpolation, elements that depend on a damaged chunk are lost, too. It runs on the CPU.
///
/// Raises `DamagedStream` if nothing can be decoded, as without the header; `UnsupportedType` and `OutOfMemory`.
///
/// >>> stream = bytearray(ferrosz.compress(np.arange(20000.0), abs=0.1, codec="plain"))
/// >>> stream[-1] ^= 1
/// >>> array, (damage,) = ferrosz.salvage(stream)
/// >>> damage.chunk, damage.lost, damage.size
/// (2, [(slice(16384, 20000, None),)], 3616)
/// >>> bool(np.isnan(array[damage.lost[0]]).all()), bool(np.isnan(array[:16384]).any())
/// (True, False)
#[pyfunction]
pub fn salvage<'py>(
    stream: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyList>)> {
    let py = stream.py();
    let bytes = Bytes::new(stream)?;
    let info = ferrosz::info(bytes.as_slice()).map_err(|error| raised(py, &error))?;
    let size = usize::try_from(info.field_bytes).unwrap_or(usize::MAX);
    with_value!(info.dtype, V => {
        let found = call::run(py, size, None, false, move |_| {
            ferrosz::Decompressor::new().salvage::<V>(bytes.as_slice())
        });
        let (values, damages) = found?;
        let damages = damages.iter().map(|damage| of_python(py, damage, &info));
        let damages = PyList::new(py, damages.collect::<PyResult<Vec<_>>>()?)?;
        Ok((array_of(py, values, NumberType::of(&info), info.number_extents())?, damages))
    })
}

/// A `ferrosz.Damage` of the array of a stream. A complex number is lost with one of its parts.
fn of_python<'py>(py: Python<'py>, damage: &Damage, info: &Info) -> PyResult<Bound<'py, PyAny>> {
    let axes = info.number_extents().len();
    let lost = damage
        .lost
        .iter()
        .flat_map(|part| part.boxes(&info.extents));
    let lost = lost.map(|ranges| index_of(py, &ranges[..axes]));
    let fields = PyDict::new(py);
    fields.set_item("chunk", damage.chunk)?;
    fields.set_item("cause", damage.cause.to_string())?;
    fields.set_item("lost", lost.collect::<PyResult<Vec<_>>>()?)?;
    fields.set_item("size", damage.elements())?;
    let module = py.import(intern!(py, "ferrosz._damage"))?;
    module.getattr("Damage")?.call((), Some(&fields))
}

/// The index of a box: a slice for each axis.
fn index_of<'py>(py: Python<'py>, ranges: &[Range<u64>]) -> PyResult<Bound<'py, PyTuple>> {
    let slice = py.get_type::<PySlice>();
    let slices = ranges
        .iter()
        .map(|range| slice.call1((range.start, range.end)));
    PyTuple::new(py, slices.collect::<PyResult<Vec<_>>>()?)
}
