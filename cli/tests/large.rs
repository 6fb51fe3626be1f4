//! Arrays that are larger than the memory that the command may use.

use crate::cases::takes_part;
use crate::common::{Place, stderr};
use std::process::{Command, Output};
use std::slice::from_ref;

/// The lengths of a field of 256 MiB.
const LARGE: [usize; 3] = [64, 1024, 1024];

/// The same as options of the command.
const SHAPE: &str = "--dtype f32 --dims 64,1024,1024";

/// Memory in KiB that a command may allocate; mapped files do not count.
const MEMORY: u64 = 190 << 10;

/// A usual run takes the tests of one way of each so many; they take half of a minute each.
const WAYS: u64 = 2;

/// Waves with some noise, which depend on all coordinates.
fn waves(lengths: [usize; 3]) -> Vec<u8> {
    let [depth, height, width] = lengths;
    let row: Vec<f32> = (0..width).map(|x| (x as f32 * 0.01).sin()).collect();
    let mut bytes = Vec::with_capacity(4 * depth * height * width);
    let mut noise = 1u32;
    for z in 0..depth {
        for y in 0..height {
            let wave = (z as f32 * 0.05).cos() + (y as f32 * 0.02).sin();
            for x in &row {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let value = x + wave + (noise >> 16) as f32 * 1e-7;
                bytes.extend(value.to_le_bytes());
            }
        }
    }
    bytes
}

#[test]
fn files_and_pipes_give_the_same() {
    let place = Place::new();
    // Enough values to be mapped.
    let field = waves([20, 130, 150]);
    place.put("in.f32", &field);
    let shape = "--dtype f32 --dims 20,130,150";
    for codec in [
        "plain",
        "lorenzo",
        "lorenzo+rans",
        "interp",
        "stencil",
        "slices",
    ] {
        place.succeed(&format!(
            "compress in.f32 file.fsz {shape} --codec {codec} --range 1e-3"
        ));
        let line = format!("compress in.f32 - {shape} --codec {codec} --range 1e-3");
        assert_eq!(
            place.succeed(&line).stdout,
            place.get("file.fsz"),
            "{codec}"
        );
        place.succeed("decompress file.fsz out.f32");
        let piped = place.succeed("decompress file.fsz -");
        assert!(place.get("out.f32") == piped.stdout, "{codec}");
        assert_eq!(piped.stdout.len(), field.len());
        place.succeed("verify in.f32 file.fsz");
    }
}

/// Runs a command line in a shell with limited memory.
fn limited(place: &Place, line: &str) -> Output {
    let limited = format!(
        "ulimit -d {MEMORY}; exec '{}' --device cpu {line}",
        env!("CARGO_BIN_EXE_ferrosz")
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).current_dir(place.path(""));
    shell.env("RAYON_NUM_THREADS", "2");
    shell.output().unwrap()
}

/// Runs command lines in shells with limited memory, which must suffice.
fn succeed(place: &Place, lines: &[&str]) {
    for line in lines {
        let output = limited(place, line);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
    }
}

#[test]
fn memory_is_bounded() {
    if !takes_part(0, WAYS) {
        return;
    }
    let place = Place::new();
    place.put("in.f32", &waves(LARGE));
    for (coding, number) in ["--codec plain", "--codec interp", "--small"]
        .into_iter()
        .zip(0..)
    {
        if !takes_part(number, 3) {
            continue;
        }
        let compress = format!("compress in.f32 a.fsz {SHAPE} {coding} --range 1e-3 --force");
        succeed(
            &place,
            &[
                &compress,
                "check a.fsz",
                "decompress a.fsz out.f32 --force",
                "verify in.f32 a.fsz",
            ],
        );
        // Salvaged values are in memory, which is too small for them: the limit is one.
        let output = limited(&place, "decompress a.fsz salvaged.f32 --salvage");
        assert!(!output.status.success());
    }
}

/// Compresses to `a.fsz`, decompresses and verifies it within the memory that commands may allocate.
fn round_trip(place: &Place, compress: &str) {
    succeed(
        place,
        &[
            compress,
            "decompress a.fsz out.f32 --force",
            "verify in.f32 a.fsz",
        ],
    );
}

#[test]
fn memory_of_copies_is_bounded() {
    if !takes_part(1, WAYS) {
        return;
    }
    let place = Place::new();
    place.put("in.f32", &waves(LARGE));
    // As integers the values are noise.
    let integers = "--dtype i16 --dims 64,1024,2048 --abs 100";
    for (coding, number) in [
        format!("{SHAPE} --codec interp --range 1e-3 --axes x,z,y"),
        format!("{SHAPE} --codec interp --pwrel 1e-2"),
        format!("{SHAPE} --small --pwrel 1e-2"),
        format!("{integers} --codec plain"),
    ]
    .into_iter()
    .zip(0..)
    {
        if !takes_part(number, 4) {
            continue;
        }
        let compress = format!("compress in.f32 a.fsz {coding} --force");
        round_trip(&place, &compress);
    }
}

#[test]
fn memory_of_fields_with_fill_values_is_bounded() {
    if !takes_part(2, WAYS) {
        return;
    }
    let place = Place::new();
    let mut field = waves(LARGE);
    // Of the values a third is missing, in blocks and alone.
    for (i, value) in field.chunks_exact_mut(4).enumerate() {
        if i / 100_000 % 4 == 0 || i % 12 == 0 {
            value.copy_from_slice(&(-9999f32).to_le_bytes());
        }
    }
    place.put("in.f32", &field);
    for (coding, number) in ["--codec interp", "--small"].into_iter().zip(0..) {
        if !takes_part(number, 2) {
            continue;
        }
        let compress =
            format!("compress in.f32 a.fsz {SHAPE} {coding} --range 1e-3 --fill -9999 --force");
        round_trip(&place, &compress);
    }
}

#[test]
fn a_missing_folder_of_temporary_files_is_named() {
    let place = Place::new();
    place.put("in.f32", &waves([20, 1024, 1024]));
    let coding = "--dtype f32 --dims 20,1024,1024 --codec plain --abs 1e-3 --force";
    for line in [
        format!("compress - a.fsz {coding} <in.f32"),
        format!("compress in.f32 a.fsz {coding} --axes x,z,y"),
    ] {
        let command = format!("'{}' {line}", env!("CARGO_BIN_EXE_ferrosz"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(place.path(""));
        let output = shell.env("TMPDIR", "/no/such/folder").output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(
            text.contains("cannot use a temporary file in /no/such/folder"),
            "{text}"
        );
    }
}

#[test]
fn memory_of_pipes_is_bounded() {
    if !takes_part(3, WAYS) {
        return;
    }
    let place = Place::new();
    place.put("in.f32", &waves(LARGE));
    // Noise of 1e-3 leaves a stream that is too large for the memory beside anything else.
    let coding = format!("{SHAPE} --codec plain --abs 1e-9");
    succeed(
        &place,
        &[
            &format!("compress in.f32 file.fsz {coding}"),
            &format!("compress - piped.fsz {coding} <in.f32"),
            &format!("compress in.f32 - {coding} >pipe.fsz"),
            "decompress file.fsz file.f32",
            "decompress file.fsz - >pipe.f32",
            "decompress - piped.f32 <file.fsz",
        ],
    );
    let same = |one: &str, other: &str| assert!(place.get(one) == place.get(other), "{other}");
    same("file.fsz", "piped.fsz");
    same("file.fsz", "pipe.fsz");
    same("file.f32", "pipe.f32");
    same("file.f32", "piped.f32");
}

/// A NetCDF file (CDF-2, the format with 64-bit offsets) with the values as variable `t`, and with the same bytes as packed
/// variable `p`, whose values of 16 bits are hundredths.
fn netcdf(values: &[u8]) -> Vec<u8> {
    let [short, float] = [3, 5];
    let number = |number: u32| number.to_be_bytes().to_vec();
    let name = |name: &str| {
        [
            number(name.len() as u32),
            name.as_bytes().to_vec(),
            vec![0; 3],
        ]
        .concat()
    };
    let list = |tag: u32, items: &[Vec<u8>]| {
        [number(tag), number(items.len() as u32), items.concat()].concat()
    };
    let none = || number(0).repeat(2);
    let lengths = LARGE
        .into_iter()
        .chain([2 * LARGE[2]])
        .zip(["z", "y", "x", "w"]);
    let dimension = |(length, of): (usize, &str)| [name(of), number(length as u32)].concat();
    let hundredths = [number(float), number(1), 0.01f32.to_be_bytes().to_vec()].concat();
    let scale = [number(12), b"scale_factor".to_vec(), hundredths].concat();
    let variable = |of: &str, fastest: u32, attributes: Vec<u8>, dtype: u32, begin: u64| {
        let dimensions = [3, 0, 1, fastest].map(number).concat();
        let size = [
            number(dtype),
            number(values.len() as u32),
            begin.to_be_bytes().to_vec(),
        ];
        [name(of), dimensions, attributes, size.concat()].concat()
    };
    let header = |begin: u64| {
        let variables = [
            variable("t", 2, none(), float, begin),
            variable("p", 3, list(12, from_ref(&scale)), short, begin),
        ];
        let dimensions: Vec<Vec<u8>> = lengths.clone().map(dimension).collect();
        let lists = [list(10, &dimensions), none(), list(11, &variables)].concat();
        [b"CDF\x02".to_vec(), number(0), lists].concat()
    };
    let mut file = header(header(0).len() as u64);
    for value in values.as_chunks::<4>().0 {
        file.extend(value.iter().rev());
    }
    file
}

#[test]
fn memory_of_variables_is_bounded() {
    if !takes_part(4, WAYS) {
        return;
    }
    let place = Place::new();
    let values = waves(LARGE);
    place.put("in.f32", &values);
    place.put("in.nc", &netcdf(&values));
    let coding = "--codec interp --range 1e-3";
    succeed(
        &place,
        &[
            &format!("compress in.f32 raw.fsz {SHAPE} {coding}"),
            &format!("compress in.nc:t t.fsz {coding}"),
            "verify in.nc:t t.fsz",
            "compress in.nc:p p.fsz --codec plain --abs 1e-3",
            "verify in.nc:p p.fsz",
        ],
    );
    assert!(place.get("raw.fsz") == place.get("t.fsz"));
}
