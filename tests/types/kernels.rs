//! Values of 16 bits in kernels: rows of every length, and parts that begin anywhere.
use super::fields::{Kind, field};
use super::is_same;
use crate::common::cases::takes_part;
use ferrosz::codec::with_value;
use ferrosz::stream::{Extents, Layout};
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Error, Part, Shape, Value, ValueType,
};
use rayon::prelude::*;

/// Extents around the ends of units and chunks.
const EXTENTS: [&[u64]; 20] = [
    &[0],
    &[1],
    &[2],
    &[3],
    &[5],
    &[31],
    &[8191],
    &[8192],
    &[8193],
    &[20_003],
    &[3, 1],
    &[7, 9],
    &[64, 132],
    &[70, 131],
    &[130, 128],
    &[2, 5, 3],
    &[5, 4, 7],
    &[16, 33, 64],
    &[17, 31, 62],
    &[24, 24, 24],
];

/// A part that begins and ends anywhere.
fn part_of(lengths: &[u64]) -> Part {
    Part::Box(
        lengths
            .iter()
            .enumerate()
            .map(|(i, length)| length / (3 + i as u64)..length - length / 5)
            .collect(),
    )
}

fn shorts() -> impl Iterator<Item = ValueType> {
    let is_short = |value_type: &ValueType| value_type.bytes() == 2;
    ValueType::ALL.into_iter().filter(is_short)
}

/// Nothing, or the first difference between the emulator and the CPU.
fn compare<V: Value>(layout: Layout, bound: Bound, kind: Kind) -> Result<(), String> {
    let lengths = layout.extents.lengths();
    let values: Vec<V> = field(kind, lengths);
    let said = |error: Error| error.to_string();
    let compressor = |device| {
        let compressor = Compressor::new(layout.codec, bound).extents(lengths)?;
        Ok(compressor.with_rank(layout.shape.rank())?.device(device))
    };
    let on = |device| compressor(device).map_err(said);
    let stream = on(Device::Cpu)?.compress(&values).map_err(said)?;
    if on(Device::Emulator)?.compress(&values).map_err(said)? != stream {
        return Err("other bytes".to_owned());
    }
    let part = part_of(lengths);
    let decoded = |device| -> Result<[Vec<V>; 2], Error> {
        let decoder = Decompressor::new().device(device);
        Ok([
            decoder.decompress(&stream)?,
            decoder.decompress_part(&stream, &part)?,
        ])
    };
    let [wanted, found] =
        [decoded(Device::Cpu), decoded(Device::Emulator)].map(|decoded| decoded.map_err(said));
    for (wanted, found) in wanted?.iter().zip(&found?) {
        if !is_same(wanted, found) {
            return Err("other values".to_owned());
        }
    }
    Ok(())
}

#[test]
fn rows_and_parts_of_any_length_are_those_of_the_cpu() {
    let bounds = [
        Bound::default(),
        Bound::range(1e-3).expect("a bound"),
        Bound::abs(2.0).expect("a bound"),
        Bound::max(0.05).expect("a bound"),
    ];
    let mut cases = Vec::new();
    for lengths in EXTENTS {
        let extents = Extents::new(lengths).expect("extents");
        for shape in &Shape::ALL[..lengths.len()] {
            for codec in Codec::ALL.into_iter().filter(|codec| codec.takes(*shape)) {
                cases.push(Layout::new(codec, *shape, extents));
            }
        }
    }
    let types: Vec<ValueType> = shorts().collect();
    // Each codec meets each type and each bound; the counts have no divisor in common.
    let faults: Vec<String> = (cases.into_par_iter().enumerate())
        .filter(|(number, layout)| layout.tiles().is_none() || number % 3 == 0)
        .filter(|(number, _)| takes_part(*number as u64, 5))
        .filter_map(|(number, layout)| {
            let value_type = types[number / 3 % types.len()];
            let bound = bounds[number / 7 % bounds.len()];
            let kind = Kind::ALL[number / 2 % Kind::ALL.len()];
            let fault = with_value!(value_type, V => compare::<V>(layout, bound, kind)).err()?;
            Some(format!(
                "{value_type} {} {} {:?} {bound:?} {kind:?}: {fault}",
                layout.codec,
                layout.shape,
                layout.extents.lengths()
            ))
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}
