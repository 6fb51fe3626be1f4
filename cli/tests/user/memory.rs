//! Without memory there is an error, and no abort.

use crate::common::{Place, npy_header, stderr};
use std::fs::File;
use std::process::{Command, Output};

/// Runs the command with so much address space.
fn limited(place: &Place, mebibytes: u64, line: &str) -> Output {
    let limited = format!(
        "ulimit -v {}; exec '{}' {line} --device cpu",
        1024 * mebibytes,
        env!("CARGO_BIN_EXE_ferrosz")
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).current_dir(place.path(""));
    // Each thread has an address space of its own to allocate from, however little it needs.
    shell.env("RAYON_NUM_THREADS", "2");
    shell.output().unwrap()
}

fn sparse(place: &Place, name: &str, start: &[u8], bytes: u64) {
    place.put(name, start);
    let file = File::options().write(true).open(place.path(name)).unwrap();
    file.set_len(start.len() as u64 + bytes).unwrap();
}

#[test]
fn an_array_larger_than_memory_is_an_error() {
    let place = Place::new();
    let elements = 1u64 << 30;
    let header = npy_header("<f4", "False", &format!("({elements},)"));
    sparse(&place, "in.npy", &header, 4 * elements);
    sparse(&place, "in.raw", b"", 4 * elements);
    for line in [
        "compress in.npy out --abs 1",
        &format!("compress in.raw out --abs 1 --dtype f32 --dims {elements}"),
    ] {
        let output = limited(&place, 1000, line);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("no memory"), "{said}");
    }
    assert_eq!(place.names(), ["in.npy", "in.raw"]);
}

#[test]
fn an_array_that_is_turned_needs_memory_for_both() {
    let place = Place::new();
    let header = npy_header("<f4", "True", "(8192, 16384)");
    sparse(&place, "in.npy", &header, 4 * 8192 * 16384);
    let output = limited(&place, 1000, "compress in.npy out --abs 1");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no memory"), "{said}");
}

/// At whichever allocation memory ends, small ones too.
#[test]
fn memory_that_ends_anywhere_is_an_error() {
    let place = Place::new();
    let elements = 3u64 << 20;
    let values = (0..elements as u32).map(|i| (i as f32 * 1e-4).sin());
    let mut array = npy_header("<f4", "False", &format!("({elements},)"));
    array.extend(values.flat_map(f32::to_le_bytes));
    place.put("in.npy", &array);
    place.succeed("compress in.npy in.fsz --abs 1e-3 --codec interp --rank 1");
    let mut failed = 0;
    for mebibytes in (36..=180).step_by(12) {
        for line in [
            "compress in.npy out.fsz --abs 1e-3 --force",
            "decompress in.fsz out.npy --force",
        ] {
            let output = limited(&place, mebibytes, line);
            let said = stderr(&output);
            match output.status.code() {
                Some(0) => {}
                Some(1) => failed += 1,
                status => panic!("{mebibytes} MiB, {line}: {status:?}, {said}"),
            }
            let unfinished = place
                .names()
                .into_iter()
                .find(|name| name.ends_with(".part"));
            assert_eq!(unfinished, None, "{mebibytes} MiB, {line}: {said}");
        }
    }
    assert!(failed > 0);
}
