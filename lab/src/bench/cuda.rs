//! An NVIDIA GPU: calls on device memory, timed by events on the GPU's stream, or by the host's clock.

use super::machine::{About, Buffers, Format, Machine, Value, Work};
use super::row::{Ceilings, SMALL};
use super::times::{Times, sample};
use ferrosz::cuda::cudarc::driver::{
    CudaGraph, CudaSlice, CudaStream, DevicePtr, DriverError, result, sys,
};
use ferrosz::cuda::{Gpu, Workspace};
use ferrosz::{Decompressor, Device, Error, Layout, Part, StreamLayout};
use ferrosz_cli::failure::Failure;
use std::fs;
use std::sync::Arc;
use std::time::Instant;

/// Runs before the timed ones: the first loads kernels, the next raise the clocks.
const WARM_UP: u32 = 3;

/// Launches of a graph between two events.
const REPLAYS: u32 = 20;

/// The byte that fills buffers before results are written to them.
const POISON: u8 = 0xA5;

/// A GPU and the only stream of this process.
pub struct Cuda {
    gpu: Gpu,
    stream: Arc<CudaStream>,
    repeat: u32,
    /// Whether calls are timed by the host's clock.
    by_host: bool,
    about: About,
}

impl Cuda {
    /// The GPU of this number, which runs work `repeat` times; with `by_host` calls are timed by the host's clock.
    ///
    /// # Errors
    ///
    /// If there is no driver or no such GPU.
    pub fn new(ordinal: usize, repeat: u32, by_host: bool) -> Result<Self, Failure> {
        let gpu = Gpu::new(ordinal)?;
        let about = About {
            device: Device::Cuda(ordinal),
            name: gpu.context().name().map_err(failed("name the GPU"))?,
            driver: driver(),
            threads: None,
        };
        // SAFETY: this process uses a single stream, so that no buffer is used on two.
        unsafe { gpu.context().disable_event_tracking() };
        let stream = (gpu.context().new_stream()).map_err(failed("make a stream"))?;
        Ok(Self {
            gpu,
            stream,
            repeat,
            by_host,
            about,
        })
    }

    /// Times `work`, which consists of `runs` runs, between two events; returns the time of one run.
    fn time(
        &self,
        runs: u32,
        mut work: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Times, Failure> {
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let record = || {
            self.stream
                .record_event(flags)
                .map_err(failed("record an event"))
        };
        sample(WARM_UP, self.repeat, || {
            let start = record()?;
            work()?;
            let end = record()?;
            end.synchronize().map_err(failed("wait for the GPU"))?;
            let milliseconds = start.elapsed_ms(&end).map_err(failed("take the time"))?;
            Ok(1e-3 * f64::from(milliseconds) / f64::from(runs))
        })
    }

    /// Times `call`, which waits for its end, by the host's clock, on a GPU that is idle before.
    fn time_by_host(
        &self,
        mut call: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Times, Failure> {
        sample(WARM_UP, self.repeat, || {
            (self.stream.synchronize()).map_err(failed("wait for the GPU"))?;
            let start = Instant::now();
            call()?;
            Ok(start.elapsed().as_secs_f64())
        })
    }

    fn upload<T: Value>(&self, values: &[T]) -> Result<CudaSlice<T>, Failure> {
        (self.stream.clone_htod(values)).map_err(failed("copy to the GPU"))
    }

    fn download<T: Value>(&self, slice: &impl DevicePtr<T>) -> Result<Vec<T>, Failure> {
        (self.stream.clone_dtoh(slice)).map_err(failed("copy from the GPU"))
    }

    fn allocate<T: Value>(&self, elements: u64) -> Result<CudaSlice<T>, Failure> {
        let bytes = elements.saturating_mul(size_of::<T>() as u64);
        (self.stream.alloc_zeros(elements as usize))
            .map_err(|_| Error::OutOfMemory { bytes }.into())
    }

    fn poison<T>(&self, buffer: &impl DevicePtr<T>) -> Result<(), Failure> {
        let bytes = buffer.len() * size_of::<T>();
        let (address, _use) = buffer.device_ptr(&self.stream);
        // SAFETY: the buffer is valid and `bytes` long; any bytes are valid integers and floats.
        unsafe { result::memset_d8_async(address, POISON, bytes, self.stream.cu_stream()) }
            .map_err(failed("fill memory"))
    }

    /// Times a kernel that only reads, and checks that it has read everything.
    fn read<T: Value>(&self, field: &[T], input: &CudaSlice<T>) -> Result<Times, Failure> {
        let mut sum = (self.stream.alloc_zeros::<u64>(1)).map_err(failed("allocate a cell"))?;
        self.gpu.read_all(&self.stream, input, &mut sum)?;
        let found = (self.stream.clone_dtoh(&sum)).map_err(failed("copy from the GPU"))?;
        if found.first().map(|sum| *sum as u32) != Some(sum_of_words(field)) {
            return Err(Failure::failed(
                "the GPU's sum of the field is not the CPU's",
            ));
        }
        self.time(1, || {
            Ok(self.gpu.read_all(&self.stream, input, &mut sum)?)
        })
    }
}

/// The sum of all 32-bit words, modulo 2^32.
fn sum_of_words<T: Value>(field: &[T]) -> u32 {
    let words = field.iter().flat_map(|value| value.to_words());
    words.fold(0, u32::wrapping_add)
}

/// Adds the failed action to an error of the driver.
fn failed(action: &'static str) -> impl Fn(DriverError) -> Failure {
    move |error| {
        let reason = error.to_string();
        Error::Cuda { action, reason }.into()
    }
}

/// The version of the driver, if the system tells it: the first word of only digits and dots in
/// `NVRM version: NVIDIA ... 580.95.05  Release Build ...`.
fn driver() -> Option<String> {
    version_in(&fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

fn version_in(text: &str) -> Option<String> {
    let is_version =
        |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(is_version).map(str::to_owned)
}

impl Machine for Cuda {
    type Buffers<'a, T: Value> = CudaBuffers<'a, T>;

    fn about(&self) -> &About {
        &self.about
    }

    fn ceilings<T: Value>(&self, field: &[T]) -> Result<Ceilings, Failure> {
        let input = self.upload(field)?;
        let mut to = self.allocate::<T>(field.len() as u64)?;
        let copy = self.time(1, || {
            (self.stream.memcpy_dtod(&input, &mut to)).map_err(failed("copy on the GPU"))
        })?;
        Ok(Ceilings {
            bytes: size_of_val(field) as u64,
            copy,
            read: self.read(field, &input)?,
        })
    }

    fn buffers<'a, T: Value>(
        &'a self,
        field: &'a [T],
        format: Format<T>,
    ) -> Result<CudaBuffers<'a, T>, Failure> {
        let (gpu, stream) = (&self.gpu, &self.stream);
        let (room, workspace) = match format {
            Format::Container(layout) => {
                let records = StreamLayout::from(layout).record_bytes();
                let most = layout.max_stream_bytes(T::DTYPE);
                let most = most.ok_or(Error::TooLarge {
                    elements: field.len() as u64,
                    dtype: T::TYPE,
                })?;
                (most + records, gpu.workspace_for(stream, layout)?)
            }
            Format::Bare(bare) => (bare.max_len()?, bare.workspace(stream)?),
        };
        let bytes =
            (stream.alloc_zeros(room as usize)).map_err(|_| Error::OutOfMemory { bytes: room })?;
        Ok(CudaBuffers {
            cuda: self,
            input: self.upload(field)?,
            bytes,
            output: self.allocate(field.len() as u64)?,
            workspace,
        })
    }
}

/// A field in the GPU's memory.
pub struct CudaBuffers<'a, T> {
    cuda: &'a Cuda,
    input: CudaSlice<T>,
    bytes: CudaSlice<u8>,
    output: CudaSlice<T>,
    workspace: Workspace,
}

impl<T: Value> CudaBuffers<'_, T> {
    fn decompress(&mut self, layout: Layout, part: &Part) -> Result<(), Error> {
        self.cuda.gpu.decompress_part(
            &self.cuda.stream,
            &Decompressor::new(),
            layout,
            &self.bytes,
            part,
            &mut self.output,
            &mut self.workspace,
        )
    }

    /// Records work as a graph.
    fn record(&mut self, work: &Work<'_, T>) -> Result<CudaGraph, Failure> {
        let stream = &self.cuda.stream;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        (stream.begin_capture(mode)).map_err(failed("begin a graph"))?;
        let asked = self.ask(work);
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        // Ends the recording after an error, too: a stream that records does nothing else.
        let graph = stream.end_capture(flags).map_err(failed("end a graph"));
        asked?;
        graph?.ok_or_else(|| Failure::failed("CUDA recorded an empty graph"))
    }
}

impl<T: Value> Buffers<T> for CudaBuffers<'_, T> {
    fn ask(&mut self, work: &Work<'_, T>) -> Result<(), Failure> {
        let Cuda { gpu, stream, .. } = self.cuda;
        let (input, bytes, output) = (&self.input, &mut self.bytes, &mut self.output);
        match *work {
            Work::Compress(compressor) => {
                gpu.compress(stream, compressor, input, bytes, &mut self.workspace)?;
            }
            Work::Decompress(layout) => {
                let whole = Part::Elements(0..layout.extents.elements());
                self.decompress(layout, &whole)?;
            }
            Work::DecompressPart(layout, part) => self.decompress(layout, part)?,
            Work::CompressBare(bare) => {
                bare.compress(gpu, stream, input, bytes, &mut self.workspace)?;
            }
            Work::DecompressBare(bare) => {
                bare.decompress(gpu, stream, bytes, output, &mut self.workspace)?;
            }
        }
        Ok(())
    }

    fn poison_stream(&mut self) -> Result<(), Failure> {
        self.cuda.poison(&self.bytes)
    }

    fn poison_values(&mut self) -> Result<(), Failure> {
        self.cuda.poison(&self.output)
    }

    fn stream(&mut self) -> Result<Vec<u8>, Failure> {
        let stream = &self.cuda.stream;
        let length = self.workspace.stream_bytes(stream)?;
        let length = (self.bytes.len() as u64).min(length) as usize;
        (stream.clone_dtoh(&self.bytes.slice(..length))).map_err(failed("copy from the GPU"))
    }

    fn values(&mut self, count: usize) -> Result<Vec<T>, Failure> {
        self.workspace.check(&self.cuda.stream)?;
        let count = count.min(self.output.len());
        self.cuda.download(&self.output.slice(..count))
    }

    fn time(&mut self, work: &Work<'_, T>) -> Result<Times, Failure> {
        let cuda = self.cuda;
        if !cuda.by_host {
            return cuda.time(1, || self.ask(work));
        }
        cuda.time_by_host(|| {
            self.ask(work)?;
            match work {
                Work::Compress(_) | Work::CompressBare(_) => {
                    self.workspace.stream_bytes(&cuda.stream)?;
                }
                _ => self.workspace.check(&cuda.stream)?,
            }
            Ok(())
        })
    }

    fn time_replayed(&mut self, work: &Work<'_, T>) -> Result<Option<Times>, Failure> {
        if self.cuda.by_host || self.input.len() as u64 * T::BYTES as u64 >= SMALL {
            return Ok(None);
        }
        let graph = self.record(work)?;
        let replay =
            || (0..REPLAYS).try_for_each(|_| graph.launch().map_err(failed("launch a graph")));
        self.cuda.time(REPLAYS, replay).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_version_is_found() {
        let text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n\
                    GCC version:  gcc version 12.2.0\n";
        assert_eq!(version_in(text).as_deref(), Some("580.95.05"));
        assert_eq!(version_in("NVIDIA"), None);
    }

    #[test]
    fn words_of_both_types_are_summed() {
        assert_eq!(
            sum_of_words(&[1.0f32, -2.0]),
            0x3f80_0000u32.wrapping_add(0xc000_0000)
        );
        assert_eq!(sum_of_words(&[f64::from_bits(0x5_0000_0007)]), 12);
    }
}
