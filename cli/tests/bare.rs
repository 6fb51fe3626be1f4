//! Runs `ferrosz cuszp` and `ferrosz aatrox`.

use ferrosz::Shape;
use ferrosz_cuszp::cuszp::{self, Mode, Params};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn ferrosz(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrosz"));
    command.current_dir(folder).args(line.split_whitespace());
    command.arg("--force");
    command
}

fn succeed(folder: &Path, line: &str) -> Output {
    let output = ferrosz(folder, line).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
    output
}

fn fail(folder: &Path, status: i32, line: &str, word: &str) {
    let output = ferrosz(folder, line).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{line}: {said}");
    assert!(said.contains(word), "{line}: no '{word}' in: {said}");
}

fn values() -> Vec<f64> {
    (0..6 * 7 * 9)
        .map(|i| (f64::from(i) * 0.05).sin() * 40.0)
        .collect()
}

fn bytes_of_f64() -> Vec<u8> {
    values().iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn bytes_of_f32() -> Vec<u8> {
    values()
        .iter()
        .flat_map(|x| (*x as f32).to_le_bytes())
        .collect()
}

#[test]
fn cuszp_streams_are_the_librarys_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("in.f64"), bytes_of_f64()).unwrap();
    let shape = "--dtype f64 --dims 6,7,9";
    for (rank, number) in [(Shape::Line, 1), (Shape::Plane, 2), (Shape::Cube, 3)] {
        for mode in Mode::ALL {
            let flags = format!("{shape} --mode {} --rank {number} --abs 1e-3", mode.name());
            let widened = format!("{flags} --float-bound");
            for (flags, error) in [(&flags, 1e-3), (&widened, f64::from(1e-3f32))] {
                succeed(folder, &format!("cuszp compress in.f64 a.szp {flags} -q"));
                let params = Params::new(rank, mode, [6, 7, 9], error);
                let expected = cuszp::compress(&params, &values()).unwrap();
                assert_eq!(fs::read(folder.join("a.szp")).unwrap(), expected);
                succeed(folder, &format!("cuszp decompress a.szp b.npy {flags}"));
                succeed(folder, &format!("cuszp decompress a.szp b.f64 {flags}"));
                let back = fs::read(folder.join("b.f64")).unwrap();
                let decoded: Vec<f64> = cuszp::decompress(&params, &expected).unwrap();
                let decoded: Vec<u8> = decoded.iter().flat_map(|x| x.to_le_bytes()).collect();
                assert_eq!(back, decoded);
                assert!(fs::read(folder.join("b.npy")).unwrap().ends_with(&back));
            }
        }
    }
    // An array file says its own shape, which gives the rank.
    succeed(
        folder,
        "cuszp compress b.npy c.szp --mode outlier --abs 1e-3",
    );
    succeed(
        folder,
        "cuszp compress b.npy d.szp --mode outlier --rank 3 --abs 1e-3",
    );
    assert_eq!(
        fs::read(folder.join("c.szp")).unwrap(),
        fs::read(folder.join("d.szp")).unwrap()
    );
    let line = "cuszp compress b.npy v1.szp --v1 --abs 1e-3 --json";
    let object: Value = serde_json::from_slice(&succeed(folder, line).stdout).unwrap();
    assert_eq!(
        (&object["format"], &object["elements"]),
        (&"cuszp".into(), &378.into())
    );
    succeed(
        folder,
        &format!("cuszp decompress v1.szp v1.f64 --v1 --abs 1e-3 {shape}"),
    );
}

#[test]
fn aatrox_streams_come_back_through_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("in.f32"), bytes_of_f32()).unwrap();
    let flags = "--dtype f32 --dims 6,7,9 --abs 0.01";
    succeed(folder, &format!("aatrox compress in.f32 a.aat {flags}"));
    let stream = fs::read(folder.join("a.aat")).unwrap();
    let mut child = ferrosz(folder, &format!("aatrox decompress - - {flags}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&stream).unwrap();
    let back = child.wait_with_output().unwrap().stdout;
    let params = ferrosz_cuszp::aatrox::Params {
        elements: 378,
        error: 0.01f32,
    };
    let decoded: Vec<f32> = ferrosz_cuszp::aatrox::decompress(&params, &stream).unwrap();
    let decoded: Vec<u8> = decoded.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(back, decoded);
    fs::write(folder.join("cut.aat"), &stream[..stream.len() - 1]).unwrap();
    fail(
        folder,
        1,
        &format!("aatrox decompress cut.aat b {flags}"),
        "cut off",
    );
}

#[test]
fn refusals_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("in.f32"), bytes_of_f32()).unwrap();
    let shape = "--dtype f32 --dims 6,7,9 --mode plain";
    let line = format!("cuszp compress in.f32 a.szp {shape}");
    fail(
        folder,
        1,
        &format!("{line} --abs 0.1 --strict"),
        "multiples of 4",
    );
    fail(folder, 2, &format!("{line} --abs 0"), "positive");
    fail(folder, 2, &format!("{line} --abs 1e-60"), "range of f32");
    fail(
        folder,
        2,
        &format!("{line} --abs 0.1 --rank 4"),
        "1, 2 or 3",
    );
    fail(
        folder,
        1,
        &format!("{line} --abs 0.1 --rank 3 --v1"),
        "cuSZp 1",
    );
    fail(
        folder,
        2,
        "cuszp compress in.f32 a.szp --dtype f32 --dims 378 --abs 1",
        "--mode",
    );
    // 8 blocks in one chunk: the size that cuSZp returns is 8.
    succeed(folder, &format!("{line} --abs 0.1"));
    let stream = fs::read(folder.join("a.szp")).unwrap();
    fs::write(folder.join("cut.szp"), &stream[..12]).unwrap();
    let line = format!("cuszp decompress cut.szp b {shape} --abs 0.1");
    fail(folder, 1, &line, "the data are lost");
    fs::write(folder.join("cut.szp"), &stream[..5]).unwrap();
    fail(folder, 1, &line, "rate bytes");
}
