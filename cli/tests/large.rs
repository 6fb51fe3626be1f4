//! Arrays that are larger than the memory that the command may use.

#![cfg(target_os = "linux")]

mod common;

use common::{Place, npy_header, stderr};
use std::process::Command;

/// The lengths of a field of 256 MiB.
const LARGE: [usize; 3] = [64, 1024, 1024];

/// Memory in KiB that a command may allocate; mapped files do not count.
const MEMORY: u64 = 190 << 10;

/// Waves with some noise, which depend on all coordinates.
fn waves(lengths: [usize; 3]) -> Vec<u8> {
    let [depth, height, width] = lengths;
    let row: Vec<f32> = (0..width).map(|x| (x as f32 * 0.01).sin()).collect();
    let mut bytes = npy_header("<f4", "False", &format!("({depth}, {height}, {width})"));
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
    place.put("in.npy", &field);
    for codec in [
        "plain",
        "lorenzo",
        "lorenzo+rans",
        "interp",
        "stencil",
        "slices",
    ] {
        place.succeed(&format!(
            "compress in.npy file.fsz --codec {codec} --range 1e-3"
        ));
        let line = format!("compress in.npy - --codec {codec} --range 1e-3");
        assert_eq!(
            place.succeed(&line).stdout,
            place.get("file.fsz"),
            "{codec}"
        );
        place.succeed("decompress file.fsz out.npy");
        let piped = place.succeed("decompress file.fsz -");
        assert!(place.get("out.npy").ends_with(&piped.stdout), "{codec}");
        assert_eq!(place.get("out.npy").len(), field.len());
        place.succeed("verify in.npy file.fsz");
    }
}

#[test]
fn memory_is_bounded() {
    let place = Place::new();
    place.put("in.npy", &waves(LARGE));
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
            &format!("compress in.npy a.fsz {coding} --range 1e-3 --fill none --force"),
            "check a.fsz",
            "decompress a.fsz out.npy --force",
            "verify in.npy a.fsz",
        ] {
            let output = limited(line);
            assert!(output.status.success(), "{line}: {}", stderr(&output));
        }
        // A pipe gets its values from memory, which is too small for them.
        let output = limited("decompress a.fsz - >/dev/null");
        assert!(!output.status.success());
    }
}
