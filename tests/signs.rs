//! Signs of bounds relative to each value, and signs that are kept: every form of the signs of a part, on every machine.

use crate::common::machine::Machine;
use ferrosz::codec::container::header::Header;
use ferrosz::codec::container::table::Entry;
use ferrosz::codec::mapping::mask::read_heads;
use ferrosz::codec::mapping::mask::signs::SignForm;
use ferrosz::stream::{Extents, Layout, Update};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Part, Shape, info};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Which elements are negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signs {
    None,
    All,
    /// All but one of a thousand.
    Most,
    Random,
    /// Those below a smooth surface.
    Smooth,
    /// Every second pair of rows: in C order there are long runs.
    Rows,
}

const SIGNS: [Signs; 6] = [
    Signs::None,
    Signs::All,
    Signs::Most,
    Signs::Random,
    Signs::Smooth,
    Signs::Rows,
];

impl Signs {
    fn has(self, [z, y, x]: [u64; 3], rng: &mut SmallRng) -> bool {
        let wave = |at: u64, length: f64| (at as f64 / length).sin();
        match self {
            Self::None => false,
            Self::All => true,
            Self::Most => !rng.random_bool(0.001),
            Self::Random => rng.random_bool(0.5),
            Self::Smooth => wave(z, 5.0) + wave(y, 9.0) + wave(x, 14.0) < 0.3,
            Self::Rows => y % 4 < 2,
        }
    }

    /// A field with these signs: magnitudes of a few decades, and some zeros and infinities.
    fn field(self, extents: [u64; 3], seed: u64) -> Vec<f32> {
        let mut rng = SmallRng::seed_from_u64(seed);
        let [depth, height, width] = extents;
        let at = |i: u64| [i / (height * width), i / width % height, i % width];
        let value = |i| {
            let magnitude = match rng.random_range(0..200) {
                0 if seed % 2 == 1 => 0.0,
                1 if seed % 2 == 1 => f32::INFINITY,
                _ => 10f32.powf(rng.random_range(-2.0..2.0)),
            };
            if self.has(at(i), &mut rng) {
                -magnitude
            } else {
                magnitude
            }
        };
        (0..depth * height * width).map(value).collect()
    }
}

const EXTENTS: [[u64; 3]; 8] = [
    [1, 1, 1],
    [1, 1, 33],
    [1, 1, 20_000],
    [1, 130, 128],
    [16, 16, 32],
    [20, 40, 60],
    [17, 33, 65],
    [2, 5, 300],
];

fn pwrel() -> Bound {
    Bound::pwrel(1e-2).expect("a good bound")
}

fn layout(codec: Codec, extents: [u64; 3]) -> Layout {
    Layout::new(codec, Shape::Cube, Extents::new(&extents).expect("extents"))
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn every_machine_codes_signs_the_same() {
    for (number, extents) in (0..).zip(EXTENTS) {
        for signs in SIGNS {
            let codec = [Codec::PLAIN, Codec::LORENZO_RANS][number as usize % 2];
            let layout = layout(codec, extents);
            let field = signs.field(extents, number);
            let stream = Machine::Reference.compress(layout, pwrel(), &field);
            let stream = stream.expect("compresses");
            for machine in Machine::of_this_computer() {
                let what = format!("{machine:?} {extents:?} {signs:?}");
                let found = machine
                    .compress(layout, pwrel(), &field)
                    .expect("compresses");
                assert!(found == stream, "another stream: {what}");
                let back: Vec<f32> = machine.decompress(&stream).expect("decompresses");
                let same = |(x, y): (&f32, &f32)| x.is_sign_negative() == y.is_sign_negative();
                assert!(field.iter().zip(&back).all(same), "other signs: {what}");
            }
        }
    }
}

/// The bytes of the mask chunk of a stream with one, and the forms of the signs of its parts.
fn forms(stream: &[u8]) -> (usize, Vec<SignForm>) {
    let header = Header::read(stream).expect("a header");
    let layout = header.layout();
    let mask = layout.mask().expect("a mask");
    assert_eq!(mask.chunks(), 1);
    let at = header.table_start() as usize + 16 * layout.field_entries() as usize;
    let entry = stream[at..].first_chunk().expect("an entry");
    let entry = Entry::from_bytes(entry, layout.split());
    let payload = &stream[header.payload_start() as usize..];
    let bytes = &payload[entry.range().start as usize..entry.range().end as usize];
    let parts = read_heads(&mask, 0, entry.form, bytes).expect("heads");
    let count = mask.parts(0).end as usize;
    let forms = parts[..count].iter().map(|part| part.signs.0);
    (bytes.len(), forms.collect())
}

#[test]
fn all_forms_are_taken() {
    let extents = [32u64, 32, 64];
    let of = |signs: Signs| {
        let layout = layout(Codec::PLAIN, extents);
        let field = signs.field(extents, 2);
        let stream = Machine::Reference.compress(layout, pwrel(), &field);
        let stream = stream.expect("compresses");
        forms(&stream)
    };
    let [none, all, most, random, smooth, rows] = SIGNS.map(of);
    let is_all = |found: &[SignForm], form| found.iter().all(|found| *found == form);
    assert!(is_all(&none.1, SignForm::None) && is_all(&all.1, SignForm::All));
    assert!(is_all(&random.1, SignForm::Raw));
    assert!(
        most.1
            .iter()
            .all(|form| matches!(form, SignForm::Rows(_) | SignForm::Bricks(_)))
    );
    assert!(
        smooth
            .1
            .iter()
            .all(|form| matches!(form, SignForm::Bricks(words) if *words < 80))
    );
    assert!(
        rows.1
            .iter()
            .all(|form| matches!(form, SignForm::Rows(words) if *words < 80))
    );
    // A part without negative elements, or with nothing else, has no bytes; a chunk without any has none.
    assert_eq!([none.0, all.0, random.0], [0, 32, 32 + 65_536 / 8]);
}

#[test]
fn signs_alone_are_kept() {
    let extents = [17u64, 33, 65];
    for signs in SIGNS {
        let field = signs.field(extents, 4);
        let compressor = Compressor::new(Codec::STENCIL, Bound::abs(5.0).expect("a bound"));
        let compressor = compressor.extents(&extents).expect("extents").keep_signs();
        let stream = compressor.compress(&field).expect("compresses");
        let emulated = compressor.device(Device::Emulator).compress(&field);
        assert!(emulated.expect("compresses") == stream, "{signs:?}");
        for machine in Machine::of_this_computer()
            .into_iter()
            .chain([Machine::Reference])
        {
            let back: Vec<f32> = machine.decompress(&stream).expect("decompresses");
            for (x, y) in field.iter().zip(&back) {
                let is_kept = x.is_sign_negative() == y.is_sign_negative() && (x - y).abs() <= 5.0;
                assert!(is_kept, "{machine:?} {signs:?}: {x} {y}");
            }
        }
    }
}

#[test]
fn parts_and_updates_have_their_signs() {
    let extents = [20u64, 40, 60];
    let part = Part::Box(vec![3..17, 11..30, 5..60]);
    let inside = |values: &[f32]| -> Vec<f32> {
        let rows = (3..17).flat_map(|z| (11..30).map(move |y| (z * 40 + y) * 60));
        rows.flat_map(|row| values[row + 5..row + 60].to_vec())
            .collect()
    };
    for (before, after) in [
        (Signs::Smooth, Signs::Random),
        (Signs::None, Signs::Smooth),
        (Signs::All, Signs::None),
    ] {
        let (layout, field) = (layout(Codec::PLAIN, extents), before.field(extents, 1));
        let mut stream = Machine::Reference
            .compress(layout, pwrel(), &field)
            .expect("compresses");
        let whole: Vec<f32> = Machine::Reference
            .decompress(&stream)
            .expect("decompresses");
        let values = after.field([14, 19, 55], 3);
        let mut machines = Machine::of_this_computer();
        machines.retain(|machine| machine.has_parts(layout));
        for machine in machines {
            let found = machine
                .decompress_part::<f32>(&stream, &part)
                .expect("decompresses");
            assert!(
                bits(&found) == bits(&inside(&whole)),
                "{machine:?} {before:?}"
            );
        }
        let update = Update::new(&stream, &part, &values).expect("updates");
        update.apply(&mut stream);
        for machine in Machine::of_this_computer()
            .into_iter()
            .chain([Machine::Reference])
        {
            let found: Vec<f32> = machine.decompress(&stream).expect("decompresses");
            let same = |(x, y): (&f32, &f32)| x.is_sign_negative() == y.is_sign_negative();
            assert!(
                values.iter().zip(&inside(&found)).all(same),
                "{machine:?} {after:?}"
            );
            let outside = |(x, y): (&f32, &f32)| x.is_sign_negative() == y.is_sign_negative();
            let changed = field
                .iter()
                .zip(&found)
                .filter(|pair| !outside(*pair))
                .count();
            assert!(changed <= values.len(), "{machine:?}");
        }
    }
}

/// Any bytes in place of heads and signs give the same error, or the same elements, on every machine.
#[test]
fn any_bytes_of_signs_are_no_panic() {
    let extents = [20u64, 40, 60];
    let layout = layout(Codec::PLAIN, extents);
    let field = Signs::Smooth.field(extents, 1);
    let stream = Machine::Reference
        .compress(layout, pwrel(), &field)
        .expect("compresses");
    let of_mask = info(&stream).expect("a stream").mask_bytes as usize;
    let mut rng = SmallRng::seed_from_u64(9);
    let mut read = 0;
    for number in 0..300 {
        let mut damaged = stream.clone();
        // The record of four classes and two entries are before the chunks of the mask: 112 bytes.
        let chunks = stream.len() + 112 - of_mask;
        for _ in 0..rng.random_range(1..6) {
            let at = match number % 3 {
                0 => rng.random_range(chunks..chunks + 32),
                _ => rng.random_range(chunks + 32..stream.len()),
            };
            damaged[at] ^= 1 << rng.random_range(0..8);
        }
        let machines = Machine::cpu()
            .into_iter()
            .chain((number % 10 == 0).then_some(Machine::Emulator));
        let results: Vec<_> = machines
            .map(|machine| {
                machine
                    .decompress_trusting::<f32>(&damaged)
                    .map(|values| bits(&values))
            })
            .collect();
        assert!(
            results.windows(2).all(|pair| pair[0] == pair[1]),
            "{number}"
        );
        read += usize::from(results[0].is_ok());
        // Salvage finds elements of at most the mask's chunks.
        let salvaged = Decompressor::new().salvage::<f32>(&damaged);
        assert!(salvaged.is_ok() || results[0].is_err(), "{number}");
    }
    assert!((100..300).contains(&read), "{read}");
}
