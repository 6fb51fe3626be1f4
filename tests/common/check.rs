//! The CPU backend beside the reference and the judge.

use super::compressor;
use super::fields::FromBits;
use super::judge::judge;
use ferrosz::codec::oracle;
use ferrosz::{Bound, Decompressor, Device, Layout};

/// The bits of all values.
pub fn bits<T: FromBits>(values: &[T]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits64()).collect()
}

/// Compresses, compares, decompresses, compares and judges; the stream and the decoded field.
pub fn check<T: FromBits>(
    layout: Layout,
    bound: Bound,
    field: &[T],
    context: &str,
) -> (Vec<u8>, Vec<T>) {
    let context = format!("{context}, {} {}: {bound:?}", layout.codec, layout.shape);
    let expected = oracle::compress(layout, bound, field);
    let compressor = compressor(layout, bound, Device::Cpu).expect("a compressor");
    let stream = compressor.compress(field).expect("compresses");
    assert!(stream == expected, "streams differ: {context}");
    let most = compressor
        .max_compressed_len(field.len() as u64, T::DTYPE)
        .expect("a length");
    assert!(
        stream.len() as u64 <= most,
        "longer than max_compressed_len: {context}"
    );
    let decoder = Decompressor::new().device(Device::Cpu);
    let decoded: Vec<T> = decoder.decompress(&stream).expect("decompresses");
    let reference: Vec<T> = oracle::decompress(&stream).expect("decompresses");
    assert!(
        bits(&decoded) == bits(&reference),
        "fields differ: {context}"
    );
    if let Err(wrong) = judge(bound, field, &decoded) {
        panic!("{context}: {wrong}");
    }
    (stream, decoded)
}
