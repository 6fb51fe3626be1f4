//! Random access: parts against the whole array, which vectors of other programs pin down, and replaced parts against the
//! stream of the changed array.

use crate::common::vectors::bits;
use ferrosz_cuszp::aatrox::{self, AatroxError};
use ferrosz_cuszp::cuszp::{self, CuszpError, Framing, Mode};
use ferrosz_cuszp::{Bare, Device, Error, Part, Shape};
use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};
use std::ops::Range;

/// Small and large steps, and stretches of zeros, so that blocks have many lengths.
fn field(rng: &mut SmallRng, elements: usize) -> Vec<f32> {
    let (mut values, mut level) = (Vec::new(), 0.0f32);
    for at in 0..elements {
        level += f32::from(rng.random::<i8>()) / if at / 50 % 2 == 0 { 64.0 } else { 2.0 };
        values.push(if at / 70 % 4 == 1 { 0.0 } else { level });
    }
    values
}

fn range(rng: &mut impl Rng, length: u64) -> Range<u64> {
    let (a, b) = (rng.random_range(0..=length), rng.random_range(0..=length));
    a.min(b)..a.max(b)
}

/// Some elements or a box, and the numbers of its elements by loops.
fn part(rng: &mut SmallRng, dims: [u64; 3]) -> (Part, Vec<usize>) {
    let elements = dims.iter().product();
    if rng.random() {
        let range = range(rng, elements);
        let numbers = range.clone().map(|at| at as usize).collect();
        return (Part::elements(elements, range).expect("a part"), numbers);
    }
    let [z, y, x] = dims.map(|length| range(rng, length));
    let part = Part::region(&dims, &[z.clone(), y.clone(), x.clone()]).expect("a part");
    let mut numbers = Vec::new();
    for z in z {
        for y in y.clone() {
            numbers.extend(
                x.clone()
                    .map(|x| ((z * dims[1] + y) * dims[2] + x) as usize),
            );
        }
    }
    (part, numbers)
}

/// A kind of stream and the lengths of its array. One in seven has layers, one in eight of cuSZp's the old framing.
fn kind(rng: &mut SmallRng, round: usize) -> (Bare<f32>, [u64; 3]) {
    let dims = [6u64, 20, 40].map(|most| rng.random_range(1..=most));
    if round.is_multiple_of(7) {
        let dims = [1, rng.random_range(1..4), rng.random_range(1..30_000)];
        let (elements, error) = (dims.iter().product(), 0.5);
        return (aatrox::Params { elements, error }.into(), dims);
    }
    if round.is_multiple_of(8) {
        let params = cuszp::Params {
            framing: Framing::V1,
            ..cuszp::Params::new(Shape::Line, Mode::Plain, dims, 0.5)
        };
        return (params.into(), dims);
    }
    let (shape, mode) = (Shape::ALL[round % 3], Mode::ALL[round / 3 % 3]);
    (cuszp::Params::new(shape, mode, dims, 0.5).into(), dims)
}

#[test]
fn parts_are_those_of_the_whole_array() {
    let mut rng = SmallRng::seed_from_u64(21);
    for round in 0..1200 {
        let (bare, dims) = kind(&mut rng, round);
        let values = field(&mut rng, dims.iter().product::<u64>() as usize);
        let mut stream = bare.compress_on(Device::Cpu, &values).expect("compresses");
        let head = {
            let found = bare.outline(&stream).expect("an outline");
            (found.rate_bytes + found.between_bytes) as usize
        };
        // Bodies that contradict each other where blocks share elements.
        if rng.random() {
            for byte in &mut stream[head..] {
                if rng.random_range(0..8) == 0 {
                    *byte = rng.random();
                }
            }
        }
        let whole = bare
            .decompress_on(Device::Cpu, &stream)
            .expect("decompresses");
        for _ in 0..4 {
            let (part, numbers) = part(&mut rng, dims);
            let expected: Vec<f32> = numbers.iter().map(|at| whole[*at]).collect();
            let found = bare.decompress_part(&stream, &part).expect("decompresses");
            assert_eq!(bits(&found), bits(&expected), "{bare:?} {part:?}");
        }
    }
}

/// Bytes of the bodies before a block, and of its own, by the sizes that the papers give.
fn body(rates: &[u8], block: usize, groups: usize) -> Range<usize> {
    let bytes = |rate: &u8| match (rate & 0x80, usize::from(rate & 31), usize::from(*rate)) {
        (0, _, 0) => 0,
        (0, _, planes) => 4 * groups * (1 + planes),
        (_, planes, byte) => (byte >> 5 & 3) + 1 + 4 * groups * (1 + planes),
    };
    let start = rates[..block].iter().map(bytes).sum::<usize>();
    start..start + bytes(&rates[block])
}

/// All bodies but one are spoilt.
#[test]
fn a_block_needs_no_other_body() {
    let mut rng = SmallRng::seed_from_u64(22);
    let dims = [6, 20, 40];
    let values = field(&mut rng, 6 * 20 * 40);
    for (shape, groups) in [(Shape::Line, 1), (Shape::Plane, 2), (Shape::Cube, 2)] {
        for mode in Mode::ALL {
            let params = cuszp::Params::new(shape, mode, dims, 0.5f32);
            let stream = cuszp::compress(&params, &values).expect("compresses");
            let whole = cuszp::decompress(&params, &stream).expect("decompresses");
            let layout = params.layout().expect("a layout");
            let (blocks, head) = (layout.blocks(), layout.payload_start() as usize);
            let mut held = 0;
            for block in 0..blocks {
                let kept = body(&stream[..blocks as usize], block as usize, groups);
                let mut spoilt = stream.clone();
                for (at, byte) in spoilt[head..].iter_mut().enumerate() {
                    *byte = if kept.contains(&at) {
                        *byte
                    } else {
                        rng.random()
                    };
                }
                let part = params.block(block).expect("a block");
                let expected = cuszp::decompress_part(&params, &stream, &part);
                let found = cuszp::decompress_part(&params, &spoilt, &part);
                assert_eq!(found, expected, "{params:?} {block}");
                held += part.len();
            }
            assert_eq!(held, whole.len() as u64);
            let none = CuszpError::NoBlock {
                block: blocks,
                blocks,
            };
            assert_eq!(params.block(blocks), Err(none));
        }
    }
}

#[test]
fn replaced_parts_give_the_stream_of_the_changed_array() {
    let mut rng = SmallRng::seed_from_u64(23);
    let (mut replaced, mut refused) = (0, 0);
    for round in 0..3000 {
        let (bare, dims) = kind(&mut rng, round);
        let values = field(&mut rng, dims.iter().product::<u64>() as usize);
        let stream = bare.compress_on(Device::Cpu, &values).expect("compresses");
        let (part, numbers) = part(&mut rng, dims);
        // Values of another sign often have differences of the same lengths.
        let scale = if rng.random_range(0..4) == 0 {
            1.5
        } else {
            -1.0
        };
        let new: Vec<f32> = numbers.iter().map(|at| values[*at] * scale).collect();
        let mut changed = values.clone();
        for (at, value) in numbers.iter().zip(&new) {
            changed[*at] = *value;
        }
        let expected = bare.compress_on(Device::Cpu, &changed).expect("compresses");
        let mut found = stream.clone();
        match bare.replace_part(&mut found, &part, &new) {
            Ok(_) => {
                assert!(found == expected, "{bare:?} {part:?}");
                replaced += u32::from(found != stream);
            }
            Err(error) => {
                assert!(found == stream, "{bare:?} {part:?}");
                assert!(
                    is_right(&error, bare, &stream, &expected),
                    "{error:?} {bare:?}"
                );
                refused += 1;
            }
        }
    }
    println!("{replaced} replaced, {refused} refused");
    assert!(replaced > 200 && refused > 200);
}

/// Whether a refusal names a block or layer, the first one, whose bodies have these other lengths.
fn is_right(error: &Error, bare: Bare<f32>, old: &[u8], new: &[u8]) -> bool {
    let (first, lengths) = match (error, bare) {
        (Error::Cuszp(CuszpError::BodyLength { block, old, new }), _) => {
            (u64::from(*block), (*old, *new))
        }
        (Error::Aatrox(AatroxError::LayerLength { layer, old, new }), _) => (*layer, (*old, *new)),
        _ => return false,
    };
    let (unit, count, groups) = match bare {
        Bare::Cuszp(params) => {
            let blocks = params.layout().expect("a layout").blocks() as usize;
            (1, blocks, params.shape.groups())
        }
        Bare::Aatrox(params) => (1024, 1024 * params.elements.div_ceil(32_768) as usize, 1),
    };
    let length = |stream: &[u8], number: u64| {
        let blocks = number as usize * unit..(number as usize + 1) * unit;
        let bytes = blocks.map(|block| body(&stream[..count], block, groups).len());
        bytes.sum::<usize>() as u64
    };
    let differs = |number: u64| length(old, number) != length(new, number);
    (length(old, first), length(new, first)) == lengths && !(0..first).any(differs)
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let params = cuszp::Params::new(Shape::Cube, Mode::Plain, [2, 8, 8], 0.5f32);
    let mut stream = cuszp::compress(&params, &[1.0; 128]).expect("compresses");
    let other = CuszpError::PartOfOther {
        needed: 128,
        found: 100,
    };
    let part = Part::elements(100, 0..10).expect("a part");
    assert_eq!(cuszp::decompress_part(&params, &stream, &part), Err(other));
    let found = cuszp::replace_part(&params, &mut stream, &part, &[0.0; 10]);
    assert_eq!(found, Err(other));
    let part = Part::elements(128, 0..10).expect("a part");
    let count = CuszpError::ElementCount {
        needed: 10,
        found: 9,
    };
    let found = cuszp::replace_part(&params, &mut stream, &part, &[0.0; 9]);
    assert_eq!(found, Err(count));
    let strict = cuszp::Params {
        strict: true,
        ..params
    };
    let found = cuszp::replace_part(&strict, &mut stream, &part, &[f32::NAN; 10]);
    assert!(matches!(found, Err(CuszpError::Refused(_))), "{found:?}");
}
