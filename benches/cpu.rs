//! The CPU backend: compression and decompression of a field of 2^24 values, and the reference on a
//! short one. Every output is checked once before it is timed.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ferrosz::codec::reference;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Extents, Layout, Shape};
use std::hint::black_box;

/// Waves of two lengths with a little noise.
fn field(elements: usize) -> Vec<f32> {
    let mut state = 1u32;
    (0..elements)
        .map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let x = i as f32;
            let noise = (state >> 8) as f32 * 1e-9;
            (x * 0.011).sin() + 0.3 * (x * 0.057).sin() + noise
        })
        .collect()
}

fn bound() -> Bound {
    Bound::range(1e-3).expect("a good bound")
}

fn cpu(criterion: &mut Criterion) {
    let field = field(1 << 24);
    let bytes = size_of_val(&field[..]) as u64;
    let mut group = criterion.benchmark_group("cpu");
    group.throughput(Throughput::Bytes(bytes)).sample_size(10);
    let all = Codec::ALL
        .into_iter()
        .flat_map(|codec| Shape::ALL.map(|shape| (codec, shape)));
    for (codec, shape) in all.filter(|(codec, shape)| codec.takes(*shape)) {
        let compressor = Compressor::new(codec, bound())
            .device(Device::Cpu)
            .with_rank(shape.rank())
            .and_then(|compressor| compressor.extents(&[256, 256, 256]))
            .expect("a compressor");
        let name = format!("{codec} {shape}");
        let decompressor = Decompressor::new().device(Device::Cpu);
        let stream = compressor.compress(&field).expect("compresses");
        let back: Vec<f32> = decompressor.decompress(&stream).expect("decompresses");
        let largest = field.iter().zip(&back).map(|(x, y)| (x - y).abs());
        assert!(largest.fold(0.0, f32::max) <= 2.7e-3, "{name}");
        group.bench_function(BenchmarkId::new("compress", &name), |bencher| {
            bencher.iter(|| compressor.compress(black_box(&field)));
        });
        group.bench_function(BenchmarkId::new("decompress", &name), |bencher| {
            bencher.iter(|| decompressor.decompress::<f32>(black_box(&stream)));
        });
    }
    group.finish();
}

fn plain_loops(criterion: &mut Criterion) {
    let field = field(1 << 18);
    let extents = Extents::line(field.len() as u64);
    let mut group = criterion.benchmark_group("reference");
    group
        .throughput(Throughput::Bytes(size_of_val(&field[..]) as u64))
        .sample_size(10);
    let layout = Layout::new(Codec::Plain, Shape::Line, extents);
    let compress = || reference::compress(layout, bound(), black_box(&field));
    let stream = compress();
    let back: Vec<f32> = reference::decompress(&stream).expect("decompresses");
    assert_eq!(back.len(), field.len());
    group.bench_function("compress", |bencher| bencher.iter(compress));
    group.bench_function("decompress", |bencher| {
        bencher.iter(|| reference::decompress::<f32>(black_box(&stream)));
    });
    group.finish();
}

criterion_group!(benches, cpu, plain_loops);
criterion_main!(benches);
