//! Any bytes as streams without header give an error or an array, never a panic. The parallel decoder accepts the same
//! streams as the serial one, and gives the same values.
#![no_main]

use ferrosz_cuszp::cuszp::{self, Framing, Mode};
use ferrosz_cuszp::{Element, Shape, aatrox};
use libfuzzer_sys::fuzz_target;

fn bits<T: Element>(values: Vec<T>) -> Vec<u64> {
    values.iter().map(|x| x.to_bits64()).collect()
}

fn decode<T: Element>(kind: u8, dims: [u64; 3], error: T, stream: &[u8]) {
    let params = cuszp::Params {
        framing: if kind & 1 == 0 {
            Framing::V3
        } else {
            Framing::V1
        },
        allow_missing: kind & 2 == 0,
        ..cuszp::Params::new(
            Shape::ALL[usize::from(kind >> 2) % 3],
            Mode::ALL[usize::from(kind >> 4) % 3],
            dims,
            error,
        )
    };
    let ours = cuszp::decompress(&params, stream).map(bits);
    let serial = cuszp::reference::decompress(&params, stream).map(bits);
    assert_eq!(ours, serial);
    let elements = dims.iter().product();
    let params = aatrox::Params { elements, error };
    let ours = aatrox::decompress(&params, stream).map(bits);
    let serial = aatrox::reference::decompress(&params, stream).map(bits);
    assert_eq!(ours, serial);
}

fuzz_target!(|input: (u8, [u8; 3], f64, &[u8])| {
    let (kind, dims, error, stream) = input;
    let dims = dims.map(|length| u64::from(length % 41));
    decode::<f32>(kind, dims, error as f32, stream);
    decode::<f64>(kind, dims, error, stream);
});
