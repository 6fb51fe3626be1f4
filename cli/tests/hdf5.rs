//! HDF5 files of all kinds as inputs. `variables/make_hdf5.py` made them with h5py, with the values that it reads.

use crate::common::{Place, stderr};
use ferrosz::{Fill, Value};
use ferrosz_cli::array::{Field, Input};
use ferrosz_cli::variable::{VariableError, read};
use ferrosz_cli::with_field;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value as Json;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ODD: [&str; 4] = [
    "odd-earliest.h5",
    "odd-v108.h5",
    "odd-v110.h5",
    "odd-latest.h5",
];

/// The bytes of a committed file that is packed.
fn packed(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/variables");
    let bytes = fs::read(folder.join(format!("{name}.bz2"))).expect("a committed file");
    let mut unpacked = Vec::new();
    let mut decoder = bzip2::read::BzDecoder::new(&bytes[..]);
    decoder.read_to_end(&mut unpacked).expect("a packed file");
    unpacked
}

/// A committed file in a folder.
fn put(place: &Place, name: &str) -> PathBuf {
    place.put(name, &packed(name));
    place.path(name)
}

fn values(field: &Field) -> Vec<f64> {
    with_field!(field, array => array.values.iter().map(|value| value.to_number()).collect())
}

/// Numbers of JSON, in which those that are not finite are text.
fn numbers(json: &Json) -> Vec<f64> {
    let number = |json: &Json| match json.as_str() {
        Some(text) => text.parse().expect("a number"),
        None => json.as_f64().expect("a number"),
    };
    json.as_array()
        .expect("a list")
        .iter()
        .map(number)
        .collect()
}

fn is_same(one: &[f64], other: &[f64]) -> bool {
    let is_same = |(x, y): (&f64, &f64)| x == y || x.is_nan() && y.is_nan();
    one.len() == other.len() && one.iter().zip(other).all(is_same)
}

fn check(label: &str, found: Result<Input, VariableError>, entry: &Json) {
    let input = found.unwrap_or_else(|error| panic!("{label}: {error}"));
    assert!(
        is_same(&values(&input.field), &numbers(&entry["values"])),
        "{label}"
    );
    let lengths = numbers(&entry["shape"]);
    let last = lengths.last().map(|length| *length as u64);
    let found = input.field.shape().extents.last().copied();
    assert_eq!(found, last, "{label}");
    if let Some(fills) = entry.get("fills") {
        let fills: Vec<Fill> = numbers(fills).into_iter().map(Fill::from).collect();
        assert_eq!(input.fills, fills, "{label}");
    }
}

/// Reads all paths of a file that the script knows.
fn check_file(place: &Place, name: &str, expected: &Json) {
    let path = put(place, name);
    for (variable, entry) in expected["readable"].as_object().expect("names") {
        check(
            &format!("{name}:{variable}"),
            read(&path, variable, false),
            entry,
        );
    }
    for (variable, words) in expected["refused"].as_object().expect("names") {
        let words = words.as_str().expect("words");
        match read(&path, variable, false) {
            Ok(_) => panic!("{name}:{variable} was read"),
            Err(error) => {
                assert!(
                    error.to_string().contains(words),
                    "{name}:{variable}: {error}"
                );
            }
        }
    }
}

fn expected() -> Json {
    serde_json::from_slice(&packed("expected.json")).expect("JSON")
}

#[test]
fn odd_objects_hide_no_other() {
    let (place, expected) = (Place::new(), expected());
    for name in ODD {
        check_file(&place, name, &expected[name]);
    }
}

#[test]
fn messages_that_objects_share_are_read() {
    check_file(&Place::new(), "shared.h5", &expected()["shared.h5"]);
}

#[test]
fn attributes_say_what_numbers_mean() {
    check_file(&Place::new(), "packing.h5", &expected()["packing.h5"]);
}

#[test]
fn complex_numbers_are_those_of_all_libraries() {
    let (place, expected) = (Place::new(), expected());
    for name in ["complex.h5", "complex.nc"] {
        check_file(&place, name, &expected[name]);
        for variable in expected[name]["readable"]
            .as_object()
            .expect("names")
            .keys()
        {
            let found = read(&place.path(name), variable, true).expect("values");
            let is_complex = found.field.shape().of.is_complex;
            assert_eq!(is_complex, variable != "of real", "{variable}");
        }
    }
    let scaled = read(&place.path("complex.h5"), "scaled", true).expect("the stored values");
    let stored = read(&place.path("complex.h5"), "<c16", true).expect("values");
    assert!(scaled.field == stored.field);
    for (variable, name) in [
        ("complex.h5:fill", "complex128"),
        ("complex.nc:single", "complex64"),
    ] {
        place.succeed(&format!("compress {variable} a.fsz --abs 0.001"));
        place.succeed(&format!("verify {variable} a.fsz"));
        let told = place.succeed("info a.fsz");
        assert!(String::from_utf8_lossy(&told.stdout).contains(name));
    }
    let wrong = [
        "no variable 'two'",
        "<c16 (c128, 3 x 4)",
        "fill (c128, 3 x 4)",
    ];
    place.fail(1, "compress complex.h5:two b.fsz --abs 1", &wrong);
}

#[test]
fn filters_decode_to_what_hdf5_reads() {
    let place = Place::new();
    check_file(&place, "filters.h5", &expected()["filters.h5"]);
    let path = put(&place, "filters.h5");
    let all = [
        "deflate",
        "szip",
        "lzf",
        "lz4",
        "zstd",
        "bzip2",
        "bits",
        "bits lz4",
        "bits zstd",
        "blosc blosclz",
        "blosc blosclz bytes",
        "blosc blosclz bits",
        "blosc lz4",
        "blosc lz4 bytes",
        "blosc lz4 bits",
        "blosc zlib",
        "blosc zlib bytes",
        "blosc zlib bits",
        "blosc zstd",
        "blosc zstd bytes",
        "blosc zstd bits",
    ];
    let some = ["deflate", "bits zstd", "blosc zstd bits"];
    let own = ["ferrosz", "ferrosz sum"];
    let mut cases = vec![
        ("far", &["blosc"][..]),
        ("f4", &all),
        ("i2", &all),
        ("big f4", &some),
        ("f8", &some),
    ];
    cases.extend(["own f4", "own big f4", "own i2", "own f8"].map(|values| (values, &own[..])));
    for (name, filters) in cases {
        let plain = read(&path, &format!("plain/{name}"), false).expect("values");
        for filter in filters {
            let label = format!("{name}/{filter}");
            let found = read(&path, &label, false);
            let found = found.unwrap_or_else(|error| panic!("{label}: {error}"));
            assert!(found.field == plain.field, "{label}");
        }
    }
    let (exact, lossy) = ("plain/f4", "plain/own f4");
    let [exact, lossy] =
        [exact, lossy].map(|name| values(&read(&path, name, false).expect("values").field));
    let far = |(x, y): (&f64, &f64)| (x - y).abs();
    let error = exact.iter().zip(&lossy).map(far).fold(0.0, f64::max);
    assert!(error > 0.0 && error <= 1.0, "{error}");
}

#[test]
fn damaged_chunks_are_errors() {
    let place = Place::new();
    let mut damaged = packed("filters.h5");
    let at = (damaged.windows(4)).position(|four| four == b"\x89FSZ");
    damaged[at.expect("a stream") + 200] ^= 0x10;
    place.put("damaged.h5", &damaged);
    let read = |name| read(&place.path("damaged.h5"), name, false);
    let error = read("own f4/ferrosz").expect_err("the first stream of the file is damaged");
    assert!(
        error
            .to_string()
            .contains("the filter ferrosz cannot decode a chunk"),
        "{error}"
    );
    assert!(read("own f4/ferrosz sum").is_ok());
}

#[test]
fn notes_say_how_values_were_read() {
    let place = Place::new();
    put(&place, "odd-latest.h5");
    put(&place, "packing.h5");
    for (line, words) in [
        (
            "odd-latest.h5:li1",
            "note: odd-latest.h5:li1: i8 values are read as i16, exactly",
        ),
        ("odd-latest.h5:bu1", "u8 values are read as u16, exactly"),
        ("odd-latest.h5:bi8", "i64 values are read as i32, exactly"),
        (
            "packing.h5:packed",
            "i16 values with scale_factor and add_offset are unpacked to f32",
        ),
        (
            "packing.h5:ignored",
            "the attribute _FillValue is the text '-999', not a number",
        ),
    ] {
        let note = place.succeed(&format!("compress {line} a.fsz --abs 1"));
        assert!(stderr(&note).contains(words), "{line}: {}", stderr(&note));
    }
    place.fail(
        1,
        "compress packing.h5:two a.fsz --abs 1",
        &["no variable 'two'", "two factors"],
    );
    let path = place.path("packing.h5");
    let found = read(&path, "factor of text", true).expect("the stored values");
    assert_eq!(values(&found.field)[..2], [-6.0, -5.0]);
}

/// A reader of damaged files reports an error or other values. It must not panic, hang, or ask for memory that nobody has.
#[test]
fn mutated_files_end_in_values_or_errors() {
    let place = Place::new();
    let mut random = SmallRng::seed_from_u64(46657);
    let expected = expected();
    for name in ODD
        .into_iter()
        .chain(["shared.h5", "packing.h5", "filters.h5", "complex.h5"])
    {
        let sound = packed(name);
        let places = structures(&sound);
        let names = ["readable", "refused"].map(|kind| expected[name][kind].as_object());
        let variables = names
            .into_iter()
            .flatten()
            .flat_map(|entries| entries.keys());
        let variables: Vec<&String> = variables.collect();
        let begin = Instant::now();
        for _ in 0..400 {
            let mut damaged = sound.clone();
            for _ in 0..random.random_range(1..8) {
                mutate(&mut damaged, &places, &mut random);
            }
            place.put(name, &damaged);
            let path = place.path(name);
            for _ in 0..3 {
                let variable = variables[random.random_range(0..variables.len())];
                let _ = read(&path, variable, random.random());
            }
            let _ = ferrosz_cli::variable::list_of(&path);
        }
        assert!(begin.elapsed() < Duration::from_secs(300), "{name}");
    }
}

/// The places of structures that have a signature: headers, heaps, nodes of indices.
fn structures(bytes: &[u8]) -> Vec<usize> {
    const SIGNATURES: [&[u8; 4]; 16] = [
        b"OHDR", b"OCHK", b"TREE", b"SNOD", b"HEAP", b"GCOL", b"FRHP", b"FHDB", b"FHIB", b"BTHD",
        b"BTLF", b"BTIN", b"FADB", b"FAHD", b"EAHD", b"SMTB",
    ];
    let is_one = |at: &usize| {
        SIGNATURES
            .iter()
            .any(|four| bytes[*at..].starts_with(*four))
    };
    (0..bytes.len()).filter(is_one).collect()
}

/// Damages a few bytes: anywhere or in a structure, or, so that checksums do not hide all else, with the checksum of the
/// header made anew.
fn mutate(bytes: &mut Vec<u8>, places: &[usize], random: &mut SmallRng) {
    let place = places[random.random_range(0..places.len())] + random.random_range(0..80);
    let at = match random.random() {
        true => place.min(bytes.len() - 1),
        false => random.random_range(0..bytes.len()),
    };
    match random.random_range(0..6) {
        0 => bytes[at] = random.random(),
        1 => bytes[at] ^= 1 << random.random_range(0..8),
        2 if random.random_range(0..8) == 0 => bytes.truncate(at.max(64)),
        2 | 3 => {
            let from = random.random_range(0..bytes.len());
            let length = random.random_range(1..64).min(bytes.len() - at.max(from));
            bytes.copy_within(from..from + length, at);
        }
        _ => forge(bytes, at, random),
    }
}

/// Changes a header of the second form, and its checksum.
fn forge(bytes: &mut [u8], at: usize, random: &mut SmallRng) {
    let Some(start) = bytes[at..].windows(4).position(|four| four == b"OHDR") else {
        return;
    };
    let start = at + start;
    let Some(flags) = bytes.get(start + 5).copied() else {
        return;
    };
    let width = 1 << (flags & 3);
    let before = 6 + if flags & 0x20 != 0 { 16 } else { 0 } + if flags & 0x10 != 0 { 4 } else { 0 };
    let Some(length) = bytes.get(start + before..start + before + width) else {
        return;
    };
    let length = length
        .iter()
        .rev()
        .fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
    let begin = start + before + width;
    let Some(end) = begin
        .checked_add(length)
        .filter(|end| end + 4 <= bytes.len() && length > 0)
    else {
        return;
    };
    for _ in 0..random.random_range(1..4) {
        bytes[random.random_range(begin..end)] = random.random();
    }
    let sum = hdf5_reader::checksum::jenkins_lookup3(&bytes[start..end]);
    bytes[end..end + 4].copy_from_slice(&sum.to_le_bytes());
}
