//! The machines, and whole calls on host slices for machines that run kernels.

use crate::auto_device::Workload;
use crate::device::Device;
use crate::error::Error;
use crate::gpu::blocks::{enqueue_compress, enqueue_decompress, fault_in, workspace_cells};
use crate::gpu::executor::Executor;
#[cfg(feature = "cuda")]
use crate::gpu::executor::cuda::Kernels;
#[cfg(feature = "emulator")]
use crate::gpu::executor::emulator;
use crate::gpu::job::{CompressJob, DecompressJob};
use crate::stream::StreamRef;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::with_element;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::Package;
use std::collections::BTreeSet;

/// The machine that a [`Device`] names.
pub enum Backend {
    /// The CPU.
    Cpu,
    /// A machine that runs kernels.
    Gpu(Gpu),
}

/// A machine that runs kernels.
pub enum Gpu {
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(Kernels),
    /// The emulator.
    #[cfg(feature = "emulator")]
    Emulator,
}

/// A call for any machine that runs kernels.
pub trait Call {
    /// The result of the call.
    type Output;

    /// Runs it to its end.
    fn on<E: Executor>(self, executor: &E) -> Self::Output;
}

impl Backend {
    /// The machine for a workload.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] and [`Error::OldGpu`].
    pub fn of(device: Device, workload: Workload) -> Result<Self, Error> {
        match device {
            Device::Cpu => Ok(Self::Cpu),
            Device::Auto => Ok(
                match workload.is_faster_on_a_gpu(rayon::current_num_threads()) {
                    true => cuda(0).map_or(Self::Cpu, Self::Gpu),
                    false => Self::Cpu,
                },
            ),
            Device::Cuda(ordinal) => cuda(ordinal).map(Self::Gpu),
            Device::Emulator => emulated().map(Self::Gpu),
        }
    }

    /// As [`Backend::of`], for the kernels of another crate. A package without code for GPUs makes [`Device::Auto`] the
    /// CPU: other crates of the program may want GPUs.
    ///
    /// # Errors
    ///
    /// As [`Backend::of`].
    pub fn of_package(
        package: &Package,
        device: Device,
        workload: Workload,
    ) -> Result<Self, Error> {
        match device {
            Device::Auto if package.ptx.is_empty() => Ok(Self::Cpu),
            device => Self::of(device, workload),
        }
    }

    /// The device that [`Backend::of`] has for a workload, which is never [`Device::Auto`].
    pub(crate) fn device_for(device: Device, workload: Workload) -> Result<Device, Error> {
        Ok(match (Self::of(device, workload)?, device) {
            (Self::Cpu, _) => Device::Cpu,
            (Self::Gpu(_), Device::Auto) => Device::Cuda(0),
            (Self::Gpu(_), device) => device,
        })
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
fn emulated() -> Result<Gpu, Error> {
    Ok(Gpu::Emulator)
}

#[cfg(not(feature = "emulator"))]
fn emulated() -> Result<Gpu, Error> {
    Err(Error::NoDevice {
        device: "emulator",
        reason: "ferrosz was built without the feature `emulator`".to_owned(),
    })
}

/// [`Gpu::compress_of`] an element type.
type Compress<T> = fn(&Gpu, Layout, Bound, &[T]) -> Result<Vec<u8>, Error>;

impl Gpu {
    /// Runs a call.
    pub fn run<C: Call>(&self, call: C) -> C::Output {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref kernels) => call.on(&kernels.on_default_stream()),
            #[cfg(feature = "emulator")]
            Self::Emulator => call.on(&emulator::new()),
        }
    }

    pub(crate) fn compress<T: Element>(
        &self,
        layout: Layout,
        bound: Bound,
        field: &[T],
    ) -> Result<Vec<u8>, Error> {
        // A static; see `cpu::compress`.
        with_element!(T::DTYPE, E => {
            static COMPRESS: Compress<E> = Gpu::compress_of::<E>;
            COMPRESS(self, layout, bound, bytemuck::cast_slice(field))
        })
    }

    fn compress_of<T: Element>(
        &self,
        layout: Layout,
        bound: Bound,
        field: &[T],
    ) -> Result<Vec<u8>, Error> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref kernels) => {
                compress_host(&kernels.on_default_stream(), layout, bound, field)
            }
            #[cfg(feature = "emulator")]
            Self::Emulator => compress_host(&emulator::new(), layout, bound, field),
        }
    }

    /// Decodes regions of a stream in these bytes, one after the other, into `values`.
    pub(crate) fn decompress<T: Element>(
        &self,
        bytes: &[u8],
        stream: &StreamRef<'_>,
        regions: &[Region],
        verify: bool,
        values: &mut [T],
    ) -> Result<(), Error> {
        if values.is_empty() {
            return Ok(());
        }
        let excerpt;
        let (header, bytes) = match chunks_to_upload(stream, regions) {
            None => (stream.header, bytes),
            Some(numbers) => {
                excerpt = stream.rewrite(stream.header, &[], numbers.iter().copied())?;
                (Header::read(&excerpt)?, &excerpt[..])
            }
        };
        let source = Source {
            header: &header,
            bytes: &bytes[..header.stream_bytes() as usize],
            regions,
            verify,
        };
        with_element!(T::DTYPE, E => {
            static DECOMPRESS: fn(&Gpu, &Source<'_>, &mut [E]) -> Result<(), Error> =
                Gpu::decompress_of::<E>;
            DECOMPRESS(self, &source, bytemuck::cast_slice_mut(values))
        })
    }

    fn decompress_of<T: Element>(
        &self,
        source: &Source<'_>,
        values: &mut [T],
    ) -> Result<(), Error> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref kernels) => {
                decompress_host(&kernels.on_default_stream(), source, values)
            }
            #[cfg(feature = "emulator")]
            Self::Emulator => decompress_host(&emulator::new(), source, values),
        }
    }
}

/// The numbers of the chunks of a stream that a machine needs, if it cannot take the whole stream unchanged: regions
/// are decoded from their own chunks, and kernels do not know records and updates.
fn chunks_to_upload(stream: &StreamRef<'_>, regions: &[Region]) -> Option<Vec<u64>> {
    let header = &stream.header;
    let grid = header.grid();
    if header.codec.tiles().is_none() && regions != [Region::whole(&grid)] {
        let numbers: BTreeSet<u64> = (regions.iter())
            .flat_map(|region| region.chunk_numbers(&grid))
            .collect();
        return Some(numbers.into_iter().collect());
    }
    let is_plain = header.update_bytes == 0 && header.record_bytes == 0;
    (!is_plain).then(|| (0..header.chunks()).collect())
}

/// The regions of a stream without updates to decode.
struct Source<'a> {
    header: &'a Header,
    bytes: &'a [u8],
    /// The regions, in the order of their output.
    regions: &'a [Region],
    verify: bool,
}

fn compress_host<T: Element, E: Executor>(
    executor: &E,
    layout: Layout,
    bound: Bound,
    field: &[T],
) -> Result<Vec<u8>, Error> {
    let most = layout.max_stream_bytes(T::DTYPE).unwrap_or(u64::MAX);
    let input = executor.allocate(size_of_val(field) as u64)?;
    let stream = executor.allocate(most)?;
    let workspace = executor.allocate(8 * workspace_cells(&layout))?;
    let job = CompressJob {
        layout,
        bound,
        input: executor.view(&input),
        stream: executor.view(&stream),
        cells: executor.view(&workspace),
    };
    executor.clear(job.cells.first(cells::STATES))?;
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
    source: &Source<'_>,
    values: &mut [T],
) -> Result<(), Error> {
    let Source {
        header,
        bytes,
        regions,
        verify,
    } = *source;
    let layout = header.layout();
    let stream = executor.allocate(bytes.len() as u64)?;
    let output = executor.allocate(size_of_val(values) as u64)?;
    let cells = match layout.family() {
        Family::Blocks(_) => cells::count(0),
        Family::Tiles(_) => workspace_cells(&layout),
    };
    let workspace = executor.allocate(8 * cells)?;
    let job = DecompressJob {
        layout,
        regions,
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
