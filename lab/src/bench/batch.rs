//! `ferrosz-lab batch`: the time of many arrays in one call on a GPU, beside one call after the other.

use super::synthetic::Kind;
use super::times::{Times, sample};
use clap::Args;
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DriverError, sys};
use ferrosz::cuda::{BatchCompression, BatchDecompression, Gpu, Workspace, batch_fault};
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Dtype, Error, Part, max_compressed_len,
};
use ferrosz_cli::common::Common;
use ferrosz_cli::failure::Failure;
use ferrosz_cli::output;
use std::sync::Arc;

/// Runs before the timed ones: the first loads kernels, the next raise the clocks.
const WARM_UP: u32 = 3;

/// Numbers of arrays, and the bytes of each.
const SIZES: [(usize, usize); 3] = [(10_000, 64 << 10), (1000, 1 << 20), (100_000, 4 << 10)];

/// Arrays at most that are compressed by single calls, whose times are then scaled to the whole batch.
const SINGLE: usize = 1000;

/// Edge of the synthetic field that arrays are cut from.
const EDGE: usize = 256;

/// Bounds: absolute, and relative to the range of each array.
const BOUND: f64 = 1e-3;

/// The byte that fills the memory of streams and values before they are written.
const POISON: u8 = 0xA5;

/// `ferrosz-lab batch`.
#[derive(Debug, Args)]
pub struct Flags {
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
}

/// Measures all sizes, codecs of blocks and bounds on a GPU, and prints a table. Every stream and every value is
/// compared with those of the CPU.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(flags: &Flags, common: &Common) -> Result<(), Failure> {
    let ordinal = match common.device {
        Device::Auto => 0,
        Device::Cuda(ordinal) => ordinal,
        _ => {
            return Err(Failure::usage(
                "batches are measured on a GPU: --device cuda",
            ));
        }
    };
    let gpu = Gpu::new(ordinal)?;
    // SAFETY: this process uses a single stream, so that no buffer is used on two.
    unsafe { gpu.context().disable_event_tracking() };
    let stream = gpu
        .context()
        .new_stream()
        .map_err(failed("make a stream"))?;
    let field = Kind::Waves.cube(EDGE);
    let head = "GB/s of the arrays, medians; one call: the batch; loop: single calls, one after the other; us: of a batch";
    output::print(&format!("{head}\n{HEADING}\n"))?;
    for (count, bytes) in SIZES {
        let mut batch = Batch::new(&gpu, &stream, &field, count, bytes / 4, flags.repeat)?;
        for codec in Codec::BLOCKS {
            for bound in bounds()? {
                let row = batch.measure(&Compressor::new(codec, bound).device(Device::Cpu))?;
                let size = format!("{count} x {} KiB", bytes >> 10);
                let mode = bound.mode();
                output::print(&format!("| {size} | {codec} | {mode} | {row} |\n"))?;
            }
        }
    }
    Ok(())
}

fn bounds() -> Result<[Bound; 2], Error> {
    Ok([Bound::abs(BOUND)?, Bound::range(BOUND)?])
}

const HEADING: &str = "\
| arrays | codec | bound | ratio | compress: one call | us | loop | decompress: one call | us | loop |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// Adds the failed action to an error of the driver.
fn failed(action: &'static str) -> impl Fn(DriverError) -> Failure {
    move |error| {
        let reason = error.to_string();
        Error::Cuda { action, reason }.into()
    }
}

/// Arrays of one length on the GPU, one behind the other, with memory for their streams and values, and the lists.
struct Batch<'a> {
    gpu: &'a Gpu,
    stream: &'a Arc<CudaStream>,
    repeat: u32,
    count: usize,
    length: usize,
    /// Bytes of memory for each stream.
    room: usize,
    host: Vec<f32>,
    arrays: CudaSlice<f32>,
    streams: CudaSlice<u8>,
    values: CudaSlice<f32>,
    lists: Lists,
    workspace: Workspace,
}

/// Lists in the memory of the GPU.
struct Lists {
    arrays: CudaSlice<u64>,
    lengths: CudaSlice<u64>,
    streams: CudaSlice<u64>,
    rooms: CudaSlice<u64>,
    sizes: CudaSlice<u64>,
    values: CudaSlice<u64>,
    faults: CudaSlice<u64>,
}

impl<'a> Batch<'a> {
    /// `count` arrays of `length` elements, cut from a field, each from another place.
    fn new(
        gpu: &'a Gpu,
        stream: &'a Arc<CudaStream>,
        field: &[f32],
        count: usize,
        length: usize,
        repeat: u32,
    ) -> Result<Self, Failure> {
        let places = field.len() - length + 1;
        let host: Vec<f32> = (0..count)
            .flat_map(|i| &field[i * 7919 % places..][..length])
            .copied()
            .collect();
        let room = (max_compressed_len(length as u64, Dtype::F32) as usize).next_multiple_of(16);
        let no_memory = |_| Error::OutOfMemory {
            bytes: (count * room) as u64,
        };
        let arrays = stream.clone_htod(&host).map_err(no_memory)?;
        let values = stream.alloc_zeros::<f32>(host.len()).map_err(no_memory)?;
        let streams = stream.alloc_zeros::<u8>(count * room).map_err(no_memory)?;
        let list = |value: &dyn Fn(u64) -> u64| {
            let list: Vec<u64> = (0..count as u64).map(value).collect();
            stream.clone_htod(&list).map_err(failed("copy to the GPU"))
        };
        let address = |first: u64, bytes: usize| list(&|i| first + i * bytes as u64);
        let lists = Lists {
            arrays: address(arrays.device_ptr(stream).0, 4 * length)?,
            lengths: list(&|_| length as u64)?,
            streams: address(streams.device_ptr(stream).0, room)?,
            rooms: list(&|_| room as u64)?,
            sizes: list(&|_| 0)?,
            values: address(values.device_ptr(stream).0, 4 * length)?,
            faults: list(&|_| 0)?,
        };
        Ok(Self {
            gpu,
            stream,
            repeat,
            count,
            length,
            room,
            workspace: gpu.workspace(stream, length as u64)?,
            host,
            arrays,
            streams,
            values,
            lists,
        })
    }

    /// The cells of a row behind the bound.
    fn measure(&mut self, compressor: &Compressor) -> Result<String, Failure> {
        let fields: Vec<&[f32]> = self.host.chunks_exact(self.length).collect();
        let expected = compressor.compress_batch(&fields);
        let expected: Vec<Vec<u8>> = expected.into_iter().collect::<Result<_, _>>()?;
        self.poison()?;
        let compress = self.time(|batch| batch.compress(compressor))?;
        self.check_streams(&expected)?;
        let decompress = self.time(Self::decompress)?;
        self.check_values(&expected)?;
        let single = SINGLE.min(self.count);
        let loop_compress = self.time(|batch| batch.compress_each(compressor, single))?;
        let loop_decompress = self.time(|batch| batch.decompress_each(compressor, single))?;
        let bytes = 4 * self.host.len() as u64;
        let single_bytes = (4 * self.length * single) as u64;
        let stream_bytes: usize = expected.iter().map(Vec::len).sum();
        let [compress_us, decompress_us] =
            [compress, decompress].map(|times| times.microseconds()[1]);
        Ok(format!(
            "{:.2} | {:.0} | {compress_us:.0} | {:.1} | {:.0} | {decompress_us:.0} | {:.1}",
            bytes as f64 / stream_bytes as f64,
            compress.rate(bytes),
            loop_compress.rate(single_bytes),
            decompress.rate(bytes),
            loop_decompress.rate(single_bytes),
        ))
    }

    /// Times `work` between two events.
    fn time(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<Times, Failure> {
        let stream = self.stream.clone();
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let record = || {
            stream
                .record_event(flags)
                .map_err(failed("record an event"))
        };
        sample(WARM_UP, self.repeat, || {
            let start = record()?;
            work(self)?;
            let end = record()?;
            end.synchronize().map_err(failed("wait for the GPU"))?;
            let milliseconds = start.elapsed_ms(&end).map_err(failed("take the time"))?;
            Ok(1e-3 * f64::from(milliseconds))
        })
    }

    fn compress(&mut self, compressor: &Compressor) -> Result<(), Error> {
        let batch = BatchCompression {
            arrays: &self.lists.arrays,
            lengths: &self.lists.lengths,
            streams: &self.lists.streams,
            rooms: &self.lists.rooms,
        };
        let sizes = &mut self.lists.sizes;
        // SAFETY: the lists are those of this batch's memory, which lives as long as the stream's work is waited for.
        unsafe { (self.gpu).compress_batch::<f32, _>(self.stream, compressor, &batch, sizes) }
    }

    fn decompress(&mut self) -> Result<(), Error> {
        let batch = BatchDecompression {
            streams: &self.lists.streams,
            sizes: &self.lists.sizes,
            arrays: &self.lists.values,
            lengths: &self.lists.lengths,
        };
        let faults = &mut self.lists.faults;
        let decompressor = Decompressor::new();
        // SAFETY: as above.
        unsafe { (self.gpu).decompress_batch::<f32, _>(self.stream, &decompressor, &batch, faults) }
    }

    /// The first arrays by single calls.
    fn compress_each(&mut self, compressor: &Compressor, count: usize) -> Result<(), Error> {
        let arrays = self.arrays.device_ptr(self.stream).0;
        let streams = self.streams.device_ptr(self.stream).0;
        for i in 0..count {
            // SAFETY: the array and its room are parts of this batch's memory.
            unsafe {
                self.gpu.compress_raw::<f32>(
                    self.stream,
                    compressor,
                    arrays + (4 * self.length * i) as u64,
                    self.length as u64,
                    streams + (self.room * i) as u64,
                    self.room as u64,
                    &mut self.workspace,
                )?;
            }
        }
        Ok(())
    }

    /// The first streams by single calls.
    fn decompress_each(&mut self, compressor: &Compressor, count: usize) -> Result<(), Error> {
        let streams = self.streams.device_ptr(self.stream).0;
        let values = self.values.device_ptr(self.stream).0;
        let layout = compressor.layout_for(self.length as u64)?;
        let whole = Part::Elements(0..self.length as u64);
        for i in 0..count {
            // SAFETY: the stream and the values are parts of this batch's memory.
            unsafe {
                self.gpu.decompress_raw::<f32>(
                    self.stream,
                    &Decompressor::new(),
                    layout,
                    (streams + (self.room * i) as u64, self.room as u64),
                    &whole,
                    (values + (4 * self.length * i) as u64, self.length as u64),
                    &mut self.workspace,
                )?;
            }
        }
        Ok(())
    }

    /// Fills the memory of streams and values with other bytes.
    fn poison(&mut self) -> Result<(), Failure> {
        let poison = vec![POISON; self.streams.len()];
        (self.stream.memcpy_htod(&poison, &mut self.streams)).map_err(failed("fill memory"))?;
        let poison = vec![f32::from_bits(u32::from_ne_bytes([POISON; 4])); self.values.len()];
        (self.stream.memcpy_htod(&poison, &mut self.values)).map_err(failed("fill memory"))
    }

    /// Compares all streams with those of the CPU.
    fn check_streams(&self, expected: &[Vec<u8>]) -> Result<(), Failure> {
        let down = "copy from the GPU";
        let found = self
            .stream
            .clone_dtoh(&self.streams)
            .map_err(failed(down))?;
        let sizes = self
            .stream
            .clone_dtoh(&self.lists.sizes)
            .map_err(failed(down))?;
        for (i, (wanted, room)) in expected
            .iter()
            .zip(found.chunks_exact(self.room))
            .enumerate()
        {
            if sizes[i] != wanted.len() as u64 || !room.starts_with(wanted) {
                return Err(Failure::failed(format_args!(
                    "stream {i} of a batch is not that of the CPU"
                )));
            }
        }
        Ok(())
    }

    /// Compares all values with those that the CPU decodes.
    fn check_values(&self, expected: &[Vec<u8>]) -> Result<(), Failure> {
        let down = "copy from the GPU";
        let faults = self
            .stream
            .clone_dtoh(&self.lists.faults)
            .map_err(failed(down))?;
        faults.iter().try_for_each(|fault| batch_fault(*fault))?;
        let found = self.stream.clone_dtoh(&self.values).map_err(failed(down))?;
        let streams: Vec<&[u8]> = expected.iter().map(Vec::as_slice).collect();
        let decoded = (Decompressor::new().device(Device::Cpu)).decompress_batch::<f32>(&streams);
        for (i, (wanted, found)) in decoded
            .into_iter()
            .zip(found.chunks_exact(self.length))
            .enumerate()
        {
            let wanted = wanted?;
            if !(wanted.iter().map(|x| x.to_bits())).eq(found.iter().map(|x| x.to_bits())) {
                return Err(Failure::failed(format_args!(
                    "array {i} of a batch is not decoded as on the CPU"
                )));
            }
        }
        Ok(())
    }
}
