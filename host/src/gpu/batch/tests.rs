//! The kernels of batches on the emulator, beside the oracle.

use crate::error::Error;
use crate::gpu::batch::memory::{BatchMemory, Sizes};
use crate::gpu::batch::{
    CompressBatchJob, DecompressBatchJob, enqueue_compress_batch, enqueue_decompress_batch,
};
use crate::gpu::blocks::fault_in;
use crate::gpu::executor::emulator;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::error::FormatError;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::{Bound, Codec, Element, Shape, oracle};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Bytes behind each output that nothing may write.
const MARGIN: u64 = 48;

/// The contents of new memory of the emulator.
const POISON: u8 = 0xA5;

/// The lengths at which something changes.
const LENGTHS: [usize; 12] = [
    0, 1, 31, 32, 33, 100, 8191, 8192, 8193, 16_384, 16_389, 25_000,
];

/// An array of one of several kinds.
fn array<T: Element>(length: usize, kind: usize, rng: &mut SmallRng) -> Vec<T> {
    let level = rng.random_range(-50.0..50.0);
    let value = |i: usize, rng: &mut SmallRng| match kind % 6 {
        0 => (i as f64 * 0.013).sin() * 20.0 + level,
        1 => rng.random_range(-100.0..100.0),
        2 => level,
        3 => 0.0,
        4 if rng.random_range(0..100) == 0 => [f64::NAN, f64::INFINITY][i % 2],
        4 => (i as f64 * 0.013).sin(),
        _ => f64::from(rng.random_range(-40..40)) * 1e30,
    };
    (0..length).map(|i| T::from_f64(value(i, rng))).collect()
}

fn arrays<T: Element>(lengths: &[usize], seed: u64) -> Vec<Vec<T>> {
    let mut rng = SmallRng::seed_from_u64(seed);
    (lengths.iter().enumerate())
        .map(|(i, length)| array(*length, i + seed as usize, &mut rng))
        .collect()
}

fn layout(codec: BlockCodec, elements: usize) -> Layout {
    let extents = Extents::line(elements as u64);
    Layout::new(Codec::Blocks(codec), Shape::Line, extents)
}

fn bounds() -> [Bound; 5] {
    [
        Bound::abs(0.01),
        Bound::abs(0.0),
        Bound::range(1e-3),
        Bound::max(1e-4),
        Bound::range(0.0),
    ]
    .map(|bound| bound.expect("a good bound"))
}

/// Compresses arrays; the length and the whole output of each. The listed room is `room` of the bytes of the longest
/// stream.
fn compress<T: Element>(
    codec: BlockCodec,
    bound: Bound,
    arrays: &[Vec<T>],
    room: impl Fn(usize, u64) -> u64,
) -> Result<(Vec<u64>, Vec<Vec<u8>>), Error> {
    let executor = emulator::new();
    let inputs: Vec<&[u8]> = (arrays.iter())
        .map(|array| bytemuck::cast_slice(array))
        .collect();
    let elements: Vec<u64> = arrays.iter().map(|array| array.len() as u64).collect();
    let most = |array: &Vec<T>| layout(codec, array.len()).max_stream_bytes(T::DTYPE);
    let most: Vec<u64> = arrays.iter().flat_map(most).collect();
    let rooms: Vec<u64> = (most.iter().enumerate())
        .map(|(i, most)| room(i, *most))
        .collect();
    let output_bytes: Vec<u64> = most.iter().map(|most| most + MARGIN).collect();
    let sizes = Sizes {
        inputs: &elements,
        outputs: &rooms,
        output_bytes: &output_bytes,
    };
    let memory = BatchMemory::new(&executor, &inputs, &sizes)?;
    let job = CompressBatchJob {
        codec,
        bound,
        arrays: memory.arrays(),
        sizes: memory.results(),
    };
    enqueue_compress_batch::<T, _>(&executor, &job)?;
    memory.download()
}

/// Decompresses streams; the fault and the whole output of each. `elements` are the listed lengths; outputs have room
/// for them.
fn decompress<T: Element>(
    streams: &[Vec<u8>],
    elements: &[u64],
    verify: bool,
) -> Result<(Vec<u64>, Vec<Vec<u8>>), Error> {
    let executor = emulator::new();
    let inputs: Vec<&[u8]> = streams.iter().map(Vec::as_slice).collect();
    let lengths: Vec<u64> = streams.iter().map(|stream| stream.len() as u64).collect();
    let output_bytes: Vec<u64> = (elements.iter())
        .map(|elements| elements.min(&100_000) * T::BYTES as u64 + MARGIN)
        .collect();
    let sizes = Sizes {
        inputs: &lengths,
        outputs: elements,
        output_bytes: &output_bytes,
    };
    let memory = BatchMemory::new(&executor, &inputs, &sizes)?;
    let job = DecompressBatchJob {
        arrays: memory.arrays(),
        faults: memory.results(),
        verify,
    };
    enqueue_decompress_batch::<T, _>(&executor, &job)?;
    memory.download()
}

fn is_untouched(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == POISON)
}

/// Both directions beside the oracle; the streams.
fn check<T: Element>(codec: BlockCodec, bound: Bound, arrays: &[Vec<T>]) -> Vec<Vec<u8>> {
    let context = format!("{} {bound:?} {}", codec.name(), T::DTYPE);
    let (sizes, outputs) = compress(codec, bound, arrays, |_, most| most).expect(&context);
    let mut streams = Vec::new();
    for ((array, size), output) in arrays.iter().zip(&sizes).zip(&outputs) {
        let wanted = oracle::compress(layout(codec, array.len()), bound, array);
        let (found, rest) = output.split_at(*size as usize);
        assert!(found == wanted, "{context}, {} elements", array.len());
        assert!(is_untouched(rest), "{context}: written past the end");
        streams.push(wanted);
    }
    let elements: Vec<u64> = arrays.iter().map(|array| array.len() as u64).collect();
    let (faults, outputs) = decompress::<T>(&streams, &elements, true).expect(&context);
    assert_eq!(faults, vec![0; arrays.len()], "{context}");
    for (stream, output) in streams.iter().zip(&outputs) {
        let wanted = oracle::decompress::<T>(stream).expect("a good stream");
        let (found, rest) = output.split_at(wanted.len() * T::BYTES);
        let wanted: &[u8] = bytemuck::cast_slice(&wanted);
        assert!(found == wanted, "{context}, {} bytes", wanted.len());
        assert!(is_untouched(rest), "{context}: written past the end");
    }
    streams
}

fn check_all<T: Element>() {
    for (seed, bound) in (0..).zip(bounds()) {
        for codec in BlockCodec::ALL {
            check(codec, bound, &arrays::<T>(&LENGTHS, seed));
        }
    }
}

#[test]
fn f32_batches_are_as_single_calls() {
    check_all::<f32>();
}

#[test]
fn f64_batches_are_as_single_calls() {
    check_all::<f64>();
}

#[test]
fn batches_of_any_length() {
    let mut rng = SmallRng::seed_from_u64(9);
    let bound = Bound::range(1e-3).expect("a good bound");
    for count in [0, 1, 2, 5, 300] {
        let lengths: Vec<usize> = (0..count).map(|_| rng.random_range(0..400)).collect();
        check(BlockCodec::Plain, bound, &arrays::<f32>(&lengths, 3));
        check(BlockCodec::Layered, bound, &arrays::<f64>(&lengths, 4));
    }
}

#[test]
fn outputs_that_may_be_too_small_are_left_alone() {
    let arrays = arrays::<f32>(&LENGTHS, 1);
    let bound = Bound::abs(0.01).expect("a good bound");
    let room = |i, most| if i % 2 == 0 { most - 1 } else { most };
    let (sizes, outputs) = compress(BlockCodec::Outlier, bound, &arrays, room).expect("no fault");
    for (i, (size, output)) in sizes.iter().zip(&outputs).enumerate() {
        if i % 2 == 0 {
            assert!(*size == 0 && is_untouched(output), "array {i}");
        } else {
            let wanted = layout(BlockCodec::Outlier, arrays[i].len());
            let wanted = oracle::compress(wanted, bound, &arrays[i]);
            assert!(output[..*size as usize] == wanted, "array {i}");
        }
    }
}

/// The error of a fault, without the chunk's fault of a damaged one.
fn error_of(fault: u64) -> Option<FormatError> {
    fault_in(fault).err()
}

#[test]
fn a_damaged_stream_spoils_no_other() {
    let bound = Bound::abs(0.01).expect("a good bound");
    let arrays = arrays::<f32>(&LENGTHS, 4);
    // One codec after the other in one batch.
    let streams: Vec<Vec<u8>> = (arrays.iter().zip(BlockCodec::ALL.iter().cycle()))
        .map(|(array, codec)| oracle::compress(layout(*codec, array.len()), bound, array))
        .collect();
    let elements: Vec<u64> = arrays.iter().map(|array| array.len() as u64).collect();
    let mut rng = SmallRng::seed_from_u64(5);
    for round in 0..40 {
        let victim = rng.random_range(0..streams.len());
        let mut damaged = streams.clone();
        let mut listed = elements.clone();
        let stream = &mut damaged[victim];
        match round % 4 {
            0 => {
                let at = rng.random_range(0..stream.len());
                stream[at] ^= 1 << rng.random_range(0..8);
            }
            1 => stream.truncate(rng.random_range(0..stream.len() / 16) * 16),
            2 => listed[victim] = [0, 1, elements[victim] + 1, 1 << 40, u64::MAX][round / 4 % 5],
            _ => stream.iter_mut().for_each(|byte| *byte = rng.random()),
        }
        let is_damaged = listed != elements || damaged != streams;
        let verify = round % 3 != 0;
        let (faults, outputs) = decompress::<f32>(&damaged, &listed, verify).expect("no fault");
        for (i, (fault, output)) in faults.iter().zip(&outputs).enumerate() {
            let wanted = oracle::decompress::<f32>(&streams[i]).expect("a good stream");
            let context = format!("round {round}, stream {i}, victim {victim}");
            if i == victim {
                let has_fault = error_of(*fault).is_some();
                assert!(has_fault || !verify || !is_damaged, "{context}");
                let rest = (listed[i].min(100_000) * 4) as usize;
                assert!(is_untouched(&output[rest..]), "{context}");
            } else {
                assert_eq!(*fault, 0, "{context}");
                let wanted: &[u8] = bytemuck::cast_slice(&wanted);
                assert!(output[..wanted.len()] == *wanted, "{context}");
            }
        }
    }
}

#[test]
fn streams_of_other_kinds_are_refused() {
    let bound = Bound::abs(0.01).expect("a good bound");
    let array = &arrays::<f32>(&[600], 0)[0];
    let plane = Extents::new(&[20, 30]).expect("good extents");
    let wide: Vec<f64> = array.iter().map(|x| f64::from(*x)).collect();
    let streams = [
        oracle::compress(Layout::new(Codec::PLAIN, Shape::Plane, plane), bound, array),
        oracle::compress(Layout::new(Codec::PLAIN, Shape::Line, plane), bound, array),
        oracle::compress(
            Layout::new(Codec::INTERP, Shape::Line, Extents::line(600)),
            bound,
            array,
        ),
        oracle::compress(layout(BlockCodec::Plain, 600), bound, &wide),
        Vec::new(),
    ];
    let (faults, outputs) = decompress::<f32>(&streams, &[600; 5], true).expect("no fault");
    for (fault, output) in faults.iter().zip(&outputs) {
        assert!(matches!(
            error_of(*fault),
            Some(FormatError::InvalidHeader(_))
        ));
        assert!(is_untouched(output));
    }
}
