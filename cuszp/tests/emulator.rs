//! The kernels of streams without header on the emulator, against the digests of all vectors.

use crate::common::bare::{AATROX, CUSZP, aatrox_fault, cuszp_fault};
use crate::common::cases::takes_part;
use crate::common::vectors;
use crate::common::vectors::bits;
use ferrosz_cuszp::cuszp::{self, Mode, Params, reference};
use ferrosz_cuszp::{Device, Shape};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

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
