//! Arrays of the caller in the memory of a GPU, and those of other libraries than NumPy in the memory of the CPU.

use crate::device::array::DeviceArray;
use crate::device::stream::CallerStream;
use crate::dtype::NumberType;
use crate::error::{UNSUPPORTED_TYPE, argument, raised, typed};
use dlpark::DlpackFlags;
use dlpark::ffi::{DLDataType, DLDataTypeCode, DLDeviceType};
use dlpark::python::{ImportRequest, ImportedDlpack, dlpack_device};
use ferrosz::ValueType;
use ferrosz::cuda::Gpu;
use ferrosz::cuda::cudarc::driver::{CudaContext, sys};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// The numbers of the stream of CUDA's array interface that stand for no stream of the library's own.
const LEGACY_STREAM: usize = 1;

/// An array in the memory of a GPU, its elements in C order.
pub struct DeviceInput {
    /// The address of the first element.
    pub address: u64,
    /// NumPy's kind and bytes of an element, such as `f4` or `u1`, and `bf2` for bfloat16.
    pub kind: String,
    /// The lengths of the dimensions.
    pub shape: Vec<u64>,
    /// Whether it must not be written.
    pub read_only: bool,
    /// What keeps the memory.
    _keeper: Keeper,
}

#[expect(dead_code, reason = "kept, not read")]
enum Keeper {
    Object(Py<PyAny>),
    Tensor(ImportedDlpack),
}

/// Whether an object is an array in the memory of an NVIDIA GPU.
pub fn is_on_gpu(object: &Bound<'_, PyAny>) -> bool {
    let py = object.py();
    if object.is_instance_of::<DeviceArray>() {
        return true;
    }
    match dlpack_device(object.as_borrowed()) {
        Ok(device) => is_cuda(device.device_type),
        Err(_) => object
            .hasattr(intern!(py, "__cuda_array_interface__"))
            .unwrap_or(false),
    }
}

fn is_cuda(device: DLDeviceType) -> bool {
    device == DLDeviceType::CUDA || device == DLDeviceType::CUDAMANAGED
}

impl DeviceInput {
    /// An array of the caller, and the stream on which it may be used from now on.
    ///
    /// # Errors
    ///
    /// `DeviceError` without its GPU; `ArgumentError` if its elements are not in C order.
    pub fn new(
        object: &Bound<'_, PyAny>,
        given: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, CallerStream)> {
        if let Ok(array) = object.cast::<DeviceArray>() {
            return Self::of_result(array, given);
        }
        match dlpack_device(object.as_borrowed()) {
            Ok(_) => Self::of_dlpack(object, given),
            Err(_) => Self::of_interface(object, given),
        }
    }

    /// As [`DeviceInput::new`], if the array is one of bytes, which may be a stream.
    ///
    /// # Errors
    ///
    /// Those of [`DeviceInput::new`]; `ArgumentError` if it is none.
    pub fn of_stream(
        object: &Bound<'_, PyAny>,
        given: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, CallerStream)> {
        let (input, caller) = Self::new(object, given)?;
        match (&input.kind[..], input.shape.len()) {
            ("u1", 1) => Ok((input, caller)),
            _ => Err(argument(
                object.py(),
                "stream: a stream in device memory is an array of bytes with one dimension",
            )),
        }
    }

    /// An array of the caller that a call on this stream uses. `name` is that of the argument.
    ///
    /// # Errors
    ///
    /// Those of [`DeviceInput::new`]; `ArgumentError` if it is on another GPU.
    pub fn on_stream(
        object: &Bound<'_, PyAny>,
        name: &str,
        caller: &CallerStream,
    ) -> PyResult<Self> {
        let py = object.py();
        let handle = caller.stream.cu_stream() as usize;
        let handle = handle.into_pyobject(py)?.into_any();
        let (input, stream) = Self::new(object, Some(&handle))?;
        match stream.gpu.context().ordinal() == caller.gpu.context().ordinal() {
            true => Ok(input),
            false => Err(argument(py, format!("{name}: it is on another GPU"))),
        }
    }

    /// An array of the caller that a call on this stream writes to, and its number of bytes.
    ///
    /// # Errors
    ///
    /// `ArgumentError` if it cannot be written to, is on another GPU, or overlaps with `input`.
    pub fn for_result(
        out: &Bound<'_, PyAny>,
        caller: &CallerStream,
        input: &Self,
    ) -> PyResult<Self> {
        let py = out.py();
        let fault = |what: &str| Err(argument(py, format!("out: {what}")));
        if !is_on_gpu(out) {
            return fault("it is not in the memory of a GPU, as the other array is");
        }
        let output = Self::on_stream(out, "out", caller)?;
        if output.read_only {
            return fault("it is read-only");
        }
        let (read, written) = (input.addresses(), output.addresses());
        if read.start.max(written.start) < read.end.min(written.end) {
            return fault("it overlaps with the other array");
        }
        Ok(output)
    }

    /// A result of an earlier call, which has ended.
    fn of_result(
        array: &Bound<'_, DeviceArray>,
        given: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, CallerStream)> {
        let found = array.get();
        let input = Self {
            address: found.address(),
            kind: kind_of(found.dlpack_type()),
            shape: found.lengths().to_vec(),
            read_only: false,
            _keeper: Keeper::Object(array.clone().into_any().unbind()),
        };
        Ok((input, CallerStream::new(given, array, found.ordinal())?))
    }

    /// By DLPack: the owner makes our stream wait for the array.
    fn of_dlpack(
        object: &Bound<'_, PyAny>,
        given: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, CallerStream)> {
        let py = object.py();
        let request = ImportRequest::new(object.as_borrowed())?;
        let ordinal = usize::try_from(request.device()?.device_id).unwrap_or(0);
        let stream = CallerStream::new(given, object, ordinal)?;
        let tensor = request.import(Some(&stream), Some(false))?;
        let fault = |error: dlpark::tensor::Error| argument(py, format!("array: {error}"));
        let view = tensor.validate().map_err(fault)?;
        if !view.is_compact().map_err(fault)? {
            return Err(not_in_c_order(py));
        }
        let input = Self {
            address: view.data_ptr() as u64 + view.byte_offset(),
            kind: kind_of(view.dtype()),
            shape: view.shape().iter().map(|length| *length as u64).collect(),
            read_only: tensor.flags().contains(DlpackFlags::READ_ONLY),
            _keeper: Keeper::Object(py.None()),
        };
        let keeper = Keeper::Tensor(tensor);
        Ok((
            Self {
                _keeper: keeper,
                ..input
            },
            stream,
        ))
    }

    /// By `__cuda_array_interface__`, version 3: our stream waits for that of the owner.
    fn of_interface(
        object: &Bound<'_, PyAny>,
        given: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, CallerStream)> {
        let py = object.py();
        let interface = object.getattr(intern!(py, "__cuda_array_interface__"))?;
        let interface = interface
            .cast::<PyDict>()
            .map_err(|_| malformed(py, "it is no dict"))?;
        let item = |name| {
            let found = interface.get_item(name)?;
            Ok::<_, PyErr>(found.filter(|value| !value.is_none()))
        };
        let needed = |name: &'static str| item(name)?.ok_or_else(|| malformed(py, name));
        let (address, read_only): (u64, bool) = needed("data")?.extract()?;
        let shape: Vec<u64> = needed("shape")?.extract()?;
        let typestr: String = needed("typestr")?.extract()?;
        if item("mask")?.is_some() {
            let message =
                "array: the mask of a device array would be lost; fill it, and give fill=value";
            return Err(typed(py, UNSUPPORTED_TYPE, message.to_owned()));
        }
        let kind = typestr.trim_start_matches(['<', '|', '=']).to_owned();
        if let Some(strides) = item("strides")? {
            let strides: Vec<i64> = strides.extract()?;
            let bytes: i64 = kind
                .get(1..)
                .and_then(|bytes| bytes.parse().ok())
                .unwrap_or(1);
            if !is_compact(&shape, &strides, bytes) {
                return Err(not_in_c_order(py));
            }
        }
        let ordinal = ordinal_of(py, address)?;
        let stream = CallerStream::new(given, object, ordinal)?;
        if let Some(producer) = item("stream")? {
            match producer.extract()? {
                0 => return Err(malformed(py, "stream 0 is ambiguous")),
                LEGACY_STREAM => stream.wait_for(py, 0)?,
                other => stream.wait_for(py, other)?,
            }
        }
        let input = Self {
            address,
            kind,
            shape,
            read_only,
            _keeper: Keeper::Object(object.clone().unbind()),
        };
        Ok((input, stream))
    }

    /// The type of its elements; none if no stream has such numbers.
    pub fn number_type(&self) -> Option<NumberType> {
        let (kind, is_complex) = match &self.kind[..] {
            "c8" => ("f4", true),
            "c16" => ("f8", true),
            kind => (kind, false),
        };
        let values = match kind {
            "f4" => Some(ValueType::F32),
            "f8" => Some(ValueType::F64),
            "f2" => Some(ValueType::F16),
            "bf2" => Some(ValueType::Bf16),
            "i2" => Some(ValueType::I16),
            "u2" => Some(ValueType::U16),
            "i4" => Some(ValueType::I32),
            "u4" => Some(ValueType::U32),
            _ => None,
        };
        values.map(|values| NumberType { values, is_complex })
    }

    /// The number of elements.
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// The addresses of its bytes.
    fn addresses(&self) -> Range<u64> {
        let digits = self
            .kind
            .trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let bytes = digits.parse().unwrap_or(1);
        self.address
            ..self
                .address
                .saturating_add(self.elements().saturating_mul(bytes))
    }
}

/// NumPy's kind and bytes of an element.
fn kind_of(dtype: DLDataType) -> String {
    let kind = match dtype.code {
        DLDataTypeCode::INT => "i",
        DLDataTypeCode::UINT => "u",
        DLDataTypeCode::FLOAT => "f",
        DLDataTypeCode::COMPLEX => "c",
        DLDataTypeCode::BFLOAT => "bf",
        // Types that NumPy has no letter for.
        _ => "V",
    };
    format!(
        "{kind}{}",
        usize::from(dtype.bits).div_ceil(8) * usize::from(dtype.lanes)
    )
}

fn is_compact(shape: &[u64], strides: &[i64], bytes: i64) -> bool {
    let mut next = bytes;
    let lengths = shape.iter().zip(strides).rev();
    shape.contains(&0)
        || lengths.fold(true, |is_compact, (length, stride)| {
            let fits = *length == 1 || *stride == next;
            next = next.saturating_mul(*length as i64);
            is_compact && fits
        })
}

fn malformed(py: Python<'_>, what: &str) -> PyErr {
    argument(
        py,
        format!("array: its __cuda_array_interface__ cannot be used: {what}"),
    )
}

fn not_in_c_order(py: Python<'_>) -> PyErr {
    argument(
        py,
        "array: the elements of a device array must be in C order without gaps; copy it first",
    )
}

/// The number of the GPU with this address.
fn ordinal_of(py: Python<'_>, address: u64) -> PyResult<usize> {
    // Without a driver this is the typed error.
    let context: Arc<CudaContext> = match Gpu::new(0) {
        Ok(gpu) => gpu.context().clone(),
        Err(error) => return Err(raised(py, &error)),
    };
    if address == 0 {
        return Ok(context.ordinal());
    }
    let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    let mut ordinal = 0i32;
    // SAFETY: the attribute is an `int`; the driver, which is loaded, tells it of any number.
    let status = unsafe {
        sys::cuPointerGetAttribute(
            std::ptr::from_mut(&mut ordinal).cast::<c_void>(),
            attribute,
            address,
        )
    };
    match (status, usize::try_from(ordinal)) {
        (sys::CUresult::CUDA_SUCCESS, Ok(ordinal)) => Ok(ordinal),
        _ => Err(malformed(py, "its address is in the memory of no GPU")),
    }
}

/// The tensor of another library in the memory of the CPU, without a copy; none if the object is none, or NumPy can
/// read it better.
///
/// # Errors
///
/// What the library raises.
pub fn on_cpu(object: &Bound<'_, PyAny>) -> PyResult<Option<ImportedDlpack>> {
    match dlpack_device(object.as_borrowed()) {
        Ok(device) if device.device_type == DLDeviceType::CPU => {}
        _ => return Ok(None),
    }
    let tensor = ImportRequest::new(object.as_borrowed())?.import(None, None)?;
    let is_compact = tensor
        .validate()
        .is_ok_and(|view| view.is_compact().unwrap_or(false));
    Ok(is_compact.then_some(tensor))
}
