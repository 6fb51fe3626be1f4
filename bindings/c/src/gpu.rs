//! Compression and decompression of device memory, on a CUDA stream of the caller.

mod update;

use crate::arguments::{self, Place};
use crate::compressor::Compressor;
use crate::decompress::box_of;
use crate::decompressor::Decompressor;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::ferrosz_status;
use crate::types::{ferrosz_type, value_type};
use ferrosz::Part;
use ferrosz::codec::with_value;
use ferrosz::cuda::AtAddress;
use ferrosz::cuda::cudarc::driver::CudaStream;
use std::ffi::c_void;
use std::sync::Arc;

/// An NVIDIA GPU: its primary context, which is also that of the CUDA runtime.
pub struct Gpu(ferrosz::cuda::Gpu);

/// Device memory that calls on one CUDA stream share.
pub struct Workspace(ferrosz::cuda::Workspace);

/// Opens the GPU with this number. Null if it fails, and on a machine without a GPU. Free it with ferrosz_gpu_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_gpu_new(number: u32, error: *mut Error) -> *mut Gpu {
    guard::object(error, || Ok(Gpu(ferrosz::cuda::Gpu::new(number as usize)?)))
}

/// Frees a GPU. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_gpu_free(gpu: *mut Gpu) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(gpu) };
}

impl Gpu {
    /// A CUDA stream of the caller; null is the default stream.
    unsafe fn stream(&self, cuda_stream: *mut c_void) -> Arc<CudaStream> {
        // SAFETY: by the contract of the crate, of this context and alive.
        unsafe { self.0.context().wrap_borrowed_stream(cuda_stream.cast()) }
    }
}

/// The address of device memory.
fn address(name: &str, pointer: *const c_void, count: u64) -> Result<u64, Failure> {
    match pointer.is_null() && count > 0 {
        true => Err(Failure::argument(name, "the device pointer is null")),
        false => Ok(pointer as u64),
    }
}

/// Chooses codec, rank and axes for a field in device memory, as ferrosz_compressor_choose. Waits for the work on `cuda_stream`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_gpu_choose(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    compressor: *mut Compressor,
    r#type: ferrosz_type,
    field: *const c_void,
    elements: u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let gpu = unsafe { arguments::object("gpu", gpu)? };
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object_mut("compressor", compressor)? };
        let address = address("field", field, elements)?;
        // SAFETY: by the contract of the crate.
        let stream = unsafe { gpu.stream(cuda_stream) };
        let mut workspace = gpu.0.workspace(&stream, 0)?;
        compressor.0 = with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let field = unsafe { AtAddress::<V>::new(&stream, address, elements) };
            *gpu.0.choose::<V>(&stream, &compressor.0, &field, &mut workspace)?.compressor()
        });
        Ok(())
    })
}

/// Loads the kernels for fields of `elements` elements, so that later calls need not wait for the driver, and can be
/// captured in a CUDA graph.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_gpu_prepare(
    gpu: *const Gpu,
    compressor: *const Compressor,
    r#type: ferrosz_type,
    elements: u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let gpu = unsafe { arguments::object("gpu", gpu)? };
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        let of_values = value_type(r#type)?;
        let layout = compressor.0.stream_layout(elements, of_values)?;
        Ok(gpu.0.prepare(layout, of_values)?)
    })
}

/// Makes a workspace for fields of `elements` elements, on a CUDA stream. The codec must be chosen. Free it with
/// ferrosz_workspace_free before the CUDA stream is destroyed. Null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_workspace_new(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    compressor: *const Compressor,
    r#type: ferrosz_type,
    elements: u64,
    error: *mut Error,
) -> *mut Workspace {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let gpu = unsafe { arguments::object("gpu", gpu)? };
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        let layout = compressor.0.stream_layout(elements, value_type(r#type)?)?;
        // SAFETY: by the contract of the crate.
        let stream = unsafe { gpu.stream(cuda_stream) };
        Ok(Workspace(gpu.0.workspace_for(&stream, layout)?))
    })
}

/// Stores in `bytes` how much device memory a workspace for fields of `elements` elements has. The codec must be chosen.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_workspace_bytes(
    compressor: *const Compressor,
    r#type: ferrosz_type,
    elements: u64,
    bytes: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        let bytes = Place::needed("bytes", bytes)?;
        let layout = compressor.0.stream_layout(elements, value_type(r#type)?)?;
        bytes.store(layout.workspace_bytes());
        Ok(())
    })
}

/// Stores in `bytes` how much device memory a workspace for ferrosz_gpu_decompress_box has: with codecs of tiles there is
/// memory for the tiles that the box is in. ferrosz_workspace_new_in makes such a workspace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_box_workspace_bytes(
    compressor: *const Compressor,
    r#type: ferrosz_type,
    elements: u64,
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
    bytes: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        let bytes = Place::needed("bytes", bytes)?;
        // SAFETY: by the contract of the crate.
        let part = unsafe { box_of(dimensions, starts, lengths)? };
        let layout = compressor.0.stream_layout(elements, value_type(r#type)?)?;
        bytes.store(layout.workspace_bytes_for_part(&part)?);
        Ok(())
    })
}

/// As ferrosz_workspace_new, but in device memory of the caller. `memory` is aligned to 16 bytes and has `bytes` bytes, at least
/// as many as ferrosz_compressor_workspace_bytes says. The call enqueues the clearing of the first 256. The caller frees the
/// memory after the workspace and after the last work with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_workspace_new_in(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    compressor: *const Compressor,
    r#type: ferrosz_type,
    elements: u64,
    memory: *mut c_void,
    bytes: u64,
    error: *mut Error,
) -> *mut Workspace {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let gpu = unsafe { arguments::object("gpu", gpu)? };
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        let layout = compressor.0.stream_layout(elements, value_type(r#type)?)?;
        // SAFETY: by the contract of the crate.
        let stream = unsafe { gpu.stream(cuda_stream) };
        // SAFETY: by the contract of the crate.
        let workspace = unsafe { gpu.0.workspace_in(&stream, layout, memory as u64, bytes) };
        Ok(Workspace(workspace?))
    })
}

/// Frees a workspace, after the work on its CUDA stream. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_workspace_free(workspace: *mut Workspace) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(workspace) };
}

/// Enqueues the compression of a field in device memory to the start of `stream`, which must have room for
/// ferrosz_compressor_max_stream_bytes bytes. Both must be aligned to 16 bytes. Neither allocates nor waits.
/// ferrosz_workspace_stream_bytes gives the stream's length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_gpu_compress(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    compressor: *const Compressor,
    r#type: ferrosz_type,
    field: *const c_void,
    elements: u64,
    stream: *mut c_void,
    room: u64,
    workspace: *mut Workspace,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let gpu = unsafe { arguments::object("gpu", gpu)? };
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        // SAFETY: by the contract of the crate.
        let workspace = unsafe { arguments::object_mut("workspace", workspace)? };
        let field = address("field", field, elements)?;
        let output = address("stream", stream, 1)?;
        // SAFETY: by the contract of the crate.
        let stream = unsafe { gpu.stream(cuda_stream) };
        let (gpu, compressor, workspace) = (&gpu.0, &compressor.0, &mut workspace.0);
        // SAFETY: by the contract of the crate.
        let mut output = unsafe { AtAddress::<u8>::new(&stream, output, room) };
        with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let field = unsafe { AtAddress::<V>::new(&stream, field, elements) };
            gpu.compress(&stream, compressor, &field, &mut output, workspace)?;
        });
        Ok(())
    })
}

/// Enqueues the decompression of a stream in device memory to `values`, which has room for `room` values. Both must be
/// aligned to 16 bytes. Neither allocates, waits nor reads the stream on the host: `compressor` has the settings with
/// which it was made, and `elements` is the field's number of elements. ferrosz_workspace_check tells whether the stream
/// had them and was undamaged. `decompressor` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_gpu_decompress(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    decompressor: *const Decompressor,
    compressor: *const Compressor,
    stream: *const c_void,
    bytes: u64,
    r#type: ferrosz_type,
    elements: u64,
    values: *mut c_void,
    room: u64,
    workspace: *mut Workspace,
    error: *mut Error,
) -> ferrosz_status {
    let part = || Ok(Part::Elements(0..elements));
    // SAFETY: by the contract of the crate.
    unsafe {
        decompress(
            gpu,
            cuda_stream,
            decompressor,
            Source {
                compressor,
                stream,
                bytes,
                elements,
            },
            part,
            (r#type, values, room),
            workspace,
            error,
        )
    }
}

/// As ferrosz_gpu_decompress, for a box of the field: `starts` and `lengths` of as many dimensions as the field has,
/// slowest first. Only the chunks that the box needs are decoded. With a codec of tiles the workspace needs memory for them:
/// ferrosz_compressor_box_workspace_bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_gpu_decompress_box(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    decompressor: *const Decompressor,
    compressor: *const Compressor,
    stream: *const c_void,
    bytes: u64,
    elements: u64,
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
    r#type: ferrosz_type,
    values: *mut c_void,
    room: u64,
    workspace: *mut Workspace,
    error: *mut Error,
) -> ferrosz_status {
    // SAFETY: by the contract of the crate.
    let part = || unsafe { box_of(dimensions, starts, lengths) };
    // SAFETY: by the contract of the crate.
    unsafe {
        decompress(
            gpu,
            cuda_stream,
            decompressor,
            Source {
                compressor,
                stream,
                bytes,
                elements,
            },
            part,
            (r#type, values, room),
            workspace,
            error,
        )
    }
}

/// A stream in device memory, the compressor that made it, and the number of elements of its field.
struct Source {
    compressor: *const Compressor,
    stream: *const c_void,
    bytes: u64,
    elements: u64,
}

#[expect(clippy::too_many_arguments, reason = "those of the two functions of C")]
unsafe fn decompress(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    decompressor: *const Decompressor,
    source: Source,
    part: impl FnOnce() -> Result<Part, Failure>,
    (number, values, room): (ferrosz_type, *mut c_void, u64),
    workspace: *mut Workspace,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let gpu = unsafe { arguments::object("gpu", gpu)? };
        // SAFETY: by the contract of the crate.
        let decompressor = unsafe { Decompressor::settings(decompressor) };
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", source.compressor)? };
        // SAFETY: by the contract of the crate.
        let workspace = unsafe { arguments::object_mut("workspace", workspace)? };
        let (part, of_values) = (part()?, value_type(number)?);
        let layout = compressor.0.stream_layout(source.elements, of_values)?;
        let input = address("stream", source.stream, 1)?;
        let output = address("values", values, room)?;
        // SAFETY: by the contract of the crate.
        let stream = unsafe { gpu.stream(cuda_stream) };
        let (gpu, workspace) = (&gpu.0, &mut workspace.0);
        // SAFETY: by the contract of the crate.
        let input = unsafe { AtAddress::<u8>::new(&stream, input, source.bytes) };
        with_value!(of_values, V => {
            // SAFETY: by the contract of the crate.
            let mut output = unsafe { AtAddress::<V>::new(&stream, output, room) };
            gpu.decompress_part(&stream, &decompressor, layout, &input, &part, &mut output, workspace)?;
        });
        Ok(())
    })
}

/// Waits for the last compression with this workspace, and stores the length of its stream in `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_workspace_stream_bytes(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    workspace: *const Workspace,
    bytes: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let gpu = unsafe { arguments::object("gpu", gpu)? };
        // SAFETY: by the contract of the crate.
        let workspace = unsafe { arguments::object("workspace", workspace)? };
        let bytes = Place::needed("bytes", bytes)?;
        // SAFETY: by the contract of the crate.
        bytes.store(
            workspace
                .0
                .stream_bytes(&unsafe { gpu.stream(cuda_stream) })?,
        );
        Ok(())
    })
}

/// Waits for the last decompression with this workspace: FERROSZ_OK if its stream was undamaged and as it was described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_workspace_check(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    workspace: *const Workspace,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let gpu = unsafe { arguments::object("gpu", gpu)? };
        // SAFETY: by the contract of the crate.
        let workspace = unsafe { arguments::object("workspace", workspace)? };
        // SAFETY: by the contract of the crate.
        Ok(workspace.0.check(&unsafe { gpu.stream(cuda_stream) })?)
    })
}

/// A device pointer to the length of the stream that the last compression made, for kernels of the caller; null for a
/// null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_workspace_stream_bytes_cell(
    workspace: *const Workspace,
) -> *const u64 {
    // SAFETY: by the contract of the crate.
    let workspace = unsafe { workspace.as_ref() };
    workspace.map_or(0, |workspace| workspace.0.stream_bytes_address()) as *const u64
}

/// A device pointer to a number that is 0 if the last decompression found no fault; null for a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_workspace_fault_cell(workspace: *const Workspace) -> *const u64 {
    // SAFETY: by the contract of the crate.
    let workspace = unsafe { workspace.as_ref() };
    workspace.map_or(0, |workspace| workspace.0.fault_address()) as *const u64
}
