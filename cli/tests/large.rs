//! Arrays that are larger than the memory that the command may use.

#![cfg(target_os = "linux")]

mod common;

use common::{Place, stderr};
use std::process::Command;

/// The lengths of a field of 256 MiB.
const LARGE: [usize; 3] = [64, 1024, 1024];

/// Memory in KiB that a command may allocate; mapped files do not count.
const MEMORY: u64 = 190 << 10;

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

#[test]
fn memory_is_bounded() {
    let place = Place::new();
    place.put("in.f32", &waves(LARGE));
    let shape = "--dtype f32 --dims 64,1024,1024";
    let limited = |line: &str| {
        let limited = format!(
            "ulimit -d {MEMORY}; exec '{}' {line} --device cpu",
            env!("CARGO_BIN_EXE_ferrosz")
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &limited]).current_dir(place.path(""));
        shell.env("RAYON_NUM_THREADS", "2");
        shell.output().unwrap()
    };
    for coding in ["--codec plain", "--codec interp", "--small"] {
        for line in [
            &format!("compress in.f32 a.fsz {shape} {coding} --range 1e-3 --fill none --force"),
            "check a.fsz",
            "decompress a.fsz out.f32 --force",
            "verify in.f32 a.fsz",
        ] {
            let output = limited(line);
            assert!(output.status.success(), "{line}: {}", stderr(&output));
        }
        // A pipe gets its values from memory, which is too small for them.
        let output = limited("decompress a.fsz - >/dev/null");
        assert!(!output.status.success());
    }
}
