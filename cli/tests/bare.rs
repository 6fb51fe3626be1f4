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
    if line.contains("compress") {
        command.arg("--force");
    }
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
    fail(folder, 2, &format!("{line} --abs 1e-60"), "in f32");
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

fn json(folder: &Path, line: &str) -> Value {
    let output = succeed(folder, &format!("{line} --json"));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Each flag, by cuSZp's arithmetic; the printed number gives the same stream.
#[test]
fn relative_bounds_are_those_of_cuszps_command() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("in.f32"), bytes_of_f32()).unwrap();
    fs::write(folder.join("in.f64"), bytes_of_f64()).unwrap();
    let ends = |values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (least, largest)
    };
    let (least, largest) = ends(&values());
    let (low, high) = (least as f32, largest as f32);
    let cuszp = "cuszp compress --mode plain";
    let magnitude = low.abs().max(high.abs());
    for (line, input, expected) in [
        (
            cuszp,
            "in.f32 --range 1e-3",
            f64::from(1e-3f32 * (high - low)),
        ),
        (
            cuszp,
            "in.f32 --rel 1e-3",
            f64::from(1e-3f32 * (high - low)),
        ),
        (cuszp, "in.f32 --max 7e-5", f64::from(7e-5f32 * magnitude)),
        (cuszp, "in.f64 --range 1e-3", 1e-3 * (largest - least)),
        (
            cuszp,
            "in.f64 --range 1e-3 --float-bound",
            f64::from(1e-3f32 * (largest - least) as f32),
        ),
        (
            "aatrox compress",
            "in.f32 --range 3e-4",
            f64::from(3e-4f32 * (high - low)),
        ),
        (
            "aatrox compress",
            "in.f64 --max 3e-4",
            3e-4 * least.abs().max(largest),
        ),
    ] {
        let dtype = &input[3..6];
        let shape = format!("--dtype {dtype} --dims 6,7,9");
        let (input, bound) = input.split_once(' ').unwrap();
        let said = json(folder, &format!("{line} {input} a.bare {bound} {shape}"));
        assert_eq!(said["absolute_error"], expected, "{line} {bound}");
        let abs = format!("--abs {}", said["abs"].as_str().unwrap());
        succeed(folder, &format!("{line} {input} b.bare {abs} {shape}"));
        let stream = fs::read(folder.join("a.bare")).unwrap();
        assert_eq!(
            stream,
            fs::read(folder.join("b.bare")).unwrap(),
            "{line} {bound}"
        );
        // The text for people has the same digits.
        let output = succeed(folder, &format!("{line} {input} b.bare {bound} {shape}"));
        assert!(String::from_utf8_lossy(&output.stderr).contains(&abs));
    }
    let line = "cuszp compress in.f32 c --mode plain --dtype f32 --dims 378";
    fail(folder, 2, line, "--abs");
    fail(
        folder,
        2,
        &format!("{line} --abs 1 --range 1"),
        "cannot be used with",
    );
    fs::write(folder.join("flat.f32"), [0; 4 * 378]).unwrap();
    fail(
        folder,
        1,
        &format!("{} --range 1e-3", line.replace("in.", "flat.")),
        "flat.f32",
    );
}

#[test]
fn streams_are_described_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("in.f32"), bytes_of_f32()).unwrap();
    let flags = "--mode outlier --dtype f32 --dims 6,7,9";
    succeed(
        folder,
        &format!("cuszp compress in.f32 a.szp {flags} --abs 0.01"),
    );
    let stream = fs::read(folder.join("a.szp")).unwrap();
    // 2 x 2 x 3 blocks, and rates that need no gap.
    let found = json(folder, &format!("cuszp info a.szp {flags}"));
    assert_eq!(
        (&found["blocks"], &found["rate_bytes"]),
        (&12.into(), &12.into())
    );
    assert_eq!(
        (&found["between_bytes"], &found["length_fits"]),
        (&0.into(), &true.into())
    );
    assert_eq!(found["body_bytes"], stream.len() - 12);
    let rates = found["rates"].as_array().unwrap();
    for rate in rates {
        let byte = rate["byte"].as_u64().unwrap();
        let count = stream[..12]
            .iter()
            .filter(|found| u64::from(**found) == byte)
            .count();
        assert_eq!(rate["blocks"], count);
    }
    let blocks: u64 = rates
        .iter()
        .map(|rate| rate["blocks"].as_u64().unwrap())
        .sum();
    assert_eq!(blocks, 12);
    let text = succeed(folder, &format!("cuszp info a.szp {flags}")).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("cuSZp, mode outlier, blocks of 4 x 4 x 4") && text.contains("fits"),
        "{text}"
    );
    // The options of `decompress` can be repeated.
    succeed(
        folder,
        &format!("cuszp check a.szp {flags} --abs 0.01 --allow-missing"),
    );
    fs::write(folder.join("long.szp"), [&stream[..], &[0]].concat()).unwrap();
    let line = format!("cuszp check long.szp {flags}");
    let output = ferrosz(folder, &line).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("NOT SOUND"));
    let found = json(folder, &format!("cuszp info long.szp {flags}"));
    assert_eq!(found["length_fits"], false);
    let output = ferrosz(folder, &format!("{} --json", line.replace("long", "a")))
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&found["sound"], &found["fault"]),
        (&true.into(), &Value::Null)
    );
    // Layers have rate bytes for all their blocks, and an initial value.
    let flags = "--dtype f32 --dims 6,7,9";
    succeed(
        folder,
        &format!("aatrox compress in.f32 a.aat {flags} --abs 0.01"),
    );
    let found = json(folder, &format!("aatrox info a.aat {flags}"));
    assert_eq!(
        (&found["blocks"], &found["between_bytes"]),
        (&1024.into(), &4.into())
    );
    succeed(folder, &format!("aatrox check a.aat {flags}"));
}

#[test]
fn errors_are_verified_by_the_judge() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("in.f64"), bytes_of_f64()).unwrap();
    let shape = "--dtype f64 --dims 6,7,9";
    for line in ["cuszp COMMAND --mode plain", "aatrox COMMAND"] {
        let of = |command: &str| line.replace("COMMAND", command);
        succeed(
            folder,
            &format!("{} in.f64 a {shape} --range 1e-3", of("compress")),
        );
        let verify = format!("{} in.f64 a {shape}", of("verify"));
        let found = json(folder, &format!("{verify} --range 1e-3"));
        assert_eq!(
            (&found["kept"], &found["values"]),
            (&true.into(), &378.into())
        );
        let largest = found["largest_error"].as_f64().unwrap();
        let error = found["absolute_error"].as_f64().unwrap();
        assert!(largest <= error && largest > error / 2.0);
        let text = succeed(folder, &format!("{verify} --range 1e-3")).stdout;
        assert!(String::from_utf8(text).unwrap().contains("bound kept"));
        // The values of another error.
        let output = ferrosz(folder, &format!("{verify} --abs 0.5 --json"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["kept"], false);
    }
}

#[test]
fn parts_are_read_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("in.f32"), bytes_of_f32()).unwrap();
    for line in ["cuszp COMMAND --mode fixed --rank 3", "aatrox COMMAND"] {
        let of = |command: &str| line.replace("COMMAND", command);
        let told = "--dtype f32 --dims 6,7,9 --abs 0.01";
        succeed(folder, &format!("{} in.f32 a {told}", of("compress")));
        succeed(folder, &format!("{} a whole.raw {told}", of("decompress")));
        let whole = fs::read(folder.join("whole.raw")).unwrap();
        let part = |flag: &str| {
            succeed(
                folder,
                &format!("{} a part.raw {told} {flag}", of("decompress")),
            );
            fs::read(folder.join("part.raw")).unwrap()
        };
        assert_eq!(part("--elements 100..130"), whole[400..520]);
        let boxed: Vec<u8> = (2..4)
            .flat_map(|z| (1..3).map(move |y| (z * 7 + y) * 9 + 5))
            .flat_map(|at| whole[4 * at..4 * (at + 4)].to_vec())
            .collect();
        assert_eq!(part("--box 2:4,1:3,5:"), boxed);
        // The stream of values of another sign has the same lengths; in layers a value that stays is one.
        let sign = if line.starts_with("cuszp") { 0x80 } else { 0 };
        let mut changed = bytes_of_f32();
        for at in 100..130 {
            changed[4 * at + 3] ^= sign;
        }
        fs::write(folder.join("new.raw"), &changed[400..520]).unwrap();
        fs::write(folder.join("changed.f32"), &changed).unwrap();
        let update = format!("{} a new.raw {told} --elements", of("update"));
        fail(folder, 1, &format!("{update} 100..131"), "new.raw");
        succeed(folder, &format!("{update} 100..130"));
        succeed(folder, &format!("{} changed.f32 b {told}", of("compress")));
        assert_eq!(
            fs::read(folder.join("a")).unwrap(),
            fs::read(folder.join("b")).unwrap()
        );
        // Larger values need more bits.
        let large = vec![0x47; 120];
        fs::write(folder.join("new.raw"), large).unwrap();
        fail(folder, 1, &format!("{update} 100..130"), "unchanged");
        assert_eq!(
            fs::read(folder.join("a")).unwrap(),
            fs::read(folder.join("b")).unwrap()
        );
    }
}

#[test]
fn each_kind_of_stream_names_the_command_of_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("in.f32"), bytes_of_f32()).unwrap();
    let shape = "--dtype f32 --dims 378";
    succeed(folder, &format!("compress in.f32 a.fsz {shape} --abs 0.01"));
    let told = format!("{shape} --mode plain --abs 0.01");
    for (line, command) in [
        (format!("cuszp info a.fsz {told}"), "`ferrosz info`"),
        (format!("cuszp check a.fsz {told}"), "`ferrosz check`"),
        (
            format!("cuszp verify in.f32 a.fsz {told}"),
            "`ferrosz verify`",
        ),
        (
            format!("aatrox decompress a.fsz b {shape} --abs 1"),
            "`ferrosz decompress`",
        ),
    ] {
        fail(folder, 1, &line, command);
    }
}
