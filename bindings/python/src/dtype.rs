//! The element types of NumPy arrays and of streams.

use crate::error::{UNSUPPORTED_TYPE, typed};
use dlpark::ffi::{DLDataType, DLDataTypeCode};
use ferrosz::codec::mapping::axes::PARTS;
use ferrosz::{Info, Part, ValueType};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use std::fmt::Display;

/// The type of the numbers of an array: real values, or complex numbers with parts of this type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberType {
    /// The type of the values.
    pub values: ValueType,
    /// Whether they are the real and imaginary parts of complex numbers.
    pub is_complex: bool,
}

impl NumberType {
    /// Complex numbers of two `f32`.
    const COMPLEX64: Self = Self {
        values: ValueType::F32,
        is_complex: true,
    };

    /// Complex numbers of two `f64`.
    const COMPLEX128: Self = Self {
        values: ValueType::F64,
        is_complex: true,
    };

    /// Real values.
    pub const fn real(values: ValueType) -> Self {
        Self {
            values,
            is_complex: false,
        }
    }

    /// Those of a stream.
    pub fn of(info: &Info) -> Self {
        Self {
            values: info.dtype,
            is_complex: info.is_complex,
        }
    }

    /// All types.
    pub fn all() -> impl Iterator<Item = Self> {
        let complex = [Self::COMPLEX64, Self::COMPLEX128];
        ValueType::ALL.into_iter().map(Self::real).chain(complex)
    }

    /// NumPy's name.
    pub fn name(self) -> &'static str {
        match (self.is_complex, self.values) {
            (true, ValueType::F32) => "complex64",
            (true, _) => "complex128",
            (false, values) => numpy_name(values),
        }
    }

    /// How many values a number has.
    pub fn parts(self) -> u64 {
        if self.is_complex { PARTS } else { 1 }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> u64 {
        self.parts() * self.values.bytes() as u64
    }

    /// The shape of the values of an array of this shape.
    pub fn of_values(self, shape: &[u64]) -> Vec<u64> {
        match self.is_complex {
            true => [shape, &[PARTS]].concat(),
            false => shape.to_vec(),
        }
    }

    /// A part of an array's numbers as a part of its values.
    pub fn part_of_values(self, part: Part) -> Part {
        match self.is_complex {
            true => part.of_parts(),
            false => part,
        }
    }
}

impl Display for NumberType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// NumPy's name of a value type.
fn numpy_name(value_type: ValueType) -> &'static str {
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

/// The type of the numbers of a NumPy element type of any byte order.
///
/// # Errors
///
/// `UnsupportedType`, which names the types that ferrosz has.
pub fn number_type(descr: &Bound<'_, PyArrayDescr>) -> PyResult<NumberType> {
    let found = match (descr.kind(), descr.itemsize()) {
        (b'c', 8) => return Ok(NumberType::COMPLEX64),
        (b'c', 16) => return Ok(NumberType::COMPLEX128),
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
    let found = found.map(NumberType::real);
    found.ok_or_else(|| unsupported(descr.py(), descr, advice(descr.kind(), descr.itemsize())))
}

/// What to do with an array whose elements are of another type.
fn advice(kind: u8, bytes: usize) -> &'static str {
    match (kind, bytes) {
        (b'c', _) => {
            "array.astype('complex128') has the nearest numbers, whose distance adds to the bound"
        }
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

/// The type with one of these names, or of anything that NumPy makes an element type of.
///
/// # Errors
///
/// The exceptions of [`number_type`] and of NumPy's `dtype`.
pub fn named(dtype: &Bound<'_, PyAny>) -> PyResult<NumberType> {
    let name: Option<String> = dtype.extract().ok();
    let has_name = |of: &NumberType| name.as_deref() == Some(of.name());
    match NumberType::all().find(has_name) {
        Some(found) => Ok(found),
        None => number_type(&PyArrayDescr::new(dtype.py(), dtype)?),
    }
}

/// The type of the numbers of an element type of DLPack.
///
/// # Errors
///
/// As [`number_type`].
pub fn number_type_of_dlpack(py: Python<'_>, dtype: DLDataType) -> PyResult<NumberType> {
    let found = match (dtype.code, dtype.bits, dtype.lanes) {
        (DLDataTypeCode::COMPLEX, 64, 1) => return Ok(NumberType::COMPLEX64),
        (DLDataTypeCode::COMPLEX, 128, 1) => return Ok(NumberType::COMPLEX128),
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
    found.map(NumberType::real).ok_or_else(|| {
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
    let known: Vec<&str> = NumberType::all().map(NumberType::name).collect();
    let known = known.join(", ");
    let message = format!(
        "array: elements of type {dtype} cannot be compressed, only those of {known}; {advice}"
    );
    typed(py, UNSUPPORTED_TYPE, message)
}

/// The NumPy element type of a type.
///
/// # Errors
///
/// `UnsupportedType` if it is bfloat16, and the package ml_dtypes is not installed.
pub fn descr(py: Python<'_>, of: NumberType) -> PyResult<Bound<'_, PyArrayDescr>> {
    if of.values != ValueType::Bf16 {
        return PyArrayDescr::new(py, of.name());
    }
    let package = py.import("ml_dtypes").map_err(|cause| {
        let message = "bfloat16 is no type of NumPy itself: install the package ml_dtypes";
        let error = typed(py, UNSUPPORTED_TYPE, message.to_owned());
        error.set_cause(py, Some(cause));
        error
    })?;
    PyArrayDescr::new(py, package.getattr("bfloat16")?)
}
