//! Any floats: the CPU backend writes the reference's stream. Decoded finite values are within the bound, and all others
//! have the same bits.
#![no_main]

use ferrosz::codec::oracle;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Element, Shape};
use ferrosz::stream::{Extents, Layout};
use libfuzzer_sys::fuzz_target;

fn check<T: Element>(layout: Layout, bound: f64, field: &[T]) {
    let Ok(bound) = Bound::abs(bound) else { return };
    let compressor = Compressor::new(layout.codec, bound)
        .device(Device::Cpu)
        .with_rank(layout.shape.rank())
        .and_then(|compressor| compressor.extents(layout.extents.lengths()))
        .expect("a layout is what a compressor can do");
    let stream = compressor.compress(field).expect("compresses");
    assert_eq!(stream, oracle::compress(layout, bound, field));
    let decoder = Decompressor::new().device(Device::Cpu);
    let back: Vec<T> = decoder.decompress(&stream).expect("decompresses");
    for (x, y) in field.iter().zip(&back) {
        let is_same = x.to_bits64() == y.to_bits64();
        let difference = (x.to_f64() - y.to_f64()).abs();
        assert!(is_same || difference <= bound.value(), "{x} {y} {bound:?}");
    }
}

fuzz_target!(|input: (u8, [u8; 2], f64, Vec<u64>)| {
    let (kind, dims, bound, bits) = input;
    let codec = Codec::ALL[usize::from(kind) % Codec::ALL.len()];
    let shape = Shape::ALL[usize::from(kind / 8) % Shape::ALL.len()];
    let (y, z) = (u64::from(dims[0] % 12) + 1, u64::from(dims[1] % 12) + 1);
    let x = bits.len() as u64 / (y * z);
    let Some(extents) = Extents::new(&[z, y, x]) else {
        return;
    };
    let bits = &bits[..(x * y * z) as usize];
    let layout = Layout::new(codec, shape, extents);
    if kind & 0x80 == 0 {
        let field: Vec<f32> = bits
            .iter()
            .map(|bits| f32::from_bits(*bits as u32))
            .collect();
        check(layout, bound, &field);
    } else {
        let field: Vec<f64> = bits.iter().map(|bits| f64::from_bits(*bits)).collect();
        check(layout, bound, &field);
    }
});
