//! Streams of later versions of the format: read as far as this library knows what they have, and otherwise refused by name.

use crate::common::fields::{Kind, make};
use crate::common::forge::{forge, with_record, with_section};
use crate::common::layouts;
use crate::common::machine::Machine;
use ferrosz::codec::container::header::Header;
use ferrosz::codec::container::version::{VERSION, Version};
use ferrosz::codec::oracle;
use ferrosz::stream::{StreamAt, Update, compact};
use ferrosz::{Bound, Codec, Decompressor, Part, info};

/// The next version, and the last one of the same major number.
const LATER: [Version; 2] = [Version(VERSION.0 + 1), Version(VERSION.0 | 0xff)];

fn streams() -> Vec<Vec<u8>> {
    let field = make::<f32>(Kind::Smooth, 9 * 30 * 40, 11);
    let bound = Bound::range(1e-3).expect("a good bound");
    let mut layouts = layouts(&[9, 30, 40]);
    layouts.extend(crate::common::tile_layouts(&[9, 30, 40]));
    let wanted = [Codec::PLAIN, Codec::LORENZO_RANS, Codec::STENCIL];
    layouts.retain(|layout| wanted.contains(&layout.codec));
    let stream = |layout| oracle::compress(layout, bound, &field);
    layouts.into_iter().map(stream).collect()
}

#[test]
fn a_later_minor_version_is_read() {
    let machines = Machine::of_this_computer();
    for (stream, version) in streams().iter().flat_map(|one| LATER.map(|v| (one, v))) {
        let later = with_section(&with_record(stream, version, b"note"), b"more");
        let values = oracle::decompress::<f32>(stream).expect("sound");
        for machine in &machines {
            let found = machine.decompress::<f32>(&later).expect("read");
            assert_eq!(found, values, "{machine:?}");
        }
        let part = Part::Box(vec![1..2, 3..20, 7..30]);
        let decoder = Decompressor::new();
        let of_part = decoder
            .decompress_part::<f32>(stream, &part)
            .expect("sound");
        let mut at = StreamAt::open(&later[..]).expect("a stream");
        assert_eq!(at.decompress_part::<f32>(&decoder, &part), Ok(of_part));
        let header = Header::read(&later).expect("sound");
        assert_eq!(header.version, version);
        if header.codec.tiles().is_none() {
            let mut changed = later.clone();
            let zeros = vec![0.0f32; 17 * 23];
            let update = Update::new(&changed, &part, &zeros).expect("sound");
            update.apply(&mut changed);
            let compacted = compact(&changed).expect("sound");
            let found = Header::read(&compacted).map(|header| header.version);
            assert_eq!(found, Ok(version));
        }
    }
}

#[test]
fn a_stream_of_before_the_first_release_is_refused_by_name() {
    let stream = include_bytes!("vectors/format-0.2.fsz");
    for machine in Machine::of_this_computer() {
        let error = machine
            .decompress::<f32>(stream)
            .expect_err("another format");
        let said = error.to_string();
        assert!(
            said.contains("0.2") && said.contains("1.0"),
            "{machine:?}: {said}"
        );
    }
    assert!(StreamAt::open(&stream[..]).is_err() && info(stream).is_err());
}

#[test]
fn what_a_later_minor_version_adds_is_refused_by_name() {
    for (stream, version) in streams().iter().flat_map(|one| LATER.map(|v| (one, v))) {
        let noted = with_record(stream, version, b"note");
        let byte = |at, value| {
            let mut forged = noted.clone();
            forge(&mut forged, at, &[value]);
            forged
        };
        let needed = with_section(&noted, b"NEED");
        for (later, name) in [
            (with_record(stream, version, b"FILL"), "a record 'FILL'"),
            (needed.clone(), "a section 'NEED'"),
            (byte(10, 9), "value type 9"),
            (byte(11, 77), "predictor 77"),
            (byte(12, 99), "coder 99"),
            (byte(13, 4), "bound mode 4"),
            (byte(15, 3), "shape of blocks"),
            (byte(100, 0xff), "roles of axes"),
            (byte(102, 16), "classes of a mask"),
            (byte(103, 3), "conversion 3"),
        ] {
            for machine in Machine::of_this_computer() {
                let error = machine.decompress::<f32>(&later).expect_err("refused");
                let error = error.to_string();
                let need = format!("needs format {version}, and this library reads");
                assert!(error.contains(name), "{name}: {error}");
                assert!(error.contains(&need), "{name}: {error}");
            }
            assert!(later == needed || info(&later).is_err(), "{name}");
        }
    }
}

#[test]
fn another_major_version_is_refused() {
    let stream = &streams()[0];
    for number in [0, 1, VERSION.0 + 256, VERSION.0 ^ 0x8000, u16::MAX] {
        let mut other = stream.clone();
        forge(&mut other, 8, &number.to_le_bytes());
        for machine in Machine::of_this_computer() {
            let error = machine.decompress::<f32>(&other).expect_err("refused");
            let error = error.to_string();
            for name in [Version(number), VERSION] {
                assert!(error.contains(&format!("format {name}")), "{error}");
            }
        }
    }
}

/// The numbers of a list like `0, 9 to 255`.
fn numbers(list: &str) -> impl Iterator<Item = u8> {
    list.split(", ").flat_map(|item| {
        let ends = item.split_once(" to ").unwrap_or((item, item));
        let [first, last] = [ends.0, ends.1].map(|end| end.parse().expect("a number"));
        first..=last
    })
}

/// Each row of the table of FORMAT.md, section 32: a byte, bits of it, the name of the field, and values.
#[test]
fn reserved_values_of_the_header_are_refused_by_name() {
    let text = include_str!("../codec/FORMAT.md");
    let table = text.split("| byte | bits | field | reserved values |\n");
    let table = table.last().and_then(|rest| rest.split("\n\n").next());
    let stream = &streams()[0];
    let mut refused = 0;
    for row in table.expect("a table").lines().skip(1) {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let [at, bits, field, values] = cells[..] else {
            panic!("{row}");
        };
        let at: usize = at.parse().expect("a number");
        let bits: Vec<u8> = numbers(bits).collect();
        let mask = bits.iter().fold(0, |mask, bit| mask | 1 << bit);
        for value in numbers(values) {
            let mut forged = stream.clone();
            forge(&mut forged, at, &[stream[at] & !mask | value << bits[0]]);
            for machine in Machine::of_this_computer() {
                let error = machine.decompress::<f32>(&forged).expect_err("refused");
                let error = error.to_string();
                assert!(error.contains(field), "{row}: {value}: {error}");
            }
            refused += 1;
        }
    }
    println!("{refused} values refused");
    assert!(refused > 1700);
}
