//! `DeviceArray`: results in the memory of a GPU.

use crate::device::input::DeviceInput;
use crate::device::memory::Memory;
use crate::dtype::NumberType;
use dlpark::allocation::dynamic::Allocation;
use dlpark::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned,
};
use dlpark::python::{DlpackExporter, ExportRequest, export_dlpack};
use dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use ferrosz::ValueType;
use ferrosz::cuda::Gpu;
use ferrosz::stream::StreamLayout;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::fmt;
use std::sync::Arc;

/// An array in the memory of a GPU: a stream, or a decompressed array. Other libraries take it without a copy:
/// `cupy.from_dlpack(array)`, `torch.from_dlpack(array)`, `cupy.asarray(array)`. It is ready on every stream, and keeps its
/// memory as long as one of them uses it. The memory is then freed in the order of the stream of the call that made it: work
/// on other streams must have ended, or that stream must wait for it.
#[pyclass(frozen, module = "ferrosz")]
pub struct DeviceArray {
    memory: Arc<DeviceMemory>,
    element: ElementType,
    shape: Vec<u64>,
    /// The layout of the stream that was put there, if it is known.
    layout: Option<StreamLayout>,
}

/// The memory of a result, whose contents were there when the call that made it ended.
pub struct DeviceMemory {
    /// The address of the first byte.
    address: u64,
    /// The number of the GPU.
    ordinal: usize,
    /// What keeps the memory.
    _owner: Owner,
}

impl DeviceMemory {
    /// New memory of a GPU.
    pub fn new(memory: Memory, gpu: &Gpu) -> Self {
        Self {
            address: memory.address,
            ordinal: gpu.context().ordinal(),
            _owner: Owner::Own(memory),
        }
    }

    /// The memory of an array of the caller.
    pub fn of_caller(array: DeviceInput, gpu: &Gpu) -> Self {
        Self {
            address: array.address,
            ordinal: gpu.context().ordinal(),
            _owner: Owner::Caller(array),
        }
    }
}

/// What keeps the memory of a result.
#[expect(dead_code, reason = "kept, not read")]
enum Owner {
    /// Memory of ferrosz.
    Own(Memory),
    /// Memory of the caller.
    Caller(DeviceInput),
}

/// The type of the elements of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementType {
    /// The bytes of a stream.
    Byte,
    /// Numbers of a field.
    Number(NumberType),
}

impl ElementType {
    fn numpy_name(self) -> &'static str {
        match self {
            Self::Byte => "uint8",
            Self::Number(number_type) => number_type.name(),
        }
    }

    /// As in CUDA's array interface, which has no bfloat16.
    fn typestr(self) -> &'static str {
        let Self::Number(NumberType { values, is_complex }) = self else {
            return "|u1";
        };
        match (values, is_complex) {
            (ValueType::F32, true) => "<c8",
            (_, true) => "<c16",
            (ValueType::F32, false) => "<f4",
            (ValueType::F64, false) => "<f8",
            (ValueType::F16, false) => "<f2",
            (ValueType::Bf16, false) => "<V2",
            (ValueType::I16, false) => "<i2",
            (ValueType::U16, false) => "<u2",
            (ValueType::I32, false) => "<i4",
            (ValueType::U32, false) => "<u4",
        }
    }

    fn dlpack(self) -> DLDataType {
        let code = match self {
            Self::Byte => DLDataTypeCode::UINT,
            Self::Number(of) if of.is_complex => DLDataTypeCode::COMPLEX,
            Self::Number(of) => match of.values {
                ValueType::F32 | ValueType::F64 | ValueType::F16 => DLDataTypeCode::FLOAT,
                ValueType::Bf16 => DLDataTypeCode::BFLOAT,
                ValueType::I16 | ValueType::I32 => DLDataTypeCode::INT,
                ValueType::U16 | ValueType::U32 => DLDataTypeCode::UINT,
            },
        };
        DLDataType {
            code,
            bits: 8 * self.bytes() as u8,
            lanes: 1,
        }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Byte => 1,
            Self::Number(number_type) => number_type.bytes(),
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.numpy_name())
    }
}

impl DeviceArray {
    /// A stream of so many bytes, and its layout, if it is known.
    pub fn of_stream(memory: DeviceMemory, bytes: u64, layout: Option<StreamLayout>) -> Self {
        Self {
            memory: Arc::new(memory),
            element: ElementType::Byte,
            shape: vec![bytes],
            layout,
        }
    }

    /// Numbers of a field.
    pub fn of_numbers(memory: DeviceMemory, number_type: NumberType, shape: Vec<u64>) -> Self {
        Self {
            memory: Arc::new(memory),
            element: ElementType::Number(number_type),
            shape,
            layout: None,
        }
    }

    /// The layout of the stream that was put there, if it is known. Those who have the memory may have put something else there since.
    pub fn layout(&self) -> Option<StreamLayout> {
        self.layout
    }

    /// The address of the first element.
    pub fn address(&self) -> u64 {
        self.memory.address
    }

    /// The number of the GPU.
    pub fn ordinal(&self) -> usize {
        self.memory.ordinal
    }

    /// The lengths of the dimensions.
    pub fn lengths(&self) -> &[u64] {
        &self.shape
    }

    /// The type of the elements, as DLPack has it.
    pub fn dlpack_type(&self) -> DLDataType {
        self.element.dlpack()
    }

    /// A tensor of this array, which keeps the memory.
    fn tensor<M: ManagedTensorBase>(&self) -> PyResult<Managed<M>> {
        let rank = self.shape.len();
        let failed = |error: dlpark::allocation::Error| PyBufferError::new_err(error.to_string());
        let mut allocation = Allocation::<M>::allocate(2 * rank).map_err(failed)?;
        let mut stride = 1;
        let (lengths, strides) = allocation.extra_mut().split_at_mut(rank);
        for (axis, length) in self.shape.iter().enumerate().rev() {
            lengths[axis] = *length as i64;
            strides[axis] = stride;
            stride *= *length as i64;
        }
        let mut tensor = allocation
            .initialize(self.memory.clone(), rank)
            .map_err(failed)?;
        let extra = tensor.extra_mut().as_mut_ptr();
        let described = tensor.tensor_mut();
        described.shape = extra;
        // SAFETY: the strides follow the lengths in the same allocation.
        described.strides = unsafe { extra.add(rank) };
        tensor.set_data(self.memory.address as *mut _);
        tensor.set_device(self.device());
        tensor.set_dtype(self.element.dlpack());
        // SAFETY: the memory is kept by the tensor's context, and has these elements.
        Ok(unsafe { tensor.finish() })
    }
}

impl DlpackExporter for DeviceArray {
    fn device(&self) -> DLDevice {
        DLDevice {
            device_type: DLDeviceType::CUDA,
            device_id: self.memory.ordinal as i32,
        }
    }

    fn flags(&self) -> DlpackFlags {
        DlpackFlags::empty()
    }

    /// The contents are there, so the consumer's stream has nothing to wait for.
    fn prepare_export(&self, _: Python<'_>, request: &ExportRequest<'_>) -> PyResult<()> {
        request.cuda_stream().map(|_| ())
    }

    fn export_legacy(&self, _: Python<'_>) -> PyResult<Managed<DLManagedTensor>> {
        self.tensor()
    }

    fn export_versioned(&self, _: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        self.tensor()
    }
}

#[pymethods]
impl DeviceArray {
    /// The lengths of the dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// NumPy's name of the element type.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.element.numpy_name()
    }

    /// Bytes of the elements.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.element.bytes()
    }

    /// The number of the GPU.
    #[getter]
    fn device_id(&self) -> usize {
        self.memory.ordinal
    }

    /// CUDA's array interface, version 3.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("typestr", self.element.typestr())?;
        interface.set_item("data", (self.memory.address, false))?;
        interface.set_item("strides", py.None())?;
        // Nothing to wait for.
        interface.set_item("stream", py.None())?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    /// The type of the device in DLPack, and its number.
    fn __dlpack_device__(&self) -> (u32, i32) {
        let device = self.device();
        (device.device_type.0, device.device_id)
    }

    /// The array as a capsule of DLPack, ready on the consumer's stream.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        export_dlpack(
            self,
            py,
            ExportRequest::parse(stream, max_version, dl_device, copy)?,
        )
    }

    fn __repr__(&self) -> String {
        format!(
            "<ferrosz.DeviceArray: {:?} {} on cuda:{}>",
            self.shape,
            self.dtype(),
            self.device_id()
        )
    }
}
