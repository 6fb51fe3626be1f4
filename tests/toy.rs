//! The toys that prove `docs/extending.md`: the reference, the versions of the CPU's code and the emulator make the same
//! bytes of them, and the judge finds the values within the bound.

#[path = "common/judge.rs"]
mod judge;

use ferrosz::codec::mapping::axes::Order;
use ferrosz::codec::value::types;
use ferrosz::codec::{Dtype, oracle, with_element};
use ferrosz::stream::{Extents, Layout};
use ferrosz::versions::{self, Version};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Element, Error, Shape, Value};
use judge::judge;

/// Extents along one, two and three axes that are no multiples of blocks and tiles.
const EXTENTS: [&[u64]; 3] = [&[9001], &[40, 70], &[17, 10, 34]];

/// Checks a codec with all shapes and element types.
fn check_codec(codec: Codec) {
    for (extents, shape) in EXTENTS.into_iter().zip(Shape::ALL) {
        for dtype in Dtype::ALL {
            with_element!(dtype, E => check_element::<E>(codec, shape, extents));
        }
    }
}

fn check_element<E: Element>(codec: Codec, shape: Shape, extents: &[u64]) {
    let layout = Layout::new(codec, shape, Extents::new(extents).expect("good extents"));
    assert_eq!(layout.codec, codec);
    let values: Vec<E> = numbers(layout.extents.elements())
        .map(E::from_f64)
        .collect();
    let bound = Bound::range(1e-3).expect("a good bound");
    let stream = oracle::compress(layout, bound, &values);
    check_field(layout, bound, &values, &stream);
}

/// A wave with steps, and numbers that have no code.
fn numbers(length: u64) -> impl Iterator<Item = f64> {
    (0..length).map(|i| match i % 1009 {
        700 => f64::NAN,
        701 => f64::NEG_INFINITY,
        _ => (i as f64 * 0.013).sin() * 40.0 + (i / 1500 % 3) as f64,
    })
}

/// Checks that all machines make the reference's stream of a field, and decode it within the bound.
fn check_field<V: Value>(layout: Layout, bound: Bound, field: &[V], stream: &[u8]) {
    let check =
        |machine: &str, made: Option<Result<Vec<u8>, Error>>, decoded: Result<Vec<V>, _>| {
            let name = format!(
                "{}, {:?}, {}, {machine}",
                layout.codec,
                layout.shape,
                V::TYPE
            );
            if let Some(made) = made {
                let made = made.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(made == stream, "{name}: other bytes");
            }
            let decoded: Vec<V> = decoded.unwrap_or_else(|error: Error| panic!("{name}: {error}"));
            judge(bound, field, &decoded).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        };
    let compressor = |device| {
        let compressor = Compressor::new(layout.codec, bound).device(device);
        let compressor = compressor.with_rank(layout.shape.rank()).expect("a rank");
        let extents = compressor.extents(layout.extents.lengths());
        extents.expect("good extents").chunk_length(layout.chunk)
    };
    check(
        "reference",
        None,
        Ok(oracle::decompress(stream).expect("a good stream")),
    );
    for version in Version::all() {
        let made = versions::compress_values(version, compressor(Device::Cpu), field);
        let decoded = versions::decompress(version, stream, None, true);
        check(version.name(), Some(made), decoded);
    }
    let made = compressor(Device::Emulator).compress(field);
    let decoded = Decompressor::new()
        .device(Device::Emulator)
        .decompress(stream);
    check("emulator", Some(made), decoded);
}

#[test]
fn a_predictor_of_blocks() {
    check_codec(Codec::TOY_PREDICTOR);
}

#[test]
fn a_coder() {
    check_codec(Codec::TOY_CODER);
}

#[test]
fn a_geometry_of_tiles() {
    check_codec(Codec::TOY_GEOMETRY);
}

#[test]
fn a_fitted_predictor_of_tiles() {
    check_codec(Codec::TOY_FITTED);
}

#[test]
fn a_type_of_elements() {
    for (extents, shape) in EXTENTS.into_iter().zip(Shape::ALL) {
        for codec in [Codec::OUTLIER, Codec::STENCIL] {
            check_element::<types::ToyElement>(codec, shape, extents);
        }
    }
}

#[test]
fn a_type_of_values() {
    type Toy = types::ToyValue;
    let bound = Bound::abs(2.5).expect("a good bound");
    for codec in [Codec::PLAIN, Codec::LORENZO_RANS] {
        for (extents, shape) in EXTENTS.into_iter().zip(Shape::ALL) {
            let extents = Extents::new(extents).expect("good extents");
            let layout = Layout::new(codec, shape, extents);
            let order = Order::identity(extents.lengths().len());
            let field: Vec<Toy> = numbers(extents.elements())
                .map(|number| number as Toy)
                .collect();
            let stream = oracle::compress_values(layout, &order, bound, &[], &field);
            check_field(layout, bound, &field, &stream);
        }
    }
}
