//! The element types of NumPy arrays and of streams.

use crate::error::{UNSUPPORTED_TYPE, typed};
use dlpark::ffi::{DLDataType, DLDataTypeCode};
use ferrosz::ValueType;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use std::fmt::Display;

/// NumPy's name of a value type.
pub fn numpy_name(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::F32 => "float32",
        ValueType::F64 => "float64",
        ValueType::F16 => "float16",
        ValueType::Bf16 => "bfloat16",
        ValueType::I16 => "int16",
        ValueType::U16 => "uint16",
        ValueType::I32 => "int32",
        ValueType::U32 => "uint32",
    }
}

/// The value type of a NumPy element type of any byte order.
///
/// # Errors
///
/// `UnsupportedType`, which names the types that ferrosz has.
pub fn value_type(descr: &Bound<'_, PyArrayDescr>) -> PyResult<ValueType> {
    let found = match (descr.kind(), descr.itemsize()) {
        (b'f', 4) => Some(ValueType::F32),
        (b'f', 8) => Some(ValueType::F64),
        (b'f', 2) => Some(ValueType::F16),
        (b'i', 2) => Some(ValueType::I16),
        (b'u', 2) => Some(ValueType::U16),
        (b'i', 4) => Some(ValueType::I32),
        (b'u', 4) => Some(ValueType::U32),
        // The types of the package ml_dtypes are known by name alone.
        (_, 2) if descr.typeobj().name()? == "bfloat16" => Some(ValueType::Bf16),
        _ => None,
    };
    found.ok_or_else(|| unsupported(descr.py(), descr, advice(descr.kind(), descr.itemsize())))
}

/// What to do with an array whose elements are of another type.
fn advice(kind: u8, bytes: usize) -> &'static str {
    match (kind, bytes) {
        (b'c', _) => "compress the real and the imaginary part apart: array.real and array.imag",
        (b'b', _) => {
            "yes and no have no error bound; numpy.packbits makes bytes of them for a lossless compressor"
        }
        (b'i', 1) => "array.astype('int16') has the same values",
        (b'u', 1) => "array.astype('uint16') has the same values",
        (b'i', _) => {
            "array.astype('int32') has the same values if they are from -2147483648 to 2147483647"
        }
        (b'u', _) => "array.astype('uint32') has the same values if they are at most 4294967295",
        (b'f', _) => {
            "array.astype('float64') has the nearest values, whose distance adds to the bound"
        }
        (b'm' | b'M', _) => {
            "its numbers are those of array.view('int64'), less the first one; a date has no error bound of its own"
        }
        _ => "they are not numbers with an error bound",
    }
}

/// The value type with one of these names, or of anything that NumPy makes an element type of.
///
/// # Errors
///
/// As [`value_type`], and what NumPy raises.
pub fn named(dtype: &Bound<'_, PyAny>) -> PyResult<ValueType> {
    let name: Option<String> = dtype.extract().ok();
    let has_name = |of: &ValueType| name.as_deref() == Some(numpy_name(*of));
    match ValueType::ALL.into_iter().find(has_name) {
        Some(found) => Ok(found),
        None => value_type(&PyArrayDescr::new(dtype.py(), dtype)?),
    }
}

/// The value type of an element type of DLPack.
///
/// # Errors
///
/// As [`value_type`].
pub fn value_type_of_dlpack(py: Python<'_>, dtype: DLDataType) -> PyResult<ValueType> {
    let found = match (dtype.code, dtype.bits, dtype.lanes) {
        (DLDataTypeCode::FLOAT, 32, 1) => Some(ValueType::F32),
        (DLDataTypeCode::FLOAT, 64, 1) => Some(ValueType::F64),
        (DLDataTypeCode::FLOAT, 16, 1) => Some(ValueType::F16),
        (DLDataTypeCode::BFLOAT, 16, 1) => Some(ValueType::Bf16),
        (DLDataTypeCode::INT, 16, 1) => Some(ValueType::I16),
        (DLDataTypeCode::UINT, 16, 1) => Some(ValueType::U16),
        (DLDataTypeCode::INT, 32, 1) => Some(ValueType::I32),
        (DLDataTypeCode::UINT, 32, 1) => Some(ValueType::U32),
        _ => None,
    };
    found.ok_or_else(|| {
        let kind = match dtype.code {
            DLDataTypeCode::INT => b'i',
            DLDataTypeCode::UINT => b'u',
            DLDataTypeCode::FLOAT => b'f',
            DLDataTypeCode::COMPLEX => b'c',
            DLDataTypeCode::BOOL => b'b',
            _ => b'V',
        };
        let advice = advice(kind, usize::from(dtype.bits) / 8);
        unsupported(py, format_args!("{dtype:?}"), advice)
    })
}

fn unsupported(py: Python<'_>, dtype: impl Display, advice: &str) -> PyErr {
    let known = ValueType::ALL.map(numpy_name).join(", ");
    let message = format!(
        "array: elements of type {dtype} cannot be compressed, only those of {known}; {advice}"
    );
    typed(py, UNSUPPORTED_TYPE, message)
}

/// The NumPy element type of a value type.
///
/// # Errors
///
/// `UnsupportedType` if it is bfloat16, and the package ml_dtypes is not installed.
pub fn descr(py: Python<'_>, value_type: ValueType) -> PyResult<Bound<'_, PyArrayDescr>> {
    if value_type != ValueType::Bf16 {
        return PyArrayDescr::new(py, numpy_name(value_type));
    }
    let package = py.import("ml_dtypes").map_err(|cause| {
        let message = "bfloat16 is no type of NumPy itself: install the package ml_dtypes";
        let error = typed(py, UNSUPPORTED_TYPE, message.to_owned());
        error.set_cause(py, Some(cause));
        error
    })?;
    PyArrayDescr::new(py, package.getattr("bfloat16")?)
}
