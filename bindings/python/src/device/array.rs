//! `DeviceArray`: results in the memory of a GPU.

use crate::device::stream::failed;
use crate::dtype::numpy_name;
use crate::error::raised;
use dlpark::allocation::dynamic::Allocation;
use dlpark::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned,
};
use dlpark::python::{CudaStreamRequest, DlpackExporter, ExportRequest, export_dlpack};
use dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use ferrosz::ValueType;
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::fmt;
use std::sync::Arc;

/// An array in the memory of a GPU: a stream, or a decompressed array. Other libraries take it without a copy:
/// `cupy.from_dlpack(array)`, `torch.from_dlpack(array)`, `cupy.asarray(array)`. It keeps its memory as long as one of them
/// uses it.
#[pyclass(frozen, module = "ferrosz")]
pub struct DeviceArray {
    memory: Arc<DeviceMemory>,
    element: ElementType,
    shape: Vec<u64>,
}

/// Memory of a GPU.
pub struct DeviceMemory {
    /// Never empty.
    pub bytes: CudaSlice<u8>,
    pub address: u64,
    /// The stream that made the contents, and its object in Python, which keeps it.
    pub stream: Arc<CudaStream>,
    pub _keeper: Option<Py<PyAny>>,
}

/// The type of the elements of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementType {
    /// The bytes of a stream.
    Byte,
    /// Values of a field.
    Value(ValueType),
}

impl ElementType {
    fn numpy_name(self) -> &'static str {
        match self {
            Self::Byte => "uint8",
            Self::Value(value_type) => numpy_name(value_type),
        }
    }

    /// As in CUDA's array interface, which has no bfloat16.
    fn typestr(self) -> &'static str {
        match self {
            Self::Byte => "|u1",
            Self::Value(ValueType::F32) => "<f4",
            Self::Value(ValueType::F64) => "<f8",
            Self::Value(ValueType::F16) => "<f2",
            Self::Value(ValueType::Bf16) => "<V2",
            Self::Value(ValueType::I16) => "<i2",
            Self::Value(ValueType::U16) => "<u2",
            Self::Value(ValueType::I32) => "<i4",
            Self::Value(ValueType::U32) => "<u4",
        }
    }

    fn dlpack(self) -> DLDataType {
        let code = match self {
            Self::Byte => DLDataTypeCode::UINT,
            Self::Value(ValueType::F32 | ValueType::F64 | ValueType::F16) => DLDataTypeCode::FLOAT,
            Self::Value(ValueType::Bf16) => DLDataTypeCode::BFLOAT,
            Self::Value(ValueType::I16 | ValueType::I32) => DLDataTypeCode::INT,
            Self::Value(ValueType::U16 | ValueType::U32) => DLDataTypeCode::UINT,
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
            Self::Value(value_type) => value_type.bytes() as u64,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.numpy_name())
    }
}

impl DeviceArray {
    pub fn new(memory: DeviceMemory, element: ElementType, shape: Vec<u64>) -> Self {
        Self {
            memory: Arc::new(memory),
            element,
            shape,
        }
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
            device_id: self.memory.stream.context().ordinal() as i32,
        }
    }

    fn flags(&self) -> DlpackFlags {
        DlpackFlags::empty()
    }

    /// Makes the consumer's stream wait for the contents.
    fn prepare_export(&self, py: Python<'_>, request: &ExportRequest<'_>) -> PyResult<()> {
        let consumer = match request.cuda_stream()? {
            CudaStreamRequest::NoSync => return Ok(()),
            CudaStreamRequest::Omitted | CudaStreamRequest::LegacyDefault => 0,
            CudaStreamRequest::PerThreadDefault => 2,
            CudaStreamRequest::Pointer(handle) => handle,
        };
        // SAFETY: the consumer says that it is a stream of this GPU.
        let consumer = unsafe {
            self.memory
                .stream
                .context()
                .wrap_borrowed_stream(consumer as *mut _)
        };
        let joined = consumer.join(&self.memory.stream);
        joined.map_err(|error| raised(py, &failed("order two streams")(error)))
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
        self.memory.stream.context().ordinal()
    }

    /// CUDA's array interface, version 3.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("typestr", self.element.typestr())?;
        interface.set_item("data", (self.memory.address, false))?;
        interface.set_item("strides", py.None())?;
        // The default stream has no address; its number is 1.
        interface.set_item("stream", (self.memory.stream.cu_stream() as usize).max(1))?;
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
