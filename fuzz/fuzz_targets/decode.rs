//! Any bytes give an error or a field, never a panic. Both decoders accept the same streams, and give the same values.
#![no_main]

use ferrosz::codec::oracle;
use ferrosz::{Decompressor, Device, Element};
use libfuzzer_sys::fuzz_target;

fn decode<T: Element>(stream: &[u8]) {
    let decoder = Decompressor::new().device(Device::Cpu);
    let _ = decoder.verify_checksums(false).decompress::<T>(stream);
    let ours = decoder.decompress::<T>(stream).ok();
    let theirs = oracle::decompress::<T>(stream).ok();
    let bits = |values: Vec<T>| values.iter().map(|x| x.to_bits64()).collect::<Vec<_>>();
    assert_eq!(ours.map(bits), theirs.map(bits));
}

fuzz_target!(|stream: &[u8]| {
    decode::<f32>(stream);
    decode::<f64>(stream);
    let _ = ferrosz::info(stream);
});
