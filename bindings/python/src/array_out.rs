//! Arrays that are decompressed: new ones, and those of the caller.

use crate::dtype::{self, NumberType};
use crate::error::argument;
use bytemuck::allocation::cast_vec;
use ferrosz::Value;
use numpy::{Element, PyArray1, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;

/// A NumPy array of this shape that owns these values, which may be the parts of complex numbers.
///
/// # Errors
///
/// `UnsupportedType` if NumPy does not have the type.
pub fn array_of<'py, V: Value>(
    py: Python<'py>,
    values: Vec<V>,
    number_type: NumberType,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    match V::TYPE.bytes() {
        2 => array_of_bits::<V, u16>(py, values, number_type, shape),
        4 => array_of_bits::<V, u32>(py, values, number_type, shape),
        _ => array_of_bits::<V, u64>(py, values, number_type, shape),
    }
}

/// As [`array_of`]; `B` has as many bits as `V`.
fn array_of_bits<'py, V: Value, B: Element + bytemuck::Pod>(
    py: Python<'py>,
    values: Vec<V>,
    number_type: NumberType,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let bits = PyArray1::from_vec(py, cast_vec::<V, B>(values));
    let line = bits.call_method1(intern!(py, "view"), (dtype::descr(py, number_type)?,))?;
    line.call_method1(intern!(py, "reshape"), (shape.to_vec(),))
        .map_err(|cause| {
            // The lengths of an array without elements may be any.
            let error = argument(py, format!("stream: NumPy has no array of shape {shape:?}"));
            error.set_cause(py, Some(cause));
            error
        })
}

/// The memory of an array of the caller, which is written.
///
/// Python code can read the array meanwhile, and then sees some mixture of old and new elements.
pub struct Output {
    array: Py<PyUntypedArray>,
    start: *mut u8,
    /// How many values there are: of complex numbers their parts.
    values: usize,
}

// SAFETY: the memory does not move and stays as long as the array, which is kept.
unsafe impl Send for Output {}

impl Output {
    /// The memory of `out`, which must be a writable array of this type and shape, in C order.
    ///
    /// # Errors
    ///
    /// `ArgumentError`, which names the fault of `out`.
    pub fn new(out: &Bound<'_, PyAny>, number_type: NumberType, shape: &[u64]) -> PyResult<Self> {
        let py = out.py();
        let fault = |what: String| argument(py, format!("out: {what}"));
        let array = out
            .cast::<PyUntypedArray>()
            .map_err(|_| fault("it is not a NumPy array".to_owned()))?;
        let wanted = dtype::descr(py, number_type)?;
        if !array.dtype().is_equiv_to(&wanted) {
            return Err(fault(format!(
                "its elements are {}, and those of the stream {wanted}",
                array.dtype()
            )));
        }
        let found: Vec<u64> = array.shape().iter().map(|length| *length as u64).collect();
        if found != shape {
            return Err(fault(format!(
                "its shape is {found:?}, and {shape:?} is needed"
            )));
        }
        if !array.is_c_contiguous() || !array.is_aligned() {
            return Err(fault(
                "its elements are not in C order without gaps".to_owned(),
            ));
        }
        let flags = array.getattr(intern!(py, "flags"))?;
        if !flags.getattr(intern!(py, "writeable"))?.extract::<bool>()? {
            return Err(fault("it is read-only".to_owned()));
        }
        // SAFETY: the array is alive.
        let start = unsafe { (*array.as_array_ptr()).fields.data };
        Ok(Self {
            start: start.cast(),
            values: array.len() * number_type.parts() as usize,
            array: array.clone().unbind(),
        })
    }

    /// The values, whose type must be that of [`Output::new`].
    pub fn values<V: Value>(&mut self) -> &mut [V] {
        if self.values == 0 {
            return &mut [];
        }
        // SAFETY: so many values of the type start there, aligned and in C order; any bits are a `V`.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.values) }
    }

    /// The array.
    pub fn array<'py>(self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.array.into_bound(py).into_any()
    }
}
