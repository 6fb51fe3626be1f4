//! One case of the vectors of streams without header, on the reference and on a device.

use super::digest::digest;
use super::fields::FromBits;
use super::vectors::{Case, array_digest, bits, signal};
use ferrosz_cuszp::cuszp::{self, Framing, Mode};
use ferrosz_cuszp::{Device, Dtype, Element, Shape, aatrox};

pub const CUSZP: &str = include_str!("../vectors/cuszp.txt");
pub const AATROX: &str = include_str!("../vectors/aatrox.txt");

/// What is wrong with a case of cuSZp's; None if nothing is.
pub fn cuszp_fault(case: &Case, device: Device) -> Option<&'static str> {
    match case.dtype {
        Dtype::F32 => cuszp_fault_in::<f32>(case, device),
        Dtype::F64 => cuszp_fault_in::<f64>(case, device),
    }
}

/// What is wrong with a case of AATROX's; None if nothing is.
pub fn aatrox_fault(case: &Case, device: Device) -> Option<&'static str> {
    match case.dtype {
        Dtype::F32 => aatrox_fault_in::<f32>(case, device),
        Dtype::F64 => aatrox_fault_in::<f64>(case, device),
    }
}

fn params<T: Element>(case: &Case) -> cuszp::Params<T> {
    let framing = match case.mode.as_str() {
        "v1" => Framing::V1,
        _ => Framing::V3,
    };
    let mode = Mode::from_name(&case.mode).unwrap_or(Mode::Plain);
    let shape = Shape::of_rank(case.rank).expect("1 to 3");
    cuszp::Params {
        framing,
        ..cuszp::Params::new(shape, mode, case.dims, T::from_bits64(case.bound))
    }
}

fn cuszp_fault_in<T: FromBits>(case: &Case, device: Device) -> Option<&'static str> {
    let params = params::<T>(case);
    let length = case.dims.iter().product::<u64>() as usize;
    let values = signal::<T>(&case.kind, case.seed, length);
    let stream = cuszp::reference::compress(&params, &values).expect("compresses");
    let back = cuszp::reference::decompress(&params, &stream).expect("decompresses");
    let on_device = cuszp::compress_on(device, &params, &values).expect("compresses");
    let decoded = cuszp::decompress_on(device, &params, &stream).expect("decompresses");
    compare(case, (&stream, &back), (&on_device, &decoded))
}

fn aatrox_fault_in<T: FromBits>(case: &Case, device: Device) -> Option<&'static str> {
    let (elements, error) = (case.dims[2], T::from_bits64(case.bound));
    let params = aatrox::Params { elements, error };
    let values = signal::<T>(&case.kind, case.seed, elements as usize);
    let stream = aatrox::reference::compress(&params, &values).expect("compresses");
    let back = aatrox::reference::decompress(&params, &stream).expect("decompresses");
    let on_device = aatrox::compress_on(device, &params, &values).expect("compresses");
    let decoded = aatrox::decompress_on(device, &params, &stream).expect("decompresses");
    compare(case, (&stream, &back), (&on_device, &decoded))
}

fn compare<T: FromBits>(
    case: &Case,
    reference: (&[u8], &[T]),
    device: (&[u8], &[T]),
) -> Option<&'static str> {
    let (stream, values) = reference;
    if stream.len() != case.bytes || digest(stream) != case.stream {
        return Some("the reference's stream");
    }
    if (case.decoded.as_ref()).is_some_and(|decoded| *decoded != array_digest(values)) {
        return Some("the reference's array");
    }
    if device.0 != stream {
        return Some("the device's stream");
    }
    (!same(device.1, values)).then_some("the device's array")
}

/// Whether two arrays have the same bits; but for what a NaN has besides being one, which processors
/// choose when they make it.
fn same<T: FromBits>(a: &[T], b: &[T]) -> bool {
    let is_nan = |x: &T| x.to_f64().is_nan();
    let pairs = a.iter().zip(b).zip(bits(a).into_iter().zip(bits(b)));
    a.len() == b.len()
        && pairs
            .into_iter()
            .all(|((x, y), (p, q))| p == q || is_nan(x) && is_nan(y))
}
