//! The order of kernels, written once for every machine that runs them.

use crate::compress::Compressor;
use crate::device::Device;
use crate::error::Error;
use crate::executor::Executor;
#[cfg(feature = "cuda")]
use crate::executor::cuda::{CudaExecutor, Kernels};
#[cfg(feature = "emulator")]
use crate::executor::emulator::EmulatorExecutor;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::{Fixed, Outlier, Plain};
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::stream::chunk::{CHUNK, chunk_count};
use ferrosz_codec::stream::container::{Extents, Header, max_stream_bytes, to_words};
use ferrosz_codec::{Bound, Codec, Dtype, Element, FormatError};
use ferrosz_gpu_kernels::kernel::cells::{self, Fault};
use ferrosz_gpu_kernels::kernel::compress::{Compress, CompressParams};
use ferrosz_gpu_kernels::kernel::decompress::{Decompress, DecompressParams};
use ferrosz_gpu_kernels::kernel::extremes::{ExtremesParams, FindExtremes};
use ferrosz_gpu_kernels::simt::View;
#[cfg(feature = "emulator")]
use ferrosz_gpu_kernels::simt::emulator::Emulator;
use std::ops::Range;

/// Elements that a block of the extremes kernel should have, and the most blocks.
const EXTREMES_SHARE: u64 = 1 << 14;
const EXTREMES_BLOCKS: u64 = 2048;

/// The machine that a [`Device`] names.
pub(crate) enum Backend {
    Cpu,
    Gpu(Gpu),
}

/// A machine that runs kernels.
pub(crate) enum Gpu {
    #[cfg(feature = "cuda")]
    Cuda(Kernels),
    #[cfg(feature = "emulator")]
    Emulator,
}

impl Backend {
    pub(crate) fn of(device: Device) -> Result<Self, Error> {
        match device {
            Device::Cpu => Ok(Self::Cpu),
            Device::Auto => Ok(cuda(0).map_or(Self::Cpu, Self::Gpu)),
            Device::Cuda(ordinal) => cuda(ordinal).map(Self::Gpu),
            Device::Emulator => emulator().map(Self::Gpu),
        }
    }
}

#[cfg(feature = "cuda")]
fn cuda(ordinal: usize) -> Result<Gpu, Error> {
    Kernels::of_device(ordinal).map(Gpu::Cuda)
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: usize) -> Result<Gpu, Error> {
    Err(Error::NoDevice {
        device: "cuda",
        reason: "ferrosz was built without the feature `cuda`".to_owned(),
    })
}

#[cfg(feature = "emulator")]
fn emulator() -> Result<Gpu, Error> {
    Ok(Gpu::Emulator)
}

#[cfg(not(feature = "emulator"))]
fn emulator() -> Result<Gpu, Error> {
    Err(Error::NoDevice {
        device: "emulator",
        reason: "ferrosz was built without the feature `emulator`".to_owned(),
    })
}

impl Gpu {
    pub(crate) fn compress<T: Element>(
        &self,
        compressor: &Compressor,
        extents: Extents,
        field: &[T],
    ) -> Result<Vec<u8>, Error> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => {
                let stream = &kernels.context().default_stream();
                compress_host(
                    &CudaExecutor { kernels, stream },
                    compressor,
                    extents,
                    field,
                )
            }
            #[cfg(feature = "emulator")]
            Self::Emulator => {
                let executor = EmulatorExecutor(Emulator::new());
                compress_host(&executor, compressor, extents, field)
            }
        }
    }

    pub(crate) fn decompress<T: Element>(
        &self,
        header: &Header,
        stream: &[u8],
        range: Range<u64>,
        verify: bool,
        values: &mut [T],
    ) -> Result<(), Error> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => {
                let executor = CudaExecutor {
                    kernels,
                    stream: &kernels.context().default_stream(),
                };
                decompress_host(&executor, header, stream, range, verify, values)
            }
            #[cfg(feature = "emulator")]
            Self::Emulator => {
                let executor = EmulatorExecutor(Emulator::new());
                decompress_host(&executor, header, stream, range, verify, values)
            }
        }
    }
}

/// What compression needs on the machine.
pub(crate) struct CompressJob {
    pub(crate) codec: Codec,
    pub(crate) bound: Bound,
    pub(crate) extents: Extents,
    /// The field, 16-byte aligned.
    pub(crate) input: View<u32>,
    /// Room for the longest stream, 16-byte aligned.
    pub(crate) stream: View<u32>,
    /// `cells::count` cells.
    pub(crate) cells: View<u64>,
}

/// Asks for a compression. Nothing is allocated, and nothing waits.
pub(crate) fn enqueue_compress<T: Element, E: Executor>(
    executor: &E,
    job: &CompressJob,
) -> Result<(), Error> {
    let elements = job.extents.elements();
    let resolved: Quantizer<T> = job.bound.resolve(&Extremes::default());
    let header = Header {
        dtype: T::DTYPE,
        codec: job.codec,
        extents: job.extents,
        bound: job.bound,
        error_bits: resolved.error().to_bits64(),
        payload_bytes: 0,
    };
    executor.clear(job.cells)?;
    if elements == 0 {
        return enqueue_empty(executor, job, &header);
    }
    if job.bound.needs_extremes() {
        let blocks = elements.div_ceil(EXTREMES_SHARE).min(EXTREMES_BLOCKS) as u32;
        let params = ExtremesParams {
            input: job.input,
            elements,
            cells: job.cells,
            bound: job.bound.value(),
            mode: u32::from(job.bound.mode().id()),
        };
        launch_extremes::<T, E>(executor, blocks, &params)?;
    }
    let params = CompressParams {
        input: job.input,
        elements,
        stream: job.stream,
        cells: job.cells,
        quantizer: resolved.to_bits(),
        quantizer_in_cells: u32::from(job.bound.needs_extremes()),
        header: to_words(&header.to_bytes()),
    };
    launch_compress::<T, E>(executor, job.codec, blocks_of::<T>(elements)?, &params)
}

/// One block a chunk.
fn blocks_of<T: Element>(elements: u64) -> Result<u32, Error> {
    i32::try_from(chunk_count(elements))
        .map(i32::cast_unsigned)
        .map_err(|_| Error::TooLarge {
            elements,
            dtype: T::DTYPE,
        })
}

/// A stream without chunks is its header.
fn enqueue_empty<E: Executor>(
    executor: &E,
    job: &CompressJob,
    header: &Header,
) -> Result<(), Error> {
    let bytes = header.to_bytes();
    executor.upload(&bytes, job.stream)?;
    let at = job
        .cells
        .address()
        .wrapping_add(cells::STREAM_BYTES as usize);
    // SAFETY: the cell is one of the job's, seen as two words.
    let length = unsafe { View::new(at.cast::<u32>(), 2) };
    executor.upload(&(bytes.len() as u64).to_le_bytes(), length)
}

// The kernels are generic over the element type, but an executor finds them by name, and only
// those of the list have one: here the one becomes the other.

fn launch_compress<T: Element, E: Executor>(
    executor: &E,
    codec: Codec,
    blocks: u32,
    params: &CompressParams,
) -> Result<(), Error> {
    match (codec, T::DTYPE) {
        (Codec::Fixed, Dtype::F32) => executor.launch::<Compress<f32, Fixed>>(blocks, params),
        (Codec::Fixed, Dtype::F64) => executor.launch::<Compress<f64, Fixed>>(blocks, params),
        (Codec::Plain, Dtype::F32) => executor.launch::<Compress<f32, Plain>>(blocks, params),
        (Codec::Plain, Dtype::F64) => executor.launch::<Compress<f64, Plain>>(blocks, params),
        (Codec::Outlier, Dtype::F32) => executor.launch::<Compress<f32, Outlier>>(blocks, params),
        (Codec::Outlier, Dtype::F64) => executor.launch::<Compress<f64, Outlier>>(blocks, params),
    }
}

fn launch_extremes<T: Element, E: Executor>(
    executor: &E,
    blocks: u32,
    params: &ExtremesParams,
) -> Result<(), Error> {
    match T::DTYPE {
        Dtype::F32 => executor.launch::<FindExtremes<f32>>(blocks, params),
        Dtype::F64 => executor.launch::<FindExtremes<f64>>(blocks, params),
    }
}

/// What decompression needs on the machine.
pub(crate) struct DecompressJob {
    pub(crate) codec: Codec,
    /// Elements of the field.
    pub(crate) elements: u64,
    /// Elements to decode.
    pub(crate) range: Range<u64>,
    pub(crate) verify: bool,
    /// The stream, 16-byte aligned.
    pub(crate) stream: View<u32>,
    /// Room for the elements, 16-byte aligned.
    pub(crate) output: View<u32>,
    /// At least `cells::count(0)` cells.
    pub(crate) cells: View<u64>,
}

/// Asks for a decompression. Nothing is allocated, and nothing waits; what is found wrong is in
/// the fault cell.
pub(crate) fn enqueue_decompress<T: Element, E: Executor>(
    executor: &E,
    job: &DecompressJob,
) -> Result<(), Error> {
    executor.clear(job.cells)?;
    if job.range.is_empty() {
        return Ok(());
    }
    let first = job.range.start / CHUNK as u64;
    let blocks = blocks_of::<T>(job.range.end - first * CHUNK as u64)?;
    let params = DecompressParams {
        stream: job.stream,
        output: job.output,
        cells: job.cells,
        elements: job.elements,
        from: job.range.start,
        to: job.range.end,
        codec: u32::from(job.codec.id()),
        verify: u32::from(job.verify),
    };
    match T::DTYPE {
        Dtype::F32 => executor.launch::<Decompress<f32>>(blocks, &params),
        Dtype::F64 => executor.launch::<Decompress<f64>>(blocks, &params),
    }
}

/// The fault in a fault cell as an error.
pub(crate) fn fault_in(cell: u64) -> Result<(), FormatError> {
    match Fault::from_cell(cell) {
        None => Ok(()),
        Some(Fault::Header) => Err(FormatError::InvalidHeader(
            "it is damaged, or not that of the stream asked for",
        )),
        Some(Fault::Chunk(chunk, code)) => Err(ChunkFault::from_code(code)
            .unwrap_or(ChunkFault::Form)
            .in_chunk(chunk)),
    }
}

fn compress_host<T: Element, E: Executor>(
    executor: &E,
    compressor: &Compressor,
    extents: Extents,
    field: &[T],
) -> Result<Vec<u8>, Error> {
    let elements = field.len() as u64;
    let most = max_stream_bytes(elements, T::DTYPE).unwrap_or(u64::MAX);
    let input = executor.allocate(size_of_val(field) as u64)?;
    let stream = executor.allocate(most)?;
    let workspace = executor.allocate(8 * cells::count(chunk_count(elements)))?;
    let job = CompressJob {
        codec: compressor.codec(),
        bound: compressor.bound(),
        extents,
        input: executor.view(&input),
        stream: executor.view(&stream),
        cells: executor.view(&workspace),
    };
    executor.upload(bytemuck::cast_slice(field), job.input)?;
    enqueue_compress::<T, E>(executor, &job)?;
    let mut length = [0; 8];
    executor.download(job.cells, 8 * cells::STREAM_BYTES, &mut length)?;
    let mut bytes = vec![0; u64::from_le_bytes(length).min(most) as usize];
    executor.download(job.stream, 0, &mut bytes)?;
    Ok(bytes)
}

fn decompress_host<T: Element, E: Executor>(
    executor: &E,
    header: &Header,
    bytes: &[u8],
    range: Range<u64>,
    verify: bool,
    values: &mut [T],
) -> Result<(), Error> {
    let stream = executor.allocate(bytes.len() as u64)?;
    let output = executor.allocate(size_of_val(values) as u64)?;
    let workspace = executor.allocate(8 * cells::count(0))?;
    let job = DecompressJob {
        codec: header.codec,
        elements: header.elements(),
        range,
        verify,
        stream: executor.view(&stream),
        output: executor.view(&output),
        cells: executor.view(&workspace),
    };
    executor.upload(bytes, job.stream)?;
    enqueue_decompress::<T, E>(executor, &job)?;
    let mut fault = [0; 8];
    executor.download(job.cells, 8 * cells::FAULT, &mut fault)?;
    fault_in(u64::from_le_bytes(fault))?;
    executor.download(job.output, 0, bytemuck::cast_slice_mut(values))
}
