//! Batches in device memory: the bytes of single calls, also from a graph on new data.

use super::{first_gpu, same_bits};
use crate::common::fields::{FromBits, Kind, make};
use crate::common::graph;
use ferrosz::cuda::cudarc::driver::{
    CudaSlice, CudaStream, DevicePtr, DeviceRepr, ValidAsZeroBits,
};
use ferrosz::cuda::{BatchCompression, BatchDecompression, Gpu, batch_fault};
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Dtype, Error, Preset, max_compressed_len,
};
use std::sync::Arc;

/// The lengths at which something changes.
const LENGTHS: [usize; 12] = [
    0, 1, 31, 32, 33, 100, 8191, 8192, 8193, 16_384, 16_389, 300_000,
];

/// The byte that fills outputs.
const POISON: u8 = 0xA5;

/// An element type in tests of device memory.
trait Value: FromBits + DeviceRepr + ValidAsZeroBits {}

impl Value for f32 {}
impl Value for f64 {}

/// Memory of a batch on the GPU, each array in an allocation of its own, and its lists.
struct Batch<T> {
    stream: Arc<CudaStream>,
    arrays: Vec<CudaSlice<T>>,
    streams: Vec<CudaSlice<u8>>,
    outputs: Vec<CudaSlice<T>>,
    lengths: CudaSlice<u64>,
    rooms: CudaSlice<u64>,
    array_addresses: CudaSlice<u64>,
    stream_addresses: CudaSlice<u64>,
    output_addresses: CudaSlice<u64>,
    sizes: CudaSlice<u64>,
    faults: CudaSlice<u64>,
}

impl<T: Value> Batch<T> {
    fn new(stream: &Arc<CudaStream>, lengths: &[usize]) -> Self {
        let up = |list: &[u64]| stream.clone_htod(list).expect("copied");
        let poisoned = |bytes: usize| stream.clone_htod(&vec![POISON; bytes]).expect("copied");
        let rooms: Vec<u64> = (lengths.iter())
            .map(|length| max_compressed_len(*length as u64, T::DTYPE))
            .collect();
        let new = |length: &usize| stream.alloc_zeros::<T>((*length).max(1)).expect("memory");
        let arrays: Vec<_> = lengths.iter().map(new).collect();
        let outputs: Vec<_> = lengths.iter().map(new).collect();
        let streams: Vec<_> = rooms.iter().map(|room| poisoned(*room as usize)).collect();
        let lengths: Vec<u64> = lengths.iter().map(|length| *length as u64).collect();
        let zeros = vec![7; lengths.len()];
        Self {
            stream: stream.clone(),
            lengths: up(&lengths),
            rooms: up(&rooms),
            array_addresses: up(&addresses(stream, &arrays)),
            stream_addresses: up(&addresses(stream, &streams)),
            output_addresses: up(&addresses(stream, &outputs)),
            sizes: up(&zeros),
            faults: up(&zeros),
            arrays,
            streams,
            outputs,
        }
    }

    /// Puts fields into the arrays.
    fn fill(&mut self, fields: &[Vec<T>]) {
        for (array, field) in self.arrays.iter_mut().zip(fields) {
            if !field.is_empty() {
                self.stream.memcpy_htod(field, array).expect("copied");
            }
        }
    }

    fn compress(&mut self, gpu: &Gpu, compressor: &Compressor) -> Result<(), Error> {
        let batch = BatchCompression {
            arrays: &self.array_addresses,
            lengths: &self.lengths,
            streams: &self.stream_addresses,
            rooms: &self.rooms,
        };
        // SAFETY: the lists are those of this batch's memory.
        unsafe { gpu.compress_batch::<T, _>(&self.stream, compressor, &batch, &mut self.sizes) }
    }

    fn decompress(&mut self, gpu: &Gpu) -> Result<(), Error> {
        let batch = BatchDecompression {
            streams: &self.stream_addresses,
            sizes: &self.sizes,
            arrays: &self.output_addresses,
            lengths: &self.lengths,
        };
        let decompressor = Decompressor::new();
        // SAFETY: the lists are those of this batch's memory.
        unsafe {
            gpu.decompress_batch::<T, _>(&self.stream, &decompressor, &batch, &mut self.faults)
        }
    }

    /// Compares all streams and values with those of single calls of the CPU, except those of stream `damaged`.
    fn check(&self, compressor: &Compressor, fields: &[Vec<T>], damaged: Option<usize>) {
        let down = |list: &CudaSlice<u64>| self.stream.clone_dtoh(list).expect("copied");
        let (sizes, faults) = (down(&self.sizes), down(&self.faults));
        for (i, field) in fields.iter().enumerate() {
            let context = format!("array {i} of {} elements", field.len());
            if damaged == Some(i) {
                assert!(batch_fault(faults[i]).is_err(), "{context}");
                continue;
            }
            let wanted = compressor.compress(field).expect("compressed");
            let found = self.stream.clone_dtoh(&self.streams[i]).expect("copied");
            let (found, rest) = found.split_at(sizes[i] as usize);
            assert!(found == wanted, "{context}");
            assert!(
                rest.iter().all(|byte| *byte == POISON),
                "{context}: written past it"
            );
            assert_eq!(batch_fault(faults[i]), Ok(()), "{context}");
            let wanted: Vec<T> = (Decompressor::new().device(Device::Cpu))
                .decompress(&wanted)
                .expect("decoded");
            let found = self.stream.clone_dtoh(&self.outputs[i]).expect("copied");
            assert!(same_bits(&found[..wanted.len()], &wanted), "{context}");
        }
    }
}

fn addresses<T>(stream: &CudaStream, slices: &[CudaSlice<T>]) -> Vec<u64> {
    slices
        .iter()
        .map(|slice| slice.device_ptr(stream).0)
        .collect()
}

fn fields<T: FromBits>(lengths: &[usize], seed: u64) -> Vec<Vec<T>> {
    (lengths
        .iter()
        .zip(Kind::ALL.iter().cycle().skip(seed as usize)))
    .zip(seed..)
    .map(|((length, kind), seed)| make(*kind, *length, seed))
    .collect()
}

/// Many lengths, in another order for each seed.
fn lengths(seed: u64) -> Vec<usize> {
    let some = (0..200).map(|i| (i * 977 + seed as usize * 131) % 20_000);
    LENGTHS.into_iter().chain(some).collect()
}

fn bounds() -> Result<[Bound; 4], Error> {
    Ok([
        Bound::abs(0.01)?,
        Bound::abs(0.0)?,
        Bound::range(1e-3)?,
        Bound::max(1e-4)?,
    ])
}

fn check_all<T: Value>() -> Result<(), Error> {
    let (gpu, stream) = first_gpu()?;
    for (seed, bound) in (0..).zip(bounds()?) {
        for codec in Codec::BLOCKS {
            let compressor = Compressor::new(codec, bound).device(Device::Cpu);
            let lengths = lengths(seed);
            let fields = fields::<T>(&lengths, seed);
            let mut batch = Batch::new(&stream, &lengths);
            batch.fill(&fields);
            batch.compress(&gpu, &compressor)?;
            batch.decompress(&gpu)?;
            batch.check(&compressor, &fields, None);
            // One damaged stream among the others.
            let victim = 20 + seed as usize;
            let byte = stream.clone_htod(&[0u8]).expect("copied");
            let mut place = batch.streams[victim].slice_mut(3..4);
            stream.memcpy_dtod(&byte, &mut place).expect("copied");
            batch.decompress(&gpu)?;
            batch.check(&compressor, &fields, Some(victim));
        }
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn batches_are_as_single_calls() -> Result<(), Error> {
    check_all::<f32>()?;
    check_all::<f64>()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn batches_can_be_captured_and_replayed() -> Result<(), Error> {
    let (gpu, stream) = graph::gpu()?;
    let compressor = Compressor::new(Codec::OUTLIER, Bound::range(1e-3)?).device(Device::Cpu);
    gpu.prepare_batch(Codec::OUTLIER, Dtype::F32)?;
    let lengths = lengths(1);
    let mut batch = Batch::<f32>::new(&stream, &lengths);
    stream.synchronize().expect("memory is there");
    let graph = graph::capture(&stream, || {
        batch.compress(&gpu, &compressor)?;
        batch.decompress(&gpu)
    })?;
    graph::trample();
    for seed in 0..3 {
        let fields = fields::<f32>(&lengths, seed);
        batch.fill(&fields);
        for bytes in &mut batch.streams {
            let poison = vec![POISON; bytes.len()];
            stream.memcpy_htod(&poison, bytes).expect("copied");
        }
        graph.launch().expect("launched");
        stream.synchronize().expect("done");
        batch.check(&compressor, &fields, None);
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn batches_of_host_slices_are_as_single_calls() -> Result<(), Error> {
    let fields = fields::<f64>(&lengths(2), 2);
    let slices: Vec<&[f64]> = fields.iter().map(Vec::as_slice).collect();
    let compressor = Compressor::new(Codec::LORENZO, Bound::range(1e-3)?);
    let on_gpu = compressor.device(Device::Cuda(0)).compress_batch(&slices);
    let on_cpu = compressor.device(Device::Cpu).compress_batch(&slices);
    assert!(on_gpu == on_cpu && on_cpu.iter().all(Result::is_ok));
    let streams: Vec<Vec<u8>> = on_cpu.into_iter().flatten().collect();
    let streams: Vec<&[u8]> = streams.iter().map(Vec::as_slice).collect();
    let decoded = Decompressor::new().device(Device::Cuda(0));
    for (found, stream) in decoded
        .decompress_batch::<f64>(&streams)
        .iter()
        .zip(&streams)
    {
        let wanted: Vec<f64> = Decompressor::new().device(Device::Cpu).decompress(stream)?;
        assert!(same_bits(found.as_ref().expect("decoded"), &wanted));
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn bad_batches_are_refused() -> Result<(), Error> {
    let (gpu, stream) = first_gpu()?;
    let mut batch = Batch::<f32>::new(&stream, &[10, 20]);
    let bound = Bound::abs(0.1)?;
    let preset = Compressor::new(Preset::Fast, bound);
    for settings in [
        preset,
        Compressor::new(Codec::INTERP, bound),
        Compressor::new(Codec::PLAIN, bound).extents(&[2, 5])?,
    ] {
        let found = batch.compress(&gpu, &settings);
        assert!(matches!(found, Err(Error::Refused { .. })));
    }
    batch.rooms = stream.clone_htod(&[1u64]).expect("copied");
    let found = batch.compress(&gpu, &Compressor::new(Codec::PLAIN, bound));
    let wanted = Error::BatchLists {
        argument: "rooms",
        found: 1,
        arrays: 2,
    };
    assert_eq!(found, Err(wanted));
    let mut empty = Batch::<f32>::new(&stream, &[]);
    empty.compress(&gpu, &Compressor::new(Codec::PLAIN, bound))?;
    empty.decompress(&gpu)
}
