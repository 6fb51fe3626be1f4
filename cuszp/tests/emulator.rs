//! The kernels of streams without header on the emulator, against the digests of all vectors.

use crate::common::bare::{AATROX, CUSZP, aatrox_fault, cuszp_fault};
use crate::common::cases::takes_part;
use crate::common::vectors;
use crate::common::vectors::bits;
use ferrosz_cuszp::cuszp::{self, Mode, Params, reference};
use ferrosz_cuszp::{Bare, Device, Error, Shape, aatrox};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::ops::Range;

#[test]
fn all_vectors_of_cuszp_agree() {
    for (case, number) in vectors::parse(CUSZP).into_iter().zip(0..) {
        if !takes_part(number, 6) {
            continue;
        }
        assert_eq!(cuszp_fault(&case, Device::Emulator), None, "{case:?}");
    }
}

#[test]
fn all_vectors_of_aatrox_agree() {
    for (case, number) in vectors::parse(AATROX).into_iter().zip(0..) {
        if !takes_part(number, 6) {
            continue;
        }
        assert_eq!(aatrox_fault(&case, Device::Emulator), None, "{case:?}");
    }
}

/// A field for streams of a kind, the kind, and the number of its units.
fn array(rng: &mut SmallRng, round: usize) -> (Vec<f64>, Bare<f64>, u32) {
    let most = if round.is_multiple_of(5) {
        [1, 1, 150_000]
    } else {
        [9, 40, 70]
    };
    let dims: [u64; 3] = most.map(|most| rng.random_range(1..=most));
    let elements = dims.iter().product::<u64>();
    let values = (0..elements)
        .map(|at| {
            if at / 90 % 3 == 0 {
                0.0
            } else {
                f64::from(rng.random::<i8>())
            }
        })
        .collect();
    let (bare, units) = match round % 5 {
        0 => {
            let params = aatrox::Params {
                elements,
                error: 0.5,
            };
            (params.into(), elements.div_ceil(32_768) as u32)
        }
        number => {
            let shape = Shape::ALL[number % 3];
            let params = Params::new(shape, Mode::ALL[round / 5 % 3], dims, 0.5);
            (params.into(), params.layout().expect("a layout").blocks())
        }
    };
    (values, bare, units)
}

fn units_in(rng: &mut SmallRng, units: u32) -> Range<u32> {
    let ends = [rng.random_range(0..=units), rng.random_range(0..=units)];
    ends[0].min(ends[1])..ends[0].max(ends[1])
}

/// Blocks and layers that are replaced alone, on the CPU and by the kernel.
#[test]
fn units_are_replaced_alike_on_all_machines() {
    let mut rng = SmallRng::seed_from_u64(15);
    let (mut replaced, mut refused) = (0, 0);
    for round in 0..150 {
        let (values, bare, units) = array(&mut rng, round);
        let stream = bare.compress_on(Device::Cpu, &values).expect("compresses");
        let range = units_in(&mut rng, units);
        let read = |stream: &[u8], units| {
            bare.read_units_on(Device::Cpu, stream, units)
                .expect("reads")
        };
        // The bodies of negated values are as long as the old ones; of others hardly any is.
        let mut wanted: Vec<f64> = read(&stream, range.clone()).iter().map(|v| -v).collect();
        if wanted.is_empty() {
            continue;
        }
        let fits = round % 3 > 0;
        let at = rng.random_range(0..wanted.len());
        let added = if fits { 0.0 } else { 20_000.0 };
        wanted[at] += added;
        let changed = [Device::Cpu, Device::Emulator].map(|device| {
            let mut changed = stream.clone();
            let result = bare.replace_units_on(device, &mut changed, range.clone(), &wanted);
            (result, changed)
        });
        let [(on_cpu, changed), (on_emulator, found)] = changed;
        let is_replaced = on_cpu.is_ok();
        assert_eq!(
            is_replaced,
            on_emulator.is_ok(),
            "{bare:?} {range:?}: {on_cpu:?} {on_emulator:?}"
        );
        assert!(changed == found, "{bare:?} {range:?}");
        assert!(is_replaced || !fits, "{bare:?} {range:?}");
        match is_replaced {
            true => {
                // A value at a position that holds no element does not count.
                wanted[at] -= added;
                assert!(
                    read(&changed, range.clone()) == wanted,
                    "{bare:?} {range:?}"
                );
                replaced += wanted.len();
            }
            false => {
                assert!(changed == stream, "{bare:?} {range:?}");
                refused += 1;
            }
        }
        for others in [0..range.start, range.end..units] {
            assert!(read(&changed, others.clone()) == read(&stream, others));
        }
    }
    println!("{replaced} values replaced, {refused} calls refused");
    assert!(replaced > 100_000 && refused > 20);
}

/// Blocks and layers that are read alone, on the CPU and by the kernel.
#[test]
fn units_are_read_alike_on_all_machines() {
    let mut rng = SmallRng::seed_from_u64(14);
    let (mut decoded, mut spoilt) = (0, 0);
    for round in 0..150 {
        let (values, bare, units) = array(&mut rng, round);
        let mut stream = bare.compress_on(Device::Cpu, &values).expect("compresses");
        let whole = bare
            .read_units_on(Device::Cpu, &stream, 0..units)
            .expect("reads");
        let range = units_in(&mut rng, units);
        let each = whole.len() / units as usize;
        let expected = &whole[range.start as usize * each..range.end as usize * each];
        for device in [Device::Cpu, Device::Emulator] {
            let found = bare
                .read_units_on(device, &stream, range.clone())
                .expect("reads");
            assert_eq!(
                bits(&found),
                bits(expected),
                "{device:?} {bare:?} {range:?}"
            );
        }
        decoded += expected.len();
        // The last body is not read, if it is behind the range.
        let blocks = bare.outline(&stream).expect("an outline").rate_bytes as usize;
        let with_body = stream[..blocks].iter().rposition(|rate| *rate != 0);
        let unit = with_body.map(|block| block / (blocks / units as usize));
        if unit.is_none_or(|unit| unit < range.end as usize) {
            continue;
        }
        spoilt += 1;
        let last = stream.len() - 1;
        stream[last] ^= 0xff;
        let found = bare
            .read_units_on(Device::Emulator, &stream, range.clone())
            .expect("reads");
        assert_eq!(bits(&found), bits(expected), "{bare:?} {range:?}");
        let outside = bare.read_units_on(Device::Emulator, &stream, 0..units + 1);
        assert!(matches!(outside, Err(Error::NoUnits { .. })));
    }
    println!("{decoded} values read, {spoilt} streams spoilt behind them");
    assert!(decoded > 100_000 && spoilt > 30);
}

/// Rows of all lengths, in blocks that share elements: streams whose blocks contradict each other.
#[test]
fn damaged_streams_decode_alike_on_all_machines() {
    let mut rng = SmallRng::seed_from_u64(13);
    let mut contradictions = 0;
    for round in 0..400 {
        let shape = [Shape::Plane, Shape::Cube][round % 2];
        let dims = [5u64, 12, 15].map(|most| rng.random_range(1..=most));
        let params = Params::new(shape, Mode::ALL[round / 2 % 3], dims, 0.5f32);
        let elements = dims.iter().product::<u64>() as usize;
        let mut values: Vec<f32> = Vec::new();
        for at in 0..elements {
            let is_flat = at / 20 % 3 == 0;
            values.push(if is_flat {
                0.0
            } else {
                f32::from(rng.random::<u8>())
            });
        }
        let mut stream = cuszp::compress(&params, &values).expect("compresses");
        let whole = bits(&reference::decompress(&params, &stream).expect("decompresses"));
        let payload = params.layout().expect("a layout").payload_start() as usize;
        for byte in &mut stream[payload..] {
            if rng.random_range(0..8) == 0 {
                *byte = rng.random();
            }
        }
        let serial = bits(&reference::decompress(&params, &stream).expect("rates are good"));
        contradictions += u32::from(serial != whole);
        for device in [Device::Cpu, Device::Emulator] {
            let found = cuszp::decompress_on(device, &params, &stream).expect("rates are good");
            assert_eq!(bits(&found), serial, "{device:?} {params:?}");
        }
    }
    println!("{contradictions} damaged");
    assert!(contradictions > 200);
}
