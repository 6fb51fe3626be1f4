//! Streams that are known in part.

use ferrosz::codec::container::header::HEADER_BYTES;
use ferrosz::stream::{PartialStream, Update};
use ferrosz::{Bound, BoundMode, Codec, Compressor, Decompressor, Device, Error, Fill, Part};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Reads a part of a file by the ranges alone; returns its values, the rounds and the bytes read.
fn read(file: &[u8], first: usize, part: &Part) -> (Vec<f32>, usize, u64) {
    let mut stream = PartialStream::new(&file[..first.min(file.len())]).expect("a header");
    let (mut rounds, mut bytes) = (0, 0);
    loop {
        let missing = stream.missing(part).expect("within the field");
        if missing.is_empty() {
            break;
        }
        rounds += 1;
        for range in missing {
            assert!(range.start < range.end);
            bytes += range.end - range.start;
            let range_of_file = range.start as usize..range.end as usize;
            stream
                .put(range.start, &file[range_of_file])
                .expect("within the stream");
        }
    }
    let decompressor = Decompressor::new().device(Device::Cpu);
    let values = decompressor.decompress_part(stream.bytes(), part);
    (values.expect("all bytes are there"), rounds, bytes)
}

#[test]
fn parts_are_those_of_the_whole_stream() {
    let mut rng = SmallRng::seed_from_u64(15);
    let lengths = [40u64, 70, 90];
    let mut field: Vec<f32> = (0..lengths.iter().product::<u64>())
        .map(|i| (i as f32 * 1e-3).sin() + rng.random_range(-0.01..0.01))
        .collect();
    field[5000..9000].fill(-999.0);
    let parts = [
        Part::Box(vec![3..9, 60..70, 7..8]),
        Part::Box(vec![0..40, 5..6, 0..90]),
        Part::Box(vec![0..40, 0..70, 0..90]),
        Part::Box(vec![1..1, 5..6, 0..90]),
        Part::Elements(4990..9100),
    ];
    for codec in Codec::ALL {
        for axes in [None, Some("s,y,x"), Some("x,z,y")] {
            let bound = Bound::new(BoundMode::Abs, 1e-3).expect("a bound");
            let compressor = Compressor::new(codec, bound)
                .extents(&lengths)
                .expect("extents");
            let mut compressor = compressor.fill(Fill::Value(-999.0)).expect("a fill value");
            if let Some(axes) = axes {
                compressor = compressor.axes(axes.parse().expect("axes"));
            }
            let file = compressor.compress(&field).expect("memory");
            for part in &parts {
                let whole = Decompressor::new().decompress_part::<f32>(&file, part);
                for first in [256, PartialStream::FIRST_BYTES] {
                    let (values, rounds, _) = read(&file, first, part);
                    assert!(
                        values == whole.clone().expect("sound"),
                        "{codec} {axes:?} {part:?}"
                    );
                    assert!(rounds <= 2, "{codec} {axes:?} {part:?}");
                }
            }
        }
    }
}

#[test]
fn a_small_box_needs_few_bytes() {
    let lengths = [64u64, 256, 256];
    let field: Vec<f32> = (0..lengths.iter().product::<u64>())
        .map(|i| (i as f32 * 1e-3).sin() + (i % 977) as f32 * 1e-3)
        .collect();
    let part = Part::Box(vec![32..36, 100..104, 200..210]);
    for (codec, most) in [
        (Codec::PLAIN, 20),
        (Codec::LORENZO_RANS, 20),
        (Codec::INTERP, 5),
    ] {
        let bound = Bound::abs(1e-3).expect("a bound");
        let compressor = Compressor::new(codec, bound)
            .extents(&lengths)
            .expect("extents");
        let file = compressor.compress(&field).expect("memory");
        let (_, _, bytes) = read(&file, 4096, &part);
        assert!(
            bytes * most < file.len() as u64,
            "{codec}: {bytes} of {}",
            file.len()
        );
    }
}

#[test]
fn no_stream_has_fewer_than_the_least_bytes() {
    for codec in Codec::ALL {
        for elements in [0, 1, 65_536, 65_537, 300_000] {
            let compressor = Compressor::new(codec, Bound::abs(1.0).expect("a bound"));
            let file = compressor
                .compress(&vec![0.0f32; elements])
                .expect("memory");
            let least = PartialStream::least_bytes(elements as u64);
            assert!(least <= file.len() as u64, "{codec} {elements}");
        }
    }
}

#[test]
fn updates_are_read() {
    let field: Vec<f32> = (0..100_000).map(|i| (i as f32).sqrt()).collect();
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1).expect("a bound"));
    let mut file = compressor.compress(&field).expect("memory");
    let part = Part::Elements(50_000..50_010);
    let update = Update::new(&file, &part, &[7.0f32; 10]).expect("within the field");
    update.apply(&mut file);
    let (values, _, _) = read(&file, 256, &part);
    assert!(values.iter().all(|value| (value - 7.0).abs() <= 0.1));
}

#[test]
fn damage_and_bytes_outside_are_errors() {
    let field: Vec<f32> = (0..100_000).map(|i| (i as f32).sqrt()).collect();
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(1e-3).expect("a bound"));
    let file = compressor.compress(&field).expect("memory");
    for length in [0, 10, HEADER_BYTES - 1] {
        assert!(PartialStream::new(&file[..length]).is_err(), "{length}");
    }
    let mut stream = PartialStream::new(&file[..HEADER_BYTES]).expect("a header");
    assert!(stream.put(file.len() as u64, &[0]).is_err());
    assert!(stream.put(u64::MAX, &[0]).is_err());
    assert!(stream.missing(&Part::Elements(0..100_001)).is_err());
    // Unknown bytes are never taken for values.
    let decoded = Decompressor::new().decompress_range::<f32>(stream.bytes(), 0..10);
    assert!(matches!(decoded, Err(Error::Format(_))));
}
