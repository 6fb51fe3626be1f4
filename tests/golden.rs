//! Golden streams: bytes that every machine writes and reads, now and in every later version.
//!
//! `tests/golden/` has a stream of every codec, shape and type, and `index.txt` the digests of each stream and of the elements
//! that it decodes to. A change of bytes is deliberate or a fault: `cargo xtask golden --rewrite REASON` writes them
//! anew, and CHANGELOG.md has the reason; without a reason only new streams are added. `tests/independent/` decodes them with a program that shares nothing with this one.

use crate::common::cases::takes;
use crate::common::golden::{self, Case, cases, digest};
use ferrosz::codec::{oracle, with_value};
use ferrosz::{Decompressor, Device, Error, Value, ValueType};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

/// All streams together, so that a clone stays small.
const MOST_BYTES: u64 = 2_700_000;

/// The names of cases for which `is_right` is not, as one message; in a usual run of one case in so many.
fn check_some(what: &str, one_in: u64, is_right: impl Fn(&Case) -> bool + Sync) {
    let cases: Vec<Case> = (cases().into_iter().zip(0..))
        .filter_map(|(case, number)| takes(number, one_in).then_some(case))
        .collect();
    let wrong: Vec<&str> = (cases.par_iter())
        .filter(|case| !is_right(case))
        .map(|case| &case.name[..])
        .collect();
    assert!(
        wrong.is_empty(),
        "{what}: {} of {} golden streams differ: {wrong:#?}",
        wrong.len(),
        cases.len()
    );
}

/// The digests of the elements by name.
fn digests() -> BTreeMap<String, String> {
    let rows = golden::index().into_iter();
    rows.map(|row| (row.name, row.elements)).collect()
}

fn elements<V: Value>(values: Result<Vec<V>, Error>) -> Option<String> {
    values.ok().map(|values| digest(&golden::bytes_of(&values)))
}

/// The digest of a stream's elements, decoded on a device.
fn decoded(device: Device, dtype: ValueType, stream: &[u8]) -> Option<String> {
    let decoder = Decompressor::new().device(device);
    with_value!(dtype, V => elements(decoder.decompress::<V>(stream)))
}

fn round_trip_on(device: Device, one_in: u64) {
    let digests = digests();
    check_some(&format!("written on {device}"), one_in, |case| {
        case.of_library(device).ok() == Some(golden::read(&case.name))
    });
    check_some(&format!("decoded on {device}"), one_in, |case| {
        decoded(device, case.dtype, &golden::read(&case.name)) == digests.get(&case.name).cloned()
    });
}

#[test]
fn the_cpu_writes_and_reads_them() {
    round_trip_on(Device::Cpu, 1);
}

#[test]
#[cfg(feature = "emulator")]
fn the_emulator_writes_and_reads_them() {
    round_trip_on(Device::Emulator, 20);
}

#[test]
#[cfg(feature = "cuda")]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_writes_and_reads_them() {
    round_trip_on(Device::Cuda(0), 1);
}

#[test]
fn the_reference_writes_and_reads_them() {
    let digests = digests();
    check_some("written by the reference", 4, |case| {
        case.of_reference() == golden::read(&case.name)
    });
    check_some("decoded by the reference", 4, |case| {
        let stream = golden::read(&case.name);
        let found = with_value!(case.dtype, V => {
            elements(oracle::decompress::<V>(&stream).map_err(Error::from))
        });
        found == digests.get(&case.name).cloned()
    });
}

/// Which files changed since they were written on purpose, which are new, and which are left over.
#[test]
fn the_files_are_those_of_the_index() {
    let rows = golden::index();
    let mut wrong = Vec::new();
    for row in &rows {
        if digest(&golden::read(&row.name)) != row.stream {
            wrong.push(format!("{}.fsz changed", row.name));
        }
    }
    let listed: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).collect();
    let wanted: BTreeSet<String> = cases().into_iter().map(|case| case.name).collect();
    let found: BTreeSet<String> = streams().map(|(name, _)| name).collect();
    wrong.extend(
        wanted
            .difference(&listed)
            .map(|name| format!("{name} is not in index.txt")),
    );
    wrong.extend(
        listed
            .difference(&wanted)
            .map(|name| format!("{name} is no case any more")),
    );
    wrong.extend(
        found
            .difference(&listed)
            .map(|name| format!("{name}.fsz is left over")),
    );
    assert!(
        wrong.is_empty(),
        "run `cargo xtask golden --rewrite REASON` if this is wanted: {wrong:#?}"
    );
    let bytes: u64 = streams().map(|(_, bytes)| bytes).sum();
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}

/// Names and sizes of the streams in the folder.
fn streams() -> impl Iterator<Item = (String, u64)> {
    let files = fs::read_dir(golden::folder()).expect("the folder");
    files.filter_map(|file| {
        let file = file.expect("a file");
        let name = file.file_name().into_string().expect("a plain name");
        let bytes = file.metadata().expect("a file").len();
        Some((name.strip_suffix(".fsz")?.to_owned(), bytes))
    })
}

/// `cargo xtask golden`: writes the streams that are not there yet. It changes and removes streams only if the variable
/// FERROSZ_GOLDEN_REASON says why.
#[test]
#[ignore = "writes golden streams"]
fn rewrite() {
    let reason = std::env::var("FERROSZ_GOLDEN_REASON").ok();
    let folder = golden::folder();
    let path = |name: &str| folder.join(format!("{name}.fsz"));
    let mut index = String::from(
        "# Golden streams: name, SHA-256 of the decoded elements (little-endian, C order), SHA-256 of the stream, recipe.\n\
         # Written by `cargo xtask golden`; the fields are made by tests/common/golden.rs.\n",
    );
    let mut written = Vec::new();
    let mut removed: BTreeSet<String> = streams().map(|(name, _)| name).collect();
    for case in cases() {
        let stream = case.of_reference();
        let elements = decoded(Device::Cpu, case.dtype, &stream).expect("decodes");
        let digest = digest(&stream);
        let row = format!("{} {elements} {digest} {}", case.name, case.recipe());
        writeln!(index, "{row}").expect("text");
        let is_old = removed.remove(&case.name);
        if !is_old || golden::read(&case.name) != stream {
            written.push((case.name, stream, is_old));
        }
    }
    let changed = written.iter().filter(|(.., is_old)| *is_old);
    let changed: Vec<&String> = changed.map(|(name, ..)| name).chain(&removed).collect();
    match reason {
        None => assert!(
            changed.is_empty(),
            "these streams would change or go: `cargo xtask golden --rewrite REASON` if this is wanted: {changed:#?}"
        ),
        Some(reason) => println!("CHANGELOG.md: {} golden streams: {reason}", changed.len()),
    }
    for (name, stream, is_old) in &written {
        println!("{name} {}", if *is_old { "changed" } else { "added" });
        fs::write(path(name), stream).expect("writes");
    }
    for name in &removed {
        println!("{name} removed");
        fs::remove_file(path(name)).expect("removes");
    }
    fs::write(folder.join("index.txt"), index).expect("writes");
}
