//! `ferrosz-lab batch`: the time of many arrays in one call on a GPU, beside one call after the other.

use super::{agree, gpu::OneGpu, markdown, synthetic::Kind, times::Times};
use clap::Args;
use ferrosz::cuda::cudarc::driver::CudaSlice;
use ferrosz::cuda::{AtAddress, BatchCompression, BatchDecompression, Workspace, batch_fault};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Dtype, Error, max_compressed_len};
use ferrosz_cli::{common::Common, failure::Failure, output};

/// Numbers of arrays, and the bytes of each.
const SIZES: [(usize, usize); 3] = [(10_000, 64 << 10), (1000, 1 << 20), (100_000, 4 << 10)];

/// Arrays at most that are compressed by single calls, whose times are then scaled to the whole batch.
const SINGLE: usize = 1000;

/// Edge of the synthetic field that arrays are cut from.
const EDGE: usize = 256;

/// Bounds: absolute, and relative to the range of each array.
const BOUND: f64 = 1e-3;

/// `ferrosz-lab batch`.
#[derive(Debug, Args)]
pub struct Batches {
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
pub fn run(flags: &Batches, common: &Common) -> Result<(), Failure> {
    let at = OneGpu::of(common.device)?;
    let field = Kind::Waves.cube(EDGE);
    let bounds = [Bound::abs(BOUND), Bound::range(BOUND)];
    output::print(
        "GB/s of the arrays, medians; one call: the batch; loop: single calls, one after the other; us: of a batch\n",
    )?;
    markdown::heading(
        "arrays | codec | bound | ratio | compress: one call | us | loop | decompress: one call | us | loop",
    )?;
    for (count, bytes) in SIZES {
        let mut batch = Batch::new(&at, &field, count, bytes / 4, flags.repeat)?;
        for codec in Codec::BLOCKS {
            for bound in bounds {
                let bound = bound.map_err(Failure::failed)?;
                let row = batch.measure(&Compressor::new(codec, bound).device(Device::Cpu))?;
                let (kib, mode) = (bytes >> 10, bound.mode());
                markdown::row(format_args!(
                    "{count} x {kib} KiB | {codec} | {mode} | {row}"
                ))?;
            }
        }
    }
    Ok(())
}

/// Arrays of one length on the GPU, one behind the other, with memory for their streams and values, and the lists.
struct Batch<'a> {
    at: &'a OneGpu,
    repeat: u32,
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
        at: &'a OneGpu,
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
        let arrays = at.upload(&host)?;
        let values = at.allocate::<f32>(host.len() as u64)?;
        let streams = at.allocate((count * room) as u64)?;
        let list = |first: u64, step: usize| {
            let list = (0..count as u64).map(|i| first + i * step as u64);
            at.upload(&list.collect::<Vec<u64>>())
        };
        let lists = Lists {
            arrays: list(at.address(&arrays), 4 * length)?,
            lengths: list(length as u64, 0)?,
            streams: list(at.address(&streams), room)?,
            rooms: list(room as u64, 0)?,
            sizes: list(0, 0)?,
            values: list(at.address(&values), 4 * length)?,
            faults: list(0, 0)?,
        };
        Ok(Self {
            at,
            repeat,
            length,
            room,
            workspace: at.gpu.workspace(&at.stream, length as u64)?,
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
        let single = SINGLE.min(fields.len());
        let expected = compressor.compress_batch(&fields);
        let expected: Vec<Vec<u8>> = expected.into_iter().collect::<Result<_, _>>()?;
        self.at.poison(&self.streams)?;
        self.at.poison(&self.values)?;
        let compress = self.time(|batch| batch.compress(compressor))?;
        self.check_streams(&expected)?;
        let decompress = self.time(Self::decompress)?;
        self.check_values(&expected)?;
        let loop_compress = self.time(|batch| batch.compress_each(compressor, single))?;
        let loop_decompress = self.time(|batch| batch.decompress_each(compressor, single))?;
        let bytes = 4 * self.host.len() as u64;
        let single_bytes = (4 * self.length * single) as u64;
        let stream_bytes: usize = expected.iter().map(Vec::len).sum();
        Ok(format!(
            "{:.2} | {:.0} | {:.0} | {:.1} | {:.0} | {:.0} | {:.1}",
            bytes as f64 / stream_bytes as f64,
            compress.rate(bytes),
            compress.microseconds()[1],
            loop_compress.rate(single_bytes),
            decompress.rate(bytes),
            decompress.microseconds()[1],
            loop_decompress.rate(single_bytes),
        ))
    }

    fn time(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<Times, Failure> {
        let (at, repeat) = (self.at, self.repeat);
        at.time(repeat, 1, || Ok(work(self)?))
    }

    fn compress(&mut self, compressor: &Compressor) -> Result<(), Error> {
        let batch = BatchCompression {
            arrays: &self.lists.arrays,
            lengths: &self.lists.lengths,
            streams: &self.lists.streams,
            rooms: &self.lists.rooms,
        };
        let (OneGpu { gpu, stream }, sizes) = (self.at, &mut self.lists.sizes);
        // SAFETY: the lists are those of this batch's memory, which lives as long as the stream's work is waited for.
        unsafe { gpu.compress_batch::<f32, _>(stream, compressor, &batch, sizes) }
    }

    fn decompress(&mut self) -> Result<(), Error> {
        let batch = BatchDecompression {
            streams: &self.lists.streams,
            sizes: &self.lists.sizes,
            arrays: &self.lists.values,
            lengths: &self.lists.lengths,
        };
        let (OneGpu { gpu, stream }, faults) = (self.at, &mut self.lists.faults);
        // SAFETY: as above.
        unsafe { gpu.decompress_batch::<f32, _>(stream, &Decompressor::new(), &batch, faults) }
    }

    /// The first arrays by single calls.
    fn compress_each(&mut self, compressor: &Compressor, count: usize) -> Result<(), Error> {
        let OneGpu { gpu, stream } = self.at;
        for i in 0..count {
            let array = self.array(&self.arrays, i);
            let mut room = self.room(i);
            gpu.compress(stream, compressor, &array, &mut room, &mut self.workspace)?;
        }
        Ok(())
    }

    /// An array of a batch's memory.
    fn array(&self, arrays: &CudaSlice<f32>, i: usize) -> AtAddress<f32> {
        let start = self.at.address(arrays) + (4 * self.length * i) as u64;
        // SAFETY: a part of this batch's memory, which lives until the work is done.
        unsafe { AtAddress::new(&self.at.stream, start, self.length as u64) }
    }

    /// The room of a stream.
    fn room(&self, i: usize) -> AtAddress<u8> {
        let start = self.at.address(&self.streams) + (self.room * i) as u64;
        // SAFETY: a part of this batch's memory, which lives until the work is done.
        unsafe { AtAddress::new(&self.at.stream, start, self.room as u64) }
    }

    /// The first streams by single calls.
    fn decompress_each(&mut self, compressor: &Compressor, count: usize) -> Result<(), Error> {
        let OneGpu { gpu, stream } = self.at;
        let layout = compressor.layout_for(self.length as u64)?;
        let decompressor = Decompressor::new();
        for i in 0..count {
            let mut values = self.array(&self.values, i);
            let (bytes, work) = (self.room(i), &mut self.workspace);
            gpu.decompress(stream, &decompressor, layout, &bytes, &mut values, work)?;
        }
        Ok(())
    }

    /// Compares all streams with those of the CPU.
    fn check_streams(&self, expected: &[Vec<u8>]) -> Result<(), Failure> {
        let found = self.at.download(&self.streams)?;
        let sizes = self.at.download(&self.lists.sizes)?;
        let rooms = found.chunks_exact(self.room).zip(sizes);
        for (i, (expected, (room, size))) in expected.iter().zip(rooms).enumerate() {
            let found = &room[..room.len().min(size as usize)];
            agree::streams(found, expected).map_err(of_array(i))?;
        }
        Ok(())
    }

    /// Compares all values with those that the CPU decodes.
    fn check_values(&self, expected: &[Vec<u8>]) -> Result<(), Failure> {
        let faults = self.at.download(&self.lists.faults)?;
        faults.iter().try_for_each(|fault| batch_fault(*fault))?;
        let found = self.at.download(&self.values)?;
        let streams: Vec<&[u8]> = expected.iter().map(Vec::as_slice).collect();
        let decoded = (Decompressor::new().device(Device::Cpu)).decompress_batch::<f32>(&streams);
        let found = found.chunks_exact(self.length);
        for (i, (expected, found)) in decoded.into_iter().zip(found).enumerate() {
            agree::fields(found, &expected?).map_err(of_array(i))?;
        }
        Ok(())
    }
}

/// Adds the number of an array to a failure.
fn of_array(number: usize) -> impl Fn(Failure) -> Failure {
    move |failure| Failure::failed(format_args!("array {number} of a batch: {failure}"))
}
