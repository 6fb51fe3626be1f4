//! The test vectors of codec/VECTORS.md: tiny streams, each byte of which has a name there.

mod annotate;

use crate::common::forge::with_record;
use crate::common::machine::Machine;
use annotate::Annotator;
use ferrosz::codec::container::version::VERSION;
use ferrosz::codec::with_value;
use ferrosz::{Bound, BoundMode, Codec, Compressor, Device, Safeguard, Value, ValueType, info};
use std::fmt::Write;
use std::path::Path;

const START: &str = "\
# Test vectors

Tiny streams of the format that [FORMAT.md](FORMAT.md) describes, in hexadecimal. `cargo xtask golden` writes this page.
Tests encode and decode each stream with the library, and decode it with the decoder in `tests/independent`.

Each vector has the values of the field, in C order, and the decoded values, as decimal numbers that give the bits. Then
each line has the place of a byte in the stream, up to eight bytes, and the name of the field that they are, with its
value where it is a number. Bytes behind the first eight of a field are in lines without a name.
";

/// A tiny stream.
struct Vector {
    name: &'static str,
    /// What it shows.
    about: &'static str,
    numbers: Vec<f64>,
    stream: Vec<u8>,
}

fn compressor(codec: Codec, mode: BoundMode, bound: f64) -> Compressor {
    let bound = Bound::new(mode, bound).expect("a bound");
    Compressor::new(codec, bound).device(Device::Cpu)
}

fn made<V: Value>(
    name: &'static str,
    about: &'static str,
    compressor: &Compressor,
    numbers: &[f64],
) -> Vector {
    let values = numbers.iter().map(|number| V::from_number(*number));
    let values: Vec<V> = values.collect::<Option<_>>().expect("numbers of the type");
    Vector {
        name,
        about,
        numbers: numbers.to_vec(),
        stream: compressor.compress(&values).expect(name),
    }
}

/// Values whose codes differ little, so that their blocks are shorter than the values.
const EIGHT: [f64; 8] = [1.25, 1.0, 1.75, 1.0, 1.25, 0.75, 2.0, 1.25];

fn vectors() -> Vec<Vector> {
    let plain = compressor(Codec::PLAIN, BoundMode::Abs, 0.5);
    let scalar = plain.extents::<u64>(&[]).expect("rank 0");
    let lossless = compressor(Codec::FIXED, BoundMode::Abs, 0.0);
    let rans = compressor(Codec::LORENZO_RANS, BoundMode::Abs, 0.5);
    let rise: Vec<f64> = (0..80).map(|i| f64::from(i * i % 7 + i) / 2.0).collect();
    let filled = plain.fill(-99.0).expect("a fill value");
    let coarse = compressor(Codec::PLAIN, BoundMode::Abs, 1.5);
    let pwrel = compressor(Codec::PLAIN, BoundMode::Pwrel, 0.125);
    let five = [0.25, 1.25, 2.0, 1.75, 2.75];
    let exact = [0.1, -0.0, 1e300];
    let holes = [1.0, -99.0, -99.0, 2.5, -99.0];
    let whole = [-3.0, 0.0, 1.0, 4.0, 3.0, 5.0, 2.0, -1.0];
    let signs = [1.5, -2.0, 0.0, 1.75, -1.5, 2.0, 1.25, 0.0];
    let mut all = vec![
        made::<f32>("scalar", "A field of rank 0.", &scalar, &[1.25]),
        made::<f32>("plain", "Blocks of a line.", &plain, &five),
        made::<f64>("lossless", "A bound of 0, a raw chunk.", &lossless, &exact),
        made::<f32>("tiles", "Lorenzo tiles with rANS.", &rans, &rise),
        made::<f32>("mask", "A fill value, -99.", &filled, &holes),
        made::<i16>("integers", "Converted values.", &coarse, &whole),
        made::<f32>("record", "A record that is skipped.", &plain, &five),
        made::<f32>("relative", "Logarithms and a mask.", &pwrel, &signs),
    ];
    all[6].stream = with_record(&all[6].stream, VERSION, b"note");
    all.extend(with_sections(&plain));
    all
}

fn with_sections(plain: &Compressor) -> Vec<Vector> {
    let guarded = plain.safeguard(Safeguard::KeepAbove(1.125)).expect("kept");
    let exact = plain.safeguard(Safeguard::AbsSquare(0.0)).expect("kept");
    let statistics = plain.statistics(true);
    let odd = EIGHT.map(|number| {
        if number == 0.75 {
            1.100000023841858
        } else {
            number
        }
    });
    vec![
        made::<f32>("safeguard", "Values beside 1.125.", &guarded, &EIGHT),
        made::<f32>("exact", "Values in place of decoded ones.", &exact, &odd),
        made::<f32>(
            "statistics",
            "A section that is skipped.",
            &statistics,
            &EIGHT,
        ),
    ]
}

/// Numbers, four in a line.
fn write_numbers(text: &mut String, name: &str, numbers: &[f64]) {
    for line in numbers.chunks(4) {
        let all: Vec<String> = line.iter().map(|number| format!("{number:?}")).collect();
        let _ = writeln!(text, "{name} {}", all.join(" "));
    }
}

fn decoded(machine: Machine, stream: &[u8]) -> Vec<f64> {
    fn numbers<V: Value>(machine: Machine, stream: &[u8]) -> Vec<f64> {
        let values = machine.decompress::<V>(stream).expect("decodes");
        values.into_iter().map(V::to_number).collect()
    }
    let value_type: ValueType = info(stream).expect("sound").dtype;
    with_value!(value_type, V => numbers::<V>(machine, stream))
}

/// The page.
fn text() -> String {
    let mut text = START.to_owned();
    for vector in vectors() {
        let info = info(&vector.stream).expect("sound");
        let (mode, bound) = (info.bound.mode(), info.bound.value());
        let (dtype, codec, extents) = (info.dtype, info.codec, &info.extents);
        let _ = write!(
            text,
            "\n## {}\n\n{} Type `{dtype}`, extents {extents:?}, codec `{codec}`, bound `{mode}` {bound}.\n\n```text\n",
            vector.name, vector.about
        );
        write_numbers(&mut text, "input", &vector.numbers);
        let numbers = decoded(Machine::cpu()[0], &vector.stream);
        write_numbers(&mut text, "decoded", &numbers);
        let lines = Annotator::lines(&vector.stream);
        let _ = write!(text, "\n{lines}```\n");
    }
    text
}

const PAGE: &str = include_str!("../codec/VECTORS.md");

#[test]
fn the_library_writes_the_vectors() {
    let wanted = text();
    for (number, (found, wanted)) in PAGE.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(
            found,
            wanted,
            "line {}: see `cargo xtask golden`",
            number + 1
        );
    }
    assert_eq!(PAGE.len(), wanted.len());
}

/// The page is read here as a stranger would.
#[test]
fn every_machine_decodes_the_vectors() {
    let mut read = 0;
    for vector in PAGE.split("```text\n").skip(1) {
        let vector = vector.split("```").next().expect("an end");
        let mut bytes = Vec::new();
        let mut wanted: Vec<u64> = Vec::new();
        for line in vector.lines() {
            if let Some(numbers) = line.strip_prefix("decoded ") {
                let numbers = numbers.split(' ').map(|number| number.parse::<f64>());
                wanted.extend(numbers.map(|number| number.expect("a number").to_bits()));
            } else if line.starts_with(' ') {
                let hex = line.get(7..30).unwrap_or(&line[7..]).split_whitespace();
                bytes.extend(hex.map(|byte| u8::from_str_radix(byte, 16).expect("hex")));
            }
        }
        for machine in Machine::of_this_computer() {
            let found = decoded(machine, &bytes);
            let found: Vec<u64> = found.into_iter().map(f64::to_bits).collect();
            assert_eq!(found, wanted, "{machine:?} {vector}");
        }
        read += 1;
    }
    assert_eq!(read, vectors().len());
}

/// `cargo xtask golden`: writes the page, and changes streams of it only with a reason.
#[test]
#[ignore = "writes the test vectors"]
fn rewrite() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("codec/VECTORS.md");
    let text = text();
    let may_change = !PAGE.contains("##") || std::env::var("FERROSZ_GOLDEN_REASON").is_ok();
    assert!(
        may_change || PAGE == text,
        "codec/VECTORS.md would change: `cargo xtask golden --rewrite REASON` if this is wanted"
    );
    std::fs::write(path, text).expect("writes");
}
