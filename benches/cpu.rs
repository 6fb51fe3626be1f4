//! The CPU backend: compression and decompression of fields of 64 MiB, copying and filling of as many bytes, every
//! version of the code, and the reference on a short field. Every output is checked once before it is timed.
//!
//! Throughput is that of the original data, in units of 10^9 bytes. Fields of `f32` are cubes; those of `f64` have half
//! as many slices.

mod noise;

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use ferrosz::codec::oracle;
use ferrosz::stream::{Extents, Layout};
use ferrosz::versions::{self, Version};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Element, Shape};
use noise::{EDGE, noise};
use std::hint::black_box;
use std::time::Duration;

/// The highest parts of a field, and zeros elsewhere, which fill whole blocks and chunks.
fn peaks(field: &[f32]) -> Vec<f32> {
    field.iter().map(|value| (value - 0.7).max(0.0)).collect()
}

fn bound() -> Bound {
    Bound::range(1e-3).expect("a good bound")
}

/// The absolute bound, slightly rounded up.
fn tolerance<T: Element>(field: &[T]) -> f64 {
    let values = || field.iter().map(|value| value.to_f64());
    let (low, high) = (
        values().fold(f64::MAX, f64::min),
        values().fold(f64::MIN, f64::max),
    );
    1.000_001e-3 * (high - low)
}

fn check<T: Element>(field: &[T], back: &[T]) {
    let most = tolerance(field);
    let near = |(x, y): (&T, &T)| (x.to_f64() - y.to_f64()).abs() <= most;
    assert!(field.len() == back.len() && field.iter().zip(back).all(near));
}

fn group<'a>(
    criterion: &'a mut Criterion,
    name: &str,
    bytes: usize,
) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .throughput(Throughput::BytesDecimal(bytes as u64))
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(800));
    group
}

/// Times of copying and filling as many bytes, in as many threads as the backend uses.
fn ceilings(criterion: &mut Criterion) {
    let source = vec![1u8; 4 * (EDGE * EDGE * EDGE) as usize];
    let mut target = source.clone();
    let mut group = group(criterion, "ceiling", source.len());
    let piece = 1 << 20;
    group.bench_function("copy, one thread", |bencher| {
        bencher.iter(|| target.copy_from_slice(black_box(&source)));
    });
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = source.len().div_ceil(threads).next_multiple_of(piece);
    group.bench_function("copy", |bencher| {
        bencher.iter(|| {
            std::thread::scope(|scope| {
                for (to, from) in target.chunks_mut(parts).zip(source.chunks(parts)) {
                    scope.spawn(|| to.copy_from_slice(black_box(from)));
                }
            });
        });
    });
    group.bench_function("fill of fresh memory", |bencher| {
        bencher.iter(|| {
            let mut fresh = vec![0u8; source.len()];
            std::thread::scope(|scope| {
                for to in fresh.chunks_mut(parts) {
                    scope.spawn(|| black_box(to).fill(3));
                }
            });
            fresh
        });
    });
    group.finish();
}

/// Compression and decompression by one compressor.
fn both<T: Element>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    (codec, shape): (Codec, Shape),
    field: &[T],
) {
    let slices = field.len() as u64 / EDGE / EDGE;
    let compressor = Compressor::new(codec, bound())
        .device(Device::Cpu)
        .with_rank(shape.rank())
        .and_then(|compressor| compressor.extents(&[slices, EDGE, EDGE]))
        .expect("a compressor");
    let decompressor = Decompressor::new().device(Device::Cpu);
    let stream = compressor.compress(field).expect("compresses");
    check(
        field,
        &decompressor.decompress(&stream).expect("decompresses"),
    );
    let ratio = size_of_val(field) as f64 / stream.len() as f64;
    eprintln!("{name} {codec} {shape}: ratio {ratio:.2}");
    let id = |way: &str| BenchmarkId::new(way, format!("{name} {codec} {shape}"));
    group.bench_function(id("compress"), |bencher| {
        bencher.iter(|| compressor.compress(black_box(field)));
    });
    group.bench_function(id("decompress"), |bencher| {
        bencher.iter(|| decompressor.decompress::<T>(black_box(&stream)));
    });
}

/// Every codec and rank.
fn all(criterion: &mut Criterion) {
    let field: Vec<f32> = noise(EDGE).into_iter().map(|x| x as f32).collect();
    let mut group = group(criterion, "cpu", size_of_val(&field[..]));
    for codec in Codec::ALL {
        for shape in Shape::ALL.into_iter().filter(|shape| codec.takes(*shape)) {
            both(&mut group, "noise", (codec, shape), &field);
        }
    }
    let peaks = peaks(&field);
    for shape in Shape::ALL {
        both(&mut group, "peaks", (Codec::PLAIN, shape), &peaks);
    }
    let wide = noise(EDGE / 2);
    for shape in Shape::ALL {
        both(&mut group, "f64 noise", (Codec::PLAIN, shape), &wide);
    }
    both(
        &mut group,
        "f64 noise",
        (Codec::LORENZO, Shape::Cube),
        &wide,
    );
    group.finish();
}

/// Plain lines into reused memory, and by every version of the code.
fn lines(criterion: &mut Criterion) {
    let field: Vec<f32> = noise(EDGE).into_iter().map(|x| x as f32).collect();
    let mut group = group(criterion, "lines", size_of_val(&field[..]));
    let compressor = Compressor::new(Codec::PLAIN, bound()).device(Device::Cpu);
    let decompressor = Decompressor::new().device(Device::Cpu);
    let most = compressor.max_compressed_len(field.len() as u64, f32::DTYPE);
    let mut stream = vec![0; most.expect("not too large") as usize];
    let mut back = field.clone();
    let length = compressor.compress_into(&field, &mut stream).expect("fits");
    group.bench_function("compress_into", |bencher| {
        bencher.iter(|| compressor.compress_into(black_box(&field), &mut stream));
    });
    let stream = &stream[..length];
    group.bench_function("decompress_into", |bencher| {
        bencher.iter(|| decompressor.decompress_into(black_box(stream), &mut back));
    });
    check(&field, &back);
    let layout = Layout::new(Codec::PLAIN, Shape::Line, Extents::line(field.len() as u64));
    for version in Version::all() {
        let found = versions::compress(version, layout, bound(), &field);
        assert!(found.expect("compresses") == stream);
        group.bench_function(BenchmarkId::new("compress", version.name()), |bencher| {
            bencher.iter(|| versions::compress(version, layout, bound(), black_box(&field)));
        });
        group.bench_function(BenchmarkId::new("decompress", version.name()), |bencher| {
            bencher.iter(|| versions::decompress::<f32>(version, black_box(stream), None, true));
        });
    }
    group.finish();
}

fn plain_loops(criterion: &mut Criterion) {
    let field: Vec<f32> = noise(4).into_iter().map(|x| x as f32).collect();
    let mut group = group(criterion, "reference", size_of_val(&field[..]));
    let layout = Layout::new(Codec::PLAIN, Shape::Line, Extents::line(field.len() as u64));
    let compress = || oracle::compress(layout, bound(), black_box(&field));
    let stream = compress();
    check(&field, &oracle::decompress(&stream).expect("decompresses"));
    group.bench_function("compress", |bencher| bencher.iter(compress));
    group.bench_function("decompress", |bencher| {
        bencher.iter(|| oracle::decompress::<f32>(black_box(&stream)));
    });
    group.finish();
}

criterion_group!(benches, ceilings, lines, all, plain_loops);
criterion_main!(benches);
