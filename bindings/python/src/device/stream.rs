//! The CUDA stream of the caller, on which a call works.

use crate::error::{argument, raised};
use dlpark::ffi::DLDevice;
use dlpark::python::consumer::stream::{DlpackStream, StreamArg, cuda};
use ferrosz::Error;
use ferrosz::cuda::Gpu;
use ferrosz::cuda::cudarc::driver::{CudaStream, DriverError};
use pyo3::intern;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::sync::Arc;

/// The number of the default stream of each thread.
const PER_THREAD: usize = 2;

/// The GPU of an array, and the stream to work on.
pub struct CallerStream {
    pub gpu: Gpu,
    pub stream: Arc<CudaStream>,
    /// The object of the caller's library, which keeps the stream.
    pub keeper: Option<Arc<Py<PyAny>>>,
}

impl CallerStream {
    /// The stream that is given, as a number or as an object of CuPy, PyTorch or others; or the current stream of the
    /// library that the array belongs to. That of other libraries is the default stream.
    ///
    /// # Errors
    ///
    /// `DeviceError` without a GPU of this number; `ArgumentError` if `given` is no stream.
    pub fn new(
        given: Option<&Bound<'_, PyAny>>,
        array: &Bound<'_, PyAny>,
        ordinal: usize,
    ) -> PyResult<Self> {
        let py = array.py();
        let gpu = Gpu::new(ordinal).map_err(|error| raised(py, &error))?;
        let object = match given {
            Some(given) => Some(given.clone()),
            None => current(array, ordinal)?,
        };
        let handle = object.as_ref().map_or(Ok(0), handle)?;
        // SAFETY: the caller says that it is a stream of this GPU, and keeps it, or `keeper` does.
        let stream = unsafe { gpu.context().wrap_borrowed_stream(handle as *mut _) };
        Ok(Self {
            gpu,
            stream,
            keeper: object.map(|object| Arc::new(object.unbind())),
        })
    }

    /// Makes the stream wait for all that was put into another one of the same GPU.
    ///
    /// # Errors
    ///
    /// `DeviceError`.
    pub fn wait_for(&self, py: Python<'_>, other: usize) -> PyResult<()> {
        // A stream is in order with itself; but each thread has another stream of the number `PER_THREAD`.
        if other == self.stream.cu_stream() as usize && other != PER_THREAD {
            return Ok(());
        }
        // SAFETY: the owner of the stream says that it is one of this GPU, and keeps it.
        let other = unsafe { self.gpu.context().wrap_borrowed_stream(other as *mut _) };
        let joined = self.stream.join(&other);
        joined.map_err(|error| raised(py, &failed("order two streams")(error)))
    }
}

// SAFETY: the handle is that of a live stream of the GPU; see `CallerStream::new`.
unsafe impl DlpackStream for CallerStream {
    fn as_python_arg(&self, _: Python<'_>, _: DLDevice) -> PyResult<StreamArg> {
        Ok(cuda(self.stream.cu_stream().cast()))
    }

    unsafe fn wait_for_producer(&self, _: DLDevice, producer: *mut c_void) -> PyResult<bool> {
        Python::attach(|py| self.wait_for(py, producer as usize))?;
        Ok(true)
    }
}

/// The current stream of the library that an array belongs to.
fn current<'py>(array: &Bound<'py, PyAny>, ordinal: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let module = array.get_type().module()?.to_string();
    match module.split('.').next() {
        Some("cupy") => {
            let cuda = py.import(intern!(py, "cupy.cuda"))?;
            cuda.call_method0(intern!(py, "get_current_stream"))
                .map(Some)
        }
        Some("torch") => {
            let cuda = py.import(intern!(py, "torch.cuda"))?;
            cuda.call_method1(intern!(py, "current_stream"), (ordinal,))
                .map(Some)
        }
        _ => Ok(None),
    }
}

/// The handle of a stream: a number, CuPy's `ptr`, PyTorch's `cuda_stream`, or what `__cuda_stream__` says.
fn handle(stream: &Bound<'_, PyAny>) -> PyResult<usize> {
    let py = stream.py();
    if let Ok(number) = stream.extract() {
        return Ok(number);
    }
    for name in [intern!(py, "ptr"), intern!(py, "cuda_stream")] {
        if let Ok(number) = stream.getattr(name).and_then(|value| value.extract()) {
            return Ok(number);
        }
    }
    let of_protocol = stream.call_method0(intern!(py, "__cuda_stream__"));
    let of_protocol: PyResult<(usize, usize)> = of_protocol.and_then(|pair| pair.extract());
    of_protocol.map(|(_, number)| number).map_err(|cause| {
        let error = argument(py, format!("stream: {stream} is no CUDA stream"));
        error.set_cause(py, Some(cause));
        error
    })
}

/// An error of the driver that failed in this action.
pub fn failed(action: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| Error::Cuda {
        action,
        reason: error.to_string(),
    }
}
