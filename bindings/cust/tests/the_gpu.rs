//! Buffers of cust on a GPU, against the CPU. Ignored, as a GPU is needed: `cargo test -- --ignored`.

use cust::context::legacy::{self, ContextFlags};
use cust::device::Device;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};
use cust::stream::{Stream, StreamFlags};
use ferrosz_cust::ferrosz::stream::{Update, compact};
use ferrosz_cust::ferrosz::{self, Bound, Codec, Compressor, Decompressor, Part, Value};
use ferrosz_cust::{Error, OnStream};

/// The bytes that a call on a stream of cust compresses to, and the values that a call decodes from them.
fn there_and_back<V: Value + DeviceCopy>(
    on_stream: &mut OnStream<'_>,
    compressor: &Compressor,
    values: &[V],
) -> (Vec<u8>, Vec<V>) {
    let elements = values.len() as u64;
    let room = compressor.max_compressed_len(elements, V::TYPE).unwrap();
    let field = DeviceBuffer::from_slice(values).unwrap();
    let mut bytes = DeviceBuffer::from_slice(&vec![0u8; room as usize]).unwrap();
    let mut back = DeviceBuffer::from_slice(&vec![V::default(); values.len()]).unwrap();

    let length = on_stream.compress(compressor, &field, &mut bytes).unwrap();
    let layout = compressor.stream_layout(elements, V::TYPE).unwrap();
    on_stream
        .decompress(&Decompressor::new(), layout, &bytes, &mut back)
        .unwrap();
    let mut stream = vec![0; room as usize];
    bytes.copy_to(&mut stream).unwrap();
    stream.truncate(length as usize);
    let mut decoded = vec![V::default(); values.len()];
    back.copy_to(&mut decoded).unwrap();
    (stream, decoded)
}

fn check<V: Value + DeviceCopy>(on_stream: &mut OnStream<'_>, codec: Codec, values: &[V]) {
    let compressor = Compressor::new(codec, Bound::abs(1e-2).unwrap());
    let (stream, decoded) = there_and_back(on_stream, &compressor, values);
    let on_cpu = compressor.device(ferrosz::Device::Cpu);
    assert!(stream == on_cpu.compress(values).unwrap());
    let decompressor = Decompressor::new().device(ferrosz::Device::Cpu);
    assert!(decoded == decompressor.decompress::<V>(&stream).unwrap());
}

#[test]
#[ignore = "needs a GPU"]
fn buffers_become_the_bytes_of_the_cpu() {
    let _context = cust::quick_init().unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    let mut on_stream = OnStream::new(0, &stream).unwrap();
    for elements in [1000, 1 << 20, 7] {
        let values: Vec<f64> = (0..elements).map(|i| (f64::from(i) * 0.01).sin()).collect();
        let short: Vec<f32> = values.iter().map(|value| *value as f32).collect();
        let counts: Vec<i16> = values.iter().map(|value| (value * 1000.0) as i16).collect();
        for codec in [Codec::PLAIN, Codec::LORENZO, Codec::INTERP] {
            check(&mut on_stream, codec, &values);
            check(&mut on_stream, codec, &short);
        }
        check(&mut on_stream, Codec::PLAIN, &counts);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn faults_are_errors_and_the_next_call_works() {
    let _context = cust::quick_init().unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    let mut on_stream = OnStream::new(0, &stream).unwrap();
    let values = [1.0f32; 1000];
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1).unwrap());
    let layout = compressor.stream_layout(1000, f32::TYPE).unwrap();

    let field = DeviceBuffer::from_slice(&values).unwrap();
    let mut bytes = DeviceBuffer::from_slice(&[0u8; 10]).unwrap();
    let error = on_stream.compress(&compressor, &field, &mut bytes);
    let too_small = |error| matches!(error, Error::Ferrosz(ferrosz::Error::OutputTooSmall { .. }));
    assert!(error.is_err_and(too_small));

    let zeros = DeviceBuffer::from_slice(&[0u8; 8000]).unwrap();
    let mut back = DeviceBuffer::from_slice(&values).unwrap();
    let error = on_stream.decompress(&Decompressor::new(), layout, &zeros, &mut back);
    let damaged = |error| matches!(error, Error::Ferrosz(ferrosz::Error::Format(_)));
    assert!(error.is_err_and(damaged));
    check(&mut on_stream, Codec::PLAIN, &values);
}

#[test]
#[ignore = "needs a GPU"]
fn updates_are_those_of_the_cpu() {
    let _context = cust::quick_init().unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    let on_stream = OnStream::new(0, &stream).unwrap();
    let field: Vec<f32> = (0..1 << 18).map(|i| (i as f32 * 0.01).sin()).collect();
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(1e-2).unwrap());
    let mut expected = compressor.compress(&field).unwrap();
    let room = vec![0; expected.len() + (1 << 20)];
    let mut compacted = DeviceBuffer::from_slice(&room).unwrap();
    let mut bytes = DeviceBuffer::from_slice(&[&expected[..], &[0; 1 << 20]].concat()).unwrap();
    let found = |buffer: &DeviceBuffer<u8>, length: u64| {
        let mut found = room.clone();
        buffer.copy_to(&mut found).unwrap();
        found.truncate(length as usize);
        found
    };
    for start in [0, 100_000] {
        let part = Part::Elements(start..start + 20_000);
        let values = vec![start as f32; 20_000];
        let length = on_stream.update(&mut bytes, &part, &values).unwrap();
        let update = Update::new(&expected, &part, &values).unwrap();
        update.apply(&mut expected);
        assert!(found(&bytes, length) == expected);
    }
    let length = on_stream.compact(&bytes, &mut compacted).unwrap();
    assert!(found(&compacted, length) == compact(&expected).unwrap());
}

#[test]
#[ignore = "needs a GPU"]
fn a_stream_of_another_context_is_refused() {
    cust::init(cust::CudaFlags::empty()).unwrap();
    let device = Device::get_device(0).unwrap();
    let _context = legacy::Context::create_and_push(ContextFlags::SCHED_AUTO, device).unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    let refused = OnStream::new(0, &stream).err().unwrap();
    assert!(matches!(refused, Error::OtherContext { ordinal: 0 }));
}
