//! Streams whose checksums are right, whatever else they say: the way past the first checks. The
//! first bytes choose type, codec and length; the rest is one chunk.
#![no_main]

use ferrosz::codec::oracle;
use ferrosz::codec::container::checksum::checksum;
use ferrosz::codec::container::header::Header;
use ferrosz::codec::container::table::Entry;
use ferrosz::{Bound, Codec, Decompressor, Device, Dtype, Element, Shape};
use ferrosz::stream::{Extents, Layout};
use libfuzzer_sys::fuzz_target;

fn decode<T: Element>(stream: &[u8]) {
    let decoder = Decompressor::new().device(Device::Cpu);
    let ours = decoder.decompress::<T>(stream).ok();
    let theirs = oracle::decompress::<T>(stream).ok();
    let bits = |values: Vec<T>| values.iter().map(|x| x.to_bits64()).collect::<Vec<_>>();
    assert_eq!(ours.map(bits), theirs.map(bits));
}

fuzz_target!(|input: (u8, u8, u16, Vec<u8>)| {
    let (kind, form, length, mut payload) = input;
    let dtype = Dtype::ALL[usize::from(kind) % 2];
    payload.resize(payload.len().next_multiple_of(16), 0);
    let Ok(bound) = Bound::abs(0.25) else { return };
    // Extents that one chunk holds, whatever the shape of its blocks.
    let length = u64::from(length);
    let lengths = [length % 16 + 1, length / 16 % 16 + 1, length / 256 % 32 + 1];
    let Some(extents) = Extents::new(&lengths) else {
        return;
    };
    let codec = Codec::ALL[usize::from(kind / 2) % Codec::ALL.len()];
    let shape = Shape::ALL[usize::from(kind / 32) % Shape::ALL.len()];
    let error_bits = match dtype {
        Dtype::F32 => 0.25f32.to_bits64(),
        Dtype::F64 => 0.25f64.to_bits64(),
    };
    let header = Header {
        payload_bytes: payload.len() as u64,
        ..Layout::new(codec, shape, extents).header(dtype, bound, error_bits)
    };
    let form = u32::from(form % 6);
    let entry = Entry {
        start: 0,
        bytes: payload.len() as u64,
        form,
        checksum: checksum(header.identity().seed(0, form), &payload),
    };
    let stream = [&header.to_bytes()[..], &entry.to_bytes(), &payload].concat();
    match dtype {
        Dtype::F32 => decode::<f32>(&stream),
        Dtype::F64 => decode::<f64>(&stream),
    }
});
