//! Arrays that are compressed.

use crate::device;
use crate::dtype::{self, NumberType};
use crate::error::{UNSUPPORTED_TYPE, argument, typed};
use dlpark::python::ImportedDlpack;
use ferrosz::{Value, ValueType};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;

/// The elements of an array, in C order and in the byte order of this machine.
///
/// Python code can write to the array while it is read here, as NumPy allows this to every thread. The stream is then one
/// of some mixture of old and new elements.
pub struct Field {
    /// Keeps the memory.
    _keeper: Keeper,
    start: *const u8,
    /// How many values there are: of complex numbers their parts.
    values: usize,
    number_type: NumberType,
    shape: Vec<u64>,
}

#[expect(dead_code, reason = "kept, not read")]
enum Keeper {
    Array(Py<PyUntypedArray>),
    Tensor(ImportedDlpack),
    Memory(Vec<u64>),
}

// SAFETY: the memory does not move and stays as long as the array, which is kept; no thread writes through `start`.
unsafe impl Send for Field {}
// SAFETY: as above.
unsafe impl Sync for Field {}

impl Field {
    /// The elements of anything that NumPy makes an array of. Those in C order and native byte order are not copied.
    ///
    /// # Errors
    ///
    /// `UnsupportedType`, and what NumPy raises.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if object.cast_exact::<PyUntypedArray>().is_err() {
            refuse_mask(object)?;
        }
        let array = match object.cast::<PyUntypedArray>() {
            Ok(array) => array.clone(),
            Err(_) => {
                if let Some(tensor) = device::on_cpu(object)? {
                    return Self::of_tensor(py, tensor);
                }
                let numpy = py.import(intern!(py, "numpy"))?;
                numpy
                    .call_method1(intern!(py, "asarray"), (object,))?
                    .cast_into()?
            }
        };
        let number_type = dtype::number_type(&array.dtype())?;
        let shape = array.shape().iter().map(|length| *length as u64).collect();
        let array = in_c_order(&array, number_type)?;
        // SAFETY: the array is alive.
        let start = unsafe { (*array.as_array_ptr()).fields.data };
        Ok(Self {
            start: start.cast_const().cast(),
            values: array.len() * number_type.parts() as usize,
            number_type,
            shape,
            _keeper: Keeper::Array(array.unbind()),
        })
    }

    /// The elements of a tensor in the memory of the CPU, in C order.
    fn of_tensor(py: Python<'_>, tensor: ImportedDlpack) -> PyResult<Self> {
        let fault = |error: dlpark::tensor::Error| argument(py, format!("array: {error}"));
        let view = tensor.validate().map_err(fault)?;
        let number_type = dtype::number_type_of_dlpack(py, view.dtype())?;
        // SAFETY: the tensor, which the field keeps, has its elements there.
        let start = unsafe { view.offset_bytes_ptr() }.map_err(fault)?;
        Ok(Self {
            start,
            values: view.num_elements() * number_type.parts() as usize,
            number_type,
            shape: view.shape().iter().map(|length| *length as u64).collect(),
            _keeper: Keeper::Tensor(tensor),
        })
    }

    /// Numbers of this type and in this shape, from the start of `memory`, which has all of them.
    pub fn of_memory(memory: Vec<u64>, number_type: NumberType, shape: Vec<u64>) -> Self {
        let values = (shape.iter().product::<u64>() * number_type.parts()) as usize;
        Self {
            start: memory.as_ptr().cast(),
            values,
            number_type,
            shape,
            _keeper: Keeper::Memory(memory),
        }
    }

    /// The type of the numbers.
    pub fn number_type(&self) -> NumberType {
        self.number_type
    }

    /// The type of the values.
    pub fn value_type(&self) -> ValueType {
        self.number_type.values
    }

    /// The lengths of the dimensions, slowest first.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The extents of the values: with the axis of the parts of complex numbers.
    pub fn extents(&self) -> Vec<u64> {
        self.number_type.of_values(&self.shape)
    }

    /// Bytes of the elements.
    pub fn bytes(&self) -> usize {
        self.values * self.value_type().bytes()
    }

    /// The values; none if `V` is not their type.
    pub fn values<V: Value>(&self) -> &[V] {
        if V::TYPE != self.value_type() || self.values == 0 {
            return &[];
        }
        // SAFETY: so many values of this type start there, aligned, in C order: see `in_c_order`. Any bits are a `V`.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.values) }
    }
}

/// The array itself, or a copy, with elements in C order, aligned and in native byte order.
fn in_c_order<'py>(
    array: &Bound<'py, PyUntypedArray>,
    number_type: NumberType,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = array.py();
    let is_native = array.dtype().is_native_byteorder() != Some(false);
    if array.is_c_contiguous() && array.is_aligned() && is_native {
        return Ok(array.clone());
    }
    let numpy = py.import(intern!(py, "numpy"))?;
    let wanted = (array, dtype::descr(py, number_type)?, "CA");
    Ok(numpy
        .call_method1(intern!(py, "require"), wanted)?
        .cast_into()?)
}

/// Refuses masked arrays, whose mask would be lost: [`masked`](crate::masked) comes before, where there are fill values.
fn refuse_mask(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = object.py();
    let masked = py
        .import(intern!(py, "numpy"))?
        .getattr(intern!(py, "ma"))?;
    match object.is_instance(&masked.getattr(intern!(py, "MaskedArray"))?)? {
        false => Ok(()),
        true => Err(typed(
            py,
            UNSUPPORTED_TYPE,
            "array: a part of an array has no fill values, and the mask would be lost; give array.filled(value)".to_owned(),
        )),
    }
}
