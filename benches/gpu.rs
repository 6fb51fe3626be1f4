//! Compression and decompression of a field of 64 MiB in the memory of a GPU, by every codec and rank, and reading all of
//! it, which no kernel does faster. `benches/cpu.rs` has the same fields on a CPU.
//!
//! Times are those between two events of the stream: of the GPU, without the host. The bytes of each stream are compared
//! with those of the CPU once before it is timed. Throughput is that of the original data, in units of 10^9 bytes.

mod noise;

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use ferrosz::cuda::cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream};
use ferrosz::cuda::{Gpu, Workspace};
use ferrosz::stream::StreamLayout;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Element, Shape};
use noise::{EDGE, noise};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// A GPU, and a stream on it.
struct OnGpu {
    gpu: Gpu,
    stream: Arc<CudaStream>,
}

impl OnGpu {
    /// The first GPU.
    fn first() -> Result<Self, Box<dyn Error>> {
        let gpu = Gpu::new(0)?;
        let stream = gpu.context().new_stream()?;
        Ok(Self { gpu, stream })
    }

    /// The time of so many calls of what `enqueue` enqueues.
    fn time(
        &self,
        calls: u64,
        mut enqueue: impl FnMut() -> Result<(), ferrosz::Error>,
    ) -> Result<Duration, Box<dyn Error>> {
        let start = self.stream.record_event(Some(CU_EVENT_DEFAULT))?;
        for _ in 0..calls {
            enqueue()?;
        }
        let end = self.stream.record_event(Some(CU_EVENT_DEFAULT))?;
        Ok(Duration::from_secs_f32(start.elapsed_ms(&end)? / 1e3))
    }
}

/// A field on a GPU with all that calls need.
struct FieldOnGpu {
    values: Vec<f32>,
    field: CudaSlice<f32>,
    bytes: CudaSlice<u8>,
    back: CudaSlice<f32>,
}

impl FieldOnGpu {
    fn new(on: &OnGpu, values: Vec<f32>) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            field: on.stream.clone_htod(&values)?,
            bytes: on.stream.alloc_zeros(1)?,
            back: on.stream.alloc_zeros(values.len())?,
            values,
        })
    }

    fn compress(
        &mut self,
        on: &OnGpu,
        compressor: &Compressor,
        workspace: &mut Workspace,
    ) -> Result<(), ferrosz::Error> {
        let (field, bytes) = (&self.field, &mut self.bytes);
        (on.gpu).compress(&on.stream, compressor, field, bytes, workspace)
    }

    fn decompress(
        &mut self,
        on: &OnGpu,
        layout: StreamLayout,
        workspace: &mut Workspace,
    ) -> Result<(), ferrosz::Error> {
        let (bytes, back) = (&self.bytes, &mut self.back);
        let decompressor = Decompressor::new();
        (on.gpu).decompress(&on.stream, &decompressor, layout, bytes, back, workspace)
    }

    /// Compares the stream with that of the CPU, and the decoded values with its. Returns the ratio.
    fn check(
        &self,
        on: &OnGpu,
        compressor: &Compressor,
        length: usize,
    ) -> Result<f64, Box<dyn Error>> {
        let expected = compressor.device(Device::Cpu).compress(&self.values)?;
        let found = on.stream.clone_dtoh(&self.bytes.slice(..length))?;
        assert!(found == expected, "{compressor:?} makes other bytes");
        let decoded: Vec<f32> = Decompressor::new()
            .device(Device::Cpu)
            .decompress(&expected)?;
        let back = on.stream.clone_dtoh(&self.back)?;
        assert!(back == decoded, "{compressor:?} decodes other values");
        Ok(size_of_val(&self.values[..]) as f64 / length as f64)
    }
}

/// Compression and decompression by one codec and rank.
fn both(
    group: &mut BenchmarkGroup<'_, WallTime>,
    on: &OnGpu,
    on_device: &mut FieldOnGpu,
    (codec, shape): (Codec, Shape),
) -> Result<(), Box<dyn Error>> {
    let compressor = Compressor::new(codec, Bound::range(1e-3)?)
        .with_rank(shape.rank())?
        .extents(&[EDGE, EDGE, EDGE])?;
    let elements = on_device.values.len() as u64;
    let room = compressor.max_compressed_len(elements, f32::DTYPE)?;
    on_device.bytes = on.stream.alloc_zeros(room as usize)?;
    let layout = compressor.stream_layout(elements, f32::DTYPE)?;
    let mut workspace = on.gpu.workspace_for(&on.stream, layout)?;
    on_device.compress(on, &compressor, &mut workspace)?;
    let length = workspace.stream_bytes(&on.stream)?;
    on_device.decompress(on, layout, &mut workspace)?;
    workspace.check(&on.stream)?;
    let ratio = on_device.check(on, &compressor, length as usize)?;
    eprintln!("{codec} {shape}: ratio {ratio:.2}");
    let id = |way: &str| BenchmarkId::new(way, format!("{codec} {shape}"));
    group.bench_function(id("compress"), |bencher| {
        bencher.iter_custom(|calls| {
            on.time(calls, || {
                on_device.compress(on, &compressor, &mut workspace)
            })
            .expect("it has worked before")
        });
    });
    group.bench_function(id("decompress"), |bencher| {
        bencher.iter_custom(|calls| {
            on.time(calls, || on_device.decompress(on, layout, &mut workspace))
                .expect("it has worked before")
        });
    });
    Ok(())
}

/// Every codec and rank, after the limit of all.
fn on_gpu(criterion: &mut Criterion, on: &OnGpu) -> Result<(), Box<dyn Error>> {
    let values: Vec<f32> = noise(EDGE).into_iter().map(|value| value as f32).collect();
    let mut on_device = FieldOnGpu::new(on, values)?;
    let mut group = criterion.benchmark_group("gpu");
    group
        .throughput(Throughput::BytesDecimal(on_device.field.num_bytes() as u64))
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(800));
    let mut sum = on.stream.alloc_zeros::<u64>(1)?;
    group.bench_function("read all", |bencher| {
        bencher.iter_custom(|calls| {
            on.time(calls, || {
                (on.gpu).read_all(&on.stream, &on_device.field, &mut sum)
            })
            .expect("a GPU reads")
        });
    });
    for codec in Codec::ALL {
        for shape in Shape::ALL.into_iter().filter(|shape| codec.takes(*shape)) {
            both(&mut group, on, &mut on_device, (codec, shape))?;
        }
    }
    group.finish();
    Ok(())
}

/// All of it, or a line that says why not.
fn all(criterion: &mut Criterion) {
    match OnGpu::first() {
        Ok(on) => on_gpu(criterion, &on).expect("the GPU works"),
        Err(error) => println!("nothing is timed: {error}"),
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
